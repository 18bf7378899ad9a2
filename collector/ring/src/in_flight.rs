//! Which call a thread is in, since when, and whom it asks for: words that the thread alone writes.
//!
//! The first word is the start of the call, 0 outside of calls. The other words are written before it: one store each,
//! of values that are in registers anyway. A reader reads the first word before and after the others: if it is the
//! same, they belong to it. All lie on the cache line that the writer owns.

use crate::layout::RingHeader;
use crate::sync::{Ordering, fence};
use mpiscope_wire::{Asked, PEER_ANY, PEER_NONE, by_id};

/// A thread that meets this number of looks with other calls is in no call that matters.
const LOOKS: usize = 4;
/// Functions have fewer numbers than this.
const FUNCTIONS: u32 = 1 << 16;

/// The writer's hand on the words of its ring.
#[derive(Debug, Clone, Copy)]
pub struct InFlightWord<'a>(&'a RingHeader);

/// A call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Which of the process's threads, numbered as they first called MPI.
    pub thread: u16,
    /// Which function: one that there is.
    pub function: u16,
    /// The process's own number of the call site; 0 is none.
    pub site: u32,
    /// When it was entered: no later than the reader's now.
    pub since_ticks: u64,
    /// The peer of a call, with the library's own constants.
    pub asked: Asked,
}

impl InFlightWord<'_> {
    /// The thread has entered a call of a function other than 0, from a site, at a tick that is not 0.
    #[inline(always)]
    pub fn enter(self, (function, site): (u16, u32), ticks: u64, asked: Asked) {
        let header = self.0;
        // Who sees anything of this call sees that the one before it is over. No instruction on x86-64.
        fence(Ordering::Release);
        let what = u32::from(function) | u32::from(asked.kind()) << 16;
        header.in_flight_what.store(what, Ordering::Relaxed);
        header.in_flight_site.store(site, Ordering::Relaxed);
        self.ask(asked);
        // Release: who sees this call sees whose ring it is, and what it asks for.
        header.in_flight.store(ticks, Ordering::Release);
    }

    /// The kind is known where this is inlined: the rest is a store for each field.
    #[inline(always)]
    fn ask(self, asked: Asked) {
        let [to, from, tag, _] = &self.0.in_flight_fields;
        let long = &self.0.in_flight_long;
        match asked {
            Asked::Nothing => {}
            Asked::Send { to: whom, tag: which, comm } => {
                to.store(whom as u32, Ordering::Relaxed);
                tag.store(which as u32, Ordering::Relaxed);
                long.store(comm, Ordering::Relaxed);
            }
            Asked::Receive { from: whom, tag: which, comm } => {
                from.store(whom as u32, Ordering::Relaxed);
                tag.store(which as u32, Ordering::Relaxed);
                long.store(comm, Ordering::Relaxed);
            }
            Asked::Exchange { to: receiver, from: sender, tag: which, comm } => {
                to.store(receiver as u32, Ordering::Relaxed);
                from.store(sender as u32, Ordering::Relaxed);
                tag.store(which as u32, Ordering::Relaxed);
                long.store(comm, Ordering::Relaxed);
            }
            Asked::Members { comm } => long.store(comm, Ordering::Relaxed),
            Asked::Post { post } => long.store(post, Ordering::Relaxed),
            Asked::Requests { count } => to.store(count, Ordering::Relaxed),
        }
    }

    /// The call returned. Seen at the latest with the call's own slot.
    #[inline(always)]
    pub fn leave(self) {
        self.0.in_flight.store(0, Ordering::Relaxed);
    }
}

impl RingHeader {
    /// The words of this ring.
    #[must_use]
    pub fn in_flight_word(&self) -> InFlightWord<'_> {
        InFlightWord(self)
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

    /// The meaning of the words at this tick, if they have one.
    pub(crate) fn in_flight(&self, now: u64) -> Option<InFlight> {
        for _ in 0..LOOKS {
            let owner = self.owner.load(Ordering::Acquire);
            let since = self.in_flight.load(Ordering::Acquire);
            if since == 0 {
                return None;
            }
            let what = self.in_flight_what.load(Ordering::Relaxed);
            let site = self.in_flight_site.load(Ordering::Relaxed);
            let [to, from, tag, _] = &self.in_flight_fields;
            let fields = [to, from, tag].map(|field| field.load(Ordering::Relaxed) as i32);
            let long = self.in_flight_long.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            // Where the ring has changed hands meanwhile, the words may be of either.
            if self.in_flight.load(Ordering::Relaxed) == since && self.owner.load(Ordering::Relaxed) == owner
            {
                let thread = u16::try_from(owner.checked_sub(1)?).unwrap_or(u16::MAX);
                let function = by_id((what % FUNCTIONS) as u16)?.id;
                let asked = Asked::from_fields((what / FUNCTIONS) as u8, fields, long);
                return Some(InFlight { thread, function, site, since_ticks: since.min(now), asked });
            }
        }
        None
    }
}

