//! What flights of messages take, by size.

use crate::whatif::reference::{Place, at_size};

/// The shares of flights for which it is known what they do not exceed. Far out they are close together: of many messages
/// that a call waits for, a slow one decides.
pub(crate) const SHARES: [f64; 13] =
    [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.995, 0.998, 0.999, 0.9997, 1.0];

/// Flights within this factor of a time take as long: many may take the very same time.
const AS_LONG: f64 = 1.05;
/// How fast flights get rare that are shorter than the shortest known one: the exponent of their part of it.
const BELOW_LEAST: i32 = 8;

/// What flights of one scope and of sizes near each other take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) bytes: f64,
    /// By share, what they do not exceed.
    pub(crate) ns: [f64; SHARES.len()],
}

impl Point {
    fn median_ns(&self) -> f64 {
        self.ns[Figure::Median as usize]
    }

    /// What a share of them does not exceed.
    fn quantile_ns(&self, share: f64) -> f64 {
        let above = SHARES.iter().position(|of| *of >= share).unwrap_or(SHARES.len() - 1).max(1);
        let (from, to) = (SHARES[above - 1], SHARES[above]);
        let (low_ns, high_ns) = (self.ns[above - 1], self.ns[above]);
        low_ns + (high_ns - low_ns) * (share - from) / (to - from)
    }

    /// The share of them that takes no longer than this.
    fn share_within(&self, ns: f64) -> f64 {
        match self.ns.iter().position(|of| *of > ns) {
            Some(0) => 0.0,
            None => 1.0,
            Some(above) => {
                let (low_ns, high_ns) = (self.ns[above - 1], self.ns[above]);
                let (from, to) = (SHARES[above - 1], SHARES[above]);
                from + (to - from) * (ns - low_ns) / (high_ns - low_ns)
            }
        }
    }

    /// How likely a flight that took no longer than this took just so long: the density of its time over the share of times up to
    /// it (the reversed hazard rate).
    fn ends_now(&self, ns: f64) -> f64 {
        let last = SHARES.len() - 1;
        let (least_ns, most_ns) = (self.ns[0].max(1.0), self.ns[last].max(1.0));
        if ns < least_ns {
            return self.ends_now(least_ns) * (ns / least_ns).powi(BELOW_LEAST);
        }
        // Slow ones get rare with the square of their time, beyond the longest one, and no faster before it: few were found yet.
        let beyond = (SHARES[last] - SHARES[last - 1]) * most_ns / (ns * ns);
        let (from_ns, to_ns) = (ns / AS_LONG, ns * AS_LONG);
        let within = self.share_within(to_ns);
        let density = (within - self.share_within(from_ns)) / (to_ns - from_ns);
        density.max(beyond) / within
    }
}

/// What flights take: within a node, and between nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights {
    pub(crate) scopes: [Vec<Point>; 2],
    /// The least time that a receiving call takes.
    pub(crate) least_ns: u64,
}

/// Which figure of a distribution is meant, by its place in `SHARES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Least = 0,
    Low = 1,
    Median = 3,
    High = 5,
    /// Up to this, a flight takes no longer than is normal.
    Normal = 6,
}

/// Sizes are gathered by quarters of an octave; there are this many.
pub(crate) const SIZE_BINS: usize = 4 * u32::BITS as usize + 1;

pub(crate) fn size_bin(bytes: u32) -> u32 {
    (4.0 * (f64::from(bytes) + 1.0).log2()) as u32
}

impl Flights {
    /// What a flight takes in a quiet network; none where nothing of the scope was seen.
    pub(crate) fn ns(&self, is_inter: bool, bytes: u32, figure: Figure) -> Option<f64> {
        let points = &self.scopes[usize::from(is_inter)];
        at_size(points, |point| (point.bytes, point.ns[figure as usize]), bytes)
    }

    /// What flights of a size take; none where nothing of the scope was seen.
    fn of_size(&self, is_inter: bool, bytes: u32) -> Option<Point> {
        let points = &self.scopes[usize::from(is_inter)];
        let place = Place::new(points, |point| point.bytes, bytes)?;
        let mut ns = std::array::from_fn(|at| place.value(points, |point| point.ns[at]));
        // Beyond the last size each share grows for itself.
        let mut least_ns = 0.0_f64;
        for of_share in &mut ns {
            least_ns = least_ns.max(*of_share);
            *of_share = least_ns;
        }
        Some(Point { bytes: f64::from(bytes), ns })
    }

