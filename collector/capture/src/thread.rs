//! One thread's calls, turned into slots.

use crate::comms::{Comm, Peer, count};
use crate::polls::Polls;
use crate::requests::Posted;
use crate::sites::{Located, SiteCache, Sites};
use mpiscope_wire::{Call, CallFlags, Entry, NO_COMM, PEER_ANY, PEER_NONE, Part, PartFlags, Slot, Sync};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What the threads of a process share.
#[derive(Debug, Default)]
pub struct Process {
    /// Grows whenever calls were lost, so that numbers are announced anew.
    loss_epoch: AtomicU32,
    posts: AtomicU64,
    threads: AtomicBool,
    /// Loops of polls are cut into rows of at most so many ticks.
    pub longest_poll_row: u64,
}

impl Process {
    /// A process whose rows of polls span at most so many ticks.
    #[must_use]
    pub fn new(longest_poll_row: u64) -> Self {
        Self { longest_poll_row, ..Self::default() }
    }

    /// Says that several threads may call at once.
    pub fn allow_threads(&self) {
        self.threads.store(true, Ordering::Relaxed);
    }

    /// Whether several threads may call at once.
    #[inline]
    #[must_use]
    pub fn has_threads(&self) -> bool {
        self.threads.load(Ordering::Relaxed)
    }

    /// The number of the next receive to be posted.
    #[inline]
    #[must_use]
    pub fn next_post(&self) -> u64 {
        count(&self.posts, self.has_threads())
    }
}

/// When a call was made, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// It was entered.
    pub start: u64,
    /// It returned.
    pub end: u64,
}

impl Interval {
    fn duration(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// What a status says of a receive that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The source as a rank of the communicator.
    pub source: i32,
    /// The tag.
    pub tag: i32,
    /// What arrived.
    pub bytes: u64,
    /// Nothing arrived: it was cancelled.
    pub cancelled: bool,
}

/// Where slots go.
pub trait Sink {
    /// Writes a row, which stands for so many calls, and what belongs before it; `false` when it was lost.
    fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool;

    /// Writes a row if that is a matter of a few instructions; `false` when nothing was done.
    fn push_row(&mut self, row: &Slot) -> bool;

    /// Writes a slot that belongs before the coming row, likewise.
    fn stage(&mut self, slot: &Slot) -> bool;

    /// Takes back what was staged since the last row, in its order.
    fn unstage(&mut self) -> Vec<Slot>;
}

/// The calls of one thread.
#[derive(Debug)]
pub struct Thread {
    /// Slots that go before the call which is being put together.
    before: Vec<Slot>,
    polls: Polls,
    /// Which communicators this thread has defined in its ring, a bit each.
    defined: Vec<u64>,
    /// One that is among them.
    last_defined: u32,
    /// The slot that says whose the ring is.
    identity: Slot,
    sites: SiteCache,
    /// Where the call at hand was made.
    site: u32,
}

impl Thread {
    /// A thread; its first record says which.
    #[must_use]
    pub fn new(number: u64, thread_id: u64) -> Self {
        let identity = Entry::encode_thread(number, thread_id);
        let mut before = Vec::with_capacity(256);
        before.push(identity);
        Self {
            before,
            polls: Polls::default(),
            defined: Vec::new(),
            last_defined: NO_COMM,
            identity,
            sites: SiteCache::default(),
            site: 0,
        }
    }

    /// Says where the call at hand is made, when that place was met not long ago; `false` when it has to be learnt.
    #[inline(always)]
    pub fn come_from(&mut self, address: u64) -> bool {
        let known = self.sites.get(address);
        self.site = known.unwrap_or_default();
        known.is_some()
    }

    /// Learns where the call at hand is made, before anything of the call is recorded. What the place's number means is
    /// written at once, as rows that stand for no call.
    #[cold]
    #[inline(never)]
    pub fn learn(
        &mut self,
        sites: &mut Sites,
        sink: &mut impl Sink,
        address: u64,
        locate: impl FnOnce(u64) -> Located,
    ) {
        let Self { before, identity, .. } = self;
        self.site = self.sites.learn(sites, address, locate, |slot| {
            // Whose the ring is goes before everything.
            let own = usize::from(before.first() == Some(identity));
            let told = sink.push(&before[..own], slot, 0);
            if told {
                before.drain(..own);
            }
            told
        });
    }

