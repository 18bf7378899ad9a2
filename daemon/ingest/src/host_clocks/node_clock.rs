//! The clock of one node as time of the run, while the run goes on.

use super::corridor::Corridor;
use super::interval::{Interval, RoundTrip};

/// Round trips of this time are one interval at first; twice as long each time there are too many.
const SLOT_NS: u64 = 100_000_000;
const MOST_SLOTS: usize = 2_048;
/// The newest slots show the present state of the clock.
const RECENT_SLOTS: usize = 128;
/// An error outside of the bounds is removed in this time, an offset from their middle within a share of the time
/// since the start. The map therefore gets smoother as the run gets longer, and its own bends do not count beside
/// drift.
const SOON_NS: f64 = 1e9;
const LATER_SHARE: f64 = 1.0 / 4.0;
/// No map is bent more than this to make something good: durations are wrong by as much.
const MOST_BEND: f64 = 2e-3;

/// From here on the offset changes at this rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Breakpoint {
    local_ns: u64,
    offset_ns: i64,
    rate: f64,
}

impl Breakpoint {
    fn offset_at(&self, local_ns: u64) -> i64 {
        let span = if local_ns >= self.local_ns {
            (local_ns - self.local_ns) as f64
        } else {
            -((self.local_ns - local_ns) as f64)
        };
        self.offset_ns.saturating_add((self.rate * span).floor() as i64)
    }
}

/// Maps a node's monotonic clock to time of the run.
///
/// Published times never change ([`NodeClock::fix_until`]): later samples bend only what comes. [`super::ClockMaps`]
/// corrects the past.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeClock {
    zero_ns: u64,
    is_reference: bool,
    slot_ns: u64,
    slots: Vec<Interval>,
    scale: u32,
    breakpoints: Vec<Breakpoint>,
    fixed_until_ns: Option<u64>,
    newest_ns: u64,
}

impl NodeClock {
    /// A clock without any samples. Time zero of the run is `zero_ns` of the reference.
    #[must_use]
    pub fn new(zero_ns: u64) -> Self {
        Self {
            zero_ns,
            is_reference: false,
            slot_ns: SLOT_NS,
            slots: Vec::new(),
            scale: 1,
            breakpoints: Vec::new(),
            fixed_until_ns: None,
            newest_ns: 0,
        }
    }

    /// The clock that defines the time of the run.
    #[must_use]
    pub fn reference(zero_ns: u64) -> Self {
        Self { is_reference: true, ..Self::new(zero_ns) }
    }

