//! How ranks are shared out over shards.

use mpiscope_model::Rank;

/// How ranks are shared out: neighbours go together, for they talk with each other most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    /// How many shards there are.
    pub shards: u16,
    /// The first that has any ranks.
    pub first: u16,
    /// Who goes together.
    pub neighbours: Neighbours,
}

/// Which ranks go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// N of them, and shards take turns.
    Blocks(u32),
    /// All of a shard, where there are N ranks.
    All(u32),
}

impl Owners {
    /// One shard has all.
    pub const ONE: Self = Self { shards: 1, first: 0, neighbours: Neighbours::Blocks(1) };

    /// The shard of a rank.
    #[inline]
    #[must_use]
    pub fn shard(&self, rank: Rank) -> u16 {
        let shards = u32::from(self.shards.saturating_sub(self.first).max(1));
        let shard = match self.neighbours {
            Neighbours::Blocks(block) => rank.0 / block.max(1) % shards,
            Neighbours::All(ranks) => {
                let shard = u64::from(rank.0) * u64::from(shards) / u64::from(ranks.max(1));
                shard.min(u64::from(shards) - 1) as u32
            }
        };
        self.first + shard as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_go_together_and_each_shard_has_its_share() {
        let owners = Owners { shards: 3, first: 0, neighbours: Neighbours::Blocks(4) };
        let found: Vec<u16> = Rank::all(16).map(|rank| owners.shard(rank)).collect();
        assert_eq!(found, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0]);
        assert!(Rank::all(9).all(|rank| Owners::ONE.shard(rank) == 0));
    }

    #[test]
    fn all_neighbours_go_together_behind_shards_without_any() {
        let owners = Owners { shards: 4, first: 1, neighbours: Neighbours::All(7) };
        let found: Vec<u16> = Rank::all(7).map(|rank| owners.shard(rank)).collect();
        assert_eq!(found, [1, 1, 1, 2, 2, 3, 3]);
        // A rank that should not be there has an owner, too.
        assert_eq!(owners.shard(Rank(u32::MAX)), 3);
    }
}
