//! The requests that dealers have not answered, in a replay that takes them as they come.

use crate::whatif::graph::requests::Requests;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody waits for its answer yet.
    Unsent,
    Waiting,
    Answered,
}

/// The requests that dealers have not answered.
///
/// Whoever asks first gets what is dealt first: the one that got it in the recorded run goes on from there as if it had asked
/// then, and had waited for the answer since then. All who wait are alike in that.
#[derive(Debug)]
pub(crate) struct WaitingRequests {
    /// By request.
    states: Vec<State>,
    /// By dealer, when each request arrives, and since when its sender waits for the answer, as bits: times are positive, and
    /// their bits are in the same order.
    times: FxHashMap<u32, BinaryHeap<Reverse<(u64, u64)>>>,
}

impl WaitingRequests {
    pub(crate) fn new(requests: &Requests) -> Self {
        Self { states: vec![State::Unsent; requests.all.len()], times: FxHashMap::default() }
    }

    /// Whoever sent a request to a dealer waits for the answer since `entry_ns`; it arrives at `arrival_ns`.
    pub(crate) fn push(&mut self, request: usize, dealer: u32, [arrival_ns, entry_ns]: [f64; 2]) {
        if self.states[request] == State::Unsent {
            self.states[request] = State::Waiting;
            let times = (arrival_ns.max(0.0).to_bits(), entry_ns.max(0.0).to_bits());
            self.times.entry(dealer).or_default().push(Reverse(times));
        }
    }

    /// A request is taken: it is the one that comes first. When that arrives, and since when its sender waits; none if the
    /// recorded sender does not wait yet.
    pub(crate) fn take(&mut self, request: usize, dealer: u32) -> Option<[f64; 2]> {
        let before = std::mem::replace(&mut self.states[request], State::Answered);
        let times = self.times.get_mut(&dealer).filter(|_| before == State::Waiting)?;
        let Reverse((arrival, entry)) = times.pop()?;
        Some([f64::from_bits(arrival), f64::from_bits(entry)])
    }
}
