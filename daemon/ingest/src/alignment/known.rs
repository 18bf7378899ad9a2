//! What is known of one node's clock, as bounds of its correction at the knots, and what that leaves open between them.

use super::corridor::Corridor;
use super::maps::NodeMap;
use super::node_clock::NodeClock;
use mpiscope_model::{Correction, Nanoseconds, Node};

/// A told time and the moment it was told for are whole nanoseconds.
const ROUNDING_NS: i64 = 2;

/// Down and up, in the slot before and in the slot after a knot.
pub(super) type Swings = [(i64, i64); 2];

pub(super) struct Known<'a> {
    pub(super) node: Node,
    clock: &'a NodeClock,
    corridor: Corridor,
    /// The times of the knots as they were told, and the node's clock at each.
    told_ns: &'a [Nanoseconds],
    locals_ns: Vec<u64>,
}

impl<'a> Known<'a> {
    pub(super) fn new(node: Node, clock: &'a NodeClock, told_ns: &'a [Nanoseconds]) -> Self {
        let locals_ns = told_ns.iter().map(|&told_ns| clock.local_of(told_ns)).collect();
        Self { node, clock, corridor: clock.corridor(), told_ns, locals_ns }
    }

    /// The least and the greatest correction at a knot, by round trips.
    pub(super) fn range(&self, knot: usize) -> (i64, i64) {
        let local_ns = self.locals_ns[knot];
        let Some(found) = self.corridor.at(local_ns) else { return (0, 0) };
        let told_ns = self.clock.offset_at(local_ns);
        (found.low_ns.saturating_sub(told_ns), found.high_ns.saturating_sub(told_ns))
    }

    /// By how much the correction changes at least and at most from a knot to the next; nothing after the last.
    pub(super) fn change(&self, knot: usize) -> (i64, i64) {
        match self.locals_ns.get(knot + 1) {
            Some(&next_ns) if !self.clock.is_reference() => {
                let (least_ns, most_ns) = self.corridor.change(self.locals_ns[knot], next_ns);
                let told_ns = self.clock.offset_at(next_ns) - self.clock.offset_at(self.locals_ns[knot]);
                (least_ns - told_ns - ROUNDING_NS, most_ns - told_ns + ROUNDING_NS)
            }
            _ => (0, 0),
        }
    }

    /// How far the correction can be from that at a knot, down and up, until the knot before and until the knot after.
    pub(super) fn swings(&self, knot: usize) -> Swings {
        let swing = |other: Option<usize>| {
            let Some(&end_ns) = other.and_then(|other| self.locals_ns.get(other)) else { return (0, 0) };
            if self.clock.is_reference() {
                return (0, 0);
            }
            let here_ns = self.locals_ns[knot];
            let (mut lowest_ns, mut highest_ns) = (0, 0);
            for moment_ns in self.moments(here_ns.min(end_ns), here_ns.max(end_ns)) {
                let told_ns = self.clock.offset_at(moment_ns) - self.clock.offset_at(here_ns);
                let (least_ns, most_ns) = if moment_ns > here_ns {
                    self.corridor.change(here_ns, moment_ns)
                } else {
                    let (least_ns, most_ns) = self.corridor.change(moment_ns, here_ns);
                    (-most_ns, -least_ns)
                };
                lowest_ns = lowest_ns.min(least_ns - told_ns - ROUNDING_NS);
                highest_ns = highest_ns.max(most_ns - told_ns + ROUNDING_NS);
            }
            (lowest_ns, highest_ns)
        };
        [swing(knot.checked_sub(1)), swing(Some(knot + 1))]
    }