    /// What a flight likely took that took no longer than a bound: among those of its size that do not, the one that a share of them
    /// does not exceed. None where nothing of the scope was seen.
    pub(crate) fn within_ns(&self, is_inter: bool, bytes: u32, (share, most_ns): (f64, f64)) -> Option<f64> {
        let point = self.of_size(is_inter, bytes)?;
        Some(point.quantile_ns(share * point.share_within(most_ns)).min(most_ns))
    }

    /// How likely a flight that took no longer than this took just so long; none where nothing of the scope was seen.
    pub(crate) fn ends_now(&self, is_inter: bool, bytes: u32, ns: f64) -> Option<f64> {
        Some(self.of_size(is_inter, bytes)?.ends_now(ns))
    }

    /// What a call that moves little costs at least.
    pub(crate) fn least_of_small_ns(&self) -> u64 {
        self.least_ns.min(MOST_OWN_NS)
    }

    /// The parts of a flight that latency and bandwidth decide, in a quiet network.
    pub(crate) fn parts_ns(&self, is_inter: bool, bytes: u32) -> (f64, f64) {
        let points = &self.scopes[usize::from(is_inter)];
        let whole_ns = self.ns(is_inter, bytes, Figure::Median).unwrap_or(0.0);
        let slope = match (points.first(), points.last()) {
            (Some(first), Some(last)) if last.bytes > first.bytes => {
                ((last.median_ns() - first.median_ns()) / (last.bytes - first.bytes)).max(0.0)
            }
            // One size says nothing of the slope: small messages are latency, large ones bandwidth.
            _ if bytes > SMALL_BYTES => return (0.0, whole_ns),
            _ => return (whole_ns, 0.0),
        };
        let of_bandwidth_ns = (slope * f64::from(bytes)).min(whole_ns);
        (whole_ns - of_bandwidth_ns, of_bandwidth_ns)
    }

    pub(crate) fn sorted(mut self) -> Self {
        for points in &mut self.scopes {
            points.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
        }
        self
    }
}

/// A call that moves little and waits for nothing takes less than this, also where all of a run waited.
pub(crate) const MOST_OWN_NS: u64 = 20_000;
/// Up to here a message is small.
pub(crate) const SMALL_BYTES: u32 = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn point(bytes: f64, from_ns: f64, to_ns: f64) -> Point {
        Point { bytes, ns: SHARES.map(|share| from_ns + share * (to_ns - from_ns)) }
    }

    #[test]
    fn what_is_drawn_stays_within_its_bound_and_takes_all_shares_below_it() {
        let flights = Flights { scopes: [vec![point(100.0, 10.0, 20.0)], Vec::new()], least_ns: 0 };
        let within = |share, most_ns| flights.within_ns(false, 100, (share, most_ns)).unwrap();
        assert_eq!([0.0, 0.5, 1.0].map(|share| within(share, 15.0).round()), [10.0, 13.0, 15.0]);
        assert_eq!(within(0.7, 5.0), 5.0);
        assert_eq!(within(1.0, 1e9), 20.0);
        assert_eq!(flights.within_ns(true, 100, (0.5, 15.0)), None);
    }

    #[test]
    fn what_many_take_is_likely_also_where_all_take_the_same() {
        let equal = Point { bytes: 100.0, ns: [20_000.0; SHARES.len()] };
        let rounded =
            Point { ns: SHARES.map(|share| if share < 0.995 { 2_000.0 } else { 50_000.0 }), ..equal };
        for (point, usual_ns) in [(equal, 20_000.0), (rounded, 2_000.0)] {
            for other in [0.3, 2.0, 20.0] {
                let other = point.ends_now(other * usual_ns);
                assert!(point.ends_now(usual_ns) > 100.0 * other, "{other}: {point:?}");
            }
        }
        assert_eq!(equal.ends_now(0.0), 0.0);
    }

    #[test]
    fn a_slow_one_is_as_likely_as_slow_ones_are() {
        // One in fifty takes from 20 to 120 us, the others 10 to 20: 500 times as many to the microsecond.
        let ns = |share: f64| 10_000.0 + 10_200.0 * share.min(0.98) + 5e6 * (share - 0.98).max(0.0);
        let point = Point { bytes: 100.0, ns: SHARES.map(ns) };
        let ratio = point.ends_now(19_000.0) / point.ends_now(60_000.0);
        assert!((400.0..600.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn beyond_the_last_size_shares_stay_in_their_order() {
        // The least of the larger size grows fast, the greatest does not.
        let flights = Flights {
            scopes: [vec![point(1000.0, 1.0, 10.0), point(2000.0, 8.0, 10.0)], Vec::new()],
            least_ns: 0,
        };
        let ns = flights.of_size(false, 4000).unwrap().ns;
        assert!(ns.is_sorted(), "{ns:?}");
    }
}
