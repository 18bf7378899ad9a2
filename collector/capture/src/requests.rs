//! Requests that matter beyond the call that made them, by handle: posted receives, nonblocking collectives, and
//! persistent requests.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A posted receive, or a collective that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// Its number among those of the process.
    pub post: u64,
    /// The process's own number of its communicator.
    pub comm: u32,
    /// What is true of it, a bit each. Two `bool`s would be copied in pieces that a processor cannot put together before
    /// they have left it, which a message of some tens of nanoseconds feels.
    state: u32,
}

/// The record of its posting reached the ring.
const RECORDED: u32 = 1;
/// The program asked to cancel it.
const CANCELLING: u32 = 2;

/// Collectives have a number with this first bit in place of a communicator's. No communicator has such a number: a
/// completed receive need not be checked for it.
const COLLECTIVE: u32 = 1 << 31;
/// And its number begins with this bit: no receive has it.
const NO_POST: u64 = 1 << 63;

#[inline(always)]
fn recorded_bit(recorded: bool) -> u32 {
    if recorded { RECORDED } else { 0 }
}

impl Posted {
    /// A receive, by its number and the process's own number of its communicator.
    #[inline(always)]
    #[must_use]
    pub fn new(comm: u32, post: u64, recorded: bool) -> Self {
        Self { post, comm, state: recorded_bit(recorded) }
    }

    /// The same, where it turned out whether the record of its posting reached the ring.
    #[must_use]
    pub fn and_recorded(self, recorded: bool) -> Self {
        Self { state: self.state & !RECORDED | recorded_bit(recorded), ..self }
    }

    /// Whether the record of its posting reached the ring.
    #[inline(always)]
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.state & RECORDED != 0
    }

    /// Whether the program asked to cancel it.
    #[must_use]
    pub fn is_cancelling(&self) -> bool {
        self.state & CANCELLING != 0
    }

    /// A collective that was started, by its number on its communicator.
    #[must_use]
    pub fn collective(comm: u32, number: u64, recorded: bool) -> Self {
        Self::new(comm | COLLECTIVE, number | NO_POST, recorded)
    }

    /// A receive whose size no status reports.
    #[must_use]
    pub fn partitioned(comm: u32, post: u64, recorded: bool) -> Self {
        Self::new(comm | COLLECTIVE, post, recorded)
    }

    /// The communicator and the number of a collective.
    #[must_use]
    pub fn as_collective(&self) -> Option<(u32, u64)> {
        (self.post & NO_POST != 0).then_some((self.comm_index(), self.post & !NO_POST))
    }

    /// The process's own number of the communicator, whatever it is.
    #[must_use]
    pub fn comm_index(&self) -> u32 {
        self.comm & !COLLECTIVE
    }
}

/// What a persistent request does each time it is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// It sends.
    Send {
        /// The process's own number of the communicator.
        comm: u32,
        /// To which rank of it.
        to: i32,
        /// With which tag.
        tag: i32,
        /// How much.
        bytes: u64,
    },
    /// It receives.
    Receive {
        /// The process's own number of the communicator.
        comm: u32,
        /// From which rank of it; none for any.
        source: Option<i32>,
        /// With which tag; -1 for any.
        tag: i32,
    },
    /// It is a collective.
    Collective {
        /// The process's own number of the communicator.
        comm: u32,
        /// The function that made it.
        function: u16,
        /// The world rank of its root, as in a call.
        root: i32,
        /// What each start moves.
        bytes: u64,
        /// Which of the collectives of its communicator its making was.
        made: u32,
        /// How often it was started.
        starts: u32,
    },
    /// It only receives what a partitioned send sends, and no status reports that.
    Partitioned {
        /// The process's own number of the communicator.
        comm: u32,
        /// From which rank of it.
        source: i32,
        /// With which tag.
        tag: i32,
        /// How much.
        bytes: u64,
    },
}

/// Persistent requests have numbers of their own: this bit, and a counter of their starts.
const STARTED_AGAIN: u64 = 1 << 31;

