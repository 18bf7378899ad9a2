//! Which shard settles the calls of which ranks.

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
