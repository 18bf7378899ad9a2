//! Ranks that come together, the nearest first, until the cut.

use super::cut::{self, Cut};
use super::graph::TalkGraph;
use super::inverse::Square;
use super::linkage::{self, Merge};
use super::method::Method;
use super::{coarsen, distance};
use mpiscope_model::Rank;

/// Parts of the graph with more ranks than that are made coarser first.
pub const MOST_EXACT: usize = 2_048;
/// The height of what stands together from the beginning: below all others.
const GIVEN: f64 = -1.0;

/// A part of the graph in which all reach each other, with their distances.
#[derive(Debug, Clone)]
struct Part {
    nodes: Vec<u32>,
    /// None where the part is too large.
    distances: Option<Square>,
}

/// In which order ranks come together.
#[derive(Debug, Clone)]
pub struct Clustering<'a> {
    graph: &'a TalkGraph,
    pub(super) merges: Vec<Merge>,
    parts: Vec<Part>,
    is_exact: bool,
}

impl<'a> Clustering<'a> {
    /// Of a graph.
    #[must_use]
    pub fn new(graph: &'a TalkGraph, method: Method) -> Self {
        Self::make(graph, method, MOST_EXACT, false)
    }

    /// Of a graph, with the distances between its ranks.
    #[must_use]
    pub fn with_distances(graph: &'a TalkGraph, method: Method) -> Self {
        Self::make(graph, method, MOST_EXACT, true)
    }

    /// With parts of more ranks than that made coarser.
    #[cfg(test)]
    pub(super) fn coarser_than(graph: &'a TalkGraph, method: Method, most: usize) -> Self {
        Self::make(graph, method, most, false)
    }

    fn make(graph: &'a TalkGraph, method: Method, most: usize, keeps: bool) -> Self {
        let mut clustering = Self { graph, merges: Vec::new(), parts: Vec::new(), is_exact: true };
        for nodes in graph.graph.parts() {
            let distances = clustering.part(&nodes, method, most);
            if keeps {
                clustering.parts.push(Part { nodes, distances });
            }
        }
        // Stable: of merges at the same height those that others build on come first.
        clustering.merges.sort_by(|one, other| one.height.total_cmp(&other.height));
        clustering
    }

    /// Merges the ranks of a part.
    fn part(&mut self, nodes: &[u32], method: Method, most: usize) -> Option<Square> {
        let part = self.graph.graph.part(nodes);
        if nodes.len() <= most {
            let distances = distance::distances(&part, method);
            let renamed = |merge: Merge| Merge {
                one: nodes[merge.one as usize],
                other: nodes[merge.other as usize],
                ..merge
            };
            self.merges.extend(linkage::link(&distances).into_iter().map(renamed));
            return Some(distances);
        }
        self.is_exact = false;
        let coarse = coarsen::coarsen(&part, most);
        let mut first = vec![None; coarse.graph.nodes()];
        for (&node, &group) in nodes.iter().zip(&coarse.node_of) {
            match first[group as usize] {
                None => first[group as usize] = Some(node),
                Some(one) => self.merges.push(Merge { height: GIVEN, one, other: node }),
            }
        }
        let first = |group: u32| first[group as usize].unwrap_or_else(|| unreachable!("no group is empty"));
        let merges = linkage::link(&distance::distances(&coarse.graph, method));
        let renamed = |merge: Merge| Merge { one: first(merge.one), other: first(merge.other), ..merge };
        self.merges.extend(merges.into_iter().map(renamed));
        None
    }

    /// The regions: the ranks of each in order, and the regions in the order of their first ranks.
    #[must_use]
    pub fn cut(&self, cut: Cut) -> Vec<Vec<Rank>> {
        let group_of = cut::cut(&self.graph.graph, &self.merges, cut);
        let mut regions: Vec<Vec<Rank>> = Vec::new();
        let mut number = vec![0; group_of.len()];
        for (node, &group) in group_of.iter().enumerate() {
            if group as usize == node {
                number[node] = regions.len();
                regions.push(Vec::new());
            }
            regions[number[group as usize]].push(self.graph.ranks()[node]);
        }
        regions
    }

    /// Whether no part was too large to be looked at rank by rank.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The distances of a rank from all, in order, by its place among the ranks: none from those that it does not reach.
    /// Nothing where distances were not asked for, or the graph was too large for them.
    #[must_use]
    pub fn distances_of(&self, place: usize) -> Option<Vec<Option<f64>>> {
        let mut all = vec![None; self.graph.ranks().len()];
        let (part, at) = self.parts.iter().find_map(|part| {
            let at = part.nodes.binary_search(&(place as u32)).ok()?;
            Some((part, at))
        })?;
        for (&node, &distance) in part.nodes.iter().zip(part.distances.as_ref()?.row(at)) {
            all[node as usize] = Some(distance);
        }
        Some(all)
    }
}

/// The weight within regions, less what would be there by chance, as a share of all.
#[must_use]
pub fn modularity(graph: &TalkGraph, regions: &[Vec<Rank>]) -> f64 {
    let mut group_of: Vec<u32> = (0..graph.ranks().len() as u32).collect();
    for region in regions {
        let nodes = region.iter().filter_map(|rank| graph.ranks().binary_search(rank).ok());
        let nodes: Vec<usize> = nodes.collect();
        nodes.iter().for_each(|node| group_of[*node] = nodes[0] as u32);
    }
    cut::modularity(&graph.graph, &group_of)
}

/// The regions of a graph, found as they usually are.
#[must_use]
pub fn regions(graph: &TalkGraph) -> Vec<Vec<Rank>> {
    Clustering::new(graph, Method::default()).cut(Method::default().usual_cut())
}
