//! Ticks to nanoseconds of a node's monotonic clock, between pairs of both that its agent took.

use mpiscope_wire::{ClockKind, Knot};

/// Pairs this recent are all kept; of older ones, one a second.
const RECENT: usize = 64;
const THIN_NS: u64 = 1_000_000_000;

/// The clock of a node. Between two knots it is a straight line, so it never jumps and never runs backwards.
#[derive(Debug, Default)]
pub(crate) struct ClockMap {
    knots: Vec<Knot>,
}

impl ClockMap {
    /// One more knot. One that does not lie after the last is passed over; `false` says so.
    pub(crate) fn push(&mut self, knot: Knot) -> bool {
        let after = self
            .knots
            .last()
            .is_none_or(|last| knot.ticks > last.ticks && knot.monotonic_ns > last.monotonic_ns);
        if after {
            self.knots.push(knot);
            self.thin();
        }
        after
    }

    /// Drops the knot that just became old when its neighbours are close enough to do without it.
    fn thin(&mut self) {
        let Some(old) = self.knots.len().checked_sub(RECENT + 1) else { return };
        if old == 0 {
            return;
        }
        let span = self.knots[old + 1].monotonic_ns - self.knots[old - 1].monotonic_ns;
        if span < THIN_NS {
            self.knots.remove(old);
        }
    }

    /// The time of the last knot; 0 before there is any.
    pub(crate) fn until_ns(&self) -> u64 {
        self.knots.last().map_or(0, |knot| knot.monotonic_ns)
    }

    /// Ticks of a clock of either kind as nanoseconds of the monotonic one.
    pub(crate) fn of(&self, kind: ClockKind, ticks: u64) -> u64 {
        match kind {
            ClockKind::TimeStampCounter => self.of_ticks(ticks),
            ClockKind::Monotonic => ticks,
        }
    }

    /// Whether moments after the last knot can be told.
    pub(crate) fn has_slope(&self) -> bool {
        self.knots.len() > 1
    }

    /// Ticks of the time-stamp counter as nanoseconds. After the last knot the clock goes on as it went from the
    /// first to the last: a line over a few milliseconds would be off by seconds after hours.
    pub(crate) fn of_ticks(&self, ticks: u64) -> u64 {
        let [first, .., last] = self.knots.as_slice() else {
            return self.until_ns();
        };
        if ticks >= last.ticks {
            return line(last, slope(first, last), ticks);
        }
        let at = self.knots.partition_point(|knot| knot.ticks <= ticks).clamp(1, self.knots.len() - 1);
        let before = &self.knots[at - 1];
        line(before, slope(before, &self.knots[at]), ticks)
    }
}

fn line(from: &Knot, slope: f64, ticks: u64) -> u64 {
    let offset = ticks.wrapping_sub(from.ticks) as i64 as f64 * slope;
    (from.monotonic_ns as i64).saturating_add(offset as i64).max(0) as u64
}

/// Nanoseconds a tick.
fn slope(before: &Knot, after: &Knot) -> f64 {
    (after.monotonic_ns - before.monotonic_ns) as f64 / (after.ticks - before.ticks) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(pairs: &[(u64, u64)]) -> ClockMap {
        let mut map = ClockMap::default();
        for &(ticks, monotonic_ns) in pairs {
            map.push(Knot { ticks, monotonic_ns });
        }
        map
    }

    #[test]
    fn between_knots_it_is_a_line() {
        let map = map(&[(0, 1000), (100, 1050), (200, 1090)]);
        assert_eq!(
            [0, 50, 100, 150, 200, 250].map(|ticks| map.of_ticks(ticks)),
            [1000, 1025, 1050, 1070, 1090, 1112]
        );
    }

    #[test]
    fn knots_that_go_back_are_refused() {
        let mut map = map(&[(100, 2000)]);
        assert!(!map.push(Knot { ticks: 100, monotonic_ns: 3000 }));
        assert!(!map.push(Knot { ticks: 200, monotonic_ns: 2000 }));
        assert!(map.push(Knot { ticks: 200, monotonic_ns: 2001 }));
    }

    #[test]
    fn a_long_run_keeps_one_knot_a_second() {
        let pairs: Vec<(u64, u64)> = (1..100_000).map(|at| (at * 3_000_000, at * 1_000_000)).collect();
        let map = map(&pairs);
        assert!((100..300).contains(&map.knots.len()), "{} knots", map.knots.len());
        assert_eq!(map.of_ticks(150_000_000), 50_000_000);
    }

    proptest! {
        #[test]
        fn time_never_runs_backwards(
            steps in proptest::collection::vec((1_u64..1_000_000, 1_u64..1_000_000), 2..200),
            mut ticks in proptest::collection::vec(0_u64..200_000_000, 2..50),
        ) {
            let (mut at, mut pairs) = ((0, 1000), Vec::new());
            for (tick_step, ns_step) in steps {
                at = (at.0 + tick_step, at.1 + ns_step);
                pairs.push(at);
            }
            let map = map(&pairs);
            ticks.sort_unstable();
            let times: Vec<u64> = ticks.iter().map(|&ticks| map.of_ticks(ticks)).collect();
            prop_assert!(times.is_sorted());
        }
    }
}
