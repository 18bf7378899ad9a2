//! How much longer than expected messages take in quiet windows: up to the 95th percentile is normal.
//!
//! Latency ratios go in, window by window; one factor for each scope and class of sizes comes out. A window is quiet if
//! the 90th percentile of its ratios is at most `QUIET` times that of the calmest tenth of all windows. Everything is
//! counted in buckets, so neither the order within a window nor batches matter, and memory is bounded.

use super::bins::class_of;
use super::scope::Scope;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Windows are quiet up to this factor above the calmest tenth.
const QUIET: f64 = 1.5;
/// Fewer messages of a scope say nothing about a window, or a class.
const FEWEST_IN_WINDOW: u64 = 8;
const FEWEST_OF_CLASS: u64 = 100;
/// Buckets of an octave; ratios range from 1/16 to 256.
const PER_OCTAVE: usize = 32;
const FIRST_OCTAVE: i32 = -4;
const BUCKETS: usize = 12 * PER_OCTAVE;
/// Levels of windows, of an octave.
const LEVELS_PER_OCTAVE: usize = 4;

type Class = (Scope, u32);

/// Ratios in buckets.
#[derive(Debug, Clone)]
struct Buckets(Box<[u32; BUCKETS]>);

impl Default for Buckets {
    fn default() -> Self {
        Self(Box::new([0; BUCKETS]))
    }
}

impl Buckets {
    fn add(&mut self, ratio: f64) {
        let place = (ratio.max(f64::MIN_POSITIVE).log2() - f64::from(FIRST_OCTAVE)) * PER_OCTAVE as f64;
        let count = &mut self.0[(place.max(0.0) as usize).min(BUCKETS - 1)];
        *count = count.saturating_add(1);
    }

    fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&*other.0).for_each(|(one, other)| *one = one.saturating_add(*other));
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|count| u64::from(*count)).sum()
    }

    /// The bucket that holds this quantile; none without ratios.
    fn bucket(&self, quantile: f64) -> Option<usize> {
        let wanted = ((self.count() as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0;
        self.0.iter().position(|count| {
            seen += u64::from(*count);
            seen >= wanted
        })
    }

    /// The upper edge of that bucket.
    fn quantile(&self, quantile: f64) -> Option<f64> {
        let edge = (self.bucket(quantile)? + 1) as f64 / PER_OCTAVE as f64;
        Some((edge + f64::from(FIRST_OCTAVE)).exp2())
    }
}

/// Windows of one level: how many, and the ratios in them by class.
#[derive(Debug, Clone, Default)]
struct Level {
    windows: u64,
    classes: FxHashMap<u32, Buckets>,
}

/// What was seen until now.
#[derive(Debug, Clone, Default)]
pub(super) struct Normals {
    /// The window that is not over.
    now: FxHashMap<Class, Buckets>,
    /// By scope and level.
    levels: [BTreeMap<usize, Level>; 2],
    /// Windows, and how many there were when factors were last taken.
    windows: u64,
    taken: u64,
    factors: [Factors; 2],
}

/// By class, and of all classes together.
#[derive(Debug, Clone, Default, PartialEq)]
struct Factors {
    classes: FxHashMap<u32, f64>,
    all: Option<f64>,
}

impl Normals {
    /// A message took this many times as long as expected.
    pub(super) fn message(&mut self, scope: Scope, bin: u32, ratio: f64) {
        self.now.entry((scope, class_of(bin))).or_default().add(ratio);
    }

    /// The window is over; says whether a factor changed.
    pub(super) fn settle(&mut self) -> bool {
        let now = std::mem::take(&mut self.now);
        for scope in [Scope::Intra, Scope::Inter] {
            let of_scope = || now.iter().filter(move |((of, _), _)| *of == scope);
            let mut all = Buckets::default();
            of_scope().for_each(|(_, buckets)| all.merge(buckets));
            let Some(bucket) = all.bucket(0.9).filter(|_| all.count() >= FEWEST_IN_WINDOW) else { continue };
            let level =
                self.levels[scope as usize].entry(bucket * LEVELS_PER_OCTAVE / PER_OCTAVE).or_default();
            level.windows += 1;
            self.windows += 1;
            for ((_, class), buckets) in of_scope() {
                level.classes.entry(*class).or_default().merge(buckets);
            }
        }
        if self.windows < self.taken + (self.taken / 16).max(1) {
            return false;
        }
        self.taken = self.windows;
        let found = [0, 1].map(|scope| factors(&self.levels[scope]));
        let changed = found != self.factors;
        self.factors = found;
        changed
    }

    /// Up to this many times the expected time is normal; none where nothing is known of the scope.
    pub(super) fn factor(&self, scope: Scope, bin: u32) -> Option<f64> {
        let of = &self.factors[scope as usize];
        of.classes.get(&class_of(bin)).copied().or(of.all)
    }
}

fn factors(levels: &BTreeMap<usize, Level>) -> Factors {
    let windows: u64 = levels.values().map(|level| level.windows).sum();
    let mut seen = 0;
    let calmest = levels.iter().find(|(_, level)| {
        seen += level.windows;
        10 * seen >= windows
    });
    let Some((&calmest, _)) = calmest else { return Factors::default() };
    let last = calmest + (QUIET.log2() * LEVELS_PER_OCTAVE as f64) as usize;
    let mut classes: FxHashMap<u32, Buckets> = FxHashMap::default();
    let mut all = Buckets::default();
    for level in levels.range(..=last).map(|(_, level)| level) {
        for (class, buckets) in &level.classes {
            classes.entry(*class).or_default().merge(buckets);
            all.merge(buckets);
        }
    }
    let factor = |buckets: &Buckets| Some(buckets.quantile(0.95)?.max(1.0));
    let known = classes.iter().filter(|(_, buckets)| buckets.count() >= FEWEST_OF_CLASS);
    let classes = known.filter_map(|(class, buckets)| Some((*class, factor(buckets)?))).collect();
    Factors { classes, all: factor(&all).filter(|_| all.count() >= FEWEST_OF_CLASS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn learned(windows: &[Vec<(Scope, u32, f64)>]) -> Normals {
        let mut normals = Normals::default();
        for window in windows {
            window.iter().for_each(|&(scope, bin, ratio)| normals.message(scope, bin, ratio));
            normals.settle();
        }
        normals
    }

    /// 0.5 to 1.5 times a level, evenly.
    fn window(level: f64) -> Vec<(Scope, u32, f64)> {
        (0..100).map(|at| (Scope::Inter, 4, level * (0.5 + f64::from(at) / 100.0))).collect()
    }

    #[test]
    fn disturbed_windows_do_not_make_slow_messages_normal() {
        let near = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!((found / expected - 1.0).abs() < 0.03, "{found} and not {expected}");
        };
        let quiet: Vec<_> = (0..40).map(|_| window(1.0)).collect();
        near(learned(&quiet).factor(Scope::Inter, 4), 1.45);
        // Also where most of the run is disturbed.
        let disturbed: Vec<_> = (0..120).map(|_| window(4.0)).collect();
        near(learned(&[quiet, disturbed].concat()).factor(Scope::Inter, 4), 1.45);
    }

    #[test]
    fn a_class_with_few_messages_has_what_its_scope_has() {
        let normals = learned(&[window(1.0), window(1.0)]);
        assert_eq!(normals.factor(Scope::Inter, 900), normals.factor(Scope::Inter, 4));
        assert_eq!(normals.factor(Scope::Intra, 4), None);
        assert_eq!(learned(&[window(1.0)[..50].to_vec()]).factor(Scope::Inter, 4), None);
    }

    proptest! {
        #[test]
        fn the_factor_is_the_percentile_of_quiet_windows(
            quiet in prop::collection::vec(prop::collection::vec(0.9..1.1f64, 30..60), 10..20),
            disturbed in prop::collection::vec(prop::collection::vec(8.0..9.0f64, 30..60), 0..30),
        ) {
            let rows = |of: &Vec<f64>| of.iter().map(|ratio| (Scope::Intra, 0, *ratio)).collect::<Vec<_>>();
            let windows: Vec<_> = quiet.iter().chain(&disturbed).map(rows).collect();
            let mut plain: Vec<f64> = quiet.concat();
            plain.sort_by(f64::total_cmp);
            let expected = plain[(plain.len() as f64 * 0.95).ceil() as usize - 1].max(1.0);
            let mut normals = learned(&windows);
            normals.taken = 0;
            normals.settle();
            let found = normals.factor(Scope::Intra, 0).unwrap();
            prop_assert!(found >= expected && found < expected * 1.03, "{} and not {}", found, expected);
            // The order of messages does not matter.
            let mut turned = windows;
            turned.iter_mut().for_each(|window| window.reverse());
            let mut other = learned(&turned);
            other.taken = 0;
            other.settle();
            prop_assert_eq!(other.factors, normals.factors);
        }
    }
}
