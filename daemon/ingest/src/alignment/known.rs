//! What is known of one node's clock, as bounds of its correction at the knots, and what that leaves open between them.

use super::corridor::Corridor;
use super::maps::NodeMap;
use super::node_clock::NodeClock;
use mpiscope_model::{Correction, Nanoseconds, Node};

/// A told time and the moment it was told for are whole nanoseconds.
const ROUNDING_NS: i64 = 2;

/// A range, from low to high.
pub(super) type Range = (i64, i64);

/// A moment of the node's clock. Between it and the next, what was told and what is known go straight.
#[derive(Debug, Clone, Copy)]
struct Moment {
    local_ns: u64,
    /// The offset that was told.
    told_ns: i64,
    /// By how much the offset has changed since the first moment, at least and at most.
    changed: Range,
}

/// How the correction goes on from a knot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Course {
    /// Its change to the next knot.
    pub(super) change: Range,
    /// How far it can be from that at the knot, in the slot before and in the slot after it.
    pub(super) swings: [Range; 2],
}

pub(super) struct Known<'a> {
    pub(super) node: Node,
    clock: &'a NodeClock,
    corridor: Corridor,
    /// The times of the knots as they were told.
    told_ns: &'a [Nanoseconds],
    moments: Vec<Moment>,
    /// Which of the moments are the knots.
    knots: Vec<usize>,
}

impl<'a> Known<'a> {
    pub(super) fn new(node: Node, clock: &'a NodeClock, told_ns: &'a [Nanoseconds]) -> Self {
        let corridor = clock.corridor();
        let locals_ns: Vec<u64> = told_ns.iter().map(|&told_ns| clock.local_of(told_ns)).collect();
        let ends = locals_ns.first().copied().unwrap_or(0)..=locals_ns.last().copied().unwrap_or(0);
        let points = corridor.points().iter().map(|point| point.at_ns);
        let inside = points.chain(clock.bends()).filter(|local_ns| ends.contains(local_ns));
        let mut all_ns: Vec<u64> = inside.chain(locals_ns.iter().copied()).collect();
        all_ns.sort_unstable();
        all_ns.dedup();
        let mut known = Self { node, clock, corridor, told_ns, moments: Vec::new(), knots: Vec::new() };
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
        known.knots = locals_ns.into_iter().map(index).collect();
        known
    }

    fn moment(&self, knot: usize) -> &Moment {
        &self.moments[self.knots[knot]]
    }

    /// The correction at a knot, by round trips.
    pub(super) fn range(&self, knot: usize) -> Range {
        let moment = self.moment(knot);
        let found = self.corridor.at(moment.local_ns);
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

    /// How the correction goes on from a knot; not at all after the last.
    pub(super) fn course(&self, knot: usize) -> Course {
        let here = self.moment(knot);
        let around = |range: Range, other: Range| (range.0.min(other.0), range.1.max(other.1));
        let mut course = Course::default();
        if knot > 0 {
            for moment in &self.moments[self.knots[knot - 1]..self.knots[knot]] {
                let (least_ns, most_ns) = self.change(moment, here);
                course.swings[0] = around(course.swings[0], (-most_ns, -least_ns));
            }
        }
        if let Some(&next) = self.knots.get(knot + 1) {
            course.change = self.change(here, &self.moments[next]);
            for moment in &self.moments[self.knots[knot]..=next] {
                course.swings[1] = around(course.swings[1], self.change(here, moment));
            }
        }
        course
    }

    /// The node's map with a correction that was found, and the range in which it could be at each knot.
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
        self.clock.offset_at(local_ns) + correction.at(self.clock.to_run(local_ns))
    }

    /// The most that corrected times from a knot to the next are from the truth. Both go straight between moments, so it
    /// is enough to look there: at what follows from the knot before and from the knot after.
    fn uncertainty_ns(&self, knot: usize, correction: &Correction, range: &impl Fn(usize) -> Range) -> u64 {
        if self.clock.is_reference() {
            return correction.at(self.told_ns[knot]).unsigned_abs();
        }
        let moments = &self.moments[self.knots[knot]..=self.knots[knot + 1]];
        let (begin, end) = (self.moment(knot), self.moment(knot + 1));
        // How far the correction is above the least and below the most that it can be, by either knot.
        let excess = |moment: &Moment| {
            let added_ns = correction.at(self.clock.to_run(moment.local_ns));
            let (forward, backward) = (self.change(begin, moment), self.change(moment, end));
            let (before, after) = (range(knot), range(knot + 1));
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
