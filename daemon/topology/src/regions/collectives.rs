//! Who exchanged data with whom in collectives: a root with each member, or all with all.

use super::graph::TalkGraph;
use crate::placement::Traffic;
use mpiscope_model::{Activity, Collective, Comm, Effect, Flow, Rank, Side};
use rustc_hash::FxHashMap;

/// Ranks in communicators and kinds of collectives together; further ones are left out.
const MOST_MEMBERS: usize = 1 << 17;
/// Up to this number of members, all pairs count. With more, those at distances of powers of two count, along which
/// data goes round as well.
const MOST_OF_ALL_PAIRS: usize = 64;

/// What collectives of one kind do alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Kind {
    comm: Comm,
    /// None where all exchange data with all.
    root: Option<Rank>,
}

mpiscope_model::numbers! { Kind { comm, root } }

/// The calls of one rank, and its group where there are two.
#[derive(Debug, Clone, Copy)]
struct Member {
    calls: u64,
    side: Side,
}

mpiscope_model::numbers! { Member { calls, side } }

/// Calls of collectives that moved data, by kind and rank. Its memory is bounded.
#[derive(Debug, Clone, Default)]
pub struct CollectiveTraffic {
    calls: FxHashMap<Kind, FxHashMap<Rank, Member>>,
    members: usize,
    total: u64,
    bytes: u64,
}

mpiscope_model::numbers! { CollectiveTraffic { calls, members, total, bytes } }

impl CollectiveTraffic {
    /// Takes in a call; one that moves nothing does not count.
    pub fn feed(&mut self, call: &Activity) {
        let (Effect::Collective(of) | Effect::Start(of)) = call.effect else { return };
        let Collective { comm, flow, root, side, bytes: bytes @ 1.., .. } = of else { return };
        let root = if matches!(flow, Flow::FromRoot | Flow::ToRoot) { root } else { None };
        self.bytes = self.bytes.saturating_add(bytes);
        let calls = self.calls.entry(Kind { comm, root }).or_default();
        if let Some(member) = calls.get_mut(&call.rank) {
            member.calls += 1;
        } else if self.members < MOST_MEMBERS {
            calls.insert(call.rank, Member { calls: 1, side });
            self.members += 1;
        } else {
            return;
        }
        self.total += 1;
    }

    /// Takes in what another one has taken in.
    pub fn merge(&mut self, other: &Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (kind, theirs) in &other.calls {
            let calls = self.calls.entry(*kind).or_default();
            for (rank, theirs) in theirs {
                if let Some(member) = calls.get_mut(rank) {
                    member.calls += theirs.calls;
                } else if self.members < MOST_MEMBERS {
                    calls.insert(*rank, *theirs);
                    self.members += 1;
                } else {
                    continue;
                }
                self.total += theirs.calls;
            }
        }
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
        let mut kinds: Vec<(&Kind, &FxHashMap<Rank, Member>)> = self.calls.iter().collect();
        kinds.sort_unstable_by_key(|(kind, _)| **kind);
        let mut pairs = Vec::new();
        for (kind, calls) in kinds {
            let mut members: Vec<(Rank, Member)> = calls.iter().map(|(rank, of)| (*rank, *of)).collect();
            members.sort_unstable_by_key(|(rank, _)| *rank);
            let weighted = |of: &dyn Fn(Side) -> bool| -> Vec<(Rank, f64)> {
                let of = members.iter().filter(|(_, member)| of(member.side));
                of.map(|(rank, member)| (*rank, member.calls as f64)).collect()
            };
            if let Some(root) = kind.root {
                let calls = |&(rank, of): &(Rank, Member)| (root, rank, of.calls as f64);
                pairs.extend(members.iter().map(calls));
                continue;
            }
            // Data goes from group to group where there are two.
            let (first, second) =
                (weighted(&|side| side == Side::First), weighted(&|side| side == Side::Second));
            if first.is_empty() && second.is_empty() {
                all_with_all(&weighted(&|_| true), &mut pairs);
            } else {
                with_all(&first, &second, 0, &mut pairs);
                with_all(&second, &first, 0, &mut pairs);
            }
        }
        pairs.retain(|(one, other, _)| one != other);
        pairs
    }
}

fn all_with_all(members: &[(Rank, f64)], pairs: &mut Vec<(Rank, Rank, f64)>) {
    with_all(members, members, 1, pairs);
}

