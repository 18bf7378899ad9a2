//! The slots of one ring: groups that end with a call, each a row and the events that it meant.

use crate::closed_call::{Closed, ClosingPart, Moved};
use crate::effect::{Functions, Undiagnosed, rank_of};
use crate::timed_event::Timed;
use mpiscope_model::{Activity, Call, CallId, Collected, Comm, Event, MOST_BETWEEN_POLLS_NS, Rank};
use mpiscope_wire::{self as wire, CallFlags, Part, PartFlags, id};
use rustc_hash::FxHashMap;

/// What is remembered of a ring between slots.
#[derive(Debug)]
pub(crate) struct RingState {
    /// The thread whose ring it is.
    pub(crate) thread: u16,
    /// The position of the next slot.
    pub(crate) position: u64,
    /// Calls lost that are already accounted for.
    pub(crate) lost_calls: u64,
    pub(crate) wide: Option<(u64, u64)>,
    pub(crate) parts: Vec<Part>,
    /// Room for the parts of a call while it closes its group.
    closing: Vec<ClosingPart>,
    /// Losses and numbers, which belong before the call that comes.
    pub(crate) marks: Vec<Event>,
    /// What parts and marks have taken of the run's room until their call comes.
    pub(crate) waiting_bytes: usize,
    /// The loop of failed polls that nothing else has ended.
    polling: Option<Polling>,
    /// A message that a probe reported and that was not received yet: where, from whom, tag, since when.
    probed: Option<(Comm, Rank, i32, u64)>,
    /// Calls of the thread so far.
    calls: u64,
    /// Calls were lost since the last one.
    after_loss: bool,
}

/// Room for more parts is not kept from one call to the next.
const MOST_PARTS_KEPT: usize = 64;

/// Polls without work in between: the answer is noticed at once.
#[derive(Debug, Clone, Copy)]
struct Polling {
    since: u64,
    until: u64,
}

impl Polling {
    /// A poll, or a row of them, follows.
    fn goes_on(before: Option<Self>, closed: &Closed) -> Self {
        let is_unbroken =
            |before: &Self| closed.start_ns.saturating_sub(before.until) <= MOST_BETWEEN_POLLS_NS;
        let since = before.filter(is_unbroken).map_or(closed.start_ns, |before| before.since);
        Self { since, until: closed.end_ns }
    }
}

/// A program that probes more messages than this without receiving them loses only when it began to wait for them.
const MOST_MATCHED: usize = 1 << 16;

/// Where a call's row and events go, as far as they are wanted.
pub(crate) struct Output<'a> {
    pub(crate) calls: Option<&'a mut Vec<Call>>,
    /// Those of them that are a single poll which found nothing.
    pub(crate) lone_polls: &'a mut Vec<usize>,
    /// Where effects of calls go, if there is a diagnosis.
    pub(crate) activities: Option<&'a mut Vec<Activity>>,
    /// The collectives that they completed: those that the diagnosis knows, and others.
    pub(crate) collected: [&'a mut Vec<Collected>; 2],
    pub(crate) events: &'a mut Vec<Timed>,
    /// Messages that a matched probe of the process reported, by their posts: since when.
    pub(crate) matched: &'a mut FxHashMap<u64, u64>,
    /// Started collectives that the diagnosis leaves out.
    pub(crate) undiagnosed: &'a mut Undiagnosed,
    pub(crate) functions: &'a Functions,
}

impl Output<'_> {
    fn push(&mut self, closed: &Closed, at_ns: u64, event: Event) {
        self.events.push(Timed { at_ns, end_ns: closed.end_ns, event });
    }
}

// Unknown values of a slot are unknown in an event.
const _: () = assert!(Part::UNKNOWN_BYTES == Event::UNKNOWN_BYTES);

impl RingState {
    pub(crate) fn new(thread: u16) -> Self {
        Self {
            thread,
            position: 0,
            lost_calls: 0,
            wide: None,
            parts: Vec::new(),
            closing: Vec::new(),
            marks: Vec::new(),
            waiting_bytes: 0,
            polling: None,
            probed: None,
            calls: 0,
            after_loss: false,
        }
    }