/// The number of a start of a persistent collective on its communicator. All members make the same ones in the same
/// order, and each is started as often by all, but not in the same order among several.
#[must_use]
pub fn started_number(made: u32, starts: u32) -> u64 {
    let mixed = (u64::from(made) << 32 | u64::from(starts)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    STARTED_AGAIN | mixed >> 33
}

impl Template {
    fn comm(&self) -> u32 {
        match *self {
            Self::Send { comm, .. }
            | Self::Receive { comm, .. }
            | Self::Collective { comm, .. }
            | Self::Partitioned { comm, .. } => comm,
        }
    }
}

/// A persistent request, and the receive that it was last started for.
#[derive(Debug, Clone, Copy)]
struct Persistent {
    template: Template,
    active: Option<Posted>,
}

/// A place of the table: the receive of a handle, or nothing where the handle is 0.
#[derive(Debug, Clone, Copy)]
struct Place {
    handle: u64,
    posted: Posted,
}

const EMPTY: Place = Place { handle: 0, posted: Posted { post: 0, comm: 0, state: 0 } };
/// More receives than this are rarely outstanding at once; where they are, the table grows.
const FIRST_PLACES: usize = 1024;

/// The table. It grows with the requests that are outstanding at once, not with the run.
///
/// A receive lies at the one place that its handle leads to, or, where another one lies there, in a map beside the table:
/// two or three instructions find it nearly always, which a call of some tens of nanoseconds is worth.
#[derive(Debug)]
pub struct Requests {
    places: Box<[Place]>,
    /// How many of the places are taken.
    lain: usize,
    beside: Beside<Posted>,
    persistent: Beside<Persistent>,
    /// Whether there ever was a collective, or a receive without a status.
    has_collectives: bool,
}

type Beside<T> = HashMap<u64, T, BuildHasherDefault<HandleHasher>>;

/// Handles are addresses or small numbers: one multiplication spreads them.
#[derive(Debug, Default)]
struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            places: vec![EMPTY; FIRST_PLACES].into_boxed_slice(),
            lain: 0,
            beside: Beside::default(),
            persistent: Beside::default(),
            has_collectives: false,
        }
    }
}

/// Libraries take requests from a store one after the other: handles that follow one another, or addresses at equal
/// distances. Neither falls on the same places then, and neighbours lie close.
#[inline(always)]
fn place(handle: u64, places: usize) -> usize {
    (handle ^ handle >> 6 ^ handle >> 16) as usize & (places - 1)
}

impl Requests {
    /// Takes up a posted receive. Returns what had the same handle: a receive that was freed unseen, since live
    /// requests never share one.
    #[inline(always)]
    pub fn insert(&mut self, handle: u64, posted: Posted) -> Option<Posted> {
        let at = place(handle, self.places.len());
        if self.places[at].handle == 0 && self.beside.is_empty() && self.persistent.is_empty() && handle != 0
        {
            self.places[at] = Place { handle, posted };
            self.lain += 1;
            return None;
        }
        self.insert_slowly(handle, posted)
    }

    #[inline(never)]
    fn insert_slowly(&mut self, handle: u64, posted: Posted) -> Option<Posted> {
        let stale = self.forget(handle);
        self.lay(handle, posted);
        // Where many lie beside the table, it is too small.
        if self.beside.len() > self.places.len() / 4 {
            let more = vec![EMPTY; self.places.len() * 4].into_boxed_slice();
            let lain = std::mem::replace(&mut self.places, more);
            let beside = std::mem::take(&mut self.beside);
            self.lain = 0;
            let lain =
                lain.iter().filter(|place| place.handle != 0).map(|place| (place.handle, place.posted));
            lain.chain(beside).for_each(|(handle, posted)| self.lay(handle, posted));
        }
        stale
    }

    fn lay(&mut self, handle: u64, posted: Posted) {
        let at = place(handle, self.places.len());
        if self.places[at].handle == 0 && handle != 0 {
            self.places[at] = Place { handle, posted };
            self.lain += 1;
        } else {
            self.beside.insert(handle, posted);
        }
    }

