//! Finds the members of the communicators of a DUMPI trace. Each rank has its own numbers for them. The members follow from
//! the calls that made a communicator: those of all members of its parent, in their order.

use crate::import::log_stream::CommMembers;
use crate::limits::MAX_COMM_MEMBERS;
use mpiscope_wire::MAX_COMM;
use std::collections::{BTreeMap, HashMap};

/// Numbers that are the same on all ranks.
const NULL: i64 = 1;
const WORLD: i64 = 2;
const ITSELF: i64 = 3;
/// Their numbers in the recording.
const OWN_WORLD: u32 = 0;
pub(crate) const OWN_SELF: u32 = 1;

/// A call that made a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommCreation {
    pub(crate) old: i64,
    pub(crate) new: i64,
    pub(crate) how: CommOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommOrigin {
    Copied,
    Split {
        color: i64,
        key: i64,
    },
    /// In a way that does not tell the members.
    Otherwise,
}

/// The communicators of all ranks.
#[derive(Debug, Default)]
pub(crate) struct ResolvedComms {
    /// For each rank the communicators that its calls made, in their order; none where the members are not known.
    pub(crate) made: Vec<Vec<Option<u32>>>,
    /// The members of each. The world has number 0 and is not listed.
    pub(crate) members: BTreeMap<u32, CommMembers>,
}

/// The numbers that a rank has for communicators at a moment.
#[derive(Debug, Clone)]
pub(crate) struct RankComms {
    numbers: HashMap<i64, Option<u32>>,
}

impl RankComms {
    pub(crate) fn new() -> Self {
        Self { numbers: [(WORLD, Some(OWN_WORLD)), (ITSELF, Some(OWN_SELF))].into() }
    }

    /// The communicator of a number; none where it is not known.
    pub(crate) fn get(&self, number: i64) -> Option<u32> {
        self.numbers.get(&number).copied().flatten()
    }

    pub(crate) fn set(&mut self, number: i64, comm: Option<u32>) {
        if number > ITSELF {
            self.numbers.insert(number, comm);
        }
    }
}

/// Brings the calls of all ranks together.
struct CommResolver<'a> {
    ranks: u32,
    calls: &'a [Vec<CommCreation>],
    own: Vec<RankComms>,
    /// The number of calls so far, by rank and communicator.
    counts: HashMap<(u32, u32), u32>,
    /// The ranks that have reached a call, by communicator and number of the call.
    waiting: HashMap<(u32, u32), Vec<u32>>,
    resolved: ResolvedComms,
    member_count: usize,
}

/// Finds the members of all communicators.
pub(crate) fn resolve_comms(calls: &[Vec<CommCreation>]) -> ResolvedComms {
    let mut resolver = CommResolver {
        ranks: calls.len() as u32,
        calls,
        own: vec![RankComms::new(); calls.len()],
        counts: HashMap::new(),
        waiting: HashMap::new(),
        resolved: ResolvedComms {
            made: vec![Vec::new(); calls.len()],
            members: [(OWN_SELF, CommMembers::Alone)].into(),
        },
        member_count: 0,
    };
    let mut ready: Vec<u32> = (0..calls.len() as u32).rev().collect();
    while let Some(rank) = ready.pop() {
        ready.extend(resolver.advance(rank));
    }
    let CommResolver { mut resolved, .. } = resolver;
    // A call that not all members reached makes an unknown communicator.
    for (made, calls) in resolved.made.iter_mut().zip(calls) {
        made.resize(calls.len(), None);
    }
    resolved
}

