//! The whole series of a region at one resolution, with percentiles: a slot for each window, and when there are too many,
//! for two, four ... windows. Slots begin at multiples of their length, so batches make no difference.

use super::ratios::Ratios;
use super::tally::Tally;

/// A series has at most this many slots.
const MOST_SLOTS: u64 = 256;

/// Some windows that follow each other, taken together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Band {
    /// Its number: it begins with window `number * windows_per_band`.
    pub number: u64,
    /// Their messages.
    pub tally: Tally,
    /// The latency ratios of the exact ones.
    pub ratios: Ratios,
}

/// The slots of a series, in order; those without messages are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Bands {
    windows_per_band: u64,
    all: Vec<Band>,
}

impl Default for Bands {
    fn default() -> Self {
        Self { windows_per_band: 1, all: Vec::new() }
    }
}

impl Bands {
    /// The next window; numbers grow.
    pub(super) fn push(&mut self, window: u64, tally: &Tally, ratios: &Ratios) {
        while window / self.windows_per_band >= MOST_SLOTS {
            self.windows_per_band *= 2;
            let mut halved: Vec<Band> = Vec::with_capacity(self.all.len());
            for band in self.all.drain(..) {
                add(&mut halved, band.number / 2, &band.tally, &band.ratios);
            }
            self.all = halved;
        }
        add(&mut self.all, window / self.windows_per_band, tally, ratios);
    }

    /// How many windows a slot has.
    #[must_use]
    pub fn windows_per_band(&self) -> u64 {
        self.windows_per_band
    }

    /// All slots.
    #[must_use]
    pub fn all(&self) -> &[Band] {
        &self.all
    }
}

fn add(all: &mut Vec<Band>, number: u64, tally: &Tally, ratios: &Ratios) {
    match all.last_mut() {
        Some(last) if last.number == number => {
            last.tally.merge(tally);
            last.ratios.merge(ratios);
        }
        _ => all.push(Band { number, tally: *tally, ratios: ratios.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::MessageTime;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn each_slot_has_what_its_windows_have(
            windows in prop::collection::btree_map(0..3_000u64, prop::collection::vec(50..5_000u64, 0..6), 1..60)
        ) {
            let mut bands = Bands::default();
            let mut plain: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for (number, times) in &windows {
                let (mut tally, mut ratios) = (Tally::default(), Ratios::default());
                for &took_ns in times {
                    let time = MessageTime { took_ns, expected_ns: 100, normal_ns: 200 };
                    tally.message();
                    tally.exact(time);
                    ratios.add(time.ratio());
                }
                bands.push(*number, &tally, &ratios);
            }
            let last = windows.keys().max().unwrap();
            prop_assert!(last / bands.windows_per_band() < MOST_SLOTS);
            prop_assert!(bands.windows_per_band() == 1 || last / (bands.windows_per_band() / 2) >= MOST_SLOTS);
            for (number, times) in &windows {
                plain.entry(number / bands.windows_per_band()).or_default().extend(times);
            }
            prop_assert_eq!(bands.all().len(), plain.len());
            for (band, (number, mut times)) in bands.all().iter().zip(plain) {
                prop_assert_eq!((band.number, band.tally.exact), (number, times.len() as u64));
                prop_assert_eq!(band.tally.delayed, times.iter().filter(|time| **time > 200).count() as u64);
                times.sort_unstable();
                let expected = times.get((times.len() * 9).div_ceil(10).max(1) - 1).map(|time| *time as f64 / 100.0);
                let found = band.ratios.percentile(0.9);
                prop_assert_eq!(found.is_some(), expected.is_some());
                if let (Some(found), Some(expected)) = (found, expected) {
                    prop_assert!((found / expected).ln().abs() < 0.05, "{} and not {}", found, expected);
                }
            }
        }
    }
}
