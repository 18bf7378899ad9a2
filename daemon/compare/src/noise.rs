//! What is a change, and what is noise: a run that is made again is never the same to the nanosecond.
//!
//! What a run spends in a function is a sum over its time. Cut into twenty stretches, the sum is as uncertain as stretches
//! differ from those one and three before them: neither phases of the program nor a slow drift count as chance. A
//! difference counts when it is three times what both runs let expect, and neither small as a share nor as a time.

use mpiscope_feed::{Change, Count, CountChange, Figure, Noise, Words, WordsChange};

/// The least ratio of the greater value to the other.
pub(crate) const RATIO: f64 = 1.05;
/// From this many seconds of a rank on, and from this share of the shorter run, figures count as different.
pub(crate) const LEAST_S: f64 = 0.01;
pub(crate) const LEAST_SHARE: f64 = 1e-3;
/// And the least multiple of what chance lets expect.
pub(crate) const SPREADS: f64 = 3.0;
/// What is too seldom to tell has to change by this ratio.
const SELDOM_RATIO: f64 = 2.0;
/// Medians of runs that are made again differ by less than this ratio, and by less than this time.
const MEDIAN_RATIO: f64 = 1.25;
const LEAST_MEDIAN_NS: u64 = 200;
/// Medians of fewer say nothing, and those of few are as uncertain as durations that mostly differ by this, as a logarithm.
const FEWEST_SAMPLES: u64 = 30;
const DIFFER_BY: f64 = 1.0;
/// Starting and ending a job takes a little more or less each time.
const LEAST_DURATION_S: f64 = 0.05;
/// Beyond this share it is no chance that a run is longer.
const MOST_CHANCE: f64 = 0.25;
/// Shares of the ranks' time differ by at least this.
const LEAST_POINTS: f64 = 0.02;

/// A run is cut into this number of stretches. Fewer stretches, or figures in less than half of them, are too few to
/// measure noise.
const STRETCHES: usize = 20;
const FEWEST_STRETCHES: usize = 8;

/// A value and what chance makes of it: none where that is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Measured {
    pub(crate) value: f64,
    pub(crate) spread: Option<f64>,
}

impl Measured {
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, spread: self.spread.map(|spread| spread * factor) }
    }
}

/// What chance makes of the sum of what is in these windows.
pub(crate) fn spread(windows: &[f64]) -> Option<f64> {
    // Before it begins and after it ended there is nothing that could vary.
    let first = windows.iter().position(|sum| *sum != 0.0)?;
    let last = windows.iter().rposition(|sum| *sum != 0.0)?;
    let windows = &windows[first..=last];
    let step = windows.len().div_ceil(STRETCHES).max(1);
    // The last one may be shorter.
    let stretches: Vec<f64> = windows.chunks_exact(step).map(|chunk| chunk.iter().sum()).collect();
    let active = stretches.iter().filter(|sum| **sum != 0.0).count();
    if stretches.len() < FEWEST_STRETCHES || active * 2 < stretches.len() {
        return None;
    }
    let apart = |by: usize| {
        let pairs = stretches.iter().zip(stretches.get(by..).unwrap_or_default());
        let mut apart: Vec<f64> = pairs.map(|(one, other)| (one - other).abs()).collect();
        let middle = apart.len() / 2;
        let (_, median, _) = apart.select_nth_unstable_by(middle, f64::total_cmp);
        *median
    };
    // A median of distances as the standard deviation of what is as far from each other.
    let deviation = 1.4826 / std::f64::consts::SQRT_2 * apart(1).max(apart(3));
    Some(deviation * (stretches.len() as f64).sqrt())
}

/// What separates changes of two recordings from noise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Figures of ranks are this far apart, in what they are in.
    least: f64,
    /// The same of what happens once, at the end of a job.
    least_of_end: f64,
    is_share: bool,
}

