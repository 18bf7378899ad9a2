//! Which ranks a graph shows as one: few enough groups to be read, in an order that does not depend on the moment.
//!
//! In: the node or the region of each rank, and which groups somebody opened. Out: groups, each a run of the ranks in the
//! order of their nodes or regions. It must never give more groups than can be read, whatever is opened.

use crate::calls::NONE;
use crate::column::{F64Column, U32Column};
use mpiscope_model::Rank;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Groups of ranks. A group has the ranks of nodes (or regions) from its first to its last, from its first rank to its last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PendingGroups {
    /// Where its ranks begin in the order of all.
    pub place: U32Column,
    /// How many ranks it has.
    pub ranks: U32Column,
    /// The number of its first node or region; the highest number where none is known.
    pub first_key: U32Column,
    /// That of its last.
    pub last_key: U32Column,
    /// Its first rank.
    pub first_rank: U32Column,
    /// Its last.
    pub last_rank: U32Column,
    /// Messages in flight from its ranks.
    pub sent: F64Column,
    /// Messages in flight to them.
    pub received: F64Column,
}

/// Up to this number ranks are shown one by one.
pub(super) const RANKS_SHOWN: usize = 128;
/// More parts of one group are joined.
const PARTS_SHOWN: usize = 64;

/// The ranks in the order of a graph: by the key of their node or region, then by number.
#[derive(Debug)]
pub(super) struct Order(Vec<(u32, Rank)>);

impl Order {
    /// The ranks, each with its key; [`NONE`] comes last.
    pub(super) fn sorted(ranks: impl Iterator<Item = (u32, Rank)>) -> Self {
        let mut ranks: Vec<(u32, Rank)> = ranks.collect();
        ranks.sort_unstable();
        ranks.dedup_by_key(|(_, rank)| *rank);
        Self(ranks)
    }

    /// The groups that are shown when these are open: each is named by its first place in the order, and its length.
    pub(super) fn groups(&self, open: &[(u32, u32)]) -> Vec<Range<usize>> {
        let mut shown = self.parts(0..self.0.len());
        for &(first, length) in open {
            let first = first as usize;
            let group = first..first.saturating_add(length as usize);
            if let Some(at) = shown.iter().position(|other| *other == group) {
                let parts = self.parts(group);
                shown.splice(at..=at, parts);
            }
        }
        shown
    }

    /// What a group is made of: its ranks, or its nodes or regions, or several of those.
    fn parts(&self, group: Range<usize>) -> Vec<Range<usize>> {
        if group.len() <= RANKS_SHOWN {
            return group.map(|at| at..at + 1).collect();
        }
        let mut keys: Vec<Range<usize>> = Vec::new();
        for run in self.0[group.clone()].chunk_by(|one, other| one.0 == other.0) {
            let from = keys.last().map_or(group.start, |last| last.end);
            keys.push(from..from + run.len());
        }
        if keys.len() > 1 {
            let joined = joined(keys.len());
            return keys.chunks(joined).map(|some| some[0].start..some[some.len() - 1].end).collect();
        }
        let joined = joined(group.len());
        group.clone().step_by(joined).map(|from| from..group.end.min(from + joined)).collect()
    }

    /// The number of the group that each rank is in.
    pub(super) fn numbers(&self, groups: &[Range<usize>]) -> FxHashMap<Rank, u32> {
        let of_group = |(number, group): (u32, &Range<usize>)| {
            self.0[group.clone()].iter().map(move |&(_, rank)| (rank, number))
        };
        (0..).zip(groups).flat_map(of_group).collect()
    }

    /// The groups as columns.
    pub(super) fn columns(&self, groups: &[Range<usize>]) -> PendingGroups {
        let mut columns = PendingGroups::default();
        for group in groups {
            let ranks = &self.0[group.clone()];
            columns.place.0.push(group.start as u32);
            columns.ranks.0.push(ranks.len() as u32);
            columns.first_key.0.push(ranks.first().map_or(NONE, |(key, _)| *key));
            columns.last_key.0.push(ranks.last().map_or(NONE, |(key, _)| *key));
            columns.first_rank.0.push(Rank::number_or_max(ranks.iter().map(|(_, rank)| *rank).min()));
            columns.last_rank.0.push(Rank::number_or_max(ranks.iter().map(|(_, rank)| *rank).max()));
        }
        columns
    }
}

/// How many parts are joined into one: a power of two that leaves few enough.
fn joined(parts: usize) -> usize {
    parts.div_ceil(PARTS_SHOWN).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(ranks: u32, per_node: u32) -> Order {
        Order::sorted(Rank::all(ranks).map(|rank| (rank.0 / per_node, rank)))
    }

    #[test]
    fn a_large_job_opens_step_by_step_down_to_ranks() {
        let order = order(16_384, 32);
        let blocks = order.groups(&[]);
        assert_eq!((blocks.len(), blocks[1].clone()), (64, 256..512));
        let nodes = order.groups(&[(256, 256)]);
        assert_eq!((nodes.len(), nodes[1].clone(), nodes[9].clone()), (71, 256..288, 512..768));
        let ranks = order.groups(&[(256, 256), (288, 32)]);
        assert_eq!((ranks.len(), ranks[2].clone()), (102, 288..289));
        // What is not shown is not opened.
        assert_eq!(order.groups(&[(288, 32), (7, 1)]), blocks);
    }

    #[test]
    fn ranks_of_one_node_are_joined_where_they_are_too_many() {
        let groups = order(1_000, 1_000).groups(&[]);
        assert_eq!((groups.len(), groups[62].clone()), (63, 992..1_000));
    }

    proptest! {
        #[test]
        fn every_rank_is_in_one_group_and_groups_are_few(
            keys in prop::collection::vec(0_u32..200, 1..3_000),
            open in prop::collection::vec((0_u32..3_000, 0_usize..300), 0..5),
        ) {
            let order = Order::sorted((0..).zip(&keys).map(|(rank, key)| (*key, Rank(rank))));
            let mut opened: Vec<(u32, u32)> = Vec::new();
            for (_, number) in open {
                let groups = order.groups(&opened);
                let group = &groups[number % groups.len()];
                opened.push((group.start as u32, group.len() as u32));
            }
            let groups = order.groups(&opened);
            prop_assert!(groups.len() <= RANKS_SHOWN + PARTS_SHOWN + opened.len() * RANKS_SHOWN);
            let mut next = 0;
            for group in &groups {
                prop_assert_eq!(group.start, next);
                prop_assert!(!group.is_empty());
                next = group.end;
            }
            prop_assert_eq!(next, keys.len());
            prop_assert_eq!(order.numbers(&groups).len(), keys.len());
            // The columns name exactly the ranks of a group.
            let columns = order.columns(&groups);
            let is_in = |at: usize, rank: u32, key: u32| {
                (columns.first_key.0[at]..=columns.last_key.0[at]).contains(&key)
                    && (columns.first_rank.0[at]..=columns.last_rank.0[at]).contains(&rank)
            };
            for (rank, number) in order.numbers(&groups) {
                prop_assert!(is_in(number as usize, rank.0, keys[rank.index()]));
            }
            for (at, &ranks) in columns.ranks.0.iter().enumerate() {
                let members = (0..).zip(&keys).filter(|&(rank, key)| is_in(at, rank, *key));
                prop_assert_eq!(members.count(), ranks as usize);
            }
        }
    }
}
