//! Which call a thread is in, and since when: one word that the thread alone writes.
//!
//! ```text
//! since, the low 52 bits of its ticks | function, 12 bits; 0 is none
//! ```
//!
//! One word cannot be torn, needs no sequence and no second look, and is two instructions and a store to make. What it
//! cannot hold the reader puts back: of all ticks with these low bits it takes the last that is not after now. Those
//! come round after 2^52 ticks, 17 days at 3 GHz; a call that takes longer looks shorter. The word lies on the line that
//! the writer owns anyway.

use crate::layout::RingHeader;
use crate::sync::{AtomicU64, Ordering};
use mpiscope_wire::{FUNCTIONS, by_id};

const FUNCTION_BITS: u32 = 12;
const TICKS_MASK: u64 = u64::MAX >> FUNCTION_BITS;
/// Ticks that seem to lie at most so far ahead do: the call began after the reader looked at its clock, or on a
/// processor whose counter is a little ahead. Some minutes.
const MOST_AHEAD: u64 = 1 << 40;

const _: () = {
    let mut at = 0;
    while at < FUNCTIONS.len() {
        assert!(FUNCTIONS[at].id != 0 && FUNCTIONS[at].id < 1 << FUNCTION_BITS);
        at += 1;
    }
};

/// The writer's hand on the word of its ring.
#[derive(Debug, Clone, Copy)]
pub struct InFlightWord<'a>(&'a AtomicU64);

/// A call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Which of the process's threads, numbered as they first called MPI.
    pub thread: u16,
    /// Which function: one that there is.
    pub function: u16,
    /// When it was entered: no later than the reader's now.
    pub since_ticks: u64,
}

impl InFlightWord<'_> {
    /// The thread has entered a call of this function, of which there must be one.
    #[inline(always)]
    pub fn enter(self, function: u16, ticks: u64) {
        // Release: who sees this call sees whose ring it is.
        self.0.store(ticks << FUNCTION_BITS | u64::from(function), Ordering::Release);
    }

    /// The call returned. Seen at the latest with the call's own slot.
    #[inline(always)]
    pub fn leave(self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl RingHeader {
    /// The word of this ring.
    #[must_use]
    pub fn in_flight_word(&self) -> InFlightWord<'_> {
        InFlightWord(&self.in_flight)
    }

    /// Takes the ring for a thread; `false` when another has it.
    pub(crate) fn claim(&self, thread: u16) -> bool {
        let owner = u32::from(thread) + 1;
        self.owner.compare_exchange(0, owner, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The thread ends: it is in no call, and the ring is free.
    pub(crate) fn give_back(&self) {
        self.in_flight.store(0, Ordering::Relaxed);
        self.owner.store(0, Ordering::Release);
    }

    /// What the word says at this tick, as far as it can be.
    pub(crate) fn in_flight(&self, now: u64) -> Option<InFlight> {
        let owner = self.owner.load(Ordering::Acquire);
        let word = self.in_flight.load(Ordering::Acquire);
        // Where the ring has changed hands meanwhile, the word may be of either.
        if self.owner.load(Ordering::Relaxed) != owner {
            return None;
        }
        let thread = u16::try_from(owner.checked_sub(1)?).unwrap_or(u16::MAX);
        let function = by_id((word & !(TICKS_MASK << FUNCTION_BITS)) as u16)?.id;
        let ago = now.wrapping_sub(word >> FUNCTION_BITS) & TICKS_MASK;
        let ago = if ago > TICKS_MASK - MOST_AHEAD { 0 } else { ago };
        Some(InFlight { thread, function, since_ticks: now.saturating_sub(ago) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use mpiscope_wire::id;

    fn claimed() -> RingHeader {
        let header = RingHeader::new();
        assert!(header.claim(2));
        header
    }

    #[test]
    fn a_call_is_in_flight_between_entering_and_leaving() {
        let header = claimed();
        let word = header.in_flight_word();
        assert_eq!(header.in_flight(1000), None);
        word.enter(id::RECV, 900);
        let seen = InFlight { thread: 2, function: id::RECV, since_ticks: 900 };
        assert_eq!(header.in_flight(1000), Some(seen));
        word.leave();
        assert_eq!(header.in_flight(1000), None);
    }

    #[test]
    fn ticks_of_any_size_come_back_whole() {
        let header = claimed();
        for since in [0, 1, TICKS_MASK - 5, TICKS_MASK, TICKS_MASK + 1, 1 << 60, u64::MAX - 1_000_000] {
            header.in_flight_word().enter(id::SEND, since);
            for ago in [0, 7, 1_000_000] {
                assert_eq!(header.in_flight(since + ago).unwrap().since_ticks, since, "{ago} ago");
            }
        }
    }

    #[test]
    fn a_call_that_began_after_the_look_at_the_clock_began_now() {
        let header = claimed();
        for now in [5, 1000, TICKS_MASK, 1 << 55] {
            for ahead in [1, 1000, MOST_AHEAD - 1] {
                header.in_flight_word().enter(id::SEND, now + ahead);
                assert_eq!(header.in_flight(now).unwrap().since_ticks, now, "{ahead} ahead of {now}");
            }
        }
    }

    #[test]
    fn a_ring_that_was_given_back_is_in_no_call() {
        let header = claimed();
        header.in_flight_word().enter(id::RECV, 900);
        header.give_back();
        assert_eq!(header.in_flight(1000), None);
        assert!(header.claim(3));
        assert_eq!(header.in_flight(1000), None, "nor is its next owner");
    }

    #[test]
    fn words_that_lie_are_not_believed() {
        let header = RingHeader::new();
        header.in_flight.store(u64::from(id::RECV), Ordering::Relaxed);
        assert_eq!(header.in_flight(1000), None, "of no thread");
        header.owner.store(u32::MAX, Ordering::Relaxed);
        assert_eq!(header.in_flight(1000).map(|seen| seen.thread), Some(u16::MAX));
        for function in (0..1 << FUNCTION_BITS).filter(|&function| by_id(function).is_none()) {
            header.in_flight.store(500 << FUNCTION_BITS | u64::from(function), Ordering::Relaxed);
            assert_eq!(header.in_flight(1000), None, "function {function}");
        }
        for ticks in [0, 1, 999, 1001, 1 << 41, 1 << 51, TICKS_MASK] {
            header.in_flight.store(ticks << FUNCTION_BITS | u64::from(id::RECV), Ordering::Relaxed);
            for now in [0, 1000, 1 << 41, u64::MAX] {
                assert!(header.in_flight(now).is_some_and(|seen| seen.since_ticks <= now));
            }
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;
    use mpiscope_wire::id;

    /// One thread gives its ring back, another takes it: the call of one is never told of the other.
    #[test]
    fn a_call_is_told_of_the_thread_that_is_in_it() {
        loom::model(|| {
            let shared = Arc::new(RingHeader::new());
            assert!(shared.claim(0));
            shared.in_flight_word().enter(id::SEND, 0);
            let run = |work: fn(&RingHeader)| {
                let shared = shared.clone();
                thread::spawn(move || work(&shared))
            };
            let giving = run(RingHeader::give_back);
            let taking = run(|header| {
                if header.claim(1) {
                    header.in_flight_word().enter(id::RECV, 1);
                }
            });
            if let Some(seen) = shared.in_flight(100) {
                let told = (seen.thread, seen.function, seen.since_ticks);
                assert!(told == (0, id::SEND, 0) || told == (1, id::RECV, 1), "{told:?}");
            }
            giving.join().unwrap();
            taking.join().unwrap();
        });
    }
}