impl Rules {
    /// `shorter_s`: the length of the shorter run. `is_share`: figures are shares of the run, as seconds cannot be compared.
    pub(crate) fn new(shorter_s: f64, is_share: bool) -> Self {
        let least_s = LEAST_S.max(LEAST_SHARE * shorter_s);
        let of_basis = |seconds: f64| if is_share { seconds / shorter_s.max(LEAST_S) } else { seconds };
        Self { least: of_basis(least_s), least_of_end: of_basis(least_s.max(LEAST_DURATION_S)), is_share }
    }

    pub(crate) fn noise(&self) -> Noise {
        let least = if self.is_share {
            format!("{:.1} % of the time", 100.0 * self.least)
        } else {
            format!("{:.0} ms of a rank", 1e3 * self.least)
        };
        let percent = |ratio: f64| format!("{:.0} %", 100.0 * (ratio - 1.0));
        Noise {
            ratio: RATIO,
            least: self.least,
            spreads: SPREADS,
            seldom_ratio: SELDOM_RATIO,
            median_ratio: MEDIAN_RATIO,
            sentence: format!(
                "Changes below {} or {least} are left out, and those within {SPREADS:.0} times what stretches of one run \
                 differ by; medians below {}.",
                percent(RATIO),
                percent(MEDIAN_RATIO)
            ),
        }
    }

    /// Whether figures of ranks differ by more than a little and more than chance.
    pub(crate) fn differ(&self, a: Measured, b: Measured) -> bool {
        let apart = (a.value - b.value).abs();
        if apart < self.least || !beyond(a.value, b.value, RATIO) {
            return false;
        }
        match (a.spread, b.spread) {
            (Some(one), Some(other)) => apart > SPREADS * one.hypot(other),
            _ => beyond(a.value, b.value, SELDOM_RATIO),
        }
    }

    pub(crate) fn of_rank(&self, a: Option<Measured>, b: Option<Measured>) -> Figure {
        let is_change = a.zip(b).is_some_and(|(a, b)| self.differ(a, b));
        figure(a.map(|a| a.value), b.map(|b| b.value), is_change)
    }

    /// Of the end of a job, which happens once: windows say nothing about its noise.
    pub(crate) fn of_end(&self, a: f64, b: f64) -> Figure {
        let is_change = (a - b).abs() >= self.least_of_end && beyond(a, b, RATIO);
        figure(Some(a), Some(b), is_change)
    }
}

/// Whether two values are further apart than by a ratio.
pub(crate) fn beyond(a: f64, b: f64, ratio: f64) -> bool {
    let (low, high) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
    high > 0.0 && (a * b < 0.0 || high >= ratio * low)
}

/// How many times a value is the other.
fn ratio(a: f64, b: f64) -> Option<f64> {
    (a != 0.0).then(|| b / a)
}

pub(crate) fn figure(a: Option<f64>, b: Option<f64>, is_change: bool) -> Figure {
    let change = a.zip(b).map(|(a, b)| Change { difference: b - a, ratio: ratio(a, b), is_change });
    Figure { a, b, change }
}

/// How long runs took, with what chance makes of it; what is too seldom to tell, such as starting the job, took other times
/// by so much.
pub(crate) fn duration(a: Option<Measured>, b: Option<Measured>, seldom_s: f64) -> Figure {
    let differ = |(a, b): (Measured, Measured)| {
        let shorter_s = a.value.min(b.value);
        let chance_s = SPREADS * a.spread.unwrap_or_default().hypot(b.spread.unwrap_or_default());
        // However uneven a run is, much longer is no chance.
        let least_s =
            LEAST_DURATION_S.max((RATIO - 1.0) * shorter_s).max(chance_s.min(MOST_CHANCE * shorter_s));
        (a.value - b.value).abs() - seldom_s >= least_s
    };
    figure(a.map(|a| a.value), b.map(|b| b.value), a.zip(b).is_some_and(differ))
}