    /// Puts a call's full duration and bytes back, and its times on the clock of the run.
    pub(crate) fn times(&mut self, call: &mut wire::Call, mut of: impl FnMut(u64) -> u64) -> (u64, u64) {
        if let Some((duration, bytes)) = self.wide.take() {
            call.duration = duration;
            call.bytes = bytes;
        }
        let end = call.start.saturating_add(call.duration);
        let start_ns = of(call.start);
        (start_ns, of(end).max(start_ns))
    }

    /// The parts of the call that closes the group, and room for them with their communicators.
    pub(crate) fn take_parts(&mut self) -> (Vec<Part>, Vec<ClosingPart>) {
        (std::mem::take(&mut self.parts), std::mem::take(&mut self.closing))
    }

    /// Keeps the room of what [`RingState::take_parts`] gave for the next call.
    pub(crate) fn keep_parts(&mut self, mut parts: Vec<Part>, mut closing: Vec<ClosingPart>) {
        if parts.capacity().max(closing.capacity()) <= MOST_PARTS_KEPT {
            parts.clear();
            closing.clear();
            (self.parts, self.closing) = (parts, closing);
        }
    }

    /// A call closes its group.
    pub(crate) fn close(&mut self, rank: Rank, closed: &Closed, out: &mut Output<'_>) {
        let flags = closed.call.flags;
        for mark in self.marks.drain(..) {
            out.push(closed, closed.start_ns, mark);
        }
        if flags.has(CallFlags::FOLDED) {
            let polling = Polling::goes_on(self.polling, closed);
            self.polling = Some(polling);
            self.tell(rank, closed, polling.since, out);
            return;
        }
        let polls = wire::by_id(closed.call.function).is_some_and(|entry| entry.polls);
        let before = self.polling.take().filter(|_| polls);
        let since = Polling::goes_on(before, closed).since;
        self.tell(rank, closed, since, out);
        // A probe that matched its message has posted a receive of it.
        if flags.has(CallFlags::PROBE)
            && !closed.parts.iter().any(|(part, _)| part.flags == PartFlags::POSTED)
            && let (Some(comm), Some(peer)) = (closed.comm, rank_of(closed.call.peer))
        {
            self.probed = Some((comm, peer, closed.call.tag, since));
        }
    }

    /// From here on the ring is another thread's.
    pub(crate) fn hand_over(&mut self, thread: u16) {
        if self.thread != thread {
            (self.thread, self.calls) = (thread, 0);
        }
    }

    /// Something is missing here.
    pub(crate) fn lose(&mut self, rank: Rank) {
        self.wide = None;
        self.parts.clear();
        if !matches!(self.marks.last(), Some(Event::Lost { .. })) {
            self.marks.push(Event::Lost { rank });
        }
        self.after_loss = true;
    }

    /// The row, the activity and the events of a call.
    fn tell(&mut self, rank: Rank, closed: &Closed, since: u64, out: &mut Output<'_>) {
        let call = CallId::new(self.thread, self.calls);
        self.calls += 1;
        let waiting_since = self.events(rank, call, closed, since, out);
        let moved = Moved::by(&closed.parts);
        if let Some(calls) = &mut out.calls {
            let row = self.row(rank, closed, &moved);
            if row.count == 1 && closed.call.flags.has(CallFlags::FOLDED) {
                out.lone_polls.push(calls.len());
            }
            calls.push(row);
        }
        let after_loss = std::mem::take(&mut self.after_loss);
        if let Some(activities) = &mut out.activities {
            let effect = out.functions.effect(rank, closed, &moved);
            out.undiagnosed.see(closed, &effect);
            let completed = closed.parts.iter().filter(|(part, _)| part.flags == PartFlags::COLLECTED);
            for (part, comm) in completed {
                let Some(comm) = *comm else { continue };
                let number = part.tag as u32;
                let is_undiagnosed = out.undiagnosed.completes(comm, number);
                out.collected[usize::from(is_undiagnosed)].push(Collected { rank, call, comm, number });
            }
            activities.push(Activity {
                rank,
                call,
                function: closed.call.function,
                start_ns: closed.start_ns,
                end_ns: closed.end_ns,
                since_ns: waiting_since,
                effect,
                site: closed.site,
                after_loss,
            });
        }
    }

