//! The clocks as they are known in the end: by how much the times that were told are to be corrected.

use super::bounds::Bounds;
use super::constraints::{Boxes, Constraints};
use super::known::Known;
use super::node_clock::NodeClock;
use mpiscope_model::{Correction, Nanoseconds, Node};

/// How far the broken line that is kept may be from the one that was found, tried in turn: fewer knots, unless a message
/// would end before it begins for it.
const TOLERANCES_NS: [i64; 3] = [100, 10, 0];
/// What a node takes in memory while maps are worked out, against what a pair of nodes takes.
const NODES_WEIGH: usize = 16;

/// The clock of one node in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeMap {
    /// The node.
    pub node: Node,
    /// How far its clock is ahead of the reference's at the start of the run.
    pub ahead_ns: i64,
    /// How much faster it goes on the whole, in parts per billion.
    pub faster_ppb: f64,
    /// What is added to times that were told.
    pub correction: Correction,
    /// How far corrected times are from the truth at most, each from a time on.
    pub uncertainties: Vec<(Nanoseconds, u64)>,
    /// The time between its first and its last round trip.
    pub(super) known_ns: (Nanoseconds, Nanoseconds),
}

impl NodeMap {
    /// How far a time, as it was told, is from the truth at most once it is corrected.
    #[must_use]
    pub fn uncertainty_at(&self, told_ns: Nanoseconds) -> u64 {
        let after = self.uncertainties.partition_point(|&(from_ns, _)| from_ns <= told_ns);
        self.uncertainties.get(after.saturating_sub(1)).map_or(0, |&(_, uncertainty_ns)| uncertainty_ns)
    }

    /// The most that any time between its first and its last round trip is from the truth.
    #[must_use]
    pub fn uncertainty_ns(&self) -> u64 {
        let (begin_ns, end_ns) = self.known_ns;
        let first = self.uncertainties.partition_point(|&(from_ns, _)| from_ns <= begin_ns).saturating_sub(1);
        let inside = self.uncertainties[first..].iter().take_while(|&&(from_ns, _)| from_ns <= end_ns);
        inside.map(|&(_, uncertainty_ns)| uncertainty_ns).max().unwrap_or(0)
    }
}

/// One version of all clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockMaps {
    /// Each node's.
    pub nodes: Vec<NodeMap>,
    /// Whether it is proven that by these clocks no message that the bounds were shown ends before it begins.
    pub is_free_of_violations: bool,
}

impl ClockMaps {
    /// Brings together what round trips and messages say, for all times up to `until_ns` as they were told. A node whose
    /// clock is not known yet is not among the result.
    #[must_use]
    pub fn solve(clocks: &[(Node, &NodeClock)], bounds: &mut Bounds, until_ns: Nanoseconds) -> Self {
        bounds.cover(until_ns, bounds.pairs().len().max(clocks.len() * NODES_WEIGH));
        let times_ns = bounds.knots();
        let known: Vec<Known<'_>> = clocks
            .iter()
            .filter(|(_, clock)| clock.is_known())
            .map(|&(node, clock)| Known::new(node, clock, &times_ns))
            .collect();
        let mut boxes = Boxes::default();
        for knot in 0..times_ns.len() {
            for known in &known {
                let course = known.course(knot);
                boxes.ranges.push(known.range(knot));
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
            known[at].map(correction, |knot| solution.ranges[knot * known.len() + at])
        });
        Self { nodes: nodes.collect(), is_free_of_violations }
    }

    /// A time of a node as it was told, by these clocks.
    #[must_use]
    pub fn correct(&self, node: Node, told_ns: Nanoseconds) -> Nanoseconds {
        let map = self.nodes.iter().find(|map| map.node == node);
        map.map_or(told_ns, |map| map.correction.apply(told_ns))
    }
}

/// Few of the points of a broken line, so that the line through them is no further than a tolerance from each.
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
    let times_ns = bounds.knots();
    let values: Vec<Vec<i64>> = corrections
        .iter()
        .map(|correction| times_ns.iter().map(|&time_ns| correction.at(time_ns)).collect())
        .collect();
    let is_even = |values: &Vec<i64>| {
        let steps = values.windows(2).zip(times_ns.windows(2));
        steps.into_iter().all(|(pair, times)| {
            pair[0].abs_diff(pair[1]) <= (times[1] - times[0]) / Bounds::SLOPE.unsigned_abs()
        })
    };
    let index = |node: &Node| nodes.iter().position(|other| other == node);
    let ends: Vec<_> = bounds.pairs().iter().map(|(from, to)| Some((index(from)?, index(to)?))).collect();
    let is_met = |knot: usize| {
        bounds.around(knot).all(|(pair, sides)| {
            let Some((from, to)) = ends[pair] else { return false };
            let short_ns = values[from][knot].saturating_sub(values[to][knot]);
            sides.into_iter().flatten().all(|took_ns| short_ns <= took_ns - took_ns.abs() / Bounds::SLOPE)
        })
    };
    values.iter().all(is_even) && (0..times_ns.len()).all(is_met)
}
