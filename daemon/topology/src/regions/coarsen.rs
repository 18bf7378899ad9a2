//! A smaller graph for one that is too large: nodes that talk most become one.

use super::graph::Graph;
use std::cmp::Reverse;

/// A graph that stands for a larger one.
pub(super) struct Coarse {
    pub(super) graph: Graph,
    /// For each node of the larger one, its node here.
    pub(super) node_of: Vec<u32>,
}

/// One node stands for no more than this multiple of the mean.
const MOST_OF_MEAN: f64 = 2.0;

/// Coarsens a connected graph to this number of nodes.
pub(super) fn coarsen(graph: &Graph, most: usize) -> Coarse {
    let nodes = graph.nodes();
    let mut coarse = Coarse { graph: graph.clone(), node_of: (0..nodes as u32).collect() };
    let mut members = vec![1_u32; nodes];
    let mut most_members = (MOST_OF_MEAN * nodes as f64 / most as f64).ceil() as u32;
    while coarse.graph.nodes() > most {
        let before = coarse.graph.nodes();
        let pairs = Pairs::build(&coarse.graph, &members, most_members, before - most);
        if pairs.count < (before - most).min(before / 20 + 1) {
            most_members = most_members.saturating_mul(2);
        }
        members = pairs.apply(&mut coarse, &members);
    }
    coarse
}

/// Who becomes one with whom.
struct Pairs<'a> {
    partner: Vec<Option<u32>>,
    members: &'a [u32],
    most_members: u32,
    count: usize,
    most: usize,
}

impl<'a> Pairs<'a> {
    fn build(graph: &Graph, members: &'a [u32], most_members: u32, most: usize) -> Self {
        let mut pairs = Self { partner: vec![None; graph.nodes()], members, most_members, count: 0, most };
        let mut edges: Vec<(u32, u32, f64)> = graph.edges().collect();
        // Weights are positive: they are in order as their bits are.
        edges.sort_unstable_by_key(|&(one, other, weight)| (Reverse(weight.to_bits()), one, other));
        edges.iter().for_each(|&(one, other, _)| pairs.join(one, other));
        // Around a hub few pairs are found: those that are left and talk most with the same one become one.
        if pairs.count < most.min(graph.nodes() / 4) {
            let heaviest = |node: usize| {
                let ends = graph.ends_of(node).iter();
                ends.map(|end| (Reverse(end.weight.to_bits()), end.to)).min().map(|(_, to)| to)
            };
            let mut left: Vec<(Option<u32>, u32)> = (0..graph.nodes())
                .filter(|node| pairs.partner[*node].is_none())
                .map(|node| (heaviest(node), node as u32))
                .collect();
            left.sort_unstable();
            let mut at = 0;
            while at + 1 < left.len() {
                let (one, other) = (left[at], left[at + 1]);
                let is_pair = one.0 == other.0;
                if is_pair {
                    pairs.join(one.1, other.1);
                }
                at += if is_pair { 2 } else { 1 };
            }
        }
        pairs
    }

    fn join(&mut self, one: u32, other: u32) {
        let (a, b) = (one as usize, other as usize);
        let is_free = self.partner[a].is_none() && self.partner[b].is_none();
        if self.count < self.most && is_free && self.members[a] + self.members[b] <= self.most_members {
            self.partner[a] = Some(other);
            self.partner[b] = Some(one);
            self.count += 1;
        }
    }

    fn apply(self, coarse: &mut Coarse, members: &[u32]) -> Vec<u32> {
        let mut number = vec![0_u32; self.partner.len()];
        let mut together = Vec::new();
        let mut within = Vec::new();
        for node in 0..self.partner.len() {
            match self.partner[node] {
                Some(partner) if (partner as usize) < node => {
                    number[node] = number[partner as usize];
                    together[number[node] as usize] += members[node];
                    within[number[node] as usize] += coarse.graph.within(node);
                }
                _ => {
                    number[node] = together.len() as u32;
                    together.push(members[node]);
                    within.push(coarse.graph.within(node));
                }
            }
        }
        let renamed =
            |(one, other, weight): (u32, u32, f64)| (number[one as usize], number[other as usize], weight);
        let mut edges: Vec<_> = coarse.graph.edges().map(renamed).collect();
        coarse.graph = Graph::from_edges(within, &mut edges);
        coarse.node_of.iter_mut().for_each(|node| *node = number[*node as usize]);
        together
    }
}
