//! Limits of what is read and written: what is beyond them is a damaged or hostile file.

/// More ranks than any job has.
pub(crate) const MAX_RANKS: u32 = 1 << 20;
/// Members of all communicators together; they stay in memory.
pub(crate) const MAX_COMM_MEMBERS: usize = 1 << 22;
/// Times up to here can be added without an overflow.
pub(crate) const MAX_NS: u64 = 1 << 62;
/// Sums of sizes up to here can be added without an overflow.
const MAX_BYTES: u64 = 1 << 62;

/// A sum of sizes; none where it is too large.
pub(crate) fn sum_bytes(sum: u64, more: u64) -> Option<u64> {
    sum.checked_add(more).filter(|&sum| sum <= MAX_BYTES)
}
