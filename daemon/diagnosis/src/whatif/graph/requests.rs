//! Requests that are taken in the order in which they come, and answered one by one.

use rustc_hash::{FxHashMap, FxHashSet};

/// A request, as its dealer took it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The thread that took it.
    pub(crate) dealer: u32,
    /// The dealer's call that took it.
    pub(crate) taken_in: u32,
    /// The sender's call that waited for the answer.
    pub(crate) answered_in: u32,
    pub(crate) message: u32,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The threads that took them.
    pub(crate) dealers: FxHashSet<u32>,
    /// By call that took one.
    taken: FxHashMap<u32, Request>,
    /// By call that waited for the answer, the call that took it.
    answered: FxHashMap<u32, u32>,
    /// By request that was there when it was taken, what its flight took at least, in nanoseconds.
    pub(crate) least_ns: FxHashMap<u32, u64>,
}

impl Requests {
    pub(crate) fn is_empty(&self) -> bool {
        self.dealers.is_empty()
    }

    /// Adds one. A call that waits for two answers is left out.
    pub(crate) fn push(&mut self, request: Request) {
        if let Some(other) = self.answered.insert(request.answered_in, request.taken_in) {
            self.taken.remove(&other);
        } else {
            self.taken.insert(request.taken_in, request);
        }
    }

    /// The request that a call took.
    pub(crate) fn taken_in(&self, call: u32) -> Option<Request> {
        self.taken.get(&call).copied()
    }

    /// The request for whose answer a call waited.
    pub(crate) fn answered_in(&self, call: u32) -> Option<Request> {
        self.answered.get(&call).and_then(|taken_in| self.taken_in(*taken_in))
    }

    /// What the flight of a message took at least; 0 if nothing is known.
    #[inline]
    pub(crate) fn least_flight_ns(&self, message: usize) -> u64 {
        if self.least_ns.is_empty() { 0 } else { self.least_ns.get(&(message as u32)).copied().unwrap_or(0) }
    }
}