    /// A call that moves nothing and belongs to no communicator.
    #[inline]
    #[must_use]
    pub fn plain(function: u16, at: Interval) -> Call {
        Call {
            flags: CallFlags::NONE,
            function,
            duration: at.duration(),
            start: at.start,
            peer: PEER_NONE,
            comm: NO_COMM,
            site: 0,
            tag: 0,
            bytes: 0,
        }
    }

    /// Makes sure that this thread's ring says what the communicator's number means.
    #[inline(always)]
    pub fn define(&mut self, comm: &Comm) {
        if self.last_defined != comm.index {
            self.define_slowly(comm);
        }
    }

    #[inline(never)]
    fn define_slowly(&mut self, comm: &Comm) {
        if comm.index >= NO_COMM {
            return;
        }
        self.last_defined = comm.index;
        let (word, bit) = (comm.index as usize / 64, 1_u64 << (comm.index % 64));
        if self.defined.get(word).is_some_and(|bits| bits & bit != 0) {
            return;
        }
        if self.defined.len() <= word {
            self.defined.resize(word + 1, 0);
        }
        self.defined[word] |= bit;
        self.before.push(comm.definition().encode());
    }

    /// After a loss, says how much went over a channel before the call that is being put together.
    #[inline(always)]
    fn announce(&mut self, process: &Process, comm: &Comm, peer: &Peer) {
        if peer.needs_numbers(process.loss_epoch.load(Ordering::Relaxed)) {
            self.announce_slowly(comm, peer);
        }
    }

    #[cold]
    #[inline(never)]
    fn announce_slowly(&mut self, comm: &Comm, peer: &Peer) {
        let (sent, received) = peer.numbers();
        self.before.push(Sync { peer: peer.world_rank, comm: comm.index, sent, received }.encode());
    }

    /// Says that `call` belongs to a communicator.
    #[inline(always)]
    pub fn place(&mut self, call: &mut Call, comm: &Comm) {
        self.define(comm);
        call.comm = comm.index;
    }

    /// Adds a message to `call`, which sent it.
    #[inline(always)]
    pub fn send(&mut self, process: &Process, call: &mut Call, comm: &Comm, to: i32, tag: i32, bytes: u64) {
        self.place(call, comm);
        let Some(peer) = comm.peer(to) else { return };
        call.tag = tag;
        call.bytes = bytes;
        call.peer = peer.world_rank;
        if peer.world_rank < 0 {
            return;
        }
        call.flags = call.flags.with(CallFlags::SEND);
        self.announce(process, comm, peer);
        peer.count_sent(process.has_threads());
    }

    /// Adds a message to `call`, which posted and completed its receive.
    #[inline(always)]
    pub fn receive(&mut self, process: &Process, call: &mut Call, comm: &Comm, received: &Received) {
        self.place(call, comm);
        let Some(peer) = comm.peer(received.source) else { return };
        call.tag = received.tag;
        call.bytes = received.bytes;
        call.peer = peer.world_rank;
        if peer.world_rank < 0 || received.cancelled {
            return;
        }
        call.flags = call.flags.with(CallFlags::RECEIVE);
        self.announce(process, comm, peer);
        peer.count_received(process.has_threads());
    }

    /// Marks `call` as one that posted a receive. A source of `None` is any, one that is nobody makes no message.
    #[inline(always)]
    pub fn post(&mut self, call: &mut Call, comm: &Comm, source: Option<i32>, tag: i32, post: u64) {
        self.place(call, comm);
        call.tag = tag;
        call.flags = call.flags.with(CallFlags::POST);
        call.bytes = post & u64::from(u32::MAX);
        call.peer = wanted(comm, source);
    }

