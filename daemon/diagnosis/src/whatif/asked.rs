//! Requests that are dealt in the order in which they come.

use crate::whatif::graph::dealt::Asker;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests that are dealt in the order in which they come.
///
/// Whoever asks first gets what is dealt first: the one that got it in the recorded run goes on from there as if it had asked
/// then, and had waited for the answer since then. All who wait are alike in that.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// By dealer, when each request that it has not answered arrives, and since when its sender waits for the answer, as bits:
    /// times are positive, and their bits are in the same order.
    waiting: FxHashMap<u32, BinaryHeap<Reverse<(u64, u64)>>>,
    /// Calls in which somebody waits for an answer.
    entered: FxHashSet<u32>,
    /// Calls whose request was answered before they were entered.
    answered_before: FxHashSet<u32>,
    /// By message with a request, when it came.
    arrived: FxHashMap<u32, f64>,
}

impl Asked {
    /// Somebody waits for an answer in this call, since then; its request arrives when it does.
    pub(crate) fn ask(&mut self, call: u32, dealer: u32, [arrival_ns, entry_ns]: [f64; 2]) {
        if !self.answered_before.contains(&call) {
            self.entered.insert(call);
            let times = (arrival_ns.max(0.0).to_bits(), entry_ns.max(0.0).to_bits());
            self.waiting.entry(dealer).or_default().push(Reverse(times));
        }
    }

    /// A request is taken whose sender is to have its answer in this call: it is the one that comes first. Since when its sender
    /// waits; none if nobody waits in that call yet.
    pub(crate) fn answer(&mut self, call: u32, Asker { dealer, request }: Asker) -> Option<f64> {
        if !self.entered.remove(&call) {
            self.answered_before.insert(call);
            return None;
        }
        let Reverse((arrival, entry)) = self.waiting.get_mut(&dealer)?.pop()?;
        self.arrived.insert(request, f64::from_bits(arrival));
        Some(f64::from_bits(entry))
    }

    /// When a request came that was dealt so.
    pub(crate) fn arrival_ns(&self, message: u32) -> Option<f64> {
        self.arrived.get(&message).copied()
    }
}