    fn row(&self, rank: Rank, closed: &Closed, moved: &Moved<'_>) -> Call {
        let call = &closed.call;
        let flags = call.flags;
        let folded = flags.has(CallFlags::FOLDED);
        let own_message = has_own_message(flags);
        let mut row = Call {
            rank,
            thread: self.thread,
            function: call.function,
            start_ns: closed.start_ns,
            end_ns: closed.end_ns,
            peer: rank_of(call.peer),
            // The level shows the program's wish.
            tag: (own_message || call.function == id::PCONTROL).then_some(call.tag),
            bytes: call.bytes,
            comm: closed.comm,
            site: closed.site,
            count: call.calls(),
            instance: (flags.has(CallFlags::COLLECTIVE) && !folded).then_some(call.tag as u32),
        };
        if flags.has(CallFlags::POST) {
            row.tag = (call.tag >= 0).then_some(call.tag);
        }
        if folded || flags.has(CallFlags::POST) || flags.has(CallFlags::PROBE) {
            row.bytes = 0;
        }
        if flags.has(CallFlags::SEND) && moved.receives > 0 {
            // It sent to one rank and received from another: neither is the peer.
            (row.peer, row.tag) = (None, None);
        } else if !own_message && moved.sends + moved.receives > 0 {
            describe_moved(&mut row, moved);
        }
        if let Some((part, comm)) = moved.last_started {
            row.bytes = row.bytes.saturating_add(moved.started_bytes);
            if moved.started == 1 && moved.sends == 0 {
                (row.peer, row.comm, row.instance) = (rank_of(part.peer), *comm, Some(part.tag as u32));
            }
        }
        row
    }

    /// The messages of a call; returns since when it waited for what it received.
    fn events(&mut self, rank: Rank, id: CallId, closed: &Closed, since: u64, out: &mut Output<'_>) -> u64 {
        let call = &closed.call;
        let mut waiting_since = since;
        if let (Some(comm), Some(peer)) = (closed.comm, rank_of(call.peer))
            && call.flags.has(CallFlags::SEND)
        {
            out.push(closed, closed.start_ns, own_send((rank, id), closed, (comm, peer)));
        }
        if call.flags.has(CallFlags::POST)
            && let Some(comm) = closed.comm
            && call.peer != wire::PEER_NONE
        {
            let event = Event::Post {
                rank,
                call: id,
                comm,
                from: rank_of(call.peer),
                tag: (call.tag >= 0).then_some(call.tag),
                post: closed.post,
                at_ns: closed.start_ns,
            };
            out.push(closed, closed.start_ns, event);
        }
        if let (Some(comm), Some(from)) = (closed.comm, rank_of(call.peer))
            && call.flags.has(CallFlags::RECEIVE)
        {
            let probed =
                self.probed.take_if(|(at, peer, tag, _)| (*at, *peer, *tag) == (comm, from, call.tag));
            waiting_since = probed.map_or(since, |(.., since)| since);
            let event = own_receive((rank, id), closed, (comm, from), waiting_since);
            out.push(closed, closed.end_ns, event);
        }
        let alone = closed.parts.iter().filter(|(part, _)| part.flags.is_receive()).count() == 1;
        for (part, comm) in &closed.parts {
            let begin = part_of((rank, id), closed, since, (part, *comm, alone), out);
            waiting_since = waiting_since.min(begin);
        }
        waiting_since
    }
}

fn has_own_message(flags: CallFlags) -> bool {
    [CallFlags::SEND, CallFlags::RECEIVE, CallFlags::PROBE].iter().any(|&flag| flags.has(flag))
}

/// Describes a call by what it sent, or received where it sent nothing.
#[inline]
fn describe_moved(row: &mut Call, moved: &Moved<'_>) {
    row.bytes = if moved.sends > 0 { moved.sent_bytes } else { moved.received_bytes };
    let only = moved.last.filter(|_| moved.sends + moved.receives == 1);
    (row.peer, row.tag) = only.map_or((None, None), |(part, _)| (rank_of(part.peer), Some(part.tag)));
    row.comm = row.comm.or_else(|| only.and_then(|(_, comm)| *comm));
}

