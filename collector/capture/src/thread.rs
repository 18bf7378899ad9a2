//! One thread's calls, turned into slots.

use crate::call_paths::{Caller, Frame};
use crate::comms::{Comm, Peer, count};
use crate::polls::Polls;
use crate::requests::{Posted, Template};
use crate::sites::{Located, SiteCache, Sites};
use mpiscope_wire::{
    Call, CallFlags, Entry, NO_COMM, NamePart, PEER_ANY, PEER_NONE, Part, PartFlags, Slot, Sync,
};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// What the threads of a process share.
#[derive(Debug, Default)]
pub struct Process {
    /// Grows whenever calls were lost or may be dropped: numbers are then defined anew.
    loss_epoch: AtomicU32,
    posts: AtomicU64,
    threads: AtomicBool,
    /// Loops of polls are cut into rows of at most this number of ticks.
    pub longest_poll_row: u64,
}

impl Process {
    /// A process whose rows of polls span at most this number of ticks.
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

/// What a status reports about a completed receive.
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
    /// Writes a row, which stands for this number of calls, and what belongs before it; `false` when it was lost.
    fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool;

    /// Writes a row if that is a matter of a few instructions; `false` when nothing was done.
    fn push_row(&mut self, row: &Slot) -> bool;

    /// Writes a slot that belongs before the coming row, likewise.
    fn stage(&mut self, slot: &Slot) -> bool;

    /// Takes back the slots staged since the last row, in their order.
    fn unstage(&mut self) -> Vec<Slot>;

    /// Whether definitions must be repeated, because the reader may drop the rows so far. True only once.
    fn begins_anew(&mut self) -> bool;
}

/// The calls of one thread.
#[derive(Debug)]
pub struct Thread {
    /// Slots that go before the current call.
    before: Vec<Slot>,
    polls: Polls,
    /// Which communicators this thread has defined in its ring, a bit each.
    defined: Vec<u64>,
    /// One that is among them.
    last_defined: u32,
    /// The slot that identifies the owner of the ring.
    identity: Slot,
    sites: SiteCache,
    /// Where the call at hand was made.
    site: u32,
}

impl Thread {
    /// A thread; its first record identifies it.
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

    /// The number of that place.
    #[inline(always)]
    #[must_use]
    pub fn site(&self) -> u32 {
        self.site
    }

    /// The same of the whole path to the call. `read` reads the stack.
    #[inline]
    pub fn come_along(&mut self, caller: Caller, read: impl Fn(usize) -> u64) -> bool {
        let known = self.sites.get_path(caller, read);
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
        self.site = self.sites.learn(sites, address, locate, |slot| tell(before, identity, sink, slot));
    }

    /// Learns the path to the call at hand, whose function comes first. The path counts as known when the call is made by that
    /// `caller` again.
    #[cold]
    #[inline(never)]
    pub fn learn_path(
        &mut self,
        sites: &mut Sites,
        sink: &mut impl Sink,
        path: (Option<Caller>, &[Frame]),
        locate: impl Fn(u64) -> Located,
    ) {
        let Self { before, identity, .. } = self;
        self.site = self.sites.learn_path(sites, path, locate, |slot| tell(before, identity, sink, slot));
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

    /// Makes sure that this thread's ring defines the communicator's number.
    #[inline(always)]
    pub fn define(&mut self, comm: &Comm) {
        if self.last_defined != comm.index {
            self.define_slowly(comm);
        }
    }

    #[cold]
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
        self.before.push(Entry::encode_handle(comm.index, comm.handle));
        let name = comm.name();
        self.before.extend(NamePart::all(comm.index, &name).map(|part| part.encode()));
        self.before.extend(comm.grid().map(|part| part.encode()));
    }

    /// A communicator has a name now, which is written at once: as rows that stand for no call.
    #[cold]
    #[inline(never)]
    pub fn name(&mut self, sink: &mut impl Sink, comm: &Comm) {
        self.define(comm);
        let name = comm.name();
        let parts = NamePart::all(comm.index, &name).map(|part| part.encode());
        let mut slots: Vec<Slot> = std::mem::take(&mut self.before);
        slots.extend(parts);
        if let Some((row, before)) = slots.split_last()
            && !sink.push(before, row, 0)
        {
            // The next call writes it.
            self.defined.clear();
            self.last_defined = NO_COMM;
            self.before.push(self.identity);
        }
    }

    /// After a loss, writes the message numbers of a channel before the current call.
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

