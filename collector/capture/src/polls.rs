//! Loops of polls that fail, folded: one row for a million of them.

use mpiscope_wire::{Call, CallFlags, NO_COMM, PEER_NONE};

/// A row stands for no more polls than its field can count.
const MOST_POLLS: u64 = u32::MAX as u64;

/// Failed polls of one function with nothing else in between.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Polls {
    function: u16,
    /// Where the first was made: loops that poll in several places are still one.
    site: u32,
    start: u64,
    end: u64,
    count: u64,
}

impl Polls {
    /// One more failed poll. Returns a row when the loop has gone on for `longest` ticks or is of another function.
    #[inline]
    pub(crate) fn failed(
        &mut self,
        (function, site): (u16, u32),
        start: u64,
        end: u64,
        longest: u64,
    ) -> Option<Call> {
        let goes_on = self.count > 0 && self.function == function;
        if goes_on && self.count < MOST_POLLS && start.wrapping_sub(self.start) < longest {
            self.end = end;
            self.count += 1;
            return None;
        }
        let row = self.take();
        *self = Self { function, site, start, end, count: 1 };
        row
    }

    /// Whether no loop is going on.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The row of the loop that ended, if there was one.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Call> {
        if self.count == 0 {
            return None;
        }
        let row = Call {
            flags: CallFlags::FOLDED,
            function: self.function,
            duration: self.end.saturating_sub(self.start),
            start: self.start,
            peer: PEER_NONE,
            comm: NO_COMM,
            site: self.site,
            tag: 0,
            bytes: self.count,
        };
        self.count = 0;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::Polls;

    #[test]
    fn a_million_failures_are_few_rows_and_all_counted() {
        let mut polls = Polls::default();
        let mut rows: Vec<_> =
            (0..1_000_000_u64).filter_map(|at| polls.failed((34, 0), at, at + 1, 300_000)).collect();
        rows.extend(polls.take());
        assert_eq!(rows.len(), 4);
        assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), 1_000_000);
        assert_eq!((rows[0].start, rows[0].duration), (0, 300_000));
        assert!(polls.take().is_none());
    }

    #[test]
    fn a_loop_that_polls_in_two_places_is_one() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 1, 2, 100).is_none());
        assert!(polls.failed((34, 6), 3, 4, 100).is_none());
        assert_eq!(polls.take().map(|row| (row.site, row.bytes)), Some((5, 2)));
    }

    #[test]
    fn another_function_ends_a_loop() {
        let mut polls = Polls::default();
        assert!(polls.failed((34, 5), 1, 2, 100).is_none());
        let row = polls.failed((41, 6), 3, 4, 100).unwrap();
        assert_eq!((row.function, row.site, row.bytes, row.start), (34, 5, 1, 1));
        assert_eq!(polls.take().map(|row| row.function), Some(41));
    }
}
