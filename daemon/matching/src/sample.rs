//! Which calls are shown when there are too many: all long ones, and a share of the others that depends only on the
//! calls themselves. The same range gives the same picture each time.

use crate::density::{BINS_PER_OCTAVE, duration_bin};
use mpiscope_model::Call;
use mpiscope_model::spread;

/// Counts of durations, from which the rule is made.
#[derive(Debug, Clone)]
pub struct Durations {
    total: u64,
    bins: Vec<u64>,
}

impl Default for Durations {
    fn default() -> Self {
        Self { total: 0, bins: vec![0; 1_025] }
    }
}

/// The rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Every call at least so long is kept.
    pub all_from_ns: u64,
    /// Of the others this share.
    pub share: f64,
    /// The least bin of those that are all kept.
    from_bin: u16,
}

impl Durations {
    /// Counts a call.
    pub fn add(&mut self, call: &Call) {
        self.total += 1;
        let last = self.bins.len() - 1;
        self.bins[usize::from(duration_bin(call.each_ns())).min(last)] += 1;
    }

    /// How many calls there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// A rule that keeps about `most` of these calls: a quarter of them for the longest.
    #[must_use]
    pub fn sample(&self, most: u64) -> Sample {
        if self.total <= most {
            return Sample { all_from_ns: 0, share: 1.0, from_bin: 0 };
        }
        let mut longest = 0;
        let mut from_bin = self.bins.len();
        while from_bin > 0 && longest + self.bins[from_bin - 1] <= most / 4 {
            from_bin -= 1;
            longest += self.bins[from_bin];
        }
        let share = (most - longest) as f64 / (self.total - longest).max(1) as f64;
        let octaves = from_bin as f64 / f64::from(BINS_PER_OCTAVE);
        // Saturates, for a bin beyond all durations.
        let all_from_ns = (octaves.exp2() - 1.0).ceil() as u64;
        Sample { all_from_ns, share: share.min(1.0), from_bin: from_bin as u16 }
    }
}

impl Sample {
    /// Whether a call is kept.
    #[must_use]
    pub fn keeps(&self, call: &Call) -> bool {
        self.share >= 1.0
            || duration_bin(call.each_ns()) >= self.from_bin
            || (hash(call) >> 11) as f64 / (1_u64 << 53) as f64 <= self.share
    }
}

/// Spreads rank, thread and start over all 64 bits.
fn hash(call: &Call) -> u64 {
    spread(call.start_ns ^ (u64::from(call.rank.0) << 40) ^ (u64::from(call.thread) << 24))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;
    use proptest::prelude::*;

    fn calls(durations: &[u64]) -> Vec<Call> {
        let call = |(number, &long): (usize, &u64)| Call {
            rank: Rank((number % 7) as u32),
            function: 1,
            start_ns: number as u64 * 1_000,
            end_ns: number as u64 * 1_000 + long,
            ..Call::default()
        };
        durations.iter().enumerate().map(call).collect()
    }

    proptest! {
        #[test]
        fn the_longest_are_kept_and_about_as_many_as_asked(
            durations in proptest::collection::vec(0_u64..1_000_000, 1..4_000),
            most in 100_u64..2_000,
        ) {
            let calls = calls(&durations);
            let mut counted = Durations::default();
            calls.iter().for_each(|call| counted.add(call));
            let sample = counted.sample(most);
            let kept: Vec<_> = calls.iter().filter(|call| sample.keeps(call)).collect();
            for call in calls.iter().filter(|call| call.duration_ns() >= sample.all_from_ns) {
                prop_assert!(kept.contains(&call));
            }
            if calls.len() as u64 <= most {
                prop_assert_eq!(kept.len(), calls.len());
            } else {
                // Ten standard deviations of a fair draw.
                prop_assert!((kept.len() as f64) < most as f64 + 10.0 * (most as f64).sqrt());
                prop_assert!((kept.len() as f64) > most as f64 - 10.0 * (most as f64).sqrt());
            }
        }
    }
}
