//! What collectives carry, as messages between pairs of ranks: by the flow of data, whatever tree an MPI sends it along.
//!
//! A pair becomes known when the later of its two calls has returned; that is its place in the order of time. So all pairs
//! before a time are known when all calls before it are. Only collectives that are done when their calls return are
//! expanded: of others the recording does not say which call completed them.

use crate::arrivals::Timed;
use crate::library::Library;
use mpiscope_model::{Call, Comm, CommInfo, Flow, Function, Message, Nanoseconds, Node, Rank};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::PoisonError;

/// Where all send to all, each pair is a row up to this number of members; beyond, each member is.
const MOST_OF_ALL_PAIRS: u32 = 64;
/// Calls of one collective that ended longer before others are not found.
const BACK_NS: u64 = 60_000_000_000;
/// How far is looked back first.
const FIRST_BACK_NS: u64 = 10_000_000;
/// Bytes, or a transfer time, that are not known.
const UNKNOWN: u64 = u64::MAX;

/// A message, or what a collective carries from one rank to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpandedMessage {
    /// Its ranks and times. Bytes and transfer time are the greatest number where they are not known.
    pub message: Message,
    /// The function of the collective and which of its communicator it is.
    pub collective: Option<(Function, u32)>,
    /// When both calls had returned.
    pub known_ns: Nanoseconds,
}

impl Timed for ExpandedMessage {
    fn at_ns(&self) -> Nanoseconds {
        self.known_ns
    }
}

/// One collective.
type Key = (Comm, u32);

/// A call of a member.
#[derive(Debug, Clone, Copy)]
struct Member {
    rank: Rank,
    function: Function,
    start_ns: Nanoseconds,
    end_ns: Nanoseconds,
    bytes: u64,
    root: Option<Rank>,
}

/// What a pair carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// What the receiver says it got.
    OfReceiver,
    /// What the sender says it sent, to each.
    OfSender,
    /// What the sender says it sent, spread over all members, itself included.
    Spread,
    /// Barriers carry nothing, and yet all wait for all.
    Nothing,
    Unknown,
}

impl Size {
    fn of_function(name: &str) -> Self {
        let name = name.strip_prefix("MPI_").unwrap_or(name);
        match name.strip_suffix("_c").unwrap_or(name) {
            "Bcast" | "Scatter" | "Scatterv" => Size::OfReceiver,
            "Reduce" | "Gather" | "Gatherv" | "Allreduce" | "Allgather" | "Allgatherv" | "Scan"
            | "Exscan" => Size::OfSender,
            "Alltoall" | "Reduce_scatter_block" => Size::Spread,
            "Barrier" => Size::Nothing,
            _ => Size::Unknown,
        }
    }

    /// None where nothing goes.
    fn bytes(self, from: &Member, to: Option<&Member>, members: u32) -> Option<u64> {
        let bytes = match self {
            Size::OfReceiver => to?.bytes,
            Size::OfSender => from.bytes,
            Size::Spread => from.bytes / u64::from(members.max(1)),
            Size::Nothing => return Some(0),
            Size::Unknown if from.bytes > 0 => UNKNOWN,
            Size::Unknown => 0,
        };
        (bytes > 0).then_some(bytes)
    }
}

/// Collectives with calls that ended in a stretch, and all their members that ended before its end.
struct Gathered<'a> {
    library: &'a Library,
    sizes: BTreeMap<Comm, u32>,
    of: BTreeMap<Key, Vec<Member>>,
    /// The first collective that was seen of a member of a communicator: others of it before are further back.
    first: BTreeMap<(Comm, Rank), u32>,
}

