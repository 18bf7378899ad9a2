//! The paths that led to calls that are settled and that others may still ask for.

use super::causes::Causes;
use mpiscope_model::Nanoseconds;
use std::collections::VecDeque;

/// A settled call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    pub(super) number: u64,
    /// How many may still ask for its path.
    pub(super) pins: u32,
    /// Whether it is a send that may have waited for its receive.
    pub(super) may_block: bool,
    pub(super) end_ns: Nanoseconds,
    /// The path that led to its entry; none where it was given up.
    pub(super) path: Option<Causes>,
}

mpiscope_model::numbers! { Passed { number, pins, may_block, end_ns, path } }

/// The fewest unneeded paths that are worth clearing away.
const WORTH_CLEARING: usize = 32;

/// Settled calls of a thread, in their order.
#[derive(Debug, Default)]
pub(super) struct SettledCalls {
    calls: VecDeque<Passed>,
    /// The number of those that no call needs any more.
    unpinned: usize,
}

impl SettledCalls {
    pub(super) fn push(&mut self, call: Passed) {
        self.calls.push_back(call);
    }

    /// Adds one in its place: those of another shard come in any order. One that is there already is needed once more.
    pub(super) fn insert(&mut self, call: Passed) {
        let at = self.calls.partition_point(|other| other.number < call.number);
        match self.calls.get_mut(at) {
            Some(same) if same.number == call.number => {
                self.unpinned -= usize::from(same.pins == 0);
                same.pins += call.pins;
            }
            _ => self.calls.insert(at, call),
        }
    }

    pub(super) fn last(&self) -> Option<&Passed> {
        self.calls.back()
    }

    pub(super) fn call(&self, number: u64) -> Option<&Passed> {
        self.calls.get(self.find(number)?)
    }

    fn find(&self, number: u64) -> Option<usize> {
        // It is mostly among the first or the last.
        let (front, back) = (self.calls.front()?.number, self.calls.back()?.number);
        if number == front {
            return Some(0);
        }
        if number == back {
            return Some(self.calls.len() - 1);
        }
        self.calls.binary_search_by_key(&number, |call| call.number).ok()
    }

    /// Somebody does not need the path to a call any more.
    pub(super) fn unpin(&mut self, number: u64) {
        let Some(at) = self.find(number) else { return };
        let call = &mut self.calls[at];
        call.pins = call.pins.saturating_sub(1);
        if call.pins == 0 {
            self.unpinned += 1;
            self.clear();
        }
    }

    fn clear(&mut self) {
        while self.calls.front().is_some_and(|call| call.pins == 0) {
            self.calls.pop_front();
            self.unpinned -= 1;
        }
        if self.unpinned > WORTH_CLEARING && self.unpinned * 2 > self.calls.len() {
            self.calls.retain(|call| call.pins > 0);
            self.unpinned = 0;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The number after the last of the older half.
    pub(super) fn half_ends(&self) -> Option<u64> {
        Some(self.calls.get(self.calls.len().div_ceil(2).checked_sub(1)?)?.number + 1)
    }

    /// Gives up the older half; returns how many of them were still needed.
    pub(super) fn give_up_half(&mut self) -> usize {
        let half = self.calls.len().div_ceil(2);
        let gone = self.calls.drain(..half).filter(|call| call.pins > 0).count();
        self.unpinned = self.calls.iter().filter(|call| call.pins == 0).count();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_another_shard_come_in_any_order_and_several_times() {
        let mut calls = SettledCalls::default();
        let call = |number, pins| Passed { number, pins, may_block: false, end_ns: number, path: None };
        [7, 3, 5, 3].into_iter().for_each(|number| calls.insert(call(number, 1)));
        assert_eq!(
            calls.calls.iter().map(|call| (call.number, call.pins)).collect::<Vec<_>>(),
            [(3, 2), (5, 1), (7, 1)]
        );
        calls.unpin(5);
        calls.insert(call(5, 1));
        calls.unpin(3);
        calls.unpin(3);
        assert_eq!((calls.len(), calls.unpinned), (2, 0));
        [5, 7].into_iter().for_each(|number| calls.unpin(number));
        assert_eq!((calls.len(), calls.unpinned), (0, 0));
    }
}
