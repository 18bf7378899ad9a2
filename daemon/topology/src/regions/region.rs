//! The parts that ranks are divided into.

use mpiscope_model::Rank;

/// A region with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its name: the same as long as most of its ranks stay together, and never used again for something else.
    pub id: u32,
    /// Its ranks, in order.
    pub ranks: Vec<Rank>,
}
