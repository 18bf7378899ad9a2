//! The newest deltas, kept for viewers that are a little behind.

use std::collections::VecDeque;
use std::sync::Arc;

/// Deltas with consecutive numbers, bounded in number and in bytes.
#[derive(Debug)]
pub(crate) struct DeltaHistory {
    deltas_max: usize,
    bytes_max: usize,
    bytes: usize,
    newest: u64,
    deltas: VecDeque<Arc<[u8]>>,
}

impl DeltaHistory {
    pub(crate) fn new(deltas_max: usize, bytes_max: usize) -> Self {
        DeltaHistory { deltas_max, bytes_max, bytes: 0, newest: 0, deltas: VecDeque::new() }
    }

    /// Takes the delta that leads to this number, which is one more than the last.
    pub(crate) fn push(&mut self, number: u64, delta: Vec<u8>) {
        self.newest = number;
        self.bytes += delta.len();
        self.deltas.push_back(delta.into());
        while self.deltas.len() > self.deltas_max || self.bytes > self.bytes_max {
            let Some(oldest) = self.deltas.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// Nothing leads to this number but a snapshot.
    pub(crate) fn cut(&mut self, number: u64) {
        self.newest = number;
        self.bytes = 0;
        self.deltas.clear();
    }

    /// The delta that leads to this number.
    pub(crate) fn get(&self, number: u64) -> Option<&Arc<[u8]>> {
        let back = usize::try_from(self.newest.checked_sub(number)?).ok()?;
        self.deltas.get(self.deltas.len().checked_sub(back + 1)?)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
