//! Calls that waited until a peer entered MPI.

use crate::whatif::call_row::NONE;

/// What such a call waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockedCall {
    /// The call with which the peer entered MPI.
    pub(crate) entry: u32,
    /// What the call takes where it waits for nobody.
    pub(crate) usual_ns: u64,
}

/// Those of a run, by call.
#[derive(Debug, Default)]
pub(crate) struct BlockedCalls {
    /// By call, its place among them, or `NONE`; empty before they are known.
    places: Vec<u32>,
    all: Vec<BlockedCall>,
}

impl BlockedCalls {
    /// None yet, of a number of calls.
    pub(crate) fn none_of(calls: usize) -> Self {
        Self { places: vec![NONE; calls], all: Vec::new() }
    }

    /// A call waited for this, and for nothing that was found before.
    pub(crate) fn add(&mut self, call: usize, of: BlockedCall) {
        if self.places[call] == NONE {
            self.places[call] = self.all.len() as u32;
            self.all.push(of);
        } else {
            self.all[self.places[call] as usize] = of;
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(crate) fn get(&self, call: usize) -> Option<BlockedCall> {
        self.places.get(call).filter(|place| **place != NONE).map(|place| self.all[*place as usize])
    }
}