impl Gathered<'_> {
    fn see(&mut self, call: &Call, is_new: bool) {
        let (Some(comm), Some(instance)) = (call.comm, call.instance) else { return };
        if !self.sizes.contains_key(&comm) {
            return;
        }
        let key = (comm, instance);
        let is_wanted = if is_new {
            self.library.dependencies.flow(call.function).is_some()
        } else {
            self.of.contains_key(&key)
        };
        if is_wanted {
            let Call { rank, function, start_ns, end_ns, bytes, peer: root, .. } = *call;
            self.of.entry(key).or_default().push(Member { rank, function, start_ns, end_ns, bytes, root });
        }
        let first = self.first.entry((comm, call.rank)).or_insert(instance);
        *first = (*first).min(instance);
    }

    /// Whether members that are missing are known to come later.
    fn is_whole(&self) -> bool {
        let mut earliest: BTreeMap<Comm, u32> = BTreeMap::new();
        for &(comm, instance) in self.of.keys() {
            earliest.entry(comm).and_modify(|first| *first = (*first).min(instance)).or_insert(instance);
        }
        earliest.into_iter().all(|(comm, instance)| {
            let seen = self
                .first
                .range((comm, Rank(0))..=(comm, Rank::MAX))
                .filter(|(_, first)| **first <= instance);
            seen.count() as u32 >= self.sizes.get(&comm).copied().unwrap_or(0)
        })
    }
}

impl Library {
    /// Which communicators there are: all of them; names may come later.
    pub fn set_communicators(&self, all: &[CommInfo]) {
        let mut known = self.communicators.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_slice() != all {
            known.clear();
            known.extend_from_slice(all);
        }
    }

    /// Shows what collectives carry between ranks whose later call ended in a range.
    ///
    /// # Errors
    /// One sentence when calls cannot be read.
    pub fn visit_collectives(
        &self,
        range_ns: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&ExpandedMessage),
    ) -> Result<(), String> {
        let gathered = self.gather(range_ns, |_| true)?;
        let hosts = self.dependencies.hosts();
        self.pairs(&gathered, &hosts, &mut |_, _, row| {
            if range_ns.contains(&row.known_ns) {
                visitor(row);
            }
        });
        Ok(())
    }

    /// What a call that became known late carries or gets, but for what it exchanges with calls that became known after it:
    /// those that `later` has, which is asked once the calls were read.
    ///
    /// # Errors
    /// One sentence when calls cannot be read.
    pub fn late_collective(
        &self,
        late: &Call,
        later: impl FnOnce() -> Vec<Call>,
    ) -> Result<Vec<ExpandedMessage>, String> {
        let mut rows = Vec::new();
        let (Some(comm), Some(instance)) = (late.comm, late.instance) else { return Ok(rows) };
        if self.dependencies.flow(late.function).is_none() {
            return Ok(rows);
        }
        let range_ns = late.end_ns..late.end_ns.saturating_add(BACK_NS);
        let gathered =
            self.gather(&range_ns, |call| (call.comm, call.instance) == (late.comm, late.instance))?;
        let of_it = |call: &&Call| (call.comm, call.instance) == (Some(comm), Some(instance));
        let unknown: BTreeSet<Rank> = later().iter().filter(of_it).map(|call| call.rank).collect();
        self.pairs(&gathered, &self.dependencies.hosts(), &mut |from, to, row| {
            let is_of = |rank| from == rank || to == Some(rank);
            if is_of(late.rank) && !unknown.iter().any(|&rank| rank != late.rank && is_of(rank)) {
                rows.push(*row);
            }
        });
        Ok(rows)
    }

    /// Collectives with calls that ended in a range, and their other members.
    fn gather(
        &self,
        range_ns: &Range<Nanoseconds>,
        is_wanted: impl Fn(&Call) -> bool,
    ) -> Result<Gathered<'_>, String> {
        let sizes = {
            let known = self.communicators.lock().unwrap_or_else(PoisonError::into_inner);
            known.iter().filter(|comm| comm.size > 1).map(|comm| (comm.comm, comm.size)).collect()
        };
        let (of, first) = (BTreeMap::new(), BTreeMap::new());
        let mut gathered = Gathered { library: self, sizes, of, first };
        self.visit_calls(range_ns, &None, &mut |call| {
            gathered.see_if(call, range_ns.contains(&call.end_ns) && is_wanted(call));
        })?;
        let (mut back_ns, mut from_ns) = (FIRST_BACK_NS, range_ns.start);
        while from_ns > 0 && from_ns + BACK_NS > range_ns.start && !gathered.is_whole() {
            let piece = from_ns.saturating_sub(back_ns)..from_ns;
            self.visit_calls(&piece, &None, &mut |call| {
                if piece.contains(&call.end_ns) {
                    gathered.see(call, false);
                }
            })?;
            (from_ns, back_ns) = (piece.start, back_ns * 4);
        }
        Ok(gathered)
    }

    fn pairs(
        &self,
        gathered: &Gathered<'_>,
        hosts: &BTreeMap<Rank, Node>,
        show: &mut dyn FnMut(Rank, Option<Rank>, &ExpandedMessage),
    ) {
        for (&(comm, instance), members) in &gathered.of {
            let Some(function) = members.first().map(|member| member.function) else { continue };
            let Some(flow) = self.dependencies.flow(function) else { continue };
            let size = Size::of_function(self.function_name(function).unwrap_or_default());
            let count = gathered.sizes.get(&comm).copied().unwrap_or_default();
            let mut tell = |from: &Member, to: Option<&Member>| {
                let Some(bytes) = size.bytes(from, to, count) else { return };
                let message = message(from, to, comm, bytes, hosts);
                let known_ns = to.map_or(from.end_ns, |to| to.end_ns.max(from.end_ns));
                let row = ExpandedMessage { message, collective: Some((function, instance)), known_ns };
                show(from.rank, to.map(|to| to.rank), &row);
            };
            match flow {
                Flow::FromRoot => {
                    with_roots(members).into_iter().for_each(|(member, root)| tell(root, Some(member)));
                }
                Flow::ToRoot => {
                    with_roots(members).into_iter().for_each(|(member, root)| tell(member, Some(root)));
                }
                Flow::All | Flow::FromLower if count > MOST_OF_ALL_PAIRS => {
                    members.iter().for_each(|from| tell(from, None));
                }
                Flow::All => pairs_that(members, |from, to| from != to, &mut tell),
                Flow::FromLower => pairs_that(members, |from, to| from < to, &mut tell),
            }
        }
    }
}

