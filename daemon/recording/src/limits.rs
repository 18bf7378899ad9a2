//! Limits of times and of ranks in a recording; no run exceeds them.

/// No run has a later moment: in tables of others times may count from 1970, and this is in the year 2116.
pub(crate) const MOST_NS: u64 = 1 << 62;
/// More ranks than any job has. Readers have tables of all ranks up to the highest.
pub(crate) const MOST_RANKS: u32 = 1 << 23;
