//! Average linkage, by chains of nearest neighbours: in time of the square of the nodes.
//!
//! Distances are counted in small steps that are far greater than rounding errors. Sums of them are exact, equal
//! distances stay equal, and the lowest number decides.

use super::inverse::Square;

/// Steps of a distance of one: with the greatest distance and 2,048 nodes, sums stay below 2^53.
const STEPS: f64 = (1 << 20) as f64;

/// Two groups that become one. Each is named by the least of its nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Merge {
    /// The mean distance between them.
    pub(super) height: f64,
    pub(super) one: u32,
    pub(super) other: u32,
}

/// A distance in whole steps.
pub(super) fn in_steps(distance: f64) -> f64 {
    (distance * STEPS).round()
}

/// All merges until one group is left, the nearest first.
pub(super) fn link(distances: &Square) -> Vec<Merge> {
    let mut linkage = Linkage::build(distances);
    let mut merges = Vec::new();
    let mut chain: Vec<usize> = Vec::new();
    while linkage.left.len() > 1 {
        let Some(&last) = chain.last() else {
            chain.push(linkage.left[0]);
            continue;
        };
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let (nearest, height) = linkage.nearest(last, before);
        if Some(nearest) == before {
            chain.truncate(chain.len() - 2);
            linkage.merge(last.min(nearest), last.max(nearest));
            let (one, other) = (last.min(nearest) as u32, last.max(nearest) as u32);
            merges.push(Merge { height: height / STEPS, one, other });
        } else {
            chain.push(nearest);
        }
    }
    // Stable: of merges at the same height those that others build on come first.
    merges.sort_by(|one, other| one.height.total_cmp(&other.height));
    merges
}

struct Linkage {
    /// Sums of the distances between the members of two groups.
    sums: Square,
    members: Vec<f64>,
    /// Groups that are left, in order.
    left: Vec<usize>,
}

impl Linkage {
    fn build(distances: &Square) -> Self {
        let nodes = distances.size();
        let mut sums = distances.clone();
        for node in 0..nodes {
            sums.row_mut(node).iter_mut().for_each(|distance| *distance = in_steps(*distance));
        }
        Self { sums, members: vec![1.0; nodes], left: (0..nodes).collect() }
    }

    /// The nearest group; of those as near this one, or else the first.
    fn nearest(&self, group: usize, at_best: Option<usize>) -> (usize, f64) {
        let sums = self.sums.row(group);
        let members = self.members[group];
        let mean = |other: usize| sums[other] / (members * self.members[other]);
        let mut nearest = at_best.map_or((usize::MAX, f64::INFINITY), |other| (other, mean(other)));
        for &other in &self.left {
            let mean = mean(other);
            if mean < nearest.1 && other != group {
                nearest = (other, mean);
            }
        }
        nearest
    }

    fn merge(&mut self, one: usize, other: usize) {
        self.left.retain(|group| *group != other);
        let of_other = self.sums.row(other).to_vec();
        for &group in &self.left {
            let sum = self.sums.get(one, group) + of_other[group];
            self.sums.row_mut(one)[group] = sum;
            self.sums.row_mut(group)[one] = sum;
        }
        self.members[one] += self.members[other];
    }
}
