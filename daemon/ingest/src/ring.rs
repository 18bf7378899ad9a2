//! The slots of one ring: groups that end with a call, each a row and the events that it meant.

use crate::clock::ClockMap;
use mpiscope_model::{Call, Comm, Event, Rank};
use mpiscope_wire::{self as wire, CallFlags, Part, PartFlags, id};

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
    /// Losses and numbers, which belong before the call that comes.
    pub(crate) marks: Vec<Event>,
    /// When the loop of failed polls began that is still unbroken.
    polling_since: Option<u64>,
    /// A message that a probe reported and that was not received yet: where, from whom, tag, since when.
    probed: Option<(Comm, Rank, i32, u64)>,
}

/// A call with its full fields, its times as nanoseconds of the run, and its communicator as an index of the run.
pub(crate) struct Closed {
    pub(crate) call: wire::Call,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) comm: Option<Comm>,
    /// The parts, each with its communicator and, where it completes one, the number of its post.
    pub(crate) parts: Vec<(Part, Option<Comm>)>,
    /// The full number of the receive that the call posted.
    pub(crate) post: u64,
}

/// Where a call's row and events go.
pub(crate) struct Output<'a> {
    pub(crate) calls: &'a mut Vec<Call>,
    pub(crate) events: &'a mut Vec<(u64, Event)>,
}

fn rank(peer: i32) -> Option<Rank> {
    u32::try_from(peer).ok()
}

impl RingState {
    pub(crate) fn new(thread: u16) -> Self {
        Self {
            thread,
            position: 0,
            lost_calls: 0,
            wide: None,
            parts: Vec::new(),
            marks: Vec::new(),
            polling_since: None,
            probed: None,
        }
    }

    /// Puts a call's full duration and bytes back, and its times on the clock of the run.
    pub(crate) fn times(
        &mut self,
        call: &mut wire::Call,
        clock: &ClockMap,
        kind: wire::ClockKind,
    ) -> (u64, u64) {
        if let Some((duration, bytes)) = self.wide.take() {
            call.duration = duration;
            call.bytes = bytes;
        }
        let end = call.start.saturating_add(call.duration);
        let start_ns = clock.of(kind, call.start);
        (start_ns, clock.of(kind, end).max(start_ns))
    }

    /// A call closes its group.
    pub(crate) fn close(&mut self, rank: Rank, closed: &Closed, out: &mut Output<'_>) {
        let flags = closed.call.flags;
        out.events.extend(self.marks.drain(..).map(|mark| (closed.start_ns, mark)));
        if flags.has(CallFlags::FOLDED) {
            self.polling_since.get_or_insert(closed.start_ns);
            self.events(rank, closed, closed.start_ns, out.events);
            out.calls.push(self.row(rank, closed));
            return;
        }
        let polls = wire::by_id(closed.call.function).is_some_and(|entry| entry.polls);
        let since = self.polling_since.take().filter(|_| polls).unwrap_or(closed.start_ns);
        self.events(rank, closed, since, out.events);
        out.calls.push(self.row(rank, closed));
        if flags.has(CallFlags::PROBE)
            && let (Some(comm), Some(peer)) = (closed.comm, self::rank(closed.call.peer))
        {
            self.probed = Some((comm, peer, closed.call.tag, since));
        }
    }

    fn row(&self, rank: Rank, closed: &Closed) -> Call {
        let call = &closed.call;
        let flags = call.flags;
        let folded = flags.has(CallFlags::FOLDED);
        let received: Vec<&(Part, Option<Comm>)> =
            closed.parts.iter().filter(|(part, _)| part.flags.is_receive()).collect();
        let one_part = if let [one] = received.as_slice() { Some(*one) } else { None };
        let own_message =
            [CallFlags::SEND, CallFlags::RECEIVE, CallFlags::PROBE].iter().any(|&flag| flags.has(flag));
        let mut row = Call {
            rank,
            thread: self.thread,
            function: call.function,
            start_ns: closed.start_ns,
            end_ns: closed.end_ns,
            peer: self::rank(call.peer),
            tag: own_message.then_some(call.tag),
            bytes: call.bytes,
            comm: closed.comm,
            site: None,
            count: if folded { call.bytes.max(1) } else { 1 },
        };
        if flags.has(CallFlags::POST) {
            row.tag = (call.tag >= 0).then_some(call.tag);
        }
        if folded || flags.has(CallFlags::POST) || flags.has(CallFlags::PROBE) {
            row.bytes = 0;
        }
        if flags.has(CallFlags::SEND) && !received.is_empty() {
            // It sent to one rank and received from another: neither is the peer.
            (row.peer, row.tag) = (None, None);
        } else if !own_message && !received.is_empty() {
            row.bytes = received.iter().map(|(part, _)| part.bytes).fold(0, u64::saturating_add);
            (row.peer, row.tag) =
                one_part.map_or((None, None), |(part, _)| (self::rank(part.peer), Some(part.tag)));
            row.comm = row.comm.or_else(|| one_part.and_then(|(_, comm)| *comm));
        }
        row
    }

    fn events(&mut self, rank: Rank, closed: &Closed, since: u64, out: &mut Vec<(u64, Event)>) {
        let call = &closed.call;
        if let (Some(comm), Some(peer)) = (closed.comm, self::rank(call.peer))
            && call.flags.has(CallFlags::SEND)
        {
            let blocked_until_ns = (call.function == id::SSEND).then_some(closed.end_ns);
            let (tag, bytes, begin_ns) = (call.tag, call.bytes, closed.start_ns);
            out.push((
                begin_ns,
                Event::Send { rank, comm, to: peer, tag, bytes, begin_ns, blocked_until_ns },
            ));
        }
        if call.flags.has(CallFlags::POST)
            && let Some(comm) = closed.comm
            && call.peer != wire::PEER_NONE
        {
            let event = Event::Post {
                rank,
                comm,
                from: self::rank(call.peer),
                tag: (call.tag >= 0).then_some(call.tag),
                post: closed.post,
                at_ns: closed.start_ns,
            };
            out.push((closed.start_ns, event));
        }
        if let (Some(comm), Some(from)) = (closed.comm, self::rank(call.peer))
            && call.flags.has(CallFlags::RECEIVE)
        {
            let probed =
                self.probed.take_if(|(at, peer, tag, _)| (*at, *peer, *tag) == (comm, from, call.tag));
            let event = Event::Receive {
                rank,
                comm,
                from,
                tag: call.tag,
                bytes: call.bytes,
                post: None,
                begin_ns: probed.map_or(since, |(.., since)| since),
                end_ns: closed.end_ns,
                alone: true,
            };
            out.push((closed.end_ns, event));
        }
        let alone = closed.parts.iter().filter(|(part, _)| part.flags.is_receive()).count() == 1;
        for (part, comm) in &closed.parts {
            if part.flags == PartFlags::CANCELLED {
                out.push((closed.end_ns, Event::Cancelled { rank, post: part.post }));
            } else if part.flags == PartFlags::FREED {
                out.push((closed.end_ns, Event::Freed { rank, post: part.post }));
            } else if let (Some(comm), Some(from)) = (*comm, self::rank(part.peer)) {
                let event = Event::Receive {
                    rank,
                    comm,
                    from,
                    tag: part.tag,
                    bytes: part.bytes,
                    post: (part.flags == PartFlags::COMPLETED).then_some(part.post),
                    begin_ns: since,
                    end_ns: closed.end_ns,
                    alone,
                };
                out.push((closed.end_ns, event));
            }
        }
    }
}
