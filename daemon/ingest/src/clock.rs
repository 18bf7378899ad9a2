//! Ticks to nanoseconds of a node's monotonic clock, between pairs of both that its agent took.

use mpiscope_wire::{ClockKind, ClockSample};

/// Pairs this recent are all kept; of older ones, one a second.
const RECENT: usize = 64;
const THIN_NS: u64 = 1_000_000_000;

/// The clock of a node. Between two samples it is a straight line: it never jumps and never runs backwards.
#[derive(Debug, Default)]
pub(crate) struct ClockMap {
    samples: Vec<ClockSample>,
    /// The line between the two newest samples, on which most calls lie, and the one after them.
    newest: Option<[Line; 2]>,
    /// How many samples there were.
    pushed: u64,
}

/// An earlier line that one process looked up, and the ticks that lie on it: what waited for long lies there, too. It holds
/// until the next sample.
#[derive(Debug, Default)]
pub(crate) struct EarlierLine(Option<(u64, Line, (u64, u64))>);

/// A line from a sample on.
#[derive(Debug, Clone, Copy)]
struct Line {
    from: ClockSample,
    /// Nanoseconds a tick.
    slope: f64,
}

impl Line {
    fn between(before: &ClockSample, after: &ClockSample) -> Self {
        Self { from: *before, slope: slope(before, after) }
    }

    fn monotonic_ns(&self, ticks: u64) -> u64 {
        let offset = ticks.wrapping_sub(self.from.ticks) as i64 as f64 * self.slope;
        (self.from.monotonic_ns as i64).saturating_add(offset as i64).max(0) as u64
    }
}

impl ClockMap {
    /// Adds a sample. Refuses one that does not lie after the last, and returns `false`.
    pub(crate) fn push(&mut self, sample: ClockSample) -> bool {
        let after = self
            .samples
            .last()
            .is_none_or(|last| sample.ticks > last.ticks && sample.monotonic_ns > last.monotonic_ns);
        if after {
            self.samples.push(sample);
            self.thin();
            self.pushed += 1;
            if let [first, .., last] = self.samples.as_slice() {
                let before = &self.samples[self.samples.len() - 2];
                let beyond = Line { from: *last, slope: slope(first, last) };
                self.newest = Some([Line::between(before, last), beyond]);
            }
        }
        after
    }

    /// Drops the sample that just became old when its neighbours are close enough to do without it.
    fn thin(&mut self) {
        let Some(old) = self.samples.len().checked_sub(RECENT + 1) else { return };
        if old == 0 {
            return;
        }
        let span = self.samples[old + 1].monotonic_ns - self.samples[old - 1].monotonic_ns;
        if span < THIN_NS {
            self.samples.remove(old);
        }
    }

    /// The time of the last sample; 0 before there is any.
    pub(crate) fn until_ns(&self) -> u64 {
        self.samples.last().map_or(0, |sample| sample.monotonic_ns)
    }

    /// Ticks of a clock of either kind as nanoseconds of the monotonic one.
    pub(crate) fn monotonic_ns(&self, kind: ClockKind, ticks: u64, earlier: &mut EarlierLine) -> u64 {
        match kind {
            ClockKind::TimeStampCounter => self.of_ticks(ticks, earlier),
            ClockKind::Monotonic => ticks,
        }
    }

    /// Whether moments after the last sample can be converted.
    pub(crate) fn has_slope(&self) -> bool {
        self.samples.len() > 1
    }