impl CommResolver<'_> {
    /// Follows the calls of a rank until it waits for others. Returns the ranks that may go on.
    fn advance(&mut self, rank: u32) -> Vec<u32> {
        let at = rank as usize;
        while let Some(&call) = self.calls[at].get(self.resolved.made[at].len()) {
            let parent = match (self.own[at].get(call.old), call.how) {
                (Some(parent), CommOrigin::Copied | CommOrigin::Split { .. }) if parent != OWN_SELF => parent,
                // A copy of MPI_COMM_SELF is one of its kind.
                (Some(OWN_SELF), CommOrigin::Copied) => {
                    self.take(rank, Some(OWN_SELF));
                    continue;
                }
                _ => {
                    self.take(rank, None);
                    continue;
                }
            };
            let count = self.counts.entry((rank, parent)).or_default();
            let key = (parent, *count);
            *count += 1;
            let came = self.waiting.entry(key).or_default();
            came.push(rank);
            let all = match self.resolved.members.get(&parent) {
                Some(CommMembers::Group(group)) => group.len(),
                _ => self.ranks as usize,
            };
            if came.len() < all {
                return Vec::new();
            }
            let came = self.waiting.remove(&key).unwrap_or_default();
            self.make(parent, &came);
            return came;
        }
        Vec::new()
    }

    /// Sets what the next call of a rank made.
    fn take(&mut self, rank: u32, comm: Option<u32>) {
        let at = rank as usize;
        let call = self.calls[at][self.resolved.made[at].len()];
        self.own[at].set(call.new, comm);
        self.resolved.made[at].push(comm);
    }

    /// Makes the new communicators when all members of the parent have reached the call.
    fn make(&mut self, parent: u32, came: &[u32]) {
        let order: Vec<u32> = match self.resolved.members.get(&parent) {
            Some(CommMembers::Group(group)) => group.clone(),
            _ => (0..self.ranks).collect(),
        };
        let call = |rank: u32| self.calls[rank as usize][self.resolved.made[rank as usize].len()];
        // By color, the ranks with their keys, in the order of the parent.
        let mut colors: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
        for &rank in &order {
            let made = call(rank);
            let (color, key) = match made.how {
                CommOrigin::Split { color, key } => (color, key),
                _ => (0, 0),
            };
            if made.new > NULL {
                colors.entry(color).or_default().push((key, rank));
            }
        }
        let mut of_rank: HashMap<u32, Option<u32>> = came.iter().map(|&rank| (rank, None)).collect();
        for mut members in colors.into_values() {
            members.sort_by_key(|(key, _)| *key);
            let group: Vec<u32> = members.into_iter().map(|(_, rank)| rank).collect();
            self.member_count += group.len();
            let number = self.resolved.members.len() as u32 + 1;
            if number > MAX_COMM || self.member_count > MAX_COMM_MEMBERS {
                continue;
            }
            of_rank.extend(group.iter().map(|&rank| (rank, Some(number))));
            self.resolved.members.insert(number, CommMembers::Group(group));
        }
        for &rank in came {
            self.take(rank, of_rank[&rank]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(old: i64, new: i64, color: i64, key: i64) -> CommCreation {
        CommCreation { old, new, how: CommOrigin::Split { color, key } }
    }

    fn copy(old: i64, new: i64) -> CommCreation {
        CommCreation { old, new, how: CommOrigin::Copied }
    }

    #[test]
    fn members_come_out_of_the_calls_of_all() {
        // Halves of the world in the other order, a copy of one of them, and the same numbers again.
        let half = |rank: i64| split(2, 4, rank % 2, -rank);
        let calls = [
            vec![half(0), copy(4, 5), split(2, 6, 7, 0), copy(3, 8)],
            vec![half(1), split(2, 1, -1, 0)],
            vec![half(2), copy(4, 5), split(2, 4, 7, -1)],
            vec![half(3), split(2, 1, -1, 0)],
        ];
        let resolved = resolve_comms(&calls);
        let members = |comm: Option<u32>| resolved.members[&comm.unwrap()].clone();
        let made = &resolved.made;
        assert_eq!(members(made[0][0]), CommMembers::Group(vec![2, 0]));
        assert_eq!(members(made[3][0]), CommMembers::Group(vec![3, 1]));
        assert_eq!((made[0][0], made[1][0]), (made[2][0], made[3][0]));
        assert_eq!(members(made[2][1]), CommMembers::Group(vec![2, 0]));
        assert_ne!(made[2][1], made[2][0]);
        assert_eq!(members(made[0][2]), CommMembers::Group(vec![2, 0]));
        assert_eq!((made[1][1], made[3][1], made[0][3]), (None, None, Some(OWN_SELF)));
    }

    #[test]
    fn what_not_all_came_to_is_not_known() {
        let calls = [vec![copy(2, 4), copy(4, 5)], vec![copy(2, 4)], vec![]];
        assert_eq!(resolve_comms(&calls).made, [vec![None, None], vec![None], vec![]]);
        let other = CommCreation { old: 2, new: 4, how: CommOrigin::Otherwise };
        let calls = [vec![other, copy(4, 5), copy(2, 6)], vec![other, copy(4, 5), copy(2, 6)]];
        let resolved = resolve_comms(&calls);
        assert_eq!(resolved.made[0][..2], [None, None]);
        assert_eq!(resolved.members[&resolved.made[1][2].unwrap()], CommMembers::Group(vec![0, 1]));
    }
}