/// The message that a call itself sent.
#[inline]
fn own_send((rank, id): (Rank, CallId), closed: &Closed, (comm, to): (Comm, Rank)) -> Event {
    let call = &closed.call;
    Event::Send {
        rank,
        call: id,
        comm,
        to,
        tag: call.tag,
        bytes: call.bytes,
        begin_ns: closed.start_ns,
        blocked_until_ns: (call.function == id::SSEND).then_some(closed.end_ns),
    }
}

/// The message that a call itself received, and waited for since a moment.
#[inline]
fn own_receive(
    (rank, id): (Rank, CallId),
    closed: &Closed,
    (comm, from): (Comm, Rank),
    begin_ns: u64,
) -> Event {
    Event::Receive {
        rank,
        call: id,
        comm,
        from,
        tag: closed.call.tag,
        bytes: closed.call.bytes,
        post: None,
        begin_ns,
        end_ns: closed.end_ns,
        alone: true,
    }
}

/// The messages of one part of a call; returns since when it was waited for.
fn part_of(
    (rank, id): (Rank, CallId),
    closed: &Closed,
    since: u64,
    (part, comm, alone): (&Part, Option<Comm>, bool),
    out: &mut Output<'_>,
) -> u64 {
    let (start_ns, end_ns) = (closed.start_ns, closed.end_ns);
    let (post, tag) = (part.post, part.tag);
    match (part.flags, comm, rank_of(part.peer)) {
        (PartFlags::CANCELLED, ..) => {
            out.matched.remove(&post);
            out.push(closed, end_ns, Event::Cancelled { rank, post });
        }
        (PartFlags::FREED, ..) => {
            out.matched.remove(&post);
            out.push(closed, end_ns, Event::Freed { rank, post });
        }
        (PartFlags::SENT, Some(comm), Some(to)) => {
            out.push(closed, start_ns, sent_part((rank, id), start_ns, (part, comm, to)));
        }
        (PartFlags::POSTED, Some(comm), from) if part.peer != wire::PEER_NONE => {
            // A probe that matched a message posts when it was begun.
            let at_ns = if closed.call.flags.has(CallFlags::PROBE) { since } else { start_ns };
            if closed.call.flags.has(CallFlags::PROBE) && out.matched.len() < MOST_MATCHED {
                out.matched.insert(post, since);
            }
            let tag = (tag >= 0).then_some(tag);
            out.push(closed, start_ns, Event::Post { rank, call: id, comm, from, tag, post, at_ns });
        }
        (flags, Some(comm), Some(from)) if flags.is_receive() => {
            return received_part((rank, id), closed, since, (part, comm, from, alone), out);
        }
        _ => {}
    }
    since
}

/// The message that one part of a call sent.
#[inline]
fn sent_part((rank, id): (Rank, CallId), begin_ns: u64, (part, comm, to): (&Part, Comm, Rank)) -> Event {
    let (tag, bytes) = (part.tag, part.bytes);
    Event::Send { rank, call: id, comm, to, tag, bytes, begin_ns, blocked_until_ns: None }
}

/// The message that one part of a call received; returns since when it was waited for.
#[inline]
fn received_part(
    (rank, id): (Rank, CallId),
    closed: &Closed,
    since: u64,
    (part, comm, from, alone): (&Part, Comm, Rank, bool),
    out: &mut Output<'_>,
) -> u64 {
    let completed = part.flags == PartFlags::COMPLETED;
    let probed = out.matched.remove(&part.post).filter(|_| completed);
    let begin_ns = probed.unwrap_or(since);
    let event = Event::Receive {
        rank,
        call: id,
        comm,
        from,
        tag: part.tag,
        bytes: part.bytes,
        post: completed.then_some(part.post),
        begin_ns,
        end_ns: closed.end_ns,
        alone,
    };
    out.push(closed, closed.end_ns, event);
    begin_ns
}