/// The calls of some members, each shared out over its partners among others, of whom those at its own place come first
/// or, where that is itself, second.
fn with_all(
    members: &[(Rank, f64)],
    others: &[(Rank, f64)],
    first: usize,
    pairs: &mut Vec<(Rank, Rank, f64)>,
) {
    let count = others.len();
    let steps: Vec<usize> = if count <= MOST_OF_ALL_PAIRS {
        (first..count).collect()
    } else {
        (0..count.ilog2() + 1).map(|power| 1 << power).filter(|step| *step < count).collect()
    };
    for (at, &(rank, calls)) in members.iter().enumerate() {
        let partner = |step: &usize| (rank, others[(at + step) % count].0, calls / steps.len() as f64);
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
    (TalkGraph::new(Rank::all(ranks), pairs.chain(collectives)), with_collectives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Flow as Exchanged;
    use crate::regions::regions;
    use mpiscope_model::CallId;

    fn call(rank: u32, comm: Comm, flow: Flow, root: Option<u32>, bytes: u64) -> Activity {
        let side = Side::Only;
        let collective =
            Collective { comm, number: 0, flow, side, root: root.map(Rank), bytes, is_barrier: false };
        Activity {
            rank: Rank(rank),
            call: CallId::new(0, 1),
            function: 1,
            start_ns: 1,
            end_ns: 2,
            since_ns: 1,
            effect: Effect::Collective(collective),
            site: None,
            after_loss: false,
        }
    }

    #[test]
    fn two_groups_exchange_with_each_other_alone_and_what_was_started_counts() {
        let mut collectives = CollectiveTraffic::default();
        for rank in 0..5 {
            let mut call = call(rank, Comm(1), Flow::All, None, 8);
            if let Effect::Collective(of) = call.effect {
                let side = if rank < 2 { Side::First } else { Side::Second };
                call.effect = Effect::Start(Collective { side, ..of });
            }
            collectives.feed(&call);
        }
        let pairs = collectives.pairs();
        assert_eq!(pairs.len(), 2 * 6);
        assert!(pairs.iter().all(|(one, other, _)| (*one < Rank(2)) != (*other < Rank(2))), "{pairs:?}");
        assert!((pairs.iter().map(|(.., weight)| weight).sum::<f64>() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn rows_of_a_grid_that_sum_up_are_regions() {
        let mut collectives = CollectiveTraffic::default();
        for rank in 0..400 {
            // Rows of a hundred ranks, summed up ten times, and all once.
            (0..10).for_each(|_| collectives.feed(&call(rank, Comm(1 + rank / 100), Flow::All, None, 800)));
            collectives.feed(&call(rank, Comm::WORLD, Flow::All, None, 8));
            collectives.feed(&call(rank, Comm::WORLD, Flow::All, None, 0));
        }
        assert_eq!((collectives.calls(), collectives.bytes()), (4_400, 400 * 8_008));
        let total: f64 = collectives.pairs().iter().map(|(.., weight)| weight).sum();
        assert!((total - 4_400.0).abs() < 1e-6, "{total}");
        let (graph, with_collectives) = talk_graph(402, &Traffic::default(), &collectives);
        assert!(with_collectives);
        let row = |row: u32| (row * 100..(row + 1) * 100).map(Rank).collect();
        let mut expected: Vec<Vec<Rank>> = (0..4).map(row).collect();
        expected.extend([400, 401].map(|rank| vec![Rank(rank)]));
        assert!(regions(&graph) == expected);
        // Where most bytes go in messages, these alone count.
        let mut traffic = Traffic::default();
        traffic.add(Rank(0), Rank(399), Exchanged { messages: 1, bytes: 1 << 30 });
        let (graph, with_collectives) = talk_graph(400, &traffic, &collectives);
        assert!(!with_collectives);
        assert_eq!(graph.pairs().collect::<Vec<_>>(), [(Rank(0), Rank(399), 1.0)]);
    }

    #[test]
    fn a_root_talks_with_each_member() {
        let mut collectives = CollectiveTraffic::default();
        for rank in [2, 5, 7] {
            collectives.feed(&call(rank, Comm(3), Flow::FromRoot, Some(5), 10));
            collectives.feed(&call(rank, Comm(3), Flow::ToRoot, Some(5), 10));
            collectives.feed(&call(rank, Comm(4), Flow::FromLower, Some(1), 10));
        }
        let (graph, _) = talk_graph(0, &Traffic::default(), &collectives);
        assert_eq!(
            graph.pairs().collect::<Vec<_>>(),
            [(Rank(2), Rank(5), 3.0), (Rank(2), Rank(7), 1.0), (Rank(5), Rank(7), 3.0)]
        );
    }
}
