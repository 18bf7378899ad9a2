//! From which ranks it comes that others wait: those that have more to do than others, and those that waited for a CPU.

use super::replayed::{Part, Replayed};
use mpiscope_diagnosis::Budgeter;
use mpiscope_feed::{Source, SourcePart, SourceRank, SourceTime};
use mpiscope_model::{Blame, Node, Rank};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The most ranks that are listed, in all and of each part of the run.
pub(super) const MOST_RANKS: usize = 8;
/// Ranks that a cause comes from are named where they make up so much of it.
const MOST: f64 = 0.7;
/// More are not named.
const MOST_FEW: usize = 1_024;
/// A rank with this share of what another has, has as much.
const AS_MUCH: f64 = 0.9;
/// Parts of a run differ by so much from the whole, on average, where it moves from rank to rank: from 0, all the same, to 1.
const MOVES: f64 = 0.4;

/// The ranks with the most, the first before others with as much.
fn most(by_rank: &[u64]) -> Vec<(Rank, u64)> {
    let mut all: Vec<(Rank, u64)> = by_rank
        .iter()
        .enumerate()
        .filter(|(_, ns)| **ns > 0)
        .map(|(rank, ns)| (Rank::from_index(rank), *ns))
        .collect();
    let order = |(rank, ns): &(Rank, u64)| (Reverse(*ns), *rank);
    if all.len() > MOST_RANKS {
        all.select_nth_unstable_by_key(MOST_RANKS, order);
        all.truncate(MOST_RANKS);
    }
    all.sort_unstable_by_key(order);
    all
}

/// How much two distributions differ: from 0, the same, to 1, nothing in common.
fn difference(one: &[u64], other: &[u64]) -> f64 {
    let [one_ns, other_ns] = [one, other].map(|of| of.iter().sum::<u64>().max(1) as f64);
    let both = one.iter().zip(other);
    both.map(|(one, other)| (*one as f64 / one_ns - *other as f64 / other_ns).abs()).sum::<f64>() / 2.0
}

/// Ranks that make up most of a cause, where they are at most half of all ranks, in order, and what they have of it. Those who
/// have as much as the last of them are no less to blame.
pub(super) fn few(by_rank: &[u64]) -> (Vec<Rank>, u64) {
    let mut order: Vec<usize> = (0..by_rank.len()).filter(|&rank| by_rank[rank] > 0).collect();
    order.sort_by_key(|&rank| (Reverse(by_rank[rank]), rank));
    let total: u64 = by_rank.iter().sum();
    let mut sum = 0;
    let last = order.iter().position(|&rank| {
        sum += by_rank[rank];
        sum as f64 >= MOST * total as f64
    });
    let Some(last) = last else { return Default::default() };
    let as_much = AS_MUCH * by_rank[order[last]] as f64;
    order.truncate(order.partition_point(|&rank| by_rank[rank] as f64 >= as_much));
    // What lies with most ranks lies with none.
    if 2 * order.len() > by_rank.len() || order.len() > MOST_FEW {
        return Default::default();
    }
    let ns = order.iter().map(|&rank| by_rank[rank]).sum();
    let mut few: Vec<Rank> = order.into_iter().map(Rank::from_index).collect();
    few.sort_unstable();
    (few, ns)
}

/// The number of nodes that have exactly these ranks; 0 where a node has others too, or a single one, or where no node is left.
fn whole_nodes(few: &[Rank], node_of_rank: &[Node]) -> u32 {
    let mut ranks_of: FxHashMap<Node, (usize, usize)> = FxHashMap::default();
    for (rank, node) in node_of_rank.iter().enumerate() {
        let of = ranks_of.entry(*node).or_default();
        of.0 += 1;
        of.1 += usize::from(few.binary_search(&Rank::from_index(rank)).is_ok());
    }
    let with_few = || ranks_of.values().filter(|(_, few)| *few > 0);
    let is_whole = with_few().all(|(all, few)| all == few && *all > 1) && with_few().count() < ranks_of.len();
    if is_whole { with_few().count() as u32 } else { 0 }
}

