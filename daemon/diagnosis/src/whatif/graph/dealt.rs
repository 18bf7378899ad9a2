//! Who deals work to whoever asks first.

use rustc_hash::{FxHashMap, FxHashSet};

/// A rank that waits for the answer to its request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// The thread that it asked.
    pub(crate) dealer: u32,
    /// The message with the request.
    pub(crate) request: u32,
}

/// Requests that threads took in the order in which they came, and answered one by one.
#[derive(Debug, Default)]
pub(crate) struct Dealt {
    /// The threads that took them.
    pub(crate) dealers: FxHashSet<u32>,
    /// By call that took a request, the call in which its sender waited for the answer.
    pub(crate) answered_in: FxHashMap<u32, u32>,
    /// By call in which a sender waited for the answer, what it asked.
    pub(crate) askers: FxHashMap<u32, Asker>,
    /// By request that was there when it was taken, what its flight took at least, in nanoseconds.
    pub(crate) least_ns: FxHashMap<u32, u64>,
}

impl Dealt {
    pub(crate) fn is_empty(&self) -> bool {
        self.dealers.is_empty()
    }

    /// What the flight of a message took at least; 0 if nothing is known.
    #[inline]
    pub(crate) fn least_flight_ns(&self, edge: usize) -> u64 {
        if self.least_ns.is_empty() { 0 } else { self.least_ns.get(&(edge as u32)).copied().unwrap_or(0) }
    }
}
