//! What messages of about one size took, bin by bin.

use crate::criteria::{bin_sizes, size_bin};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Sizes of one answer, those with the most messages.
pub const MOST_CLASSES: usize = 8;

/// Messages of about one size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeClass {
    /// The least size.
    pub from: u64,
    /// The first that is not meant any more.
    pub to: u64,
    /// Whether they went between nodes.
    pub is_inter: bool,
    /// How many there are.
    pub messages: u64,
    /// What they took in the mean of each bin, in shares of what they took in the mean of the range; none where there were
    /// none, or where they took no time at all.
    pub slow: Vec<Option<f64>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    messages: u64,
    time_ns: u64,
}

/// Sums by size and bin.
#[derive(Debug)]
pub(super) struct Sizes {
    bins: usize,
    classes: FxHashMap<u32, Vec<Sum>>,
}

impl Sizes {
    pub(super) fn new(bins: usize) -> Self {
        Self { bins, classes: FxHashMap::default() }
    }

    pub(super) fn add(&mut self, bin: usize, bytes: u64, time_ns: u64) {
        let bins = self.bins;
        let sums = self.classes.entry(size_bin(bytes)).or_insert_with(|| vec![Sum::default(); bins]);
        sums[bin].messages += 1;
        sums[bin].time_ns = sums[bin].time_ns.saturating_add(time_ns);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    pub(super) fn classes(&self, is_inter: bool) -> Vec<SizeClass> {
        let messages = |sums: &[Sum]| sums.iter().map(|sum| sum.messages).sum::<u64>();
        let mut most: Vec<(u32, u64)> =
            self.classes.iter().map(|(&class, sums)| (class, messages(sums))).collect();
        most.sort_unstable_by_key(|&(class, messages)| (Reverse(messages), class));
        most.truncate(MOST_CLASSES);
        most.sort_unstable();
        let size_class = |(class, messages): (u32, u64)| {
            let (from, to) = bin_sizes(class);
            SizeClass { from, to, is_inter, messages, slow: slow(&self.classes[&class], messages) }
        };
        most.into_iter().map(size_class).collect()
    }
}

fn slow(sums: &[Sum], messages: u64) -> Vec<Option<f64>> {
    let mean_ns = sums.iter().map(|sum| sum.time_ns as f64).sum::<f64>() / messages.max(1) as f64;
    let of_bin = |sum: &Sum| {
        let is_known = sum.messages > 0 && mean_ns > 0.0;
        is_known.then(|| sum.time_ns as f64 / sum.messages as f64 / mean_ns)
    };
    sums.iter().map(of_bin).collect()
}

impl SizeClass {
    /// By how much bins differ from each other: their standard deviation; none of less than two.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        let known: Vec<f64> = self.slow.iter().copied().flatten().collect();
        if known.len() < 2 {
            return None;
        }
        let count = known.len() as f64;
        let mean = known.iter().sum::<f64>() / count;
        Some((known.iter().map(|slow| (slow - mean).powi(2)).sum::<f64>() / count).sqrt())
    }
}
