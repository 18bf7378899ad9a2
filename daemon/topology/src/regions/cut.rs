//! Groups of nodes out of merges.

use super::graph::Graph;
use super::linkage::Merge;

/// Where merging stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cut {
    /// Where the modularity of the graph is greatest.
    Auto,
    /// At this mean distance between two regions.
    At(f64),
    /// At this number of regions, or at the number of connected parts.
    Count(usize),
}

/// Two partitions whose modularities differ by less than this are as good; the one with fewer regions is taken.
const AS_GOOD: f64 = 1e-9;

/// The group of each node when merges, the nearest first, are made up to the cut. Each is named by its least node.
pub(super) fn cut(graph: &Graph, merges: &[Merge], cut: Cut) -> Vec<u32> {
    let made = match cut {
        Cut::At(height) => merges.partition_point(|merge| merge.height <= height),
        Cut::Count(count) => graph.nodes().saturating_sub(count).min(merges.len()),
        Cut::Auto => best(graph, merges),
    };
    // What stands for several from the beginning is never taken apart.
    let given = merges.partition_point(|merge| merge.height < 0.0);
    let mut groups = Groups::build(graph.nodes());
    merges[..made.max(given)].iter().for_each(|merge| {
        groups.merge(merge.one, merge.other);
    });
    groups.least_of_each()
}

/// How many merges make the groups of the greatest modularity. Merges of the same height are made together.
fn best(graph: &Graph, merges: &[Merge]) -> usize {
    let degrees: Vec<f64> = (0..graph.nodes()).map(|node| graph.degree(node)).collect();
    let whole: f64 = degrees.iter().sum();
    if whole <= 0.0 {
        return 0;
    }
    let mut of_group = degrees.clone();
    let mut groups = Groups::build(graph.nodes());
    // Only what merges change; where it begins does not matter.
    let (mut modularity, mut best) = (0.0, (0.0, 0));
    for (at, merge) in merges.iter().enumerate() {
        let is_given = merge.height < 0.0;
        let (one, other) = (groups.label(merge.one), groups.label(merge.other));
        let between = groups.between(graph, one, other);
        let (a, b) = (of_group[one as usize], of_group[other as usize]);
        modularity += 2.0 * (between / whole - (a / whole) * (b / whole));
        let kept = groups.merge(merge.one, merge.other);
        of_group[kept as usize] = a + b;
        let is_level = merges.get(at + 1).is_none_or(|next| next.height > merge.height);
        if is_level && (is_given || modularity >= best.0 - AS_GOOD) {
            best = (if is_given { modularity } else { modularity.max(best.0) }, at + 1);
        }
    }
    best.1
}

/// The modularity of a partition: the weight within groups, less what would be there by chance.
pub(super) fn modularity(graph: &Graph, group_of: &[u32]) -> f64 {
    let mut degree_of = vec![0.0; graph.nodes()];
    let mut within = 0.0;
    for node in 0..graph.nodes() {
        degree_of[group_of[node] as usize] += graph.degree(node);
        let ends = graph.ends_of(node).iter().filter(|end| group_of[end.to as usize] == group_of[node]);
        within += graph.within(node) + ends.map(|end| end.weight).sum::<f64>();
    }
    let whole: f64 = degree_of.iter().sum();
    if whole <= 0.0 {
        return 0.0;
    }
    within / whole - degree_of.iter().map(|degree| (degree / whole) * (degree / whole)).sum::<f64>()
}

/// Groups that grow; of two that merge the members of the smaller one move.
struct Groups {
    label: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Groups {
    fn build(nodes: usize) -> Self {
        Self {
            label: (0..nodes as u32).collect(),
            members: (0..nodes as u32).map(|node| vec![node]).collect(),
        }
    }

    fn label(&self, node: u32) -> u32 {
        self.label[node as usize]
    }

    fn smaller_first(&self, one: u32, other: u32) -> (u32, u32) {
        let of = |label: u32| self.members[label as usize].len();
        if of(one) < of(other) { (one, other) } else { (other, one) }
    }

    fn between(&self, graph: &Graph, one: u32, other: u32) -> f64 {
        let (smaller, larger) = self.smaller_first(one, other);
        let of = |node: &u32| {
            let ends = graph.ends_of(*node as usize).iter();
            ends.filter(|end| self.label(end.to) == larger).map(|end| end.weight).sum::<f64>()
        };
        self.members[smaller as usize].iter().map(of).sum()
    }

    /// Says under which label the two go on.
    fn merge(&mut self, one: u32, other: u32) -> u32 {
        let (smaller, larger) = self.smaller_first(self.label(one), self.label(other));
        let moved = std::mem::take(&mut self.members[smaller as usize]);
        moved.iter().for_each(|node| self.label[*node as usize] = larger);
        self.members[larger as usize].extend(moved);
        larger
    }

    fn least_of_each(&self) -> Vec<u32> {
        let mut least = vec![u32::MAX; self.label.len()];
        for (node, &label) in self.label.iter().enumerate() {
            least[label as usize] = least[label as usize].min(node as u32);
        }
        self.label.iter().map(|label| least[*label as usize]).collect()
    }
}
