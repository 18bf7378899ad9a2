//! Slots on their way from their clock to whoever reads them.

use mpiscope_model::Nanoseconds;
use mpiscope_wire::{Slot, Slots};

/// Slots of an agent whose times are known.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) agent: u32,
    pub(crate) slots: Vec<Slots>,
    /// They were written before this.
    pub(crate) written_until_ns: Nanoseconds,
}

/// Likewise of one ring of a process.
#[derive(Debug)]
pub(crate) struct Readable {
    /// The ring's place among those of its process.
    pub(crate) ring: usize,
    /// The position of the first.
    pub(crate) from: u64,
    pub(crate) slots: Vec<Slot>,
    /// They were written before this.
    pub(crate) written_until_ns: Nanoseconds,
}
