//! Who talked to whom, as a graph without direction whose edges weigh how much.

use mpiscope_model::Rank;

/// One end of an edge, seen from the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct End {
    pub(super) to: u32,
    pub(super) weight: f64,
}

/// Nodes by number with their edges, those of each in order.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    offsets: Vec<usize>,
    ends: Vec<End>,
    /// The weight that lies within a node: twice that of the edges between those that it stands for.
    within: Vec<f64>,
}

impl Graph {
    /// Edges may occur several times and are added up; those from a node to itself lie within it.
    pub(super) fn from_edges(within: Vec<f64>, edges: &mut Vec<(u32, u32, f64)>) -> Self {
        let nodes = within.len();
        let mut graph = Self { offsets: vec![0; nodes + 1], ends: Vec::new(), within };
        for (one, other, _) in edges.iter_mut() {
            (*one, *other) = ((*one).min(*other), (*one).max(*other));
        }
        // Stable, to give sums of the same edges the same last digit.
        edges.sort_by_key(|&(one, other, _)| (one, other));
        edges.dedup_by(|next, first| {
            let is_same = (next.0, next.1) == (first.0, first.1);
            if is_same {
                first.2 += next.2;
            }
            is_same
        });
        for &(one, other, weight) in edges.iter() {
            if one == other {
                graph.within[one as usize] += 2.0 * weight;
            } else {
                graph.offsets[one as usize + 1] += 1;
                graph.offsets[other as usize + 1] += 1;
            }
        }
        for node in 0..nodes {
            graph.offsets[node + 1] += graph.offsets[node];
        }
        let mut next = graph.offsets.clone();
        graph.ends = vec![End { to: 0, weight: 0.0 }; graph.offsets[nodes]];
        for &(one, other, weight) in edges.iter().filter(|(one, other, _)| one != other) {
            for (from, to) in [(one, other), (other, one)] {
                graph.ends[next[from as usize]] = End { to, weight };
                next[from as usize] += 1;
            }
        }
        graph
    }

    pub(super) fn nodes(&self) -> usize {
        self.within.len()
    }

    pub(super) fn ends_of(&self, node: usize) -> &[End] {
        &self.ends[self.offsets[node]..self.offsets[node + 1]]
    }

    pub(super) fn within(&self, node: usize) -> f64 {
        self.within[node]
    }

    /// All that ends at a node, with what lies within it.
    pub(super) fn degree(&self, node: usize) -> f64 {
        self.within[node] + self.ends_of(node).iter().map(|end| end.weight).sum::<f64>()
    }

    /// Each edge once.
    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        let of = |node: usize| {
            let ends = self.ends_of(node).iter().filter(move |end| end.to as usize > node);
            ends.map(move |end| (node as u32, end.to, end.weight))
        };
        (0..self.nodes()).flat_map(of)
    }

    /// Nodes that reach each other: each part in order, and the parts in the order of their first nodes.
    pub(super) fn parts(&self) -> Vec<Vec<u32>> {
        let mut is_seen = vec![false; self.nodes()];
        let mut parts = Vec::new();
        for first in 0..self.nodes() {
            if std::mem::replace(&mut is_seen[first], true) {
                continue;
            }
            let mut part = vec![first as u32];
            let mut at = 0;
            while let Some(&node) = part.get(at) {
                at += 1;
                for end in self.ends_of(node as usize) {
                    if !std::mem::replace(&mut is_seen[end.to as usize], true) {
                        part.push(end.to);
                    }
                }
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// A part by itself, its nodes numbered anew in their order.
    pub(super) fn part(&self, nodes: &[u32]) -> Graph {
        let number = |node: u32| nodes.binary_search(&node).unwrap_or_else(|_| unreachable!("it is a part"));
        let mut edges = Vec::new();
        for (at, &node) in nodes.iter().enumerate() {
            let ends = self.ends_of(node as usize).iter().filter(|end| end.to > node);
            edges.extend(ends.map(|end| (at as u32, number(end.to) as u32, end.weight)));
        }
        Self::from_edges(nodes.iter().map(|node| self.within(*node as usize)).collect(), &mut edges)
    }
}

/// The talk graph: ranks, and pairs of them with their traffic as weight.
#[derive(Debug, Clone)]
pub struct TalkGraph {
    ranks: Vec<Rank>,
    pub(super) graph: Graph,
}

impl TalkGraph {
    /// The graph of these ranks and those that are named in pairs, in any order and direction; a pair that is named again
    /// weighs so much more. A pair of a rank with itself, or of no weight, only names its ranks.
    #[must_use]
    pub fn new(
        ranks: impl IntoIterator<Item = Rank>,
        pairs: impl IntoIterator<Item = (Rank, Rank, f64)>,
    ) -> Self {
        let mut all: Vec<Rank> = ranks.into_iter().collect();
        let mut edges: Vec<(Rank, Rank, f64)> = Vec::new();
        for (one, other, weight) in pairs {
            if one != other && weight > 0.0 && weight.is_finite() {
                edges.push((one, other, weight));
            } else {
                all.extend([one, other]);
            }
        }
        all.extend(edges.iter().flat_map(|&(one, other, _)| [one, other]));
        all.sort_unstable();
        all.dedup();
        let node = |rank| all.binary_search(&rank).unwrap_or_else(|_| unreachable!("it was named")) as u32;
        let mut edges =
            edges.into_iter().map(|(one, other, weight)| (node(one), node(other), weight)).collect();
        let graph = Graph::from_edges(vec![0.0; all.len()], &mut edges);
        Self { ranks: all, graph }
    }

    /// All ranks, in order.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// Each pair that talked, once, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (Rank, Rank, f64)> + '_ {
        let rank = |node: u32| self.ranks[node as usize];
        self.graph.edges().map(move |(one, other, weight)| (rank(one), rank(other), weight))
    }
}
