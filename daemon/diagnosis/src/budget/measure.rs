//! What messages took at the beginning of a run, by size: a fixed measure, to compare one time with another. It need
//! not be right, only the same for all.

use crate::criteria::{Scope, Version};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Classes of an octave of sizes, and of times.
const SIZES_PER_OCTAVE: f64 = 4.0;
const TIMES_PER_OCTAVE: f64 = 8.0;
/// Messages that make a measure.
const ENOUGH: u64 = 300;
/// A class of fewer is measured by the nearest.
const ENOUGH_OF_CLASS: u32 = 10;

fn class(bytes: u64) -> u16 {
    (((bytes + 16) as f64).log2() * SIZES_PER_OCTAVE) as u16
}

fn time_bin(time_ns: u64) -> u16 {
    ((time_ns.max(1) as f64).log2() * TIMES_PER_OCTAVE).round() as u16
}

/// Messages, and the measure once there are enough.
#[derive(Debug, Clone, Default)]
pub(super) struct Measure {
    /// By class of size and time.
    counts: FxHashMap<(u16, u16), u32>,
    messages: u64,
    usual: UsualTimes,
}

/// What messages took in the median, in order of size; nothing until there are enough.
#[derive(Debug, Clone, Default)]
pub(super) struct UsualTimes(Arc<[(u16, u64)]>);

mpiscope_model::numbers! { UsualTimes(by_size) }

impl UsualTimes {
    pub(super) fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// What a message took then.
    pub(super) fn usual_ns(&self, bytes: u64) -> Option<u64> {
        let class = class(bytes);
        let after = self.0.partition_point(|(of, _)| *of < class);
        let near = [after.checked_sub(1), Some(after)].into_iter().flatten();
        let known = near.filter_map(|at| self.0.get(at));
        known.min_by_key(|(of, _)| of.abs_diff(class)).map(|(_, usual_ns)| (*usual_ns).max(1))
    }
}

impl Measure {
    /// What is known of it.
    pub(super) fn usual(&self) -> &UsualTimes {
        &self.usual
    }

    pub(super) fn add(&mut self, bytes: u64, took_ns: u64) {
        if !self.usual.is_known() {
            *self.counts.entry((class(bytes), time_bin(took_ns))).or_default() += 1;
            self.messages += 1;
        }
    }

    /// A window is over. Whether more is known after it.
    pub(super) fn close(&mut self) -> bool {
        if self.messages < ENOUGH || self.usual.is_known() {
            return false;
        }
        let mut usual_ns = Vec::new();
        let mut all: Vec<((u16, u16), u32)> = std::mem::take(&mut self.counts).into_iter().collect();
        all.sort_unstable();
        for of_class in all.chunk_by(|one, other| one.0.0 == other.0.0) {
            let messages: u32 = of_class.iter().map(|(_, count)| count).sum();
            let mut left = messages / 2;
            let middle = of_class.iter().find(|(_, count)| {
                let is_here = left < *count;
                left = left.saturating_sub(*count);
                is_here
            });
            if let Some(&((class, bin), _)) = middle.filter(|_| messages >= ENOUGH_OF_CLASS) {
                usual_ns.push((class, (f64::from(bin) / TIMES_PER_OCTAVE).exp2() as u64));
            }
        }
        if usual_ns.is_empty() {
            self.messages = 0;
        }
        self.usual = UsualTimes(usual_ns.into());
        self.usual.is_known()
    }

    /// The factor by which messages between nodes exceeded the criteria.
    pub(super) fn longer_than(&self, criteria: &Version) -> f64 {
        let factor = |&(class, usual_ns): &(u16, u64)| {
            let bytes = (f64::from(class) + 0.5) / SIZES_PER_OCTAVE;
            let criterion_ns = criteria.message_ns(Scope::Inter, (bytes.exp2() - 16.0).max(0.0) as u64)?;
            Some(usual_ns as f64 / criterion_ns.max(1) as f64)
        };
        let factors: Vec<f64> = self.usual.0.iter().filter_map(factor).collect();
        if factors.is_empty() { 1.0 } else { factors.iter().sum::<f64>() / factors.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_median_of_the_first_and_stays() {
        let mut measure = Measure::default();
        for number in 0..400 {
            measure.add(100, 900 + number);
            measure.add(5000, 8000);
        }
        assert_eq!(measure.usual().usual_ns(100), None);
        measure.close();
        let near = |bytes, expected: u64| {
            let found = measure.usual().usual_ns(bytes).unwrap();
            assert!(found.abs_diff(expected) < expected / 12, "{found}");
        };
        near(100, 1100);
        near(5000, 8000);
        near(4000, 8000);
        let mut later = measure.clone();
        later.add(100, 50_000);
        later.close();
        assert_eq!(later.usual().usual_ns(100), measure.usual().usual_ns(100));
    }
}
