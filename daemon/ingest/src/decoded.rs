//! What slots came to: rows and events, faults, and what could not be read.

use crate::memory_budget::MemoryBudget;
use crate::process::Wanted;
use mpiscope_model::{Batch, Fault, Rank};

/// Limit of reports of one recurring fault.
const MOST_FAULTS: usize = 1000;

/// What became known of slots, of the whole run or of some of its processes.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) batch: Batch,
    faults_told: usize,
    /// Slots of no known meaning.
    pub(crate) unreadable_slots: u64,
    /// Whether the sum of losses differs from the last published one.
    pub(crate) losses_changed: bool,
    /// Calls from call sites beyond the limit.
    pub(crate) calls_beyond_sites: u64,
    /// The budget of what may still wait: parts for their call, slots of other hosts for their clock. Tables take
    /// nothing of it: calls go on.
    pub(crate) waiting: MemoryBudget,
}

/// Whoever says that there are more rows has still to bring them.
const MOST_RESERVED: usize = 1 << 20;

impl Decoded {
    /// Nothing yet; so much may wait.
    pub(crate) fn within(bytes: usize) -> Self {
        Self { waiting: MemoryBudget::new(bytes), ..Self::default() }
    }

    /// Most slots are calls; growing step by step copies them all again.
    pub(crate) fn reserve(&mut self, slots: usize, wanted: Wanted) {
        let slots = slots.min(MOST_RESERVED);
        if wanted.rows {
            self.batch.calls.reserve(slots);
        }
        if wanted.effects {
            self.batch.activities.reserve(slots);
        }
    }

    pub(crate) fn fault(&mut self, rank: Option<Rank>, text: String) {
        self.faults_told += 1;
        if self.faults_told <= MOST_FAULTS {
            self.batch.faults.push(Fault { rank, text });
        }
    }

    /// Nobody can say what these slots mean: they count as lost.
    pub(crate) fn lose_slots(&mut self, slots: u64) {
        self.unreadable_slots = self.unreadable_slots.saturating_add(slots);
        self.losses_changed = true;
    }

    /// Adds what another thread found, with what is left of the budget that it was given. Returns its rows and events.
    pub(crate) fn add(&mut self, mut other: Self) -> Batch {
        for fault in std::mem::take(&mut other.batch.faults) {
            self.fault(fault.rank, fault.text);
        }
        self.unreadable_slots = self.unreadable_slots.saturating_add(other.unreadable_slots);
        self.losses_changed |= other.losses_changed;
        self.calls_beyond_sites = self.calls_beyond_sites.saturating_add(other.calls_beyond_sites);
        self.waiting.give(other.waiting.left());
        other.batch
    }
}