impl InFlight {
    /// The same with portable constants: those of slots, and -1 for any tag.
    #[must_use]
    pub fn in_words_of_all(self, [any_source, nobody, any_tag]: [i32; 3]) -> Self {
        let rank = |rank: i32| match rank {
            rank if rank == nobody => PEER_NONE,
            rank if rank == any_source => PEER_ANY,
            rank => rank,
        };
        let tag = |tag: i32| if tag == any_tag { -1 } else { tag };
        let asked = match self.asked {
            Asked::Send { to, tag: which, comm } => Asked::Send { to: rank(to), tag: which, comm },
            Asked::Receive { from, tag: which, comm } => {
                Asked::Receive { from: rank(from), tag: tag(which), comm }
            }
            Asked::Exchange { to, from, tag: which, comm } => {
                Asked::Exchange { to: rank(to), from: rank(from), tag: which, comm }
            }
            asked => asked,
        };
        Self { asked, ..self }
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

    fn seen(function: u16, since_ticks: u64, asked: Asked) -> InFlight {
        InFlight { thread: 2, function, site: 9, since_ticks, asked }
    }

    #[test]
    fn a_call_is_in_flight_between_entering_and_leaving() {
        let header = claimed();
        let word = header.in_flight_word();
        assert_eq!(header.in_flight(1000), None);
        let asked = Asked::Receive { from: 3, tag: 5, comm: 77 };
        word.enter((id::RECV, 9), 900, asked);
        assert_eq!(header.in_flight(1000), Some(seen(id::RECV, 900, asked)));
        word.leave();
        assert_eq!(header.in_flight(1000), None);
    }

    #[test]
    fn what_a_call_asks_for_is_its_own_whatever_was_asked_before() {
        let header = claimed();
        let all = [
            Asked::Exchange { to: 1, from: -7, tag: 3, comm: u64::MAX },
            Asked::Send { to: 4, tag: -5, comm: 6 },
            Asked::Receive { from: -1, tag: 8, comm: 9 },
            Asked::Members { comm: 10 },
            Asked::Post { post: 11 },
            Asked::Requests { count: 12 },
            Asked::Nothing,
        ];
        for asked in all.into_iter().chain(all.into_iter().rev()) {
            header.in_flight_word().enter((id::SEND, 9), 900, asked);
            assert_eq!(header.in_flight(1000), Some(seen(id::SEND, 900, asked)));
        }
    }

    #[test]
    fn a_call_that_began_after_the_look_at_the_clock_began_now() {
        let header = claimed();
        for (now, ahead) in [(5, 1), (1000, 1 << 40), (u64::MAX - 1, 1)] {
            header.in_flight_word().enter((id::SEND, 9), now + ahead, Asked::Nothing);
            assert_eq!(header.in_flight(now), Some(seen(id::SEND, now, Asked::Nothing)));
        }
    }

    #[test]
    fn a_ring_that_was_given_back_is_in_no_call() {
        let header = claimed();
        header.in_flight_word().enter((id::RECV, 9), 900, Asked::Nothing);
        header.give_back();
        assert_eq!(header.in_flight(1000), None);
        assert!(header.claim(3));
        assert_eq!(header.in_flight(1000), None, "nor is its next owner");
    }

    #[test]
    fn words_that_lie_are_not_believed() {
        let header = RingHeader::new();
        header.in_flight_what.store(u32::from(id::RECV) | 0xFF << 16, Ordering::Relaxed);
        header.in_flight.store(1, Ordering::Relaxed);
        assert_eq!(header.in_flight(1000), None, "of no thread");
        header.owner.store(u32::MAX, Ordering::Relaxed);
        let believed = header.in_flight(1000).map(|seen| (seen.thread, seen.asked));
        assert_eq!(believed, Some((u16::MAX, Asked::Nothing)));
        for function in (0..=u16::MAX).filter(|&function| by_id(function).is_none()) {
            header.in_flight_what.store(function.into(), Ordering::Relaxed);
            assert_eq!(header.in_flight(1000), None, "function {function}");
        }
    }

    #[test]
    fn constants_of_a_library_become_those_of_all() {
        let asked_of = |asked| seen(id::RECV, 1, asked).in_words_of_all([-2, -1, -9]).asked;
        let wild = asked_of(Asked::Receive { from: -2, tag: -9, comm: 3 });
        assert_eq!(wild, Asked::Receive { from: PEER_ANY, tag: -1, comm: 3 });
        let none = asked_of(Asked::Exchange { to: -1, from: 4, tag: 5, comm: 3 });
        assert_eq!(none, Asked::Exchange { to: PEER_NONE, from: 4, tag: 5, comm: 3 });
        assert_eq!(asked_of(Asked::Post { post: 1 }), Asked::Post { post: 1 });
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;
    use mpiscope_wire::id;

    /// One thread gives its ring back, another takes it: calls of the two never mix.
    #[test]
    fn a_call_belongs_to_the_thread_that_is_in_it() {
        loom::model(|| {
            let shared = Arc::new(RingHeader::new());
            assert!(shared.claim(0));
            shared.in_flight_word().enter((id::SEND, 0), 1, Asked::Nothing);
            let run = |work: fn(&RingHeader)| {
                let shared = shared.clone();
                thread::spawn(move || work(&shared))
            };
            let giving = run(RingHeader::give_back);
            let taking = run(|header| {
                if header.claim(1) {
                    header.in_flight_word().enter((id::RECV, 0), 2, Asked::Nothing);
                }
            });
            if let Some(seen) = shared.in_flight(100) {
                let observed = (seen.thread, seen.function, seen.since_ticks);
                assert!(observed == (0, id::SEND, 1) || observed == (1, id::RECV, 2), "{observed:?}");
            }
            giving.join().unwrap();
            taking.join().unwrap();
        });
    }

    /// A thread goes from one call to the next: requests of the two never mix.
    #[test]
    fn a_request_belongs_to_the_call_that_asks() {
        loom::model(|| {
            let shared = Arc::new(RingHeader::new());
            assert!(shared.claim(0));
            let word = |header: &RingHeader, post| {
                header.in_flight_word().enter((id::WAIT, 0), post, Asked::Post { post });
            };
            word(&shared, 1);
            let other = shared.clone();
            let calling = thread::spawn(move || {
                other.in_flight_word().leave();
                word(&other, 2);
            });
            if let Some(seen) = shared.in_flight(100) {
                assert_eq!(seen.asked, Asked::Post { post: seen.since_ticks });
            }
            calling.join().unwrap();
        });
    }
}
