//! Collectives, their members, and for whom each of these waits.

use crate::whatif::call_row::NONE;
use mpiscope_model::{Flow, Rank};
use rustc_hash::FxHashSet;

/// A member of a collective.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) rank: Rank,
    /// The call that entered it.
    pub(crate) call: u32,
    /// Whether others wait for it.
    pub(crate) is_awaited: bool,
}

/// All collectives of a run.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By call, the collective that it enters, or NONE.
    pub(crate) entered: Vec<u32>,
    /// By call, the collective whose end it waits for, or NONE.
    pub(crate) left: Vec<u32>,
    /// Members of all collectives, by rank within each.
    pub(crate) members: Vec<Member>,
    /// Where the members of each begin; one more at the end.
    pub(crate) first: Vec<u32>,
    /// Who waits for whom in each; none where nothing says for which of the others each waits.
    pub(crate) flows: Vec<Option<Flow>>,
    /// The root's member of each, or NONE.
    pub(crate) roots: Vec<u32>,
    /// What each moves a member.
    pub(crate) bytes: Vec<u32>,
    /// Whether its members are on several nodes.
    pub(crate) is_inter: Vec<bool>,
    /// When the last of those entered whom others wait for.
    pub(crate) last_ns: Vec<u64>,
    /// How long after the last awaited entry the data of each was there; none where nobody waited for it.
    pub(crate) there_ns: Vec<Option<u64>>,
    /// Calls that enter a collective in which nobody waits for them.
    pub(crate) unawaited: FxHashSet<u32>,
}

impl Groups {
    /// Whether others wait for the entry of a call.
    pub(crate) fn is_awaited(&self, call: usize) -> bool {
        self.unawaited.is_empty() || !self.unawaited.contains(&(call as u32))
    }

    pub(crate) fn members(&self, group: u32) -> &[Member] {
        let at = group as usize;
        &self.members[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// The latest entry that a member waits for, from a time of each entry and that of the last of all; none where it waits for
    /// nobody.
    pub(crate) fn last_entry<T>(
        &self,
        group: u32,
        rank: Rank,
        (of_all, of): (T, impl Fn(usize) -> T),
        later: fn(T, T) -> T,
    ) -> Option<T> {
        let at = group as usize;
        if self.last_ns[at] == 0 && !self.members(group).iter().any(|member| member.is_awaited) {
            return None;
        }
        if self.flows[at] == Some(Flow::All) {
            return Some(of_all);
        }
        let awaited = self.awaited(group, rank);
        if awaited.len() == self.members(group).len() {
            return Some(of_all);
        }
        let awaited = awaited.iter().filter(|member| member.is_awaited && member.rank != rank);
        awaited.map(|member| of(member.call as usize)).reduce(later)
    }

    /// The entries that a member of a collective waits for, itself among them.
    pub(crate) fn awaited(&self, group: u32, rank: Rank) -> &[Member] {
        let members = self.members(group);
        let root = self.roots[group as usize];
        let Some(flow) = self.flows[group as usize] else { return &[] };
        match flow {
            Flow::All => members,
            Flow::FromRoot | Flow::ToRoot if root == NONE => &[],
            Flow::FromRoot => &self.members[root as usize..=root as usize],
            Flow::ToRoot if self.members[root as usize].rank == rank => members,
            Flow::ToRoot => &[],
            Flow::FromLower => &members[..members.partition_point(|member| member.rank <= rank)],
        }
    }
}
