//! How ranks are shared out over shards.

use mpiscope_model::Rank;

/// How ranks are shared out: neighbours in blocks, for they talk with each other most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    /// How many shards there are.
    pub shards: u16,
    /// How many neighbours go together.
    pub block: u32,
}

impl Owners {
    /// One shard has all.
    pub const ONE: Self = Self { shards: 1, block: 1 };

    /// The shard of a rank.
    #[inline]
    #[must_use]
    pub fn shard(&self, rank: Rank) -> u16 {
        (rank.0 / self.block.max(1) % u32::from(self.shards.max(1))) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_go_together_and_each_shard_has_its_share() {
        let owners = Owners { shards: 3, block: 4 };
        let found: Vec<u16> = Rank::all(16).map(|rank| owners.shard(rank)).collect();
        assert_eq!(found, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0]);
        assert!(Rank::all(9).all(|rank| Owners::ONE.shard(rank) == 0));
    }
}