/// The ranks that each such cause comes from, as far as the run was replayed.
pub(super) fn sources(budgeter: &Budgeter, replayed: &Replayed) -> Vec<Source> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let source = |blame: Blame| {
        let by_rank = |part: &Part| match blame {
            Blame::Pattern => part.excess_ns.clone(),
            _ => part.delayed_ns.clone(),
        };
        let by_part: Vec<Vec<u64>> = replayed.parts.iter().map(by_rank).collect();
        let with_excess = by_part.iter().map(Vec::len).max().unwrap_or(0);
        let mut whole = vec![0_u64; budgeter.ledger().ranks().len().max(with_excess)];
        for of_part in &by_part {
            whole.iter_mut().zip(of_part).for_each(|(sum, ns)| *sum += ns);
        }
        let whole_ns: u64 = whole.iter().sum();
        if whole_ns == 0 {
            return None;
        }
        let differs = |of: &Vec<u64>| difference(of, &whole) * of.iter().sum::<u64>() as f64;
        let differs_by_step = blame == Blame::Pattern && replayed.differs_by_step();
        let moves = !differs_by_step && by_part.iter().map(differs).sum::<f64>() / whole_ns as f64 > MOVES;
        // Where nobody waits for it, it is still what ranks have more.
        if blame == Blame::Pattern && replayed.delaying_ns.iter().any(|ns| *ns > 0) {
            let ranks = whole.len();
            whole.clone_from(&replayed.delaying_ns);
            whole.resize(ranks, 0);
        }
        let total_ns: u64 = whole.iter().sum();
        let time = |(part, of): (&Part, &Vec<u64>)| SourceTime {
            from_s: seconds(part.from_ns),
            to_s: seconds(part.to_ns),
            ranks: most(of).into_iter().map(|(rank, _)| rank.0).collect(),
        };
        let (few, few_ns) = if moves { Default::default() } else { few(&whole) };
        Some(Source {
            cause: blame.word().into(),
            total_s: seconds(total_ns),
            few_s: seconds(few_ns),
            few_nodes: whole_nodes(&few, budgeter.node_of_rank()),
            few_hosts: Vec::new(),
            few: few.into_iter().map(|rank| rank.0).collect(),
            ranks: ranks(budgeter, &whole),
            computed_s: mean_computed_s(budgeter),
            differs_by_step,
            times: if moves { replayed.parts.iter().zip(&by_part).map(time).collect() } else { Vec::new() },
        })
    };
    [Blame::Pattern, Blame::Cpu].into_iter().filter_map(source).collect()
}

/// The same part by part.
pub(super) fn by_part(replayed: &Replayed) -> Vec<SourcePart> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let of_part = |part: &Part| {
        let of = |(blame, by_rank): (Blame, &Vec<u64>)| SourcePart {
            cause: blame.word().into(),
            from_ns: part.from_ns,
            to_ns: part.to_ns,
            total_s: seconds(by_rank.iter().sum()),
            ranks: most(by_rank).into_iter().map(|(rank, ns)| (rank.0, seconds(ns))).collect(),
        };
        [(Blame::Pattern, &part.excess_ns), (Blame::Cpu, &part.delayed_ns)].map(of)
    };
    let all = replayed.parts.iter().filter(|part| part.from_ns < part.to_ns).flat_map(of_part);
    all.filter(|of| !of.ranks.is_empty()).collect()
}

fn ranks(budgeter: &Budgeter, by_rank: &[u64]) -> Vec<SourceRank> {
    let ledger = budgeter.ledger().ranks();
    let named = |(rank, ns): (Rank, u64)| {
        let of = ledger.get(rank.index()).copied().unwrap_or_default();
        let computed_ns = of.compute_ns.saturating_sub(of.cpu_wait_ns);
        SourceRank { rank: rank.0, seconds: ns as f64 / 1e9, computed_s: computed_ns as f64 / 1e9 }
    };
    most(by_rank).into_iter().map(named).collect()
}

