//! Requests that are taken in the order in which they come, and answered one by one.

use crate::whatif::call_row::NONE;
use rustc_hash::FxHashSet;

/// A request, as its dealer took it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The thread that took it.
    pub(crate) dealer: u32,
    /// The dealer's call that took it, and received nothing else.
    pub(crate) taken_in: u32,
    /// The sender's call that waited for the answer.
    pub(crate) answered_in: u32,
    pub(crate) message: u32,
    /// What its flight took at least, in nanoseconds; 0 if nothing is known.
    pub(crate) least_ns: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The threads that took them.
    pub(crate) dealers: FxHashSet<u32>,
    pub(crate) all: Vec<Request>,
    /// By call, the number of the request that it took, or NONE. Empty where there are no requests.
    taken: Vec<u32>,
    /// By call, the number of the request for whose answer it waited, or NONE. Empty where there are no requests.
    answered: Vec<u32>,
}

impl Requests {
    /// Those of a run with this number of calls. Requests that are answered in one call are left out.
    pub(crate) fn new(calls: usize, mut requests: Vec<Request>) -> Self {
        requests.sort_unstable_by_key(|request| request.answered_in);
        let alone = requests.chunk_by(|one, other| one.answered_in == other.answered_in);
        let all: Vec<Request> =
            alone.filter_map(|chunk| chunk.first().filter(|_| chunk.len() == 1).copied()).collect();
        if all.is_empty() {
            return Self::default();
        }
        let (mut taken, mut answered) = (vec![NONE; calls], vec![NONE; calls]);
        for (number, request) in (0_u32..).zip(&all) {
            taken[request.taken_in as usize] = number;
            answered[request.answered_in as usize] = number;
        }
        let dealers = all.iter().map(|request| request.dealer).collect();
        Self { dealers, all, taken, answered }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of the request that a call took.
    #[inline]
    pub(crate) fn taken_in(&self, call: usize) -> Option<usize> {
        number(&self.taken, call)
    }

    /// The number of the request for whose answer a call waited.
    #[inline]
    pub(crate) fn answered_in(&self, call: usize) -> Option<usize> {
        number(&self.answered, call)
    }

    /// What the flight of the message took at least that a call received; 0 if nothing is known.
    #[inline]
    pub(crate) fn least_flight_ns(&self, received_in: u32) -> u64 {
        self.taken_in(received_in as usize).map_or(0, |number| self.all[number].least_ns)
    }
}

#[inline]
fn number(numbers: &[u32], call: usize) -> Option<usize> {
    numbers.get(call).filter(|number| **number != NONE).map(|number| *number as usize)
}
