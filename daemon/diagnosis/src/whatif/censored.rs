//! The distribution of values where some are only bounds: they are known not to be greater (left-censored).
//!
//! A call that waits for several messages ends with the latest. Its flight is known; the flights of the others are bounded. The
//! product-limit estimate uses both: leaving the bounds out would give the distribution of the greatest of several.

/// Shares are products of many factors.
const ROUNDING: f64 = 1e-9;

/// A distribution.
#[derive(Debug)]
pub(crate) struct Distribution {
    /// Exact values in their order, each with the share of all that does not exceed it.
    exact: Vec<(f64, f64)>,
}

impl Distribution {
    /// From values that are exact, and bounds of others.
    pub(crate) fn new(mut exact: Vec<f64>, bounds: impl IntoIterator<Item = f64>) -> Self {
        exact.sort_by(f64::total_cmp);
        // By exact value, the bounds up to it that are above the one before.
        let mut bounds_below = vec![0_usize; exact.len() + 1];
        for bound in bounds {
            bounds_below[exact.partition_point(|value| *value < bound)] += 1;
        }
        let mut up_to: usize = bounds_below[..exact.len()].iter().sum::<usize>() + exact.len();
        let mut share = 1.0;
        let mut with_shares = Vec::with_capacity(exact.len());
        for (value, bounds_below) in exact.into_iter().zip(bounds_below).rev() {
            with_shares.push((value, share));
            share *= 1.0 - 1.0 / up_to as f64;
            up_to -= 1 + bounds_below;
        }
        with_shares.reverse();
        Self { exact: with_shares }
    }

    /// The least exact value that more than a share does not exceed; 0 if there is none. The least one of all stands for what is
    /// below.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let at = self.exact.partition_point(|(_, of)| *of <= share * (1.0 + ROUNDING));
        self.exact.get(at).or(self.exact.last()).map_or(0.0, |(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::drawn;

    #[test]
    fn exact_values_have_equal_shares() {
        let exact = Distribution::new(vec![3.0, 1.0, 4.0, 2.0], []);
        let quantiles = [0.0, 0.2, 0.25, 0.5, 0.74, 0.75, 1.0].map(|share| exact.quantile(share));
        assert_eq!(quantiles, [1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    }

    #[test]
    fn of_bounds_alone_nothing_is_known() {
        let unknown = Distribution::new(Vec::new(), [1.0]);
        assert_eq!(unknown.quantile(0.5), 0.0);
    }

    #[test]
    fn bounds_below_a_value_make_it_rare() {
        // Ten are at most 1, one of them is 1; one is 5.
        let distribution = Distribution::new(vec![5.0, 1.0], [1.0; 9]);
        assert_eq!(distribution.quantile(0.9), 1.0);
        assert_eq!(distribution.quantile(0.95), 5.0);
    }

    #[test]
    fn a_bound_is_not_above_the_value_that_it_equals() {
        let distribution = Distribution::new(vec![0.5, 1.0], [1.0; 9]);
        assert_eq!(distribution.quantile(0.5), 0.5);
    }

    /// Of calls that wait for eight values each only the greatest is known, and that the others are not greater.
    #[test]
    fn the_greatest_of_several_tell_of_single_ones() {
        let greatest = |call: u64| (0..8).map(|value| drawn(8 * call + value)).fold(0.0, f64::max);
        let greatest: Vec<f64> = (0..4000).map(greatest).collect();
        let bounds: Vec<f64> = greatest.iter().flat_map(|greatest| [*greatest; 7]).collect();
        let distribution = Distribution::new(greatest, bounds);
        for share in [0.6, 0.75, 0.9, 0.99] {
            assert!((distribution.quantile(share) - share).abs() < 0.02, "{share}");
        }
    }
}
