//! Bounds of one node's clock correction at the breakpoints, and between them.

use super::corridor::Corridor;
use super::node_clock::NodeClock;
use super::node_map::NodeMap;
use mpiscope_model::{Correction, Nanoseconds, Node};

/// A published time and its moment are whole nanoseconds.
const ROUNDING_NS: i64 = 2;

/// A range, from low to high.
pub(super) type Range = (i64, i64);

/// A moment of the node's clock. Between it and the next, published offset and bounds are straight lines.
#[derive(Debug, Clone, Copy)]
struct Moment {
    local_ns: u64,
    /// The published offset.
    told_ns: i64,
    /// By how much the offset has changed since the first moment, at least and at most.
    changed: Range,
}

/// The course of the correction from a breakpoint on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Course {
    /// Its change to the next breakpoint.
    pub(super) change: Range,
    /// Its greatest distance from the breakpoint's value, in the slot before and in the slot after it.
    pub(super) swings: [Range; 2],
}

pub(super) struct ClockBounds<'a> {
    pub(super) node: Node,
    clock: &'a NodeClock,
    corridor: Corridor,
    /// The published times of the breakpoints.
    told_ns: &'a [Nanoseconds],
    moments: Vec<Moment>,
    /// Indices of the breakpoints among the moments.
    breakpoints: Vec<usize>,
}

impl<'a> ClockBounds<'a> {
    pub(super) fn new(node: Node, clock: &'a NodeClock, told_ns: &'a [Nanoseconds]) -> Self {
        let corridor = clock.corridor();
        let locals_ns: Vec<u64> = told_ns.iter().map(|&told_ns| clock.local_of(told_ns)).collect();
        let ends = locals_ns.first().copied().unwrap_or(0)..=locals_ns.last().copied().unwrap_or(0);
        let points = corridor.points().iter().map(|point| point.at_ns);
        let inside = points.chain(clock.bends()).filter(|local_ns| ends.contains(local_ns));
        let mut all_ns: Vec<u64> = inside.chain(locals_ns.iter().copied()).collect();
        all_ns.sort_unstable();
        all_ns.dedup();
        let mut known = Self { node, clock, corridor, told_ns, moments: Vec::new(), breakpoints: Vec::new() };
        let mut next = 0;
        for local_ns in all_ns {
            let changed = known.moments.last().map_or((0, 0), |last| {
                let rate = known.corridor.rate(next, local_ns - last.local_ns);
                let (least_ns, most_ns) = rate.change(local_ns - last.local_ns);
                (last.changed.0.saturating_add(least_ns), last.changed.1.saturating_add(most_ns))
            });
            let points = &known.corridor.points()[next..];
            next += points.iter().take_while(|point| point.at_ns <= local_ns).count();
            known.moments.push(Moment { local_ns, told_ns: clock.offset_at(local_ns), changed });
        }
        let index = |local_ns| known.moments.partition_point(|moment| moment.local_ns < local_ns);
        known.breakpoints = locals_ns.into_iter().map(index).collect();
        known
    }

    fn moment(&self, breakpoint: usize) -> &Moment {
        &self.moments[self.breakpoints[breakpoint]]
    }

    /// The correction at a breakpoint, by round trips.
    pub(super) fn range(&self, breakpoint: usize) -> Range {
        let moment = self.moment(breakpoint);
        let found = self.corridor.interval_at(moment.local_ns);
        found.map_or((0, 0), |found| {
            (found.low_ns.saturating_sub(moment.told_ns), found.high_ns.saturating_sub(moment.told_ns))
        })
    }

    /// The change of the correction from one moment to a later one.
    fn change(&self, from: &Moment, to: &Moment) -> Range {
        if self.clock.is_reference() {
            return (0, 0);
        }
        let told_ns = to.told_ns - from.told_ns;
        (
            to.changed.0 - from.changed.0 - told_ns - ROUNDING_NS,
            to.changed.1 - from.changed.1 - told_ns + ROUNDING_NS,
        )
    }

    /// The course of the correction from a breakpoint on; zero after the last.
    pub(super) fn course(&self, breakpoint: usize) -> Course {
        let start = self.moment(breakpoint);
        let around = |range: Range, other: Range| (range.0.min(other.0), range.1.max(other.1));
        let mut course = Course::default();
        if breakpoint > 0 {
            for moment in &self.moments[self.breakpoints[breakpoint - 1]..self.breakpoints[breakpoint]] {
                let (least_ns, most_ns) = self.change(moment, start);
                course.swings[0] = around(course.swings[0], (-most_ns, -least_ns));
            }
        }
        if let Some(&next) = self.breakpoints.get(breakpoint + 1) {
            course.change = self.change(start, &self.moments[next]);
            for moment in &self.moments[self.breakpoints[breakpoint]..=next] {
                course.swings[1] = around(course.swings[1], self.change(start, moment));
            }
        }
        course
    }

    /// The node's map with the correction that was found, and its range at each breakpoint.
    pub(super) fn map(&self, correction: Correction, range: impl Fn(usize) -> Range) -> NodeMap {
        let slots = 1..self.told_ns.len();
        let uncertainties =
            slots.map(|next| (self.told_ns[next - 1], self.uncertainty_ns(next - 1, &correction, &range)));
        let uncertainties = uncertainties.collect();
        let offset_ns = |local_ns: u64| self.offset_ns(&correction, local_ns);
        let ends = self.corridor.points().first().zip(self.corridor.points().last());
        let ends_ns = ends.map(|(first, last)| (first.at_ns, last.at_ns)).filter(|ends| ends.0 < ends.1);
        let drift = ends_ns.map_or(0.0, |(first_ns, last_ns)| {
            (offset_ns(last_ns) - offset_ns(first_ns)) as f64 / (last_ns - first_ns) as f64
        });
        NodeMap {
            node: self.node,
            ahead_ns: -offset_ns(self.moment(0).local_ns),
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
        self.clock.offset_at(local_ns) + correction.offset_at(self.clock.to_run(local_ns))
    }

    /// The greatest error of corrected times from a breakpoint to the next. Both are straight between moments, and so
    /// it is enough to check the moments: against the breakpoint before and the one after.
    fn uncertainty_ns(
        &self,
        breakpoint: usize,
        correction: &Correction,
        range: &impl Fn(usize) -> Range,
    ) -> u64 {
        if self.clock.is_reference() {
            return correction.offset_at(self.told_ns[breakpoint]).unsigned_abs();
        }
        let moments = &self.moments[self.breakpoints[breakpoint]..=self.breakpoints[breakpoint + 1]];
        let (begin, end) = (self.moment(breakpoint), self.moment(breakpoint + 1));
        // The distance of the correction from its lower and its upper bound, by either breakpoint.
        let excess = |moment: &Moment| {
            let added_ns = correction.offset_at(self.clock.to_run(moment.local_ns));
            let (forward, backward) = (self.change(begin, moment), self.change(moment, end));
            let (before, after) = (range(breakpoint), range(breakpoint + 1));
            [
                added_ns - (before.0 + forward.0),
                added_ns - (after.0 - backward.1),
                before.1 + forward.1 - added_ns,
                after.1 - backward.0 - added_ns,
            ]
        };
        let excesses: Vec<[i64; 4]> = moments.iter().map(excess).collect();
        let most_ns = excesses.windows(2).map(|pair| {
            let most = |of: usize| pair[0][of].max(pair[1][of]);
            most(0).min(most(1)).max(most(2).min(most(3)))
        });
        most_ns.max().unwrap_or(0).max(0).saturating_add(ROUNDING_NS).unsigned_abs()
    }
}
