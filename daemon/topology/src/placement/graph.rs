//! The traffic as a graph whose edge weights are the costs of cutting them.

use super::traffic::{Flow, Traffic};
use std::cmp::Reverse;

/// The heaviest edges that a rank keeps; its partners may keep more with it. When all talk with all, this makes the
/// search affordable; the result is compared by the whole traffic.
const EDGES_OF_A_RANK: u32 = 64;

/// Limit of the weights of all edges together: sums and differences of them stay within 64 bits.
const MOST_WEIGHT: u64 = 1 << 60;

/// One end of an edge, seen from the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: u32,
    pub(super) weight: i64,
}

/// An undirected graph of ranks.
#[derive(Debug)]
pub(super) struct Graph {
    offsets: Vec<usize>,
    edges: Vec<Edge>,
    weight_of_message: u64,
}

impl Graph {
    /// The traffic of this number of ranks.
    pub(super) fn build(traffic: &Traffic, ranks: usize) -> Self {
        let known = traffic.pairs().filter(|(_, other, _)| other.index() < ranks);
        let mut pairs: Vec<(u32, u32, Flow)> =
            known.map(|(one, other, flow)| (one.0, other.0, flow)).collect();
        pairs.sort_unstable_by_key(|&(one, other, _)| (one, other));
        let weigh = Weigh::build(&pairs);
        let weighed = pairs.iter().map(|&(one, other, flow)| (one, other, weigh.flow(flow)));
        let kept = heaviest(weighed.filter(|&(_, _, weight)| weight > 0).collect(), ranks);
        Self::from_edges(&kept, ranks, weigh.of_message)
    }

    fn from_edges(kept: &[(u32, u32, i64)], ranks: usize, weight_of_message: u64) -> Self {
        let mut offsets = vec![0; ranks + 1];
        for &(one, other, _) in kept {
            offsets[one as usize + 1] += 1;
            offsets[other as usize + 1] += 1;
        }
        for rank in 0..ranks {
            offsets[rank + 1] += offsets[rank];
        }
        let mut next = offsets.clone();
        let mut edges = vec![Edge { to: 0, weight: 0 }; kept.len() * 2];
        for &(one, other, weight) in kept {
            for (from, to) in [(one, other), (other, one)] {
                edges[next[from as usize]] = Edge { to, weight };
                next[from as usize] += 1;
            }
        }
        Self { offsets, edges, weight_of_message }
    }

    pub(super) fn ranks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Ends of edges: twice as many as edges.
    pub(super) fn ends(&self) -> usize {
        self.edges.len()
    }

    pub(super) fn edges_of(&self, rank: usize) -> &[Edge] {
        &self.edges[self.offsets[rank]..self.offsets[rank + 1]]
    }

    /// The messages of an edge.
    pub(super) fn messages(&self, edge: &Edge) -> u64 {
        edge.weight as u64 / self.weight_of_message
    }

    /// The weight of the edges between parts.
    pub(super) fn cut(&self, part_of: &[u32]) -> i64 {
        let of = |rank: usize| {
            let apart = |edge: &&Edge| part_of[edge.to as usize] != part_of[rank];
            self.edges_of(rank).iter().filter(apart).map(|edge| edge.weight).sum::<i64>()
        };
        (0..self.ranks()).map(of).sum::<i64>() / 2
    }
}

/// Messages first: the bytes of all pairs together weigh less than one message.
struct Weigh {
    of_message: u64,
    bytes: u64,
}

impl Weigh {
    fn build(pairs: &[(u32, u32, Flow)]) -> Self {
        let sum = |part: fn(&Flow) -> u64| {
            pairs.iter().fold(0_u64, |sum, (_, _, flow)| sum.saturating_add(part(flow)))
        };
        let messages = sum(|flow| flow.messages).max(1);
        Self { of_message: (MOST_WEIGHT / messages).clamp(1, 1 << 24), bytes: sum(|flow| flow.bytes).max(1) }
    }

    fn flow(&self, flow: Flow) -> i64 {
        let share = flow.bytes as f64 / self.bytes as f64 * (self.of_message - 1) as f64;
        let weight = flow.messages.saturating_mul(self.of_message).saturating_add(share as u64);
        i64::try_from(weight.min(MOST_WEIGHT)).unwrap_or(i64::MAX)
    }
}

/// Leaves out light edges of ranks that have many. Of edges that weigh the same those between close ranks stay.
fn heaviest(mut edges: Vec<(u32, u32, i64)>, ranks: usize) -> Vec<(u32, u32, i64)> {
    let mut degrees = vec![0_u32; ranks];
    for &(one, other, _) in &edges {
        degrees[one as usize] += 1;
        degrees[other as usize] += 1;
    }
    if degrees.iter().all(|&degree| degree <= EDGES_OF_A_RANK) {
        return edges;
    }
    edges.sort_unstable_by_key(|&(one, other, weight)| (Reverse(weight), other - one, one));
    let mut kept = vec![0_u32; ranks];
    edges.retain(|&(one, other, _)| {
        let (one, other) = (one as usize, other as usize);
        let stays = kept[one] < EDGES_OF_A_RANK || kept[other] < EDGES_OF_A_RANK;
        if stays {
            kept[one] += 1;
            kept[other] += 1;
        }
        stays
    });
    edges.sort_unstable_by_key(|&(one, other, _)| (one, other));
    edges
}