/// What ranks computed on average.
fn mean_computed_s(budgeter: &Budgeter) -> f64 {
    let ranks = budgeter.ledger().ranks();
    let computed_ns: u64 = ranks.iter().map(|of| of.compute_ns.saturating_sub(of.cpu_wait_ns)).sum();
    computed_ns as f64 / 1e9 / ranks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::simulated;
    use mpiscope_feed::Diagnosis;
    use mpiscope_synth::{Pattern, Spec, Style};

    fn found(disturbed: &str) -> Diagnosis {
        let mut spec = Spec::new(Pattern::Ring, 16, 6.0, 20_000.0);
        (spec.nodes, spec.style) = (2, Style::Blocking);
        spec.disturb.push(disturbed.parse().unwrap());
        simulated(&spec).0
    }

    #[test]
    fn the_rank_that_misses_its_core_is_named() {
        let found = found("stolen-cpu");
        let of = found.sources.iter().find(|of| of.cause == "cpu").unwrap();
        assert_eq!(found.verdict.cause, "cpu");
        assert!(of.ranks[0].seconds > 0.9 * of.total_s, "{of:?}");
        assert_eq!(of.few, [of.ranks[0].rank]);
        assert!(of.times.is_empty(), "{of:?}");
    }

    #[test]
    fn work_that_moves_is_reported_with_who_has_it_when() {
        let stays = found("imbalance");
        let of = stays.sources.iter().find(|of| of.cause == "pattern").unwrap();
        assert!(of.times.is_empty(), "{of:?}");
        assert!(of.ranks.iter().all(|rank| rank.computed_s > 1.1 * of.computed_s), "{of:?}");
        let moves = found("drifting-imbalance");
        let of = moves.sources.iter().find(|of| of.cause == "pattern").unwrap();
        assert!(of.times.len() > 4, "{of:?}");
        assert_ne!(of.times[0].ranks[0], of.times[of.times.len() - 1].ranks[0], "{of:?}");
    }

    #[test]
    fn ranks_with_as_much_are_named_together() {
        let mut sixteen = [0_u64; 16];
        sixteen[10..14].copy_from_slice(&[228, 227, 227, 228]);
        assert_eq!(few(&sixteen), ([10, 11, 12, 13].map(Rank).to_vec(), 910));
        assert!(few(&sixteen[9..15]).0.is_empty(), "four of six are not few");
        assert_eq!(few(&[0, 10, 0, 0, 90]), (vec![Rank(4)], 90));
        assert!(few(&[1; 16]).0.is_empty());
        // More than are listed one by one.
        let mut rack = [1_u64; 64];
        rack[8..16].fill(100);
        rack[40..48].fill(101);
        assert_eq!(few(&rack).0, (8..16).chain(40..48).map(Rank).collect::<Vec<_>>());
    }

    #[test]
    fn all_ranks_of_nodes_are_those_nodes() {
        let node_of_rank: Vec<Node> = (0..16).map(|rank| Node(rank / 4)).collect();
        assert_eq!(whole_nodes(&[0, 1, 2, 3, 8, 9, 10, 11].map(Rank), &node_of_rank), 2);
        assert_eq!(whole_nodes(&[0, 1, 2].map(Rank), &node_of_rank), 0, "a rank of the node is missing");
        assert_eq!(whole_nodes(&[0, 1, 2, 3, 4].map(Rank), &node_of_rank), 0, "one is of another node");
        assert_eq!(whole_nodes(&[Rank(2)], &[0, 1, 2, 3].map(Node)), 0, "each node has one rank");
        assert_eq!(whole_nodes(&[Rank(0), Rank(1)], &[0, 0].map(Node)), 0, "there is no other node");
        assert_eq!(whole_nodes(&[], &node_of_rank), 0);
    }

    #[test]
    fn distributions_differ_by_what_they_have_not_in_common() {
        assert!(difference(&[1, 1], &[10, 10]).abs() < 1e-9);
        assert!((difference(&[5, 0], &[0, 1]) - 1.0).abs() < 1e-9);
        assert!((difference(&[1, 1], &[1, 0]) - 0.5).abs() < 1e-9);
    }
}
