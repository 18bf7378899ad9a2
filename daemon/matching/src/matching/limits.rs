//! How much may wait for its other side.

/// What the operator may keep.
#[derive(Debug, Clone, Copy)]
pub struct MatchingLimits {
    /// Sends and receives without their other side; beyond it the oldest of a channel are given up and counted.
    pub pending: usize,
    /// Pairs of ranks on a communicator. Beyond it, idle ones are forgotten; if they talk again after lost calls,
    /// their matches may be ambiguous.
    pub pairs: usize,
}

impl Default for MatchingLimits {
    /// Some 256 MiB, and as much for pairs.
    fn default() -> Self {
        Self { pending: 4 << 20, pairs: 1 << 20 }
    }
}