    /// Ticks of the time-stamp counter as nanoseconds. After the last sample the clock continues at the rate from the
    /// first to the last: a line over a few milliseconds would be off by seconds after hours.
    pub(crate) fn of_ticks(&self, ticks: u64, earlier: &mut EarlierLine) -> u64 {
        let Some([newest, beyond]) = &self.newest else {
            return self.until_ns();
        };
        if ticks >= beyond.from.ticks {
            return beyond.monotonic_ns(ticks);
        }
        if ticks >= newest.from.ticks {
            return newest.monotonic_ns(ticks);
        }
        if let Some((pushed, line, (from, to))) = earlier.0
            && pushed == self.pushed
            && (from..to).contains(&ticks)
        {
            return line.monotonic_ns(ticks);
        }
        let at =
            self.samples.partition_point(|sample| sample.ticks <= ticks).clamp(1, self.samples.len() - 1);
        let (before, after) = (&self.samples[at - 1], &self.samples[at]);
        let line = Line::between(before, after);
        // What was before the first sample lies on the first line.
        let from = if at == 1 { 0 } else { before.ticks };
        earlier.0 = Some((self.pushed, line, (from, after.ticks)));
        line.monotonic_ns(ticks)
    }
}

/// Nanoseconds a tick.
fn slope(before: &ClockSample, after: &ClockSample) -> f64 {
    (after.monotonic_ns - before.monotonic_ns) as f64 / (after.ticks - before.ticks) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(pairs: &[(u64, u64)]) -> ClockMap {
        let mut map = ClockMap::default();
        for &(ticks, monotonic_ns) in pairs {
            map.push(ClockSample { ticks, monotonic_ns });
        }
        map
    }

    fn of_ticks(map: &ClockMap, ticks: u64) -> u64 {
        map.of_ticks(ticks, &mut EarlierLine::default())
    }

    #[test]
    fn between_samples_it_is_a_line() {
        let map = map(&[(0, 1000), (100, 1050), (200, 1090)]);
        assert_eq!(
            [0, 50, 100, 150, 200, 250].map(|ticks| of_ticks(&map, ticks)),
            [1000, 1025, 1050, 1070, 1090, 1112]
        );
    }

    #[test]
    fn samples_that_go_back_are_refused() {
        let mut map = map(&[(100, 2000)]);
        assert!(!map.push(ClockSample { ticks: 100, monotonic_ns: 3000 }));
        assert!(!map.push(ClockSample { ticks: 200, monotonic_ns: 2000 }));
        assert!(map.push(ClockSample { ticks: 200, monotonic_ns: 2001 }));
    }

    #[test]
    fn a_long_run_keeps_one_sample_a_second() {
        let pairs: Vec<(u64, u64)> = (1..100_000).map(|at| (at * 3_000_000, at * 1_000_000)).collect();
        let map = map(&pairs);
        assert!((100..300).contains(&map.samples.len()), "{} samples", map.samples.len());
        assert_eq!(of_ticks(&map, 150_000_000), 50_000_000);
    }

    proptest! {
        #[test]
        fn what_was_looked_up_before_makes_no_difference(
            steps in proptest::collection::vec((1_u64..900, 1_u64..40_000_000, 0_u64..400), 70..200),
        ) {
            let (mut map, mut pairs) = (ClockMap::default(), Vec::new());
            let (mut at, mut earlier) = ((1_000, 1_000), EarlierLine::default());
            for (tick_step, ns_step, back) in steps {
                at = (at.0 + tick_step, at.1 + ns_step);
                pairs.push(at);
                map.push(ClockSample { ticks: at.0, monotonic_ns: at.1 });
                // Samples that lie close together are thinned once they are old.
                let ticks = at.0.saturating_sub(back * 100);
                prop_assert_eq!(map.of_ticks(ticks, &mut earlier), of_ticks(&self::map(&pairs), ticks));
            }
        }

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
            let mut earlier = EarlierLine::default();
            let times: Vec<u64> = ticks.iter().map(|&ticks| map.of_ticks(ticks, &mut earlier)).collect();
            prop_assert!(times.is_sorted());
            let alone = ticks.iter().rev().map(|&ticks| of_ticks(&self::map(&pairs), ticks));
            prop_assert!(alone.eq(times.into_iter().rev()), "what was looked up before makes a difference");
        }
    }
}