    /// Between these moments of the node's clock, them included, what was told and what is known go straight.
    fn moments(&self, from_ns: u64, to_ns: u64) -> Vec<u64> {
        let mut moments: Vec<u64> = self.corridor.between(from_ns, to_ns).collect();
        moments.extend(self.clock.bends_between(from_ns, to_ns));
        moments.extend([from_ns, to_ns]);
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// The node's map with a correction that was found, and the range in which it could be at each knot.
    pub(super) fn map(&self, correction: Correction, range: impl Fn(usize) -> (i64, i64)) -> NodeMap {
        let knots = self.told_ns.len();
        let uncertainties = (1..knots)
            .map(|next| (self.told_ns[next - 1], self.uncertainty_ns(next - 1, &correction, &range)));
        let uncertainties = uncertainties.collect();
        let offset_ns = |local_ns: u64| self.offset_ns(&correction, local_ns);
        let ends = self.corridor.points().first().zip(self.corridor.points().last());
        let ends_ns = ends.map(|(first, last)| (first.at_ns, last.at_ns)).filter(|ends| ends.0 < ends.1);
        let drift = ends_ns.map_or(0.0, |(first_ns, last_ns)| {
            (offset_ns(last_ns) - offset_ns(first_ns)) as f64 / (last_ns - first_ns) as f64
        });
        NodeMap {
            node: self.node,
            ahead_ns: -offset_ns(self.locals_ns[0]),
            faster_ppb: -drift * 1e9,
            uncertainties,
            known_ns: ends_ns.map_or((0, 0), |(first_ns, last_ns)| {
                (self.clock.to_run(first_ns), self.clock.to_run(last_ns))
            }),
            correction,
        }
    }

    /// What is added to the node's clock in the end to get the reference's.
    fn offset_ns(&self, correction: &Correction, local_ns: u64) -> i64 {
        self.clock.offset_at(local_ns) + correction.at(self.clock.to_run(local_ns))
    }

    /// The most that corrected times from a knot to the next are from the truth. Everything in question is straight
    /// between the moments at which the map that was told bends or the rate is bounded otherwise, so it is enough to
    /// look there: at what follows from the knot before and from the knot after.
    fn uncertainty_ns(
        &self,
        knot: usize,
        correction: &Correction,
        range: &impl Fn(usize) -> (i64, i64),
    ) -> u64 {
        let (from_ns, to_ns) = (self.locals_ns[knot], self.locals_ns[knot + 1]);
        if self.clock.is_reference() {
            return correction.at(self.told_ns[knot]).unsigned_abs();
        }
        let moments = self.moments(from_ns, to_ns);
        let absolute = |knot: usize, local_ns: u64| {
            let (low_ns, high_ns) = range(knot);
            let told_ns = self.clock.offset_at(local_ns);
            (told_ns + low_ns, told_ns + high_ns)
        };
        let mut forward = vec![absolute(knot, from_ns)];
        let mut backward = vec![absolute(knot + 1, to_ns)];
        for pair in moments.windows(2) {
            let ((low_ns, high_ns), change) =
                (forward[forward.len() - 1], self.corridor.change(pair[0], pair[1]));
            forward.push((low_ns + change.0, high_ns + change.1));
        }
        for pair in moments.windows(2).rev() {
            let ((low_ns, high_ns), change) =
                (backward[backward.len() - 1], self.corridor.change(pair[0], pair[1]));
            backward.push((low_ns - change.1, high_ns - change.0));
        }
        backward.reverse();
        let mut most_ns = 0;
        let told: Vec<i64> = moments.iter().map(|&moment_ns| self.offset_ns(correction, moment_ns)).collect();
        for piece in 0..moments.len().saturating_sub(1) {
            let over = |ranges: &[(i64, i64)], at: usize| ranges[at].1 - told[at];
            let under = |ranges: &[(i64, i64)], at: usize| told[at] - ranges[at].0;
            let most_over = |ranges: &[(i64, i64)]| over(ranges, piece).max(over(ranges, piece + 1));
            let most_under = |ranges: &[(i64, i64)]| under(ranges, piece).max(under(ranges, piece + 1));
            most_ns = most_ns.max(most_over(&forward).min(most_over(&backward)));
            most_ns = most_ns.max(most_under(&forward).min(most_under(&backward)));
        }
        most_ns.saturating_add(ROUNDING_NS).unsigned_abs()
    }
}
