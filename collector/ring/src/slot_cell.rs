//! Where a slot lies in shared memory.

use crate::sync::{AtomicU64, Ordering};
use mpiscope_wire::{SLOT_WORDS, Slot};

/// A slot in shared memory. Relaxed atomics are plain moves to the processor and defined when both sides touch them.
#[repr(transparent)]
#[derive(Debug)]
pub struct SlotCell([AtomicU64; SLOT_WORDS]);

impl SlotCell {
    /// An empty cell, for tests without a file.
    #[must_use]
    pub fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    #[inline(always)]
    pub(crate) fn store(&self, slot: &Slot) {
        for (cell, word) in self.0.iter().zip(slot) {
            cell.store(*word, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> Slot {
        std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed))
    }
}

impl Default for SlotCell {
    fn default() -> Self {
        Self::new()
    }
}
