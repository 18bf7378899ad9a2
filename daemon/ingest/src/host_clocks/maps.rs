//! The final clocks: the correction of all published times.

use super::bounds::Bounds;
use super::clock_bounds::ClockBounds;
use super::constraints::{Boxes, Constraints};
use super::node_clock::NodeClock;
use super::node_map::NodeMap;
use mpiscope_model::{Correction, Nanoseconds, Node};

/// Tolerances of the simplified line, tried in turn: fewer breakpoints, unless a message would then end before it
/// begins.
const TOLERANCES_NS: [i64; 3] = [100, 10, 0];
/// What a node takes in memory while maps are worked out, against what a pair of nodes takes.
const NODES_WEIGH: usize = 16;

/// One version of all clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockMaps {
    /// Each node's.
    pub nodes: Vec<NodeMap>,
    /// Whether it is proven that by these clocks no message that the bounds were shown ends before it begins.
    pub is_free_of_violations: bool,
}

impl ClockMaps {
    /// Combines the bounds of round trips and messages, for all published times up to `until_ns`. A node with an
    /// unknown clock is not among the result.
    #[must_use]
    pub fn solve(clocks: &[(Node, &NodeClock)], bounds: &mut Bounds, until_ns: Nanoseconds) -> Self {
        bounds.cover(until_ns, bounds.pairs().len().max(clocks.len() * NODES_WEIGH));
        let times_ns = bounds.breakpoints();
        let known: Vec<ClockBounds<'_>> = clocks
            .iter()
            .filter(|(_, clock)| clock.is_known())
            .map(|&(node, clock)| ClockBounds::new(node, clock, &times_ns))
            .collect();
        let mut boxes = Boxes::default();
        for breakpoint in 0..times_ns.len() {
            for known in &known {
                let course = known.course(breakpoint);
                boxes.ranges.push(known.range(breakpoint));
                boxes.changes.push(course.change);
                boxes.swings.push(course.swings);
            }
        }
        let nodes: Vec<Node> = known.iter().map(|known| known.node).collect();
        let solution = Constraints::new(bounds, &nodes, boxes).solve();
        let column = |at: usize| -> Vec<(u64, i64)> {
            let column = solution.corrections.iter().skip(at).step_by(known.len());
            times_ns.iter().copied().zip(column.copied()).collect()
        };
        let simple = |tolerance_ns: i64| -> Vec<Correction> {
            (0..known.len()).map(|at| Correction::new(simplified(&column(at), tolerance_ns))).collect()
        };
        let is_free = |corrections: &Vec<Correction>| are_met(bounds, &nodes, corrections);
        let found = TOLERANCES_NS.into_iter().map(simple).find(is_free);
        let is_free_of_violations = found.is_some();
        // Where no tolerance helps, there is nothing to be gained by none.
        let corrections = found.unwrap_or_else(|| simple(TOLERANCES_NS[1]));
        let nodes = corrections.into_iter().enumerate().map(|(at, correction)| {
            known[at].map(correction, |breakpoint| solution.ranges[breakpoint * known.len() + at])
        });
        Self { nodes: nodes.collect(), is_free_of_violations }
    }

    /// The published time of a node, by these clocks.
    #[must_use]
    pub fn correct(&self, node: Node, told_ns: Nanoseconds) -> Nanoseconds {
        let map = self.nodes.iter().find(|map| map.node == node);
        map.map_or(told_ns, |map| map.correction.apply(told_ns))
    }
}

/// Selects points of a broken line: the line through them stays within a tolerance of each point.
fn simplified(points: &[(u64, i64)], tolerance_ns: i64) -> Vec<(u64, i64)> {
    if tolerance_ns == 0 {
        return points.to_vec();
    }
    let mut kept: Vec<(u64, i64)> = points.first().copied().into_iter().collect();
    // The slopes at which a line from the last kept point passes all points since near enough.
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for pair in points.windows(2) {
        let [before, point] = [pair[0], pair[1]];
        let slope =
            |from: (u64, i64), more_ns: i64| (point.1 - from.1 + more_ns) as f64 / (point.0 - from.0) as f64;
        let mut from = kept.last().copied().unwrap_or(before);
        if !(least..=most).contains(&slope(from, 0)) {
            kept.push(before);
            from = before;
            (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        least = least.max(slope(from, -tolerance_ns));
        most = most.min(slope(from, tolerance_ns));
    }
    kept.extend(points.last().filter(|last| kept.last() != Some(last)));
    kept
}

/// Whether no message can end before it begins: the corrections meet what messages demand wherever slots meet, hence
/// in between as well, and change slowly enough for it not to matter how long a message was under way.
fn are_met(bounds: &Bounds, nodes: &[Node], corrections: &[Correction]) -> bool {
    let times_ns = bounds.breakpoints();
    let values: Vec<Vec<i64>> = corrections
        .iter()
        .map(|correction| times_ns.iter().map(|&time_ns| correction.offset_at(time_ns)).collect())
        .collect();
    let is_even = |values: &Vec<i64>| {
        let steps = values.windows(2).zip(times_ns.windows(2));
        steps.into_iter().all(|(pair, times)| {
            pair[0].abs_diff(pair[1]) <= (times[1] - times[0]) / Bounds::SLOPE.unsigned_abs()
        })
    };
    let index = |node: &Node| nodes.iter().position(|other| other == node);
    let ends: Vec<_> = bounds.pairs().iter().map(|(from, to)| Some((index(from)?, index(to)?))).collect();
    let is_met = |breakpoint: usize| {
        bounds.around(breakpoint).all(|(pair, sides)| {
            let Some((from, to)) = ends[pair] else { return false };
            let short_ns = values[from][breakpoint].saturating_sub(values[to][breakpoint]);
            sides.into_iter().flatten().all(|took_ns| short_ns <= took_ns - took_ns.abs() / Bounds::SLOPE)
        })
    };
    values.iter().all(is_even) && (0..times_ns.len()).all(is_met)
}