/// Shares, which differ by points.
pub(crate) fn share(a: Option<f64>, b: Option<f64>) -> Figure {
    figure(a, b, a.zip(b).is_some_and(|(a, b)| (a - b).abs() >= LEAST_POINTS))
}

fn counted(a: Option<u64>, b: Option<u64>, is_change: bool) -> Count {
    let change = a.zip(b).map(|(a, b)| CountChange {
        difference: (i128::from(b) - i128::from(a)).clamp(i64::MIN.into(), i64::MAX.into()) as i64,
        ratio: ratio(a as f64, b as f64),
        is_change,
    });
    Count { a, b, change }
}

/// Counts. Each rank's share of them matters.
pub(crate) fn count(a: Option<u64>, b: Option<u64>, (scale_a, scale_b): (f64, f64)) -> Count {
    let scaled = |(a, b): (u64, u64)| beyond(a as f64 * scale_a, b as f64 * scale_b, RATIO);
    counted(a, b, a.zip(b).is_some_and(scaled))
}

/// What usually is taken, of a number of samples.
pub(crate) fn median(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Count {
    let differ = |((a, samples_a), (b, samples_b)): ((u64, u64), (u64, u64))| {
        // The standard error of a median is a quarter more than that of a mean.
        let error = 1.25 * DIFFER_BY * (1.0 / samples_a.max(1) as f64 + 1.0 / samples_b.max(1) as f64).sqrt();
        samples_a.min(samples_b) >= FEWEST_SAMPLES
            && a.abs_diff(b) >= LEAST_MEDIAN_NS
            && beyond(a as f64, b as f64, MEDIAN_RATIO.max((SPREADS * error).exp()))
    };
    counted(a.map(|a| a.0), b.map(|b| b.0), a.zip(b).is_some_and(differ))
}

/// What only a few calls say: it has to differ more.
pub(crate) fn rare(a: Option<u64>, b: Option<u64>, least: u64, is_known: bool) -> Count {
    let differ = |(a, b): (u64, u64)| a.abs_diff(b) >= least && beyond(a as f64, b as f64, SELDOM_RATIO);
    counted(a, b, is_known && a.zip(b).is_some_and(differ))
}

pub(crate) fn words(a: &str, b: &str) -> Words {
    Words { a: a.to_owned(), b: b.to_owned(), change: WordsChange { is_change: a != b } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of a given size around a level, the same every time.
    fn noisy(windows: usize, level: f64, size: f64, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..windows).map(|_| level + size * chance()).collect()
    }

    fn measured(windows: &[f64]) -> Measured {
        Measured { value: windows.iter().sum(), spread: spread(windows) }
    }

    #[test]
    fn what_is_known_to_have_changed_is_a_change_and_noise_is_none() {
        let rules = Rules::new(10.0, false);
        let mut alarms = 0;
        for seed in 0..200 {
            let one = measured(&noisy(100, 0.02, 0.03, 2 * seed));
            let again = measured(&noisy(100, 0.02, 0.03, 2 * seed + 1));
            let more = measured(&noisy(100, 0.03, 0.03, 7 * seed + 1));
            alarms += u32::from(rules.differ(one, again));
            assert!(rules.differ(one, more), "half as much again: {one:?} {more:?}");
        }
        assert!(alarms <= 3, "{alarms} of 200 are alarms");
    }

    #[test]
    fn phases_of_a_run_are_no_chance() {
        let phases: Vec<f64> = (0..100).map(|at| if at < 50 { 0.1 } else { 0.3 }).collect();
        assert_eq!(spread(&phases), Some(0.0));
        assert!(spread(&noisy(100, 0.1, 0.1, 3)).unwrap() > 0.1);
        assert_eq!(spread(&[0.1; 7]), None, "too short");
        let between: Vec<f64> = (0..20).map(|at| if (5..15).contains(&at) { 0.1 } else { 0.0 }).collect();
        assert_eq!(spread(&between), Some(0.0), "its beginning and its end are no chance either");
        let once: Vec<f64> = (0..100).map(|at| if at == 0 { 1.0 } else { 0.0 }).collect();
        assert_eq!(spread(&once), None, "too seldom");
    }

    #[test]
    fn small_changes_and_rare_ones_are_none() {
        let rules = Rules::new(5.0, false);
        let sure = |value: f64| Measured { value, spread: Some(0.0) };
        let seldom = |value: f64| Measured { value, spread: None };
        assert!(!rules.differ(sure(1.0), sure(1.04)), "below a twentieth");
        assert!(!rules.differ(sure(0.010), sure(0.019)), "below ten milliseconds");
        assert!(rules.differ(sure(0.010), sure(0.021)) && rules.differ(sure(1.06), sure(1.0)));
        assert!(!rules.differ(seldom(0.2), seldom(0.39)) && rules.differ(seldom(0.2), seldom(0.41)));
        assert!(rules.differ(seldom(0.0), sure(0.02)) && rules.differ(sure(-0.02), sure(0.02)));
        let shares = Rules::new(5.0, true);
        assert!(!shares.differ(sure(0.010), sure(0.0115)) && shares.differ(sure(0.010), sure(0.0125)));
        assert!(
            Rules::new(100.0, false).noise().sentence.starts_with("Changes below 5 % or 100 ms of a rank")
        );
    }

    #[test]
    fn a_median_of_few_has_to_change_more() {
        let differ = |a, b| median(Some(a), Some(b)).change.unwrap().is_change;
        assert!(!differ((2_000, 40), (4_000, 40)) && differ((2_000, 40), (5_000, 40)));
        assert!(differ((2_000, 4_000), (3_000, 4_000)) && differ((3_000, 4_000), (2_000, 4_000)));
        assert!(!differ((2_000, 4_000), (2_480, 4_000)), "below a quarter");
        assert!(!differ((200, 4_000), (390, 4_000)), "below 200 ns");
        assert!(!differ((2_000, 29), (9_000, 4_000)), "too few");
    }

    #[test]
    fn starting_a_job_does_not_count_for_its_length() {
        let of = |value: f64| Some(Measured { value, spread: None });
        let differ = |a, b, seldom_s| duration(of(a), of(b), seldom_s).change.unwrap().is_change;
        assert!(differ(1.0, 1.2, 0.0) && differ(1.2, 1.0, 0.1) && !differ(1.0, 1.2, 0.16));
        assert!(!differ(10.0, 10.4, 0.0) && !differ(0.1, 0.14, 0.0));
    }

    #[test]
    fn the_length_of_an_uneven_run_has_to_change_more() {
        let of = |value: f64, spread: f64| Some(Measured { value, spread: Some(spread) });
        let differ =
            |spread: f64, b: f64| duration(of(10.0, spread), of(b, 0.0), 0.0).change.unwrap().is_change;
        assert!(differ(0.1, 11.0) && !differ(0.5, 11.0) && differ(0.5, 12.0));
        assert!(!differ(5.0, 12.0) && differ(5.0, 12.6), "a quarter is a change however uneven it is");
    }

    #[test]
    fn what_changed_is_the_inverse_the_other_way_round() {
        let rules = Rules::new(5.0, false);
        let (one, other) =
            (Measured { value: 2.0, spread: Some(0.1) }, Measured { value: 3.0, spread: Some(0.2) });
        let there = rules.of_rank(Some(one), Some(other)).change.unwrap();
        let back = rules.of_rank(Some(other), Some(one)).change.unwrap();
        assert!(there.is_change && back.is_change);
        assert_eq!(there.difference, -back.difference);
        assert!((there.ratio.unwrap() * back.ratio.unwrap() - 1.0).abs() < 1e-12);
        let there = count(Some(10), Some(20), (1.0, 0.5));
        assert_eq!(there.change, Some(CountChange { difference: 10, ratio: Some(2.0), is_change: false }));
        assert_eq!(count(Some(3), None, (1.0, 1.0)).change, None);
    }
}
