//! What flights of messages take, by size.

use crate::whatif::reference::at_size;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;

/// The shares of flights for which it is known what they do not exceed. Far out they are close together: of many messages
/// that a call waits for, a slow one decides.
pub(crate) const SHARES: [f64; 10] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.995, 1.0];

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

/// Sizes are gathered by quarters of an octave.
pub(crate) fn size_bin(bytes: u32) -> u32 {
    (4.0 * (f64::from(bytes) + 1.0).log2()) as u32
}

impl Flights {
    /// What a flight takes in a quiet network; none where nothing of the scope was seen.
    pub(crate) fn ns(&self, is_inter: bool, bytes: u32, figure: Figure) -> Option<f64> {
        let points = &self.scopes[usize::from(is_inter)];
        at_size(points, |point| (point.bytes, point.ns[figure as usize]), bytes)
    }

    /// What a flight likely took that took no longer than a bound: one of those that were felt, drawn by the number of the
    /// message. It is the same in each replay; none where nothing of the scope was seen.
    pub(crate) fn drawn_ns(
        &self,
        is_inter: bool,
        bytes: u32,
        (number, most_ns): (usize, f64),
    ) -> Option<f64> {
        let points = &self.scopes[usize::from(is_inter)];
        for draw in 0..DRAWS {
            let share = unit(FxBuildHasher.hash_one((number, draw)));
            let ns = at_size(points, |point| (point.bytes, point.quantile_ns(share)), bytes)?;
            if ns <= most_ns {
                return Some(ns);
            }
        }
        self.ns(is_inter, bytes, Figure::Low).map(|ns| ns.min(most_ns))
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

/// Up to here a message is small.
pub(crate) const SMALL_BYTES: u32 = 8 << 10;
/// A flight is drawn at most this often.
const DRAWS: u32 = 8;

/// A number from 0 to 1.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}
