//! Who exchanged data with whom in collectives: a root with each member, or all with all.

use super::TalkGraph;
use crate::placement::Traffic;
use mpiscope_model::{Activity, Collective, Comm, Deed, Flow, Rank};
use rustc_hash::FxHashMap;

/// Ranks in communicators and kinds of collectives together; those of more are not told of.
const MOST_MEMBERS: usize = 1 << 17;
/// Of so many members all pairs are told; of more those at distances of powers of two, along which data goes round as well.
const MOST_OF_ALL_PAIRS: usize = 64;

/// What collectives of one kind do alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Kind {
    comm: Comm,
    /// None where all exchange data with all.
    root: Option<Rank>,
}

/// Calls of collectives that moved data, by kind and rank. Its memory is bounded.
#[derive(Debug, Clone, Default)]
pub struct CollectiveTraffic {
    calls: FxHashMap<Kind, FxHashMap<Rank, u64>>,
    members: usize,
    total: u64,
    bytes: u64,
}

impl CollectiveTraffic {
    /// Takes in a call; one that moves nothing does not count.
    pub fn feed(&mut self, call: &Activity) {
        let Deed::Collective(Collective { comm, flow, root, bytes: 1.., .. }) = call.deed else { return };
        let root = if matches!(flow, Flow::FromRoot | Flow::ToRoot) { root } else { None };
        if let Deed::Collective(Collective { bytes, .. }) = call.deed {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        let calls = self.calls.entry(Kind { comm, root }).or_default();
        if let Some(calls) = calls.get_mut(&call.rank) {
            *calls += 1;
        } else if self.members < MOST_MEMBERS {
            calls.insert(call.rank, 1);
            self.members += 1;
        } else {
            return;
        }
        self.total += 1;
    }

    /// What they moved.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.total
    }

    /// The pairs that exchanged data. Each call weighs as much as a message and is shared out over its partners.
    #[must_use]
    pub fn pairs(&self) -> Vec<(Rank, Rank, f64)> {
        let mut kinds: Vec<(&Kind, &FxHashMap<Rank, u64>)> = self.calls.iter().collect();
        kinds.sort_unstable_by_key(|(kind, _)| **kind);
        let mut pairs = Vec::new();
        for (kind, calls) in kinds {
            let mut members: Vec<(Rank, f64)> =
                calls.iter().map(|(rank, calls)| (*rank, *calls as f64)).collect();
            members.sort_unstable_by_key(|(rank, _)| *rank);
            match kind.root {
                Some(root) => pairs.extend(members.iter().map(|&(rank, calls)| (root, rank, calls))),
                None => all_with_all(&members, &mut pairs),
            }
        }
        pairs.retain(|(one, other, _)| one != other);
        pairs
    }
}

fn all_with_all(members: &[(Rank, f64)], pairs: &mut Vec<(Rank, Rank, f64)>) {
    let count = members.len();
    let steps: Vec<usize> = if count <= MOST_OF_ALL_PAIRS {
        (1..count).collect()
    } else {
        (0..count.ilog2() + 1).map(|power| 1 << power).filter(|step| *step < count).collect()
    };
    for (at, &(rank, calls)) in members.iter().enumerate() {
        let partner = |step: &usize| (rank, members[(at + step) % count].0, calls / steps.len() as f64);
        pairs.extend(steps.iter().map(partner));
    }
}

/// Who talked to whom, by the messages between ranks and, where most of the bytes went that way, by collectives too. Says
/// whether collectives are in it.
#[must_use]
pub fn talk_graph(ranks: u32, traffic: &Traffic, collectives: &CollectiveTraffic) -> (TalkGraph, bool) {
    let bytes = traffic.pairs().fold(0_u64, |sum, (.., flow)| sum.saturating_add(flow.bytes));
    let with_collectives = collectives.bytes() > bytes;
    let pairs = traffic.pairs().map(|(one, other, flow)| (one, other, flow.messages as f64));
    let collectives = if with_collectives { collectives.pairs() } else { Vec::new() };
    (TalkGraph::new(0..ranks, pairs.chain(collectives)), with_collectives)
}

#[cfg(test)]
mod tests {
    use super::super::regions;
    use super::*;
    use crate::placement::Flow as Exchanged;
    use mpiscope_model::CallId;

    fn call(rank: Rank, comm: Comm, flow: Flow, root: Option<Rank>, bytes: u64) -> Activity {
        let collective = Collective { comm, number: 0, flow, root, bytes, is_barrier: false };
        Activity {
            rank,
            call: CallId::new(0, 1),
            function: 1,
            start_ns: 1,
            end_ns: 2,
            since_ns: 1,
            deed: Deed::Collective(collective),
            after_loss: false,
        }
    }

    #[test]
    fn rows_of_a_grid_that_sum_up_are_regions() {
        let mut collectives = CollectiveTraffic::default();
        for rank in 0..400 {
            // Rows of a hundred ranks, summed up ten times, and all once.
            (0..10).for_each(|_| collectives.feed(&call(rank, 1 + rank / 100, Flow::All, None, 800)));
            collectives.feed(&call(rank, 0, Flow::All, None, 8));
            collectives.feed(&call(rank, 0, Flow::All, None, 0));
        }
        assert_eq!((collectives.calls(), collectives.bytes()), (4_400, 400 * 8_008));
        let total: f64 = collectives.pairs().iter().map(|(.., weight)| weight).sum();
        assert!((total - 4_400.0).abs() < 1e-6, "{total}");
        let (graph, with_collectives) = talk_graph(402, &Traffic::default(), &collectives);
        assert!(with_collectives);
        let mut expected: Vec<Vec<Rank>> = (0..4).map(|row| (row * 100..(row + 1) * 100).collect()).collect();
        expected.extend([vec![400], vec![401]]);
        assert!(regions(&graph) == expected);
        // Where most bytes go in messages, these alone count.
        let mut traffic = Traffic::default();
        traffic.add(0, 399, Exchanged { messages: 1, bytes: 1 << 30 });
        let (graph, with_collectives) = talk_graph(400, &traffic, &collectives);
        assert!(!with_collectives);
        assert_eq!(graph.pairs().collect::<Vec<_>>(), [(0, 399, 1.0)]);
    }

    #[test]
    fn a_root_talks_with_each_member() {
        let mut collectives = CollectiveTraffic::default();
        for rank in [2, 5, 7] {
            collectives.feed(&call(rank, 3, Flow::FromRoot, Some(5), 10));
            collectives.feed(&call(rank, 3, Flow::ToRoot, Some(5), 10));
            collectives.feed(&call(rank, 4, Flow::FromLower, Some(1), 10));
        }
        let (graph, _) = talk_graph(0, &Traffic::default(), &collectives);
        assert_eq!(graph.pairs().collect::<Vec<_>>(), [(2, 5, 3.0), (2, 7, 1.0), (5, 7, 3.0)]);
    }
}