    /// Adds a message that the coming call sent, one of perhaps several.
    #[inline(never)]
    pub fn sent(
        &mut self,
        process: &Process,
        sink: &mut impl Sink,
        comm: &Comm,
        to: i32,
        tag: i32,
        bytes: u64,
    ) {
        let Some(peer) = comm.peer(to).filter(|peer| peer.world_rank >= 0) else { return };
        self.define(comm);
        self.announce(process, comm, peer);
        peer.count_sent(process.has_threads());
        let flags = PartFlags::SENT;
        self.add(sink, Part { flags, tag, post: 0, peer: peer.world_rank, comm: comm.index, bytes });
    }

    /// Adds a receive that the coming call posted, one of perhaps several. A source of `None` is any.
    #[inline(never)]
    pub fn posted(&mut self, sink: &mut impl Sink, comm: &Comm, source: Option<i32>, tag: i32, post: u64) {
        self.define(comm);
        let peer = wanted(comm, source);
        let flags = PartFlags::POSTED;
        self.add(sink, Part { flags, tag, post, peer, comm: comm.index, bytes: 0 });
    }

    /// Adds a receive that the coming call completed: posted by it (`None`) or before.
    #[inline(always)]
    pub fn completed(
        &mut self,
        process: &Process,
        sink: &mut impl Sink,
        comm: &Comm,
        posted: Option<&Posted>,
        received: &Received,
    ) {
        let peer = comm.peer(received.source);
        let world_rank = peer.map_or(PEER_NONE, |peer| peer.world_rank);
        let moved = !received.cancelled && world_rank >= 0;
        let flags = match posted {
            _ if !moved => PartFlags::CANCELLED,
            Some(posted) if posted.recorded => PartFlags::COMPLETED,
            _ => PartFlags::INLINE,
        };
        if !moved && posted.is_none() {
            return;
        }
        self.define(comm);
        if let Some(peer) = peer.filter(|_| moved) {
            self.announce(process, comm, peer);
            peer.count_received(process.has_threads());
        }
        let part = Part {
            flags,
            tag: received.tag,
            post: posted.map_or(0, |posted| posted.post),
            peer: world_rank,
            comm: comm.index,
            bytes: received.bytes,
        };
        self.add(sink, part);
    }

    /// Adds a nonblocking collective that the coming call completed.
    #[inline(never)]
    pub fn collected(&mut self, sink: &mut impl Sink, comm: &Comm, number: u64) {
        self.define(comm);
        let (flags, tag) = (PartFlags::COLLECTED, number as i32);
        self.add(sink, Part { flags, tag, post: number, peer: PEER_NONE, comm: comm.index, bytes: 0 });
    }

    /// A posted receive was freed: it will not be seen to complete.
    #[inline(never)]
    pub fn freed(&mut self, sink: &mut impl Sink, posted: &Posted) {
        if posted.recorded && posted.as_collective().is_none() {
            let flags = PartFlags::FREED;
            let (post, comm) = (posted.post, posted.comm);
            self.add(sink, Part { flags, tag: 0, post, peer: PEER_NONE, comm, bytes: 0 });
        }
    }

    /// Writes a part where it will stay, to be seen with its call.
    #[inline(always)]
    fn add(&mut self, sink: &mut impl Sink, part: Part) {
        let slot = part.encode();
        if !(self.before.is_empty() && self.polls.is_empty() && sink.stage(&slot)) {
            self.put_aside(sink, slot);
        }
    }

    /// A slot for which there is no simple way into the ring: it waits here, after those that had one.
    #[inline(never)]
    fn put_aside(&mut self, sink: &mut impl Sink, slot: Slot) {
        self.before.splice(0..0, sink.unstage());
        self.before.push(slot);
    }

    /// A poll that found nothing: no row of its own.
    #[inline]
    pub fn failed_poll(&mut self, process: &Process, sink: &mut impl Sink, function: u16, at: Interval) {
        if let Some(row) =
            self.polls.failed((function, self.site), at.start, at.end, process.longest_poll_row)
        {
            self.write(process, sink, &row);
        }
    }