    /// Whether it is the one that defines the time of the run.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        self.is_reference
    }

    /// Whether it can convert times. Until then every moment is the start of the run.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_reference || !self.breakpoints.is_empty()
    }

    /// One more round trip; they come in order of time, and one that belongs before the last slot is passed over.
    pub fn sample(&mut self, trip: RoundTrip) {
        if self.is_reference {
            return;
        }
        self.newest_ns = self.newest_ns.max(trip.local_ns);
        let begins_slot = self.keep(Interval::from_trip(&trip));
        if begins_slot || self.fixed_until_ns.is_none() {
            self.bend(trip.local_ns);
        }
    }

    /// Times up to this one are published: from now on they stay as they are.
    pub fn fix_until(&mut self, local_ns: u64) {
        self.fixed_until_ns = self.fixed_until_ns.max(Some(local_ns));
    }

    /// A moment of the node's clock as time of the run. Earlier moments are never later.
    #[must_use]
    pub fn to_run(&self, local_ns: u64) -> u64 {
        if !self.is_known() {
            return 0;
        }
        local_ns.saturating_add_signed(self.offset_at(local_ns)).saturating_sub(self.zero_ns)
    }

    /// How far [`NodeClock::to_run`] is from the truth at most, as far as is known by now. It looks at everything that is
    /// known: for a figure to be shown, not for each call.
    #[must_use]
    pub fn uncertainty_ns(&self, local_ns: u64) -> u64 {
        self.wrong_at_most(&self.corridor(), local_ns)
    }

    fn wrong_at_most(&self, corridor: &Corridor, local_ns: u64) -> u64 {
        if self.is_reference {
            return 0;
        }
        corridor.interval_at(local_ns).map_or(u64::MAX, |found| {
            let told_ns = self.offset_at(local_ns);
            told_ns.abs_diff(found.low_ns).max(told_ns.abs_diff(found.high_ns))
        })
    }

    /// [`NodeClock::uncertainty_ns`] at the newest round trip, by the bounds until then; none before the first.
    #[must_use]
    pub fn newest_uncertainty_ns(&self) -> Option<u64> {
        self.is_known().then(|| self.wrong_at_most(&self.recent(), self.newest_ns))
    }

    /// What is known of the offset, over all time.
    pub(super) fn corridor(&self) -> Corridor {
        Corridor::new(&self.slots, self.scale)
    }

    /// The published offset of a moment of the node's clock from the reference's.
    pub(super) fn offset_at(&self, local_ns: u64) -> i64 {
        // Calls that just ended lie behind the last bend.
        if let Some(last) = self.breakpoints.last()
            && last.local_ns <= local_ns
        {
            return last.offset_at(local_ns);
        }
        let after = self.breakpoints.partition_point(|breakpoint| breakpoint.local_ns <= local_ns);
        self.breakpoints.get(after.saturating_sub(1)).map_or(0, |breakpoint| breakpoint.offset_at(local_ns))
    }

    /// The moment of the node's clock at a time of the run, to the nanosecond before it.
    pub(super) fn local_of(&self, run_ns: u64) -> u64 {
        let time_ns = run_ns.saturating_add(self.zero_ns);
        let begins =
            |breakpoint: &Breakpoint| breakpoint.local_ns.saturating_add_signed(breakpoint.offset_ns);
        let after = self.breakpoints.partition_point(|breakpoint| begins(breakpoint) <= time_ns);
        let Some(breakpoint) = self.breakpoints.get(after.saturating_sub(1)) else { return time_ns };
        // The rate is so small that two steps are exact.
        let first_ns = time_ns.saturating_add_signed(breakpoint.offset_ns.saturating_neg());
        let second_ns = time_ns.saturating_add_signed(breakpoint.offset_at(first_ns).saturating_neg());
        time_ns.saturating_add_signed(breakpoint.offset_at(second_ns).saturating_neg())
    }

    /// The moments of the node's clock at which the map bends.
    pub(super) fn bends(&self) -> impl Iterator<Item = u64> + '_ {
        self.breakpoints.iter().map(|breakpoint| breakpoint.local_ns)
    }

    /// Keeps an interval; returns whether a slot began with it.
    fn keep(&mut self, found: Interval) -> bool {
        let number = |interval: &Interval| interval.at_ns / self.slot_ns;
        match self.slots.last_mut() {
            Some(last) if number(last) == number(&found) => {
                *last = last.merged(&found);
                return false;
            }
            Some(last) if last.at_ns > found.at_ns => return false,
            _ => self.slots.push(found),
        }
        if self.slots.len() > MOST_SLOTS {
            self.merge_slots();
        }
        true
    }

    /// Makes slots twice as long. Their neighbours tighten them first, to keep the information of those that go.
    fn merge_slots(&mut self) {
        let corridor = self.corridor();
        self.scale = corridor.scale();
        self.slot_ns *= 2;
        self.slots.clear();
        for &point in corridor.points() {
            match self.slots.last_mut() {
                Some(last) if last.at_ns / self.slot_ns == point.at_ns / self.slot_ns => {
                    *last = last.merged(&point);
                }
                _ => self.slots.push(point),
            }
        }
    }

    fn recent(&self) -> Corridor {
        Corridor::new(&self.slots[self.slots.len().saturating_sub(RECENT_SLOTS)..], self.scale)
    }

    /// Bends the map at a moment toward the newest bounds; before anything is published, puts it right there.
    fn bend(&mut self, local_ns: u64) {
        let recent = self.recent();
        let rate = recent.last_rate();
        let Some(fixed_ns) = self.fixed_until_ns.filter(|_| !self.breakpoints.is_empty()) else {
            let Some(newest) = recent.points().last() else { return };
            self.breakpoints =
                vec![Breakpoint { local_ns: newest.at_ns, offset_ns: newest.middle_ns(), rate }];
            return;
        };
        let last_ns = self.breakpoints.last().map_or(0, |breakpoint| breakpoint.local_ns);
        let local_ns = local_ns.max(fixed_ns).max(last_ns);
        let Some(newest) = recent.interval_at(local_ns) else { return };
        let told_ns = self.offset_at(local_ns);
        let inside = (newest.low_ns..=newest.high_ns).contains(&told_ns);
        let age = local_ns
            .saturating_sub(self.breakpoints.first().map_or(local_ns, |breakpoint| breakpoint.local_ns))
            as f64;
        // The next bend comes with the next slot: a correction that ends earlier would go on past its goal.
        let soon = SOON_NS.max(2.0 * self.slot_ns as f64);
        let within = if inside { soon.max(age * LATER_SHARE) } else { soon };
        let wrong = newest.middle_ns().saturating_sub(told_ns) as f64;
        let bend = (wrong / within).clamp(-MOST_BEND, MOST_BEND);
        if last_ns == local_ns {
            self.breakpoints.pop();
        }
        self.breakpoints.push(Breakpoint { local_ns, offset_ns: told_ns, rate: rate + bend });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ahead by ten seconds and faster by 40 millionths, seen through round trips of 30 to 60 us.
    fn trip(at_ns: u64) -> RoundTrip {
        let local_ns = at_ns + 10_000_000_000 + at_ns / 25_000;
        let late_ns = at_ns / 1_000_003 % 15_000;
        let offset_ns = at_ns as i64 - local_ns as i64 + late_ns as i64;
        RoundTrip { local_ns, offset_ns, uncertainty_ns: 15_000 + late_ns }
    }

    #[test]
    fn a_day_is_known_as_well_as_an_hour_in_little_memory() {
        let mut clock = NodeClock::new(0);
        let second_ns = 1_000_000_000;
        for tenth in 0..24 * 3_600 * 10 {
            let trip = trip(tenth * second_ns / 10);
            clock.sample(trip);
            clock.fix_until(trip.local_ns);
        }
        assert!(clock.slots.len() <= MOST_SLOTS, "{} slots", clock.slots.len());
        assert!(clock.breakpoints.len() < 10 * MOST_SLOTS, "{} breakpoints", clock.breakpoints.len());
        for hour in 1..24 {
            let at_ns = hour * 3_600 * second_ns;
            let local_ns = trip(at_ns).local_ns;
            let (wrong_ns, most_ns) =
                (clock.to_run(local_ns).abs_diff(at_ns), clock.uncertainty_ns(local_ns));
            assert!(wrong_ns < 20_000 && most_ns < 300_000, "hour {hour}: {wrong_ns} of {most_ns} ns");
            assert!(clock.local_of(clock.to_run(local_ns)).abs_diff(local_ns) <= 1);
        }
    }

    /// A clock that jumps is not what anything here allows for: it is followed, and time still goes forward.
    #[test]
    fn a_clock_that_jumps_is_followed() {
        let mut clock = NodeClock::new(0);
        for tenth in 0..600 {
            let mut trip = trip(tenth * 100_000_000);
            if tenth >= 300 {
                trip.offset_ns += 3_000_000;
            }
            clock.sample(trip);
            clock.fix_until(trip.local_ns);
        }
        let (at_ns, local_ns) = (59_900_000_000, trip(59_900_000_000).local_ns);
        assert!(clock.to_run(local_ns).abs_diff(at_ns + 3_000_000) < 100_000);
        let times = (0..60_000).map(|step| clock.to_run(10_000_000_000 + step * 1_000_000));
        assert!(times.is_sorted());
    }
}
