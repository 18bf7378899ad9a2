//! Regions: ranks that talk mostly among themselves.

use crate::question::rank_ranges;
use mpiscope_model::Rank;
use serde::{Deserialize, Serialize};

/// Regions, as pages receive them and as recordings keep them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Regions {
    /// How often they changed until now; 0 where none are known.
    pub version: u64,
    /// How many there are; fewer may be listed.
    pub count: usize,
    /// Whether collectives were counted too, because they move most of the bytes.
    pub with_collectives: bool,
    /// In the order of their first ranks.
    pub regions: Vec<Region>,
    /// Pairs of them that exchanged messages, those with the most first.
    pub between: Vec<Between>,
}

/// One region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Region {
    /// Its name, the same from one version to the next.
    pub id: u32,
    /// Its ranks: the first and the last of each run without a gap.
    pub ranks: Vec<(u32, u32)>,
    /// What its exact messages took for what is usual, in the mean; null where there were none.
    pub latency: Option<f64>,
    /// Messages between its ranks.
    pub messages: u64,
    /// Exact messages that took longer than is normal: the 95th percentile of quiet windows.
    pub delayed: u64,
    /// Exact messages that took longer than expected (L > 1).
    #[serde(default)]
    pub above_expected: u64,
    /// The share of its messages that are exact.
    pub exact: f64,
}

/// What two regions exchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Between {
    /// One of them.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// As of a region.
    pub latency: Option<f64>,
    /// Messages between the two.
    pub messages: u64,
    /// As of a region.
    pub delayed: u64,
    /// As of a region.
    #[serde(default)]
    pub above_expected: u64,
    /// As of a region.
    pub exact: f64,
}

impl Region {
    /// How many ranks it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.ranks.iter().map(|(first, last)| (last - first) as usize + 1).sum()
    }

    /// Its ranks one by one.
    pub fn each_rank(&self) -> impl Iterator<Item = Rank> + '_ {
        self.ranks.iter().flat_map(|&(first, last)| (first..=last).map(Rank))
    }

    /// Whether a rank is one of its.
    #[must_use]
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks.iter().any(|&(first, last)| (first..=last).contains(&rank.0))
    }

    /// Its ranks in ranges, both ends included.
    #[must_use]
    pub fn ranges(&self) -> Vec<(Rank, Rank)> {
        rank_ranges(&self.ranks)
    }
}

impl Regions {
    /// With at most this number of regions and pairs listed.
    #[must_use]
    pub fn bounded(mut self, most: usize) -> Self {
        self.regions.truncate(most);
        self.between.truncate(most);
        self
    }
}

/// Numbers of ranks in order, as runs without a gap.
#[must_use]
pub fn runs(ranks: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_reported_in_runs() {
        let ranks = [0, 1, 2, 5, 7, 8, u32::MAX];
        let region = Region { ranks: runs(ranks), ..Region::default() };
        assert_eq!(region.ranks, [(0, 2), (5, 5), (7, 8), (u32::MAX, u32::MAX)]);
        assert_eq!((region.size(), region.each_rank().collect::<Vec<_>>()), (7, ranks.map(Rank).to_vec()));
        assert!(runs([]).is_empty());
    }
}