    /// Writes the call that was put together, and before it the polls that led to it. What nearly every call needs is
    /// inline, so that the call goes from the processor's registers into its slot.
    #[inline(always)]
    pub fn commit(&mut self, process: &Process, sink: &mut impl Sink, call: &Call) -> bool {
        let alone = self.before.is_empty() && self.polls.is_empty() && !call.needs_wide();
        let call = Call { site: self.site, ..*call };
        (alone && sink.push_row(&call.encode())) || self.commit_slowly(process, sink, call)
    }

    #[inline(never)]
    fn commit_slowly(&mut self, process: &Process, sink: &mut impl Sink, call: Call) -> bool {
        if let Some(row) = self.polls.take() {
            let mut before = sink.unstage();
            before.append(&mut self.before);
            // Whose the ring is belongs before the polls already.
            let own = usize::from(before.first() == Some(&self.identity));
            self.before.extend(before.drain(..own));
            self.write(process, sink, &row);
            // What a loss has put there goes first.
            self.before.append(&mut before);
        }
        self.write(process, sink, &call)
    }

    /// Writes what is still folded, for instance before the process ends.
    pub fn flush(&mut self, process: &Process, sink: &mut impl Sink) {
        if let Some(row) = self.polls.take() {
            self.write(process, sink, &row);
        }
    }

    #[inline]
    fn write(&mut self, process: &Process, sink: &mut impl Sink, call: &Call) -> bool {
        if call.needs_wide() {
            self.before.push(call.encode_wide());
        }
        self.before.splice(0..0, sink.unstage());
        let calls = if call.flags.has(CallFlags::FOLDED) { call.bytes } else { 1 };
        let written = sink.push(&self.before, &call.encode(), calls);
        self.before.clear();
        if !written {
            self.lost(process);
        }
        written
    }

