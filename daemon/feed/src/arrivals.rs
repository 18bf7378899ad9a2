//! Rows that became known after all rows of their time were reported as known.
//!
//! In: rows as they are added to their source. Out: those that were late, numbered, for readers that go through a run
//! in the order of time and have passed theirs. A reader that samples the number before and after it reads a range
//! knows which late rows were in what it read.

use mpiscope_model::{Call, Message, Nanoseconds};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Late rows that are kept for readers; of the others it is known how many there were.
const KEPT: usize = 1 << 14;

/// What is found of rows in the order of time.
pub trait Timed: Copy {
    /// When it became complete: its place in the order of time.
    fn at_ns(&self) -> Nanoseconds;
}

impl Timed for Call {
    fn at_ns(&self) -> Nanoseconds {
        self.end_ns
    }
}

impl Timed for Message {
    fn at_ns(&self) -> Nanoseconds {
        self.recv_ns
    }
}

/// The late rows after a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Late<R> {
    /// The rows, as they came.
    pub rows: Vec<R>,
    /// How many there were before them that are not kept any more.
    pub missed: u64,
    /// The number to go on from.
    pub next: u64,
    /// The number after the last one that there is.
    pub end: u64,
}

impl<R> Late<R> {
    /// Whether there are more after these.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.next < self.end
    }
}

#[derive(Debug, Default)]
pub(crate) struct Arrivals(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Rows before this were reported as complete.
    complete_ns: Nanoseconds,
    /// The last time of any row.
    last_ns: Nanoseconds,
    calls: RecentRows<Call>,
    messages: RecentRows<Message>,
}

#[derive(Debug)]
struct RecentRows<R> {
    rows: VecDeque<R>,
    next: u64,
}

// Derived it would ask for rows that have a default.
impl<R> Default for RecentRows<R> {
    fn default() -> Self {
        Self { rows: VecDeque::new(), next: 0 }
    }
}

impl<R: Timed> RecentRows<R> {
    fn add(&mut self, rows: &[R], complete_ns: Nanoseconds) {
        for row in rows.iter().filter(|row| row.at_ns() < complete_ns) {
            if self.rows.len() == KEPT {
                self.rows.pop_front();
            }
            self.rows.push_back(*row);
            self.next += 1;
        }
    }

    /// Whether any row after a number came into a range, or may have.
    fn any_after(&self, number: u64, range_ns: &Range<Nanoseconds>) -> bool {
        let first = self.next - self.rows.len() as u64;
        let begin = number.clamp(first, self.next) - first;
        number < first || self.rows.range(begin as usize..).any(|row| range_ns.contains(&row.at_ns()))
    }

    fn after(&self, number: u64, most: usize) -> Late<R> {
        let (first, end) = (self.next - self.rows.len() as u64, self.next);
        let begin = number.clamp(first, end);
        let next = begin.saturating_add(most as u64).min(end);
        let rows = self.rows.range((begin - first) as usize..(next - first) as usize).copied().collect();
        Late { rows, missed: first.saturating_sub(number), next, end }
    }
}

impl Arrivals {
    /// A panic elsewhere while the lock was held leaves lists that are still sound.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rows are added to their source by `add`, as one step for readers.
    pub(crate) fn arrive(&self, calls: &[&[Call]], messages: &[&[Message]], add: impl FnOnce()) {
        let mut inner = self.lock();
        let complete_ns = inner.complete_ns;
        let (calls_ns, messages_ns) = (
            calls.iter().copied().flatten().map(Timed::at_ns),
            messages.iter().copied().flatten().map(Timed::at_ns),
        );
        inner.last_ns = calls_ns.chain(messages_ns).fold(inner.last_ns, Nanoseconds::max);
        calls.iter().for_each(|calls| inner.calls.add(calls, complete_ns));
        messages.iter().for_each(|messages| inner.messages.add(messages, complete_ns));
        add();
    }

    /// From now on readers may learn that all rows before this are known.
    pub(crate) fn complete_until(&self, until_ns: Nanoseconds) {
        let mut inner = self.lock();
        inner.complete_ns = inner.complete_ns.max(until_ns);
    }

    pub(crate) fn last_ns(&self) -> Nanoseconds {
        self.lock().last_ns
    }

    pub(crate) fn calls_after(&self, number: u64, most: usize) -> Late<Call> {
        self.lock().calls.after(number, most)
    }

    pub(crate) fn any_call_after(&self, number: u64, range_ns: &Range<Nanoseconds>) -> bool {
        self.lock().calls.any_after(number, range_ns)
    }

    pub(crate) fn any_message_after(&self, number: u64, range_ns: &Range<Nanoseconds>) -> bool {
        self.lock().messages.any_after(number, range_ns)
    }

    pub(crate) fn messages_after(&self, number: u64, most: usize) -> Late<Message> {
        self.lock().messages.after(number, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(end_ns: u64) -> Call {
        Call { end_ns, ..Call::default() }
    }

    #[test]
    fn rows_before_what_was_reported_as_complete_are_late() {
        let arrivals = Arrivals::default();
        arrivals.arrive(&[&[call(5), call(6)]], &[], || ());
        arrivals.complete_until(10);
        arrivals.arrive(&[&[call(9), call(10)]], &[], || ());
        arrivals.complete_until(7);
        arrivals.arrive(&[&[call(8)]], &[], || ());
        let late = arrivals.calls_after(0, usize::MAX);
        assert_eq!(late.rows.iter().map(Timed::at_ns).collect::<Vec<_>>(), [9, 8]);
        assert_eq!((late.missed, late.next, late.has_more()), (0, 2, false));
        assert_eq!(arrivals.calls_after(1, usize::MAX).rows, [call(8)]);
        let none = |next| Late { rows: Vec::new(), missed: 0, next, end: 2 };
        assert_eq!(arrivals.calls_after(2, usize::MAX), none(2));
        assert_eq!(arrivals.calls_after(u64::MAX, 1), none(2));
        assert_eq!(arrivals.calls_after(1, 0), none(1));
        assert!(none(1).has_more());
        assert_eq!(arrivals.calls_after(0, 1), Late { rows: vec![call(9)], ..none(1) });
    }

    #[test]
    fn late_rows_that_are_not_kept_are_counted() {
        let arrivals = Arrivals::default();
        arrivals.complete_until(u64::MAX);
        let rows: Vec<Call> = (0..KEPT as u64 + 3).map(call).collect();
        arrivals.arrive(&[&rows], &[], || ());
        let late = arrivals.calls_after(1, usize::MAX);
        assert_eq!((late.rows.len(), late.missed, late.next), (KEPT, 2, KEPT as u64 + 3));
        assert_eq!(late.rows[0], call(3));
        let first = arrivals.calls_after(1, 1);
        assert_eq!((first.rows, first.missed, first.next), (vec![call(3)], 2, 4));
    }
}
