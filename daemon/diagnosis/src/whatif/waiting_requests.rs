//! The requests that dealers have not answered, in a replay that takes them as they come.

use crate::whatif::graph::requests::Request;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The requests that dealers have not answered.
///
/// Whoever asks first gets what is dealt first: the one that got it in the recorded run goes on from there as if it had asked
/// then, and had waited for the answer since then. All who wait are alike in that.
#[derive(Debug, Default)]
pub(crate) struct WaitingRequests {
    /// By dealer, when each request arrives, and since when its sender waits for the answer, as bits: times are positive, and
    /// their bits are in the same order.
    times: FxHashMap<u32, BinaryHeap<Reverse<(u64, u64)>>>,
    /// Calls in which somebody waits for an answer.
    entered: FxHashSet<u32>,
    /// Calls whose request was answered before they were entered.
    answered_before: FxHashSet<u32>,
    /// By message with a request, when the one came that was taken in its stead.
    arrived: FxHashMap<u32, f64>,
}

impl WaitingRequests {
    /// Whoever sent a request waits for the answer since `entry_ns`; it arrives at `arrival_ns`.
    pub(crate) fn push(&mut self, request: Request, [arrival_ns, entry_ns]: [f64; 2]) {
        if !self.answered_before.contains(&request.answered_in) {
            self.entered.insert(request.answered_in);
            let times = (arrival_ns.max(0.0).to_bits(), entry_ns.max(0.0).to_bits());
            self.times.entry(request.dealer).or_default().push(Reverse(times));
        }
    }

    /// A request is taken: it is the one that comes first. Since when its sender waits; none if the recorded sender does not wait
    /// yet.
    pub(crate) fn take(&mut self, request: Request) -> Option<f64> {
        if !self.entered.remove(&request.answered_in) {
            self.answered_before.insert(request.answered_in);
            return None;
        }
        let Reverse((arrival, entry)) = self.times.get_mut(&request.dealer)?.pop()?;
        self.arrived.insert(request.message, f64::from_bits(arrival));
        Some(f64::from_bits(entry))
    }

    /// When the request came that was taken in a message's stead.
    pub(crate) fn arrival_ns(&self, message: u32) -> Option<f64> {
        self.arrived.get(&message).copied()
    }
}