    #[cold]
    fn lost(&mut self, process: &Process) {
        process.loss_epoch.fetch_add(1, Ordering::Relaxed);
        // Definitions may have been lost with the call.
        self.defined.clear();
        self.last_defined = NO_COMM;
        self.sites.forget();
        self.before.push(self.identity);
    }
}

/// The world rank of the source that a receive asks for.
#[inline]
fn wanted(comm: &Comm, source: Option<i32>) -> i32 {
    source.map_or(PEER_ANY, |rank| comm.peer(rank).map_or(PEER_NONE, |peer| peer.world_rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comms::{Comms, Members, Origin};
    use std::sync::Arc;

    #[derive(Default)]
    struct Tape {
        slots: Vec<Slot>,
        staged: Vec<Slot>,
        /// How many slots are staged at most.
        room: usize,
        full: bool,
        lost: u64,
    }

    impl Sink for Tape {
        fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
            if self.full {
                self.lost += calls;
            } else {
                self.slots.extend_from_slice(before);
                self.slots.push(*row);
            }
            !self.full
        }

        fn push_row(&mut self, row: &Slot) -> bool {
            if !self.full {
                self.slots.append(&mut self.staged);
                self.slots.push(*row);
            }
            !self.full
        }

        fn stage(&mut self, slot: &Slot) -> bool {
            let room = !self.full && self.staged.len() < self.room;
            if room {
                self.staged.push(*slot);
            }
            room
        }

        fn unstage(&mut self) -> Vec<Slot> {
            std::mem::take(&mut self.staged)
        }
    }

    impl Tape {
        fn entries(&mut self) -> Vec<Entry> {
            self.slots.drain(..).filter_map(|slot| Entry::decode(&slot)).collect()
        }
    }

    fn reversed() -> Arc<Comm> {
        let members = Members { own: vec![9, 5, 1], own_rank: 0, remote: None };
        Comms::default().insert(1, &members, Origin::Unseen)
    }

    const AT: Interval = Interval { start: 100, end: 130 };

    fn sent(thread: &mut Thread, process: &Process, tape: &mut Tape, comm: &Comm, to: i32, bytes: u64) {
        let mut call = Thread::plain(10, AT);
        thread.send(process, &mut call, comm, to, 7, bytes);
        thread.commit(process, tape, &call);
    }

    #[test]
    fn a_send_names_its_world_rank_and_defines_its_communicator_once() {
        let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        sent(&mut thread, &process, &mut tape, &comm, 1, 1 << 40);
        let entries = tape.entries();
        assert!(matches!(entries[0], Entry::Thread { number: 0, .. }));
        assert!(matches!(entries[1], Entry::Comm(definition) if definition.leader == 9));
        assert!(matches!(entries[2], Entry::Call(call) if call.peer == 1 && call.duration == 30));
        assert!(matches!(entries[3], Entry::Wide { bytes, .. } if bytes == 1 << 40));
        assert!(matches!(entries[4], Entry::Call(call) if call.peer == 5 && call.flags.has(CallFlags::SEND)));
        assert_eq!(entries.len(), 5);
    }

    fn located(address: u64) -> Located {
        Located::In { path: b"/program".to_vec(), build_id: vec![1], base: address & !0xFF }
    }

    #[test]
    fn calls_have_the_site_that_was_told_before_them() {
        let (process, mut tape) = (Process::new(1_000_000), Tape::default());
        let (mut thread, mut sites) = (Thread::new(3, 1), Sites::default());
        assert!(!thread.come_from(0x110));
        thread.learn(&mut sites, &mut tape, 0x110, located);
        thread.failed_poll(&process, &mut tape, 34, AT);
        assert!(!thread.come_from(0x120));
        thread.learn(&mut sites, &mut tape, 0x120, located);
        thread.commit(&process, &mut tape, &Thread::plain(31, AT));
        assert!(thread.come_from(0x110));
        thread.commit(&process, &mut tape, &Thread::plain(31, AT));
        let entries = tape.entries();
        assert!(matches!(entries[0], Entry::Thread { number: 3, .. }), "{entries:?}");
        assert!(matches!(entries[1], Entry::Module(_)) && matches!(entries[2], Entry::Path(_)));
        assert!(matches!(entries[3], Entry::Site(site) if (site.number, site.offset) == (1, 0x10)));
        assert!(matches!(entries[4], Entry::Site(site) if (site.number, site.offset) == (2, 0x20)));
        let calls: Vec<_> = entries[5..]
            .iter()
            .map(|entry| match entry {
                Entry::Call(call) => (call.function, call.site),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(calls, [(34, 1), (31, 2), (31, 1)]);
    }

    #[test]
    fn after_a_loss_sites_are_told_anew() {
        let (process, mut tape) = (Process::default(), Tape::default());
        let (mut thread, mut sites) = (Thread::new(0, 1), Sites::default());
        thread.learn(&mut sites, &mut tape, 0x110, located);
        tape.full = true;
        thread.commit(&process, &mut tape, &Thread::plain(31, AT));
        assert!(!thread.come_from(0x110));
        thread.learn(&mut sites, &mut tape, 0x110, located);
        tape.full = false;
        tape.entries();
        assert!(!thread.come_from(0x110), "what could not be told is not known");
        thread.learn(&mut sites, &mut tape, 0x110, located);
        thread.commit(&process, &mut tape, &Thread::plain(31, AT));
        let entries = tape.entries();
        assert!(matches!(entries[0], Entry::Thread { .. }), "{entries:?}");
        assert!(matches!(entries[3], Entry::Site(site) if site.number == 1));
        assert!(matches!(entries[4], Entry::Call(call) if call.site == 1));
        assert_eq!((entries.len(), tape.lost), (5, 1));
    }

    #[test]
    fn nobody_gets_no_message() {
        let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        sent(&mut thread, &process, &mut tape, &comm, -1, 8);
        let entries = tape.entries();
        assert!(
            matches!(entries.last(), Some(Entry::Call(call)) if call.flags == CallFlags::NONE && call.bytes == 0)
        );
    }

    #[test]
    fn after_a_loss_numbers_and_definitions_come_anew() {
        let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        tape.full = true;
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        tape.full = false;
        tape.entries();
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        let entries = tape.entries();
        assert!(matches!(entries[0], Entry::Thread { .. }));
        assert!(matches!(entries[1], Entry::Comm(_)));
        assert!(matches!(entries[2], Entry::Sync(Sync { peer: 1, sent: 3, received: 0, .. })));
        assert_eq!(entries.len(), 5);
    }

    #[test]
    fn a_completed_receive_is_a_part_of_the_completing_call() {
        let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        let posted = Posted { post: 3, comm: comm.index, recorded: true, cancelling: false };
        let received = Received { source: 1, tag: 4, bytes: 5, cancelled: false };
        // The same slots in the same order, however many of them find their way into the ring at once.
        for room in [0, 1, 2, 8] {
            tape.room = room;
            thread.completed(&process, &mut tape, &comm, Some(&posted), &received);
            thread.completed(
                &process,
                &mut tape,
                &comm,
                Some(&posted),
                &Received { cancelled: true, ..received },
            );
            let unrecorded = Posted { recorded: false, ..posted };
            thread.completed(&process, &mut tape, &comm, Some(&unrecorded), &received);
            assert_eq!(tape.slots.len(), 0, "nothing is seen before its call");
            thread.commit(&process, &mut tape, &Thread::plain(31, AT));
            let entries = tape.entries();
            assert!(matches!(entries.last(), Some(Entry::Call(_))));
            let flags: Vec<PartFlags> = entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Part(part) => Some(part.flags),
                    _ => None,
                })
                .collect();
            assert_eq!(flags, [PartFlags::COMPLETED, PartFlags::CANCELLED, PartFlags::INLINE], "{room}");
        }
    }

    #[test]
    fn a_collective_that_completes_is_a_part_and_one_that_is_freed_is_none() {
        let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        thread.collected(&mut tape, &comm, 5);
        thread.freed(&mut tape, &Posted::collective(comm.index, 6, true));
        thread.commit(&process, &mut tape, &Thread::plain(31, AT));
        let entries = tape.entries();
        assert!(matches!(entries[1], Entry::Comm(_)) && entries.len() == 4, "{entries:?}");
        let (flags, index) = (PartFlags::COLLECTED, comm.index);
        let expected = Part { flags, tag: 5, post: 5, peer: PEER_NONE, comm: index, bytes: 0 };
        assert_eq!(entries[2], Entry::Part(expected));
    }

    #[test]
    fn one_call_may_send_and_post_several() {
        let (process, comm, mut tape) = (Process::default(), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        thread.sent(&process, &mut tape, &comm, 2, 4, 8);
        thread.sent(&process, &mut tape, &comm, -1, 4, 8);
        thread.posted(&mut tape, &comm, None, -1, 3);
        thread.posted(&mut tape, &comm, Some(1), 6, 4);
        thread.commit(&process, &mut tape, &Thread::plain(96, AT));
        let parts: Vec<_> = tape
            .entries()
            .iter()
            .filter_map(|entry| match entry {
                Entry::Part(part) => Some((part.flags, part.peer, part.tag, part.post, part.bytes)),
                _ => None,
            })
            .collect();
        let posted = |peer, tag, post| (PartFlags::POSTED, peer, tag, post, 0);
        assert_eq!(parts, [(PartFlags::SENT, 1, 4, 0, 8), posted(PEER_ANY, -1, 3), posted(5, 6, 4)]);
        assert_eq!(comm.peer(2).map(Peer::numbers), Some((1, 0)));
    }

    #[test]
    fn polls_come_before_the_call_that_ended_them() {
        let (process, comm, mut tape) = (Process::new(1_000_000), reversed(), Tape::default());
        let mut thread = Thread::new(0, 1);
        for _ in 0..5 {
            thread.failed_poll(&process, &mut tape, 34, AT);
        }
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        let calls: Vec<(u16, u64)> = tape
            .entries()
            .iter()
            .filter_map(|entry| match entry {
                Entry::Call(call) => Some((call.function, call.bytes)),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [(34, 5), (10, 8)]);
        tape.full = true;
        for _ in 0..7 {
            thread.failed_poll(&process, &mut tape, 34, AT);
        }
        sent(&mut thread, &process, &mut tape, &comm, 2, 8);
        assert_eq!(tape.lost, 8);
    }
}
