//! Communicators of a DUMPI trace. Each rank numbers its own; who is in one comes out when the calls that made it are put
//! together: those of all members of its parent, in their order.

use super::super::telling::Members;
use super::super::trace::MOST_MEMBERS;
use mpiscope_wire::MAX_COMM;
use std::collections::{BTreeMap, HashMap};

/// Numbers that are the same on all ranks.
const NULL: i64 = 1;
const WORLD: i64 = 2;
const ITSELF: i64 = 3;
/// Their numbers here.
const OWN_WORLD: u32 = 0;
pub(crate) const OWN_SELF: u32 = 1;

/// A call that made a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) old: i64,
    pub(crate) new: i64,
    pub(crate) how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Copied,
    Split {
        color: i64,
        key: i64,
    },
    /// In a way that does not say who is in it.
    Otherwise,
}

/// What came of all of them.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// Of each rank, what its calls made, in their order; none where it is not known who is in it.
    pub(crate) made: Vec<Vec<Option<u32>>>,
    /// Who is in each; the world has number 0 and is not among them.
    pub(crate) members: BTreeMap<u32, Members>,
}

/// A rank's own numbers at a moment.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    numbers: HashMap<i64, Option<u32>>,
}

impl Own {
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

/// Puts the calls of all ranks together.
struct Resolving<'a> {
    ranks: u32,
    calls: &'a [Vec<Made>],
    own: Vec<Own>,
    /// How many came before on a communicator, by rank.
    counts: HashMap<(u32, u32), u32>,
    /// Who has come to which call on a communicator.
    waiting: HashMap<(u32, u32), Vec<u32>>,
    resolved: Resolved,
    member_count: usize,
}

/// Finds out who is in what.
pub(crate) fn resolve(calls: &[Vec<Made>]) -> Resolved {
    let mut resolving = Resolving {
        ranks: calls.len() as u32,
        calls,
        own: vec![Own::new(); calls.len()],
        counts: HashMap::new(),
        waiting: HashMap::new(),
        resolved: Resolved {
            made: vec![Vec::new(); calls.len()],
            members: [(OWN_SELF, Members::Alone)].into(),
        },
        member_count: 0,
    };
    let mut ready: Vec<u32> = (0..calls.len() as u32).rev().collect();
    while let Some(rank) = ready.pop() {
        ready.extend(resolving.advance(rank));
    }
    let Resolving { mut resolved, .. } = resolving;
    // What nobody else came to stays unknown.
    for (made, calls) in resolved.made.iter_mut().zip(calls) {
        made.resize(calls.len(), None);
    }
    resolved
}

impl Resolving<'_> {
    /// Goes on with a rank until it waits for others; says who need not wait any more.
    fn advance(&mut self, rank: u32) -> Vec<u32> {
        let at = rank as usize;
        while let Some(&call) = self.calls[at].get(self.resolved.made[at].len()) {
            let parent = match (self.own[at].get(call.old), call.how) {
                (Some(parent), How::Copied | How::Split { .. }) if parent != OWN_SELF => parent,
                // Each has one of its own, and a copy of that is one as well.
                (Some(OWN_SELF), How::Copied) => {
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
                Some(Members::Group(group)) => group.len(),
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

    /// What the next call of a rank made.
    fn take(&mut self, rank: u32, comm: Option<u32>) {
        let at = rank as usize;
        let call = self.calls[at][self.resolved.made[at].len()];
        self.own[at].set(call.new, comm);
        self.resolved.made[at].push(comm);
    }

    /// All members of a communicator came to a call.
    fn make(&mut self, parent: u32, came: &[u32]) {
        let order: Vec<u32> = match self.resolved.members.get(&parent) {
            Some(Members::Group(group)) => group.clone(),
            _ => (0..self.ranks).collect(),
        };
        let call = |rank: u32| self.calls[rank as usize][self.resolved.made[rank as usize].len()];
        // By color, the ranks with their keys, in the order of the parent.
        let mut colors: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
        for &rank in &order {
            let made = call(rank);
            let (color, key) = match made.how {
                How::Split { color, key } => (color, key),
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
            if number > MAX_COMM || self.member_count > MOST_MEMBERS {
                continue;
            }
            of_rank.extend(group.iter().map(|&rank| (rank, Some(number))));
            self.resolved.members.insert(number, Members::Group(group));
        }
        for &rank in came {
            self.take(rank, of_rank[&rank]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(old: i64, new: i64, color: i64, key: i64) -> Made {
        Made { old, new, how: How::Split { color, key } }
    }

    fn copy(old: i64, new: i64) -> Made {
        Made { old, new, how: How::Copied }
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
        let resolved = resolve(&calls);
        let members = |comm: Option<u32>| resolved.members[&comm.unwrap()].clone();
        let made = &resolved.made;
        assert_eq!(members(made[0][0]), Members::Group(vec![2, 0]));
        assert_eq!(members(made[3][0]), Members::Group(vec![3, 1]));
        assert_eq!((made[0][0], made[1][0]), (made[2][0], made[3][0]));
        assert_eq!(members(made[2][1]), Members::Group(vec![2, 0]));
        assert_ne!(made[2][1], made[2][0]);
        assert_eq!(members(made[0][2]), Members::Group(vec![2, 0]));
        assert_eq!((made[1][1], made[3][1], made[0][3]), (None, None, Some(OWN_SELF)));
    }

    #[test]
    fn what_not_all_came_to_is_not_known() {
        let calls = [vec![copy(2, 4), copy(4, 5)], vec![copy(2, 4)], vec![]];
        assert_eq!(resolve(&calls).made, [vec![None, None], vec![None], vec![]]);
        let other = Made { old: 2, new: 4, how: How::Otherwise };
        let calls = [vec![other, copy(4, 5), copy(2, 6)], vec![other, copy(4, 5), copy(2, 6)]];
        let resolved = resolve(&calls);
        assert_eq!(resolved.made[0][..2], [None, None]);
        assert_eq!(resolved.members[&resolved.made[1][2].unwrap()], Members::Group(vec![0, 1]));
    }
}
