//! The memory budget for the tables that a run's processes fill.
//!
//! A job may define anything without end: communicators, windows, files, names, call sites, threads. Every table pays
//! for its entries here; entries beyond the budget are left out and counted.

/// All tables together, as they lie in memory, about. A run of 100,000 ranks with 200 places and 20 communicators each
/// takes three quarters of it.
pub(crate) const BUDGET_BYTES: usize = 1 << 30;

/// What is left of it.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    left_bytes: usize,
    refused: u64,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left_bytes: bytes, refused: 0 }
    }

    /// Takes bytes for a short time; `false` when there are not enough.
    pub(crate) fn borrow(&mut self, bytes: usize) -> bool {
        let left = self.left_bytes.checked_sub(bytes);
        self.left_bytes = left.unwrap_or(self.left_bytes);
        left.is_some()
    }

    /// Takes bytes for a table; when there are not enough, counts a refusal and returns `false`.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let has_room = self.borrow(bytes);
        self.refused += u64::from(!has_room);
        has_room
    }

    /// Takes what an entry of a hash table costs: tables are at most half empty.
    pub(crate) fn take_entry<T>(&mut self) -> bool {
        self.take(2 * (size_of::<T>() + 1))
    }

    /// What was taken is kept no more.
    pub(crate) fn give(&mut self, bytes: usize) {
        self.left_bytes = self.left_bytes.saturating_add(bytes);
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.left_bytes
    }

    /// How many found no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::new(BUDGET_BYTES)
    }
}