    /// Whether no request is known: none has to be looked for.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lain == 0 && self.beside.is_empty() && self.persistent.is_empty()
    }

    /// Adds a started collective, or a receive without a status.
    pub fn insert_collective(&mut self, handle: u64, started: Posted) -> Option<Posted> {
        self.has_collectives = true;
        self.insert(handle, started)
    }

    /// Whether one was ever taken up.
    #[inline(always)]
    #[must_use]
    pub fn has_collectives(&self) -> bool {
        self.has_collectives
    }

    /// Takes up a persistent request, likewise.
    pub fn insert_persistent(&mut self, handle: u64, template: Template) -> Option<Posted> {
        let stale = self.forget(handle);
        self.persistent.insert(handle, Persistent { template, active: None });
        stale
    }

    /// A persistent request is started: what it does now.
    pub fn start(&mut self, handle: u64) -> Option<Template> {
        let template = &mut self.persistent.get_mut(&handle)?.template;
        match template {
            Template::Collective { starts, .. } => {
                self.has_collectives = true;
                *starts += 1;
            }
            Template::Partitioned { .. } => self.has_collectives = true,
            Template::Send { .. } | Template::Receive { .. } => {}
        }
        Some(*template)
    }

    /// A persistent receive was started. Returns the one that it was started for before, if that was not seen to complete.
    pub fn activate(&mut self, handle: u64, posted: Posted) -> Option<Posted> {
        self.persistent.get_mut(&handle)?.active.replace(posted)
    }

    /// The receive of a handle, which completed: taken out, or inactive until it is started again.
    #[inline(always)]
    pub fn complete(&mut self, handle: u64) -> Option<Posted> {
        self.take(handle, |requests| requests.persistent.get_mut(&handle)?.active.take())
    }

    /// The handle was freed, or given to another request. Returns its receive, which now never completes visibly.
    #[inline(always)]
    pub fn forget(&mut self, handle: u64) -> Option<Posted> {
        if self.is_empty() {
            return None;
        }
        self.take(handle, |requests| requests.persistent.remove(&handle)?.active)
    }

    #[inline(always)]
    fn take(&mut self, handle: u64, persistent: impl FnOnce(&mut Self) -> Option<Posted>) -> Option<Posted> {
        let at = place(handle, self.places.len());
        let found = &mut self.places[at];
        if found.handle == handle && handle != 0 {
            found.handle = 0;
            self.lain -= 1;
            return Some(found.posted);
        }
        if self.beside.is_empty() && self.persistent.is_empty() {
            return None;
        }
        self.take_beside(handle).or_else(|| persistent(self))
    }

    #[inline(never)]
    fn take_beside(&mut self, handle: u64) -> Option<Posted> {
        self.beside.remove(&handle)
    }

    /// The receive of a handle, when it may complete in a call that is about to be made. Where several threads call, the
    /// library may give the handle to another thread's receive before that call has returned.
    #[inline(always)]
    #[must_use]
    pub fn peek(&self, handle: u64) -> Option<Posted> {
        let found = &self.places[place(handle, self.places.len())];
        if found.handle == handle && handle != 0 {
            return Some(found.posted);
        }
        if self.beside.is_empty() && self.persistent.is_empty() {
            return None;
        }
        self.peek_beside(handle)
    }

    #[cold]
    #[inline(never)]
    fn peek_beside(&self, handle: u64) -> Option<Posted> {
        self.beside.get(&handle).copied().or_else(|| self.persistent.get(&handle)?.active)
    }

    /// The program asks to cancel a request.
    pub fn cancel(&mut self, handle: u64) {
        let at = place(handle, self.places.len());
        let active = if self.places[at].handle == handle {
            Some(&mut self.places[at].posted)
        } else if let Some(posted) = self.beside.get_mut(&handle) {
            Some(posted)
        } else {
            self.persistent.get_mut(&handle).and_then(|persistent| persistent.active.as_mut())
        };
        if let Some(posted) = active {
            posted.state |= CANCELLING;
        }
    }

    /// The receive of a handle completed, if it is still this one.
    #[inline(always)]
    pub fn complete_this(&mut self, handle: u64, post: u64) {
        let at = place(handle, self.places.len());
        let found = &mut self.places[at];
        if found.handle == handle && handle != 0 && found.posted.post == post {
            found.handle = 0;
            self.lain -= 1;
        } else {
            self.complete_this_beside(handle, post);
        }
    }

    #[cold]
    #[inline(never)]
    fn complete_this_beside(&mut self, handle: u64, post: u64) {
        if self.peek(handle).is_some_and(|posted| posted.post == post) {
            self.complete(handle);
        }
    }

    /// Whether any of the handles is a receive that may complete.
    #[must_use]
    pub fn any(&self, handles: &[u64]) -> bool {
        handles.iter().any(|&handle| self.peek(handle).is_some())
    }

    /// Whether any request is of this communicator.
    #[must_use]
    pub fn any_on(&self, comm: u32) -> bool {
        let lain = self.places.iter().filter(|place| place.handle != 0).map(|place| &place.posted);
        lain.chain(self.beside.values()).any(|posted| posted.comm_index() == comm)
            || self.persistent.values().any(|persistent| persistent.template.comm() == comm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(post: u64) -> Posted {
        Posted::new(3, post, true)
    }

    #[test]
    fn a_handle_that_was_given_again_stays_with_its_new_receive() {
        let mut requests = Requests::default();
        assert!(requests.insert(7, posted(1)).is_none());
        let seen = requests.peek(7).map(|posted| posted.post);
        assert_eq!(requests.insert(7, posted(2)).map(|stale| stale.post), Some(1));
        requests.complete_this(7, seen.unwrap());
        assert_eq!(requests.complete(7).map(|posted| posted.post), Some(2));
        assert!(!requests.any(&[7]));
    }

    #[test]
    fn a_persistent_receive_completes_once_each_time_it_is_started() {
        let mut requests = Requests::default();
        let template = Template::Receive { comm: 3, source: None, tag: -1 };
        requests.insert_persistent(7, template);
        assert_eq!((requests.start(7), requests.any(&[7])), (Some(template), false));
        for post in [4, 9] {
            assert_eq!(requests.activate(7, posted(post)), None);
            assert!(requests.any(&[7]));
            assert_eq!(requests.complete(7), Some(posted(post)));
            assert_eq!(requests.complete(7), None, "it is inactive");
        }
        requests.activate(7, posted(10));
        assert_eq!(requests.activate(7, posted(11)), Some(posted(10)));
        requests.complete_this(7, 9);
        assert_eq!(requests.forget(7), Some(posted(11)));
        assert_eq!(requests.start(7), None);
    }

    #[test]
    fn tens_of_thousands_are_outstanding_at_once() {
        let mut requests = Requests::default();
        // Addresses as a library hands them out, small numbers, and the one that means nothing.
        let handles = (0..20_000).map(|at| 0x7F00_0000_1000 + at * 512).chain(0..20_000);
        let all: Vec<u64> = handles.collect();
        for (&handle, post) in all.iter().zip(0..) {
            assert!(requests.insert(handle, posted(post)).is_none());
        }
        for (&handle, post) in all.iter().zip(0..) {
            assert_eq!(requests.peek(handle), Some(posted(post)));
        }
        for (&handle, post) in all.iter().rev().zip((0..40_000).rev()) {
            assert_eq!(requests.complete(handle), Some(posted(post)));
            assert_eq!(requests.complete(handle), None);
        }
        assert!(!requests.any(&all) && !requests.any_on(3));
    }

    #[test]
    fn a_receive_that_is_being_cancelled_is_marked() {
        let mut requests = Requests::default();
        requests.insert(7, posted(1));
        requests.insert_persistent(8, Template::Receive { comm: 3, source: None, tag: -1 });
        requests.cancel(8);
        requests.activate(8, posted(2));
        for (handle, marked) in [(7, false), (8, false), (9, false), (7, true), (8, true)] {
            if marked {
                requests.cancel(handle);
            }
            assert_eq!(
                requests.peek(handle).is_some_and(|posted| posted.is_cancelling()),
                marked,
                "{handle}"
            );
        }
    }

    #[test]
    fn communicators_are_in_use_by_receives_and_persistent_requests() {
        let mut requests = Requests::default();
        requests.insert(1, posted(1));
        requests.insert_persistent(2, Template::Send { comm: 5, to: 0, tag: 0, bytes: 1 });
        assert!(!requests.has_collectives());
        requests.insert_collective(3, Posted::collective(6, 8, true));
        assert!(requests.has_collectives());
        assert_eq!([3, 4, 5, 6].map(|comm| requests.any_on(comm)), [true, false, true, true]);
        assert_eq!(requests.complete(3).and_then(|posted| posted.as_collective()), Some((6, 8)));
        assert_eq!(requests.complete(1).and_then(|posted| posted.as_collective()), None);
    }
}