/// Tells the pairs of members whose ranks belong together.
fn pairs_that(
    members: &[Member],
    is_pair: impl Fn(Rank, Rank) -> bool,
    tell: &mut dyn FnMut(&Member, Option<&Member>),
) {
    for from in members {
        let to = members.iter().filter(|to| is_pair(from.rank, to.rank));
        to.for_each(|to| tell(from, Some(to)));
    }
}

impl Gathered<'_> {
    /// Takes in a call of the stretch, or one that only says what is not before it.
    fn see_if(&mut self, call: &Call, is_new: bool) {
        if is_new {
            self.see(call, true);
        } else if let (Some(comm), Some(instance)) = (call.comm, call.instance) {
            let first = self.first.entry((comm, call.rank)).or_insert(instance);
            *first = (*first).min(instance);
        }
    }
}

/// Each member that has a root other than itself, and that root.
fn with_roots(members: &[Member]) -> Vec<(&Member, &Member)> {
    let mut of_rank: BTreeMap<Rank, Vec<&Member>> = BTreeMap::new();
    let roots: BTreeSet<Rank> = members.iter().filter_map(|member| member.root).collect();
    for member in members.iter().filter(|member| roots.contains(&member.rank)) {
        of_rank.entry(member.rank).or_default().push(member);
    }
    let mut found = Vec::new();
    for member in members {
        let root = member.root.filter(|root| *root != member.rank);
        let roots = root.and_then(|root| of_rank.get(&root)).into_iter().flatten();
        found.extend(roots.map(|root| (member, *root)));
    }
    found
}

fn message(
    from: &Member,
    to: Option<&Member>,
    comm: Comm,
    bytes: u64,
    hosts: &BTreeMap<Rank, Node>,
) -> Message {
    let (recv_ns, t_msg_ns, late_sender_ns) = match to {
        None => (from.end_ns, UNKNOWN, 0),
        Some(to) => (
            to.end_ns,
            to.end_ns.saturating_sub(from.start_ns.max(to.start_ns)),
            to.end_ns.min(from.start_ns).saturating_sub(to.start_ns),
        ),
    };
    Message {
        src: from.rank,
        dst: to.map_or(Rank::NONE, |to| to.rank),
        tag: i32::MIN,
        comm,
        bytes,
        send_ns: from.start_ns,
        recv_ns,
        t_msg_ns,
        late_sender_ns,
        late_receiver_ns: None,
        inter: to.is_some_and(|to| hosts.get(&from.rank) != hosts.get(&to.rank)),
        exact: false,
    }
}

#[cfg(test)]
mod tests;