    /// Marks `call` as one that posted a receive. A source of `None` is any; a null process makes no message.
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
        let moved = |peer: &&Peer| !received.cancelled && peer.world_rank >= 0;
        let Some(peer) = comm.peer(received.source).filter(moved) else {
            return self.nothing_moved(sink, comm, posted, received);
        };
        self.define(comm);
        self.announce(process, comm, peer);
        peer.count_received(process.has_threads());
        let recorded = posted.is_some_and(Posted::is_recorded);
        let part = Part {
            flags: if recorded { PartFlags::COMPLETED } else { PartFlags::INLINE },
            tag: received.tag,
            post: posted.map_or(0, |posted| posted.post),
            peer: peer.world_rank,
            comm: comm.index,
            bytes: received.bytes,
        };
        self.add(sink, part);
    }

    /// Adds a receive that completed without a message, if its post was written.
    #[cold]
    #[inline(never)]
    fn nothing_moved(
        &mut self,
        sink: &mut impl Sink,
        comm: &Comm,
        posted: Option<&Posted>,
        received: &Received,
    ) {
        let Some(posted) = posted else { return };
        self.define(comm);
        let part = Part {
            flags: PartFlags::CANCELLED,
            tag: received.tag,
            post: posted.post,
            peer: comm.peer(received.source).map_or(PEER_NONE, |peer| peer.world_rank),
            comm: comm.index,
            bytes: received.bytes,
        };
        self.add(sink, part);
    }

    /// Adds a collective that the coming call started, one of perhaps several, and that a call of another function made.
    #[inline(never)]
    pub fn started(&mut self, sink: &mut impl Sink, comm: &Comm, made: &Template, number: u64) {
        let Template::Collective { function, root, bytes, .. } = *made else { return };
        self.define(comm);
        let (flags, tag, post) = (PartFlags::STARTED, number as i32, u64::from(function));
        self.add(sink, Part { flags, tag, post, peer: root, comm: comm.index, bytes });
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
        if posted.is_recorded() && posted.as_collective().is_none() {
            let flags = PartFlags::FREED;
            let (post, comm) = (posted.post, posted.comm_index());
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
    #[cold]
    #[inline(never)]
    fn put_aside(&mut self, sink: &mut impl Sink, slot: Slot) {
        self.before.splice(0..0, sink.unstage());
        self.before.push(slot);
    }

    /// A failed poll, if it continues the current loop and need not be timed; `false` when nothing was done.
    #[inline(always)]
    pub fn polls_on(&mut self, process: &Process, function: u16, start: u64) -> bool {
        self.polls.go_on(function, start, process.longest_poll_row)
    }

    /// A poll that found nothing: no row of its own.
    #[inline]
    pub fn failed_poll(&mut self, process: &Process, sink: &mut impl Sink, function: u16, at: Interval) {
        let longest = process.longest_poll_row;
        if let Some(folded) = self.polls.failed((function, self.site), at.start, at.end, longest) {
            self.write_polls(process, sink, &folded);
        }
    }

    /// Writes the finished call, and before it the polls that led to it. The common path is inline: the call goes from
    /// registers into its slot.
    #[inline(always)]
    pub fn commit(&mut self, process: &Process, sink: &mut impl Sink, call: &Call) -> bool {
        let alone = self.before.is_empty() && self.polls.is_empty() && !call.needs_wide();
        let call = Call { site: self.site, ..*call };
        (alone && sink.push_row(&call.encode())) || self.commit_slowly(process, sink, call)
    }

    #[cold]
    #[inline(never)]
    fn commit_slowly(&mut self, process: &Process, sink: &mut impl Sink, call: Call) -> bool {
        if let Some(folded) = self.polls.take(call.function, call.start, process.longest_poll_row) {
            let mut before = sink.unstage();
            before.append(&mut self.before);
            // The owner of the ring goes before the polls already.
            let own = usize::from(before.first() == Some(&self.identity));
            self.before.extend(before.drain(..own));
            self.write_polls(process, sink, &folded);
            // What a loss has put there goes first.
            self.before.append(&mut before);
        }
        let written = self.write(process, sink, &call);
        // Between two calls: definitions are written with the next one.
        if written && sink.begins_anew() {
            self.tell_anew(process);
        }
        written
    }

    /// Writes the folded polls, for instance before the process ends.
    pub fn flush(&mut self, process: &Process, sink: &mut impl Sink) {
        if let Some(folded) = self.polls.take_last() {
            self.write_polls(process, sink, &folded);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_polls(&mut self, process: &Process, sink: &mut impl Sink, folded: &Polls) {
        for row in folded.rows() {
            self.write(process, sink, &row);
        }
    }

    #[inline]
    fn write(&mut self, process: &Process, sink: &mut impl Sink, call: &Call) -> bool {
        if call.needs_wide() {
            self.before.push(call.encode_wide());
        }
        self.before.splice(0..0, sink.unstage());
        let written = sink.push(&self.before, &call.encode(), call.calls());
        self.before.clear();
        if !written {
            self.tell_anew(process);
        }
        written
    }

    /// Definitions written with a lost or old call are repeated with the next calls: numbers, communicators, call
    /// sites.
    #[cold]
    fn tell_anew(&mut self, process: &Process) {
        process.loss_epoch.fetch_add(1, Ordering::Relaxed);
        self.defined.clear();
        self.last_defined = NO_COMM;
        self.sites.forget();
        self.before.push(self.identity);
    }
}

/// Writes a definition, behind the slot that identifies the owner of the ring.
fn tell(before: &mut Vec<Slot>, identity: &Slot, sink: &mut impl Sink, slot: &Slot) -> bool {
    let own = usize::from(before.first() == Some(identity));
    let pushed = sink.push(&before[..own], slot, 0);
    if pushed {
        before.drain(..own);
    }
    pushed
}

/// The world rank of the source that a receive asks for.
#[inline]
fn wanted(comm: &Comm, source: Option<i32>) -> i32 {
    source.map_or(PEER_ANY, |rank| comm.peer(rank).map_or(PEER_NONE, |peer| peer.world_rank))
}

#[cfg(test)]
mod tests;
