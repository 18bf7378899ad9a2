//! Latency ratios of one window or several, in buckets, for their percentiles.

/// Buckets of an octave: a percentile is within 5 % of the ratio it stands for.
const PER_OCTAVE: f64 = 8.0;
/// Ratios range from 1/8 to 512.
const FIRST_OCTAVE: f64 = -3.0;
const BUCKETS: u8 = 96;

/// How many ratios are in each bucket, in order, empty ones left out. Sums do not depend on the order of additions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ratios(Vec<(u8, u32)>);

mpiscope_model::numbers! { Ratios(counts) }

impl Ratios {
    /// Adds one ratio.
    pub fn add(&mut self, ratio: f64) {
        let place = (ratio.max(f64::MIN_POSITIVE).log2() - FIRST_OCTAVE) * PER_OCTAVE;
        self.add_to((place.max(0.0) as u64).min(u64::from(BUCKETS) - 1) as u8, 1);
    }

    fn add_to(&mut self, bucket: u8, count: u32) {
        match self.0.binary_search_by_key(&bucket, |(bucket, _)| *bucket) {
            Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(count),
            Err(at) => self.0.insert(at, (bucket, count)),
        }
    }

    /// Adds those of another worker, or window.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(bucket, count)| self.add_to(*bucket, *count));
    }

    /// The smallest ratio that at least this share does not exceed: the middle of its bucket. None without ratios.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let count: u64 = self.0.iter().map(|(_, count)| u64::from(*count)).sum();
        let wanted = ((count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += u64::from(*count);
            seen >= wanted
        });
        found.map(|(bucket, _)| ((f64::from(*bucket) + 0.5) / PER_OCTAVE + FIRST_OCTAVE).exp2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_sorted_ratios_in_any_order_and_split(
            ratios in prop::collection::vec(0.126..500.0f64, 1..200),
            cut in 0..200usize,
        ) {
            let sum = |of: &[f64]| {
                let mut found = Ratios::default();
                of.iter().for_each(|ratio| found.add(*ratio));
                found
            };
            let whole = sum(&ratios);
            let (one, other) = ratios.split_at(cut.min(ratios.len()));
            let mut merged = sum(other);
            merged.merge(&sum(one));
            prop_assert_eq!(&merged, &whole);
            let mut plain = ratios;
            plain.sort_by(f64::total_cmp);
            for share in [0.1, 0.5, 0.9] {
                let expected = plain[((plain.len() as f64 * share).ceil() as usize).max(1) - 1];
                let found = whole.percentile(share).unwrap();
                prop_assert!((found / expected).ln().abs() < 0.05, "{} and not {}", found, expected);
            }
        }
    }

    #[test]
    fn what_is_beyond_the_buckets_counts_in_the_last() {
        let mut ratios = Ratios::default();
        assert_eq!(ratios.percentile(0.5), None);
        ratios.add(0.0);
        assert!(ratios.percentile(0.5).unwrap() < 0.14);
        ratios.add(f64::MAX);
        assert!(ratios.percentile(1.0).unwrap() > 480.0);
    }
}
