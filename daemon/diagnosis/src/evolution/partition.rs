//! Which rank is in which region.

use mpiscope_model::{Node, Rank};

/// A partition of the ranks. Ids are stable: a region that is there in two versions has the same in both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegionOfRank {
    /// Grows with every change.
    pub version: u32,
    /// The region's id, by rank.
    pub of_rank: Vec<u32>,
}

mpiscope_model::numbers! { RegionOfRank { version, of_rank } }

impl RegionOfRank {
    /// Each node's ranks as one region: the default. On one node that is one region.
    #[must_use]
    pub fn by_node(version: u32, node_of_rank: &[Node]) -> Self {
        Self { version, of_rank: node_of_rank.iter().map(|node| node.0).collect() }
    }

    /// The region of a rank.
    #[must_use]
    pub fn region(&self, rank: Rank) -> Option<u32> {
        self.of_rank.get(rank.index()).copied()
    }

    /// All regions with their ranks, in order.
    #[must_use]
    pub fn regions(&self) -> Vec<(u32, Vec<Rank>)> {
        let mut all = std::collections::BTreeMap::<u32, Vec<Rank>>::new();
        for (rank, region) in self.of_rank.iter().enumerate() {
            all.entry(*region).or_default().push(Rank::from_index(rank));
        }
        all.into_iter().collect()
    }
}

/// The same, with regions numbered without gaps for those who count by them.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) version: u32,
    /// By rank; `NOWHERE` where no region is known.
    of_rank: Vec<u32>,
    /// The id of each.
    pub(super) ids: Vec<u32>,
}

mpiscope_model::numbers! { Places { version, of_rank, ids } }

/// A rank that no region is known of.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Places {
    pub(super) fn new(partition: &RegionOfRank) -> Self {
        let mut ids = partition.of_rank.clone();
        ids.sort_unstable();
        ids.dedup();
        let place = |id: &u32| ids.binary_search(id).map_or(NOWHERE, |at| at as u32);
        Self { version: partition.version, of_rank: partition.of_rank.iter().map(place).collect(), ids }
    }

    #[inline]
    pub(super) fn of_rank(&self, rank: Rank) -> u32 {
        self.of_rank.get(rank.index()).copied().unwrap_or(NOWHERE)
    }
}
