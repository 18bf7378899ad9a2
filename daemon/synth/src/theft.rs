//! Ranks that lose their processor to others for stretches.

use crate::random::{Purpose, Stream, unit};

/// Who loses it, when, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct Theft {
    stream: Stream,
    /// The first of the ranks and how many.
    ranks: (u32, u32),
    during_ns: (u64, u64),
    period_ns: u64,
    taken: f64,
    /// Ranks are stopped instead: nobody else has their processor.
    pub(crate) is_stop: bool,
}

/// How far the stretches of a rank were summed up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summed {
    period: u64,
    ns: u64,
    stretches: u64,
}

impl Theft {
    pub(crate) fn new(
        seed: u64,
        ranks: (u32, u32),
        during_ns: (u64, u64),
        period_ns: u64,
        taken: f64,
    ) -> Self {
        let stream = Stream::new(seed, Purpose::Theft);
        Self { stream, ranks, during_ns, period_ns, taken, is_stop: false }
    }

    /// The ranks are stopped, and do not wait for a processor.
    pub(crate) fn of_stops(self) -> Self {
        Self { is_stop: true, ..self }
    }

    #[inline]
    pub(crate) fn concerns(&self, rank: u32) -> bool {
        (self.ranks.0..self.ranks.0 + self.ranks.1).contains(&rank)
    }

    /// The stretch of a period: its beginning and its end, within the period.
    fn stretch(&self, rank: u32, period: u64) -> (u64, u64) {
        let word = self.stream.word(rank, period);
        // Half to one and a half times as long as on average; at most nine tenths of the period.
        let length = self.period_ns as f64 * self.taken * (0.5 + unit(word));
        let begin = (self.period_ns as f64 - length) * unit(word << 32);
        let begin_ns = period * self.period_ns + begin as u64;
        let inside = (self.during_ns.0..self.during_ns.1).contains(&begin_ns);
        (begin_ns, if inside { begin_ns + length as u64 } else { begin_ns })
    }

    /// When work that begins at a moment is done.
    pub(crate) fn advance(&self, rank: u32, mut at_ns: u64, mut work_ns: u64) -> u64 {
        let mut period = at_ns / self.period_ns;
        loop {
            let (begin_ns, end_ns) = self.stretch(rank, period);
            if at_ns < begin_ns {
                if at_ns + work_ns <= begin_ns {
                    return at_ns + work_ns;
                }
                work_ns -= begin_ns - at_ns;
            }
            at_ns = at_ns.max(end_ns);
            if at_ns + work_ns <= (period + 1) * self.period_ns {
                return at_ns + work_ns;
            }
            period += 1;
        }
    }

    /// The moment at which a rank has its processor again.
    pub(crate) fn resume(&self, rank: u32, at_ns: u64) -> u64 {
        let (begin_ns, end_ns) = self.stretch(rank, at_ns / self.period_ns);
        if at_ns >= begin_ns { at_ns.max(end_ns) } else { at_ns }
    }

    /// How long a rank was without its processor until a moment, and how often; moments come in order.
    pub(crate) fn until(&self, rank: u32, at_ns: u64, summed: &mut Summed) -> (u64, u64) {
        while (summed.period + 1) * self.period_ns <= at_ns {
            let (begin_ns, end_ns) = self.stretch(rank, summed.period);
            summed.ns += end_ns - begin_ns;
            summed.stretches += u64::from(end_ns > begin_ns);
            summed.period += 1;
        }
        let (begin_ns, end_ns) = self.stretch(rank, summed.period);
        let part_ns = end_ns.min(at_ns).saturating_sub(begin_ns);
        (summed.ns + part_ns, summed.stretches + u64::from(part_ns > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_its_time_and_what_was_taken_meanwhile() {
        let theft = Theft::new(3, (2, 5), (0, u64::MAX), 1000, 0.3);
        assert!(!theft.concerns(1) && theft.concerns(6) && !theft.concerns(7));
        let mut at_ns = 0;
        for work_ns in (0..400).map(|number| number * 13 % 2900) {
            let end_ns = theft.advance(4, theft.resume(4, at_ns), work_ns);
            let stolen = |until_ns| theft.until(4, until_ns, &mut Summed::default()).0;
            assert_eq!(end_ns - at_ns, work_ns + stolen(end_ns) - stolen(at_ns), "from {at_ns}");
            at_ns = end_ns;
        }
        let (stolen_ns, stretches) = theft.until(4, at_ns, &mut Summed::default());
        let share = stolen_ns as f64 / at_ns as f64;
        assert!((0.25..0.35).contains(&share), "{share}");
        assert!(stretches.abs_diff(at_ns / 1000) <= 1);
    }

    #[test]
    fn outside_of_its_time_nothing_is_taken() {
        let theft = Theft::new(3, (0, 5), (5000, 9000), 1000, 0.3);
        assert_eq!(theft.advance(0, 0, 4000), 4000);
        assert_eq!(theft.advance(0, 10_000, 4000), 14_000);
        assert!(theft.advance(0, 5000, 4000) > 9500);
    }
}
