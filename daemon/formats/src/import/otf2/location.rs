//! Turns the events of one location into calls: a region that is entered and left, with the messages in between.

use super::call_sites::{CallSite, CallSites};
use super::phases::{Moment, PhaseNames, Phases};
use super::processes::Processes;
use crate::import::log_stream::CommMembers;
use crate::import::receive_order::CompletedReceive;
use crate::import::trace::{ItemSink, TraceItem};
use crate::import::trace_piece::{CallKey, Collective, PieceKind, TraceCall, TracePiece, Transfer};
use crate::limits::{MAX_NS, sum_bytes};
use anyhow::{Result, bail};
use mpiscope_otf2::{CollectiveOp, Event, NO_ROOT, UNDEFINED};
use mpiscope_wire::{FUNCTIONS, id};
use std::collections::HashMap;
use std::num::NonZeroU32;

/// Counts over all locations.
#[derive(Debug, Default)]
pub(crate) struct EventCounts {
    pub(crate) calls: u64,
    /// When the first call began and the last one ended, each with the number of its thread.
    pub(crate) from: Option<(u64, u32)>,
    pub(crate) to: (u64, u32),
    /// Bytes of all sent messages.
    bytes: u64,
    /// Calls of MPI functions that are not recorded, by region.
    pub(crate) unknown: HashMap<u32, u64>,
    /// Calls that do not end.
    pub(crate) cut_off: u64,
    /// Messages and collectives on communicators whose ranks are not known.
    pub(crate) unknown_comm_events: u64,
    /// Entered regions outside MPI that are no functions of the program.
    pub(crate) regions: u64,
    /// Functions of the program.
    pub(crate) phases: PhaseNames,
    /// Collectives that were started in one call and completed in another.
    started: u32,
    /// Regions that are left without being entered, or not left.
    pub(crate) unmatched_leaves: u64,
    /// Posted receives whose end the archive does not have.
    pub(crate) incomplete_receives: u64,
    /// Collectives that complete without having been started, receives of messages that nobody probed for, and probed
    /// messages whose number is used again before they are received.
    pub(crate) unmatched_completions: u64,
    pub(crate) call_sites: CallSites,
}

/// A call that was entered.
#[derive(Debug)]
struct Open {
    function: u16,
    start_ns: u64,
    count: u64,
    site: u32,
    /// How many regions were open when it was entered, itself among them.
    depth: usize,
    collective: Option<Collective>,
    /// The request of the nonblocking collective that it started.
    started: Option<u64>,
}

/// A region that was entered.
#[derive(Debug, Clone, Copy)]
struct Entered {
    region: u32,
    /// Set for a function of the program outside of all calls.
    since: Option<Moment>,
}

/// A message that was probed for.
#[derive(Debug, Clone, Copy)]
struct Probed {
    at_ns: u64,
    peer: u32,
    comm: u32,
    tag: u32,
}

/// A message of the open call.
#[derive(Debug, Clone, Copy)]
struct OpenTransfer {
    transfer: Transfer,
    /// When the message was sent or the receive was posted, where the archive says so.
    order_ns: Option<u64>,
}

/// Receives, collectives and messages that are not complete, of each kind.
const MAX_POSTED: usize = 1 << 22;

/// Reads one location.
pub(crate) struct LocationReader<'a> {
    processes: &'a Processes,
    counts: &'a mut EventCounts,
    rank: u32,
    thread: u16,
    /// The number of the location.
    number: u32,
    /// How many calls, and beginnings and ends of functions, there were.
    calls: u64,
    /// How many messages.
    messages: u64,
    /// When the receive of each request was posted.
    posted: HashMap<u64, u64>,
    /// Messages that were probed for, by number, and those that are being received, by request.
    probed: HashMap<u64, Probed>,
    matched: HashMap<u64, Probed>,
    /// Calls that started a collective which is not complete, by request.
    started: HashMap<u64, (CallKey, TraceCall)>,
    /// The collectives that completed in the open call.
    completed: Vec<u32>,
    /// Regions that were entered, the innermost last.
    regions: Vec<Entered>,
    phases: Phases,
    open: Option<Open>,
    /// Messages of the call that is open.
    transfer: Vec<OpenTransfer>,
    last_ns: u64,
}

/// Nested regions.
const MAX_DEPTH: usize = 1 << 16;

impl<'a> LocationReader<'a> {
    pub(crate) fn new(
        processes: &'a Processes,
        counts: &'a mut EventCounts,
        number: u32,
        (rank, thread): (u32, u16),
    ) -> Self {
        Self {
            processes,
            counts,
            rank,
            thread,
            number,
            calls: 0,
            messages: 0,
            posted: HashMap::new(),
            probed: HashMap::new(),
            matched: HashMap::new(),
            started: HashMap::new(),
            completed: Vec::new(),
            regions: Vec::new(),
            phases: Phases::new((rank, thread), number),
            open: None,
            transfer: Vec::new(),
            last_ns: 0,
        }
    }

    fn check_time(&self, at_ns: u64) -> Result<()> {
        if at_ns < self.last_ns {
            bail!("times run backwards, from {} to {at_ns} ns", self.last_ns);
        }
        if at_ns > MAX_NS {
            bail!("a time of {at_ns} ns is beyond what any run takes");
        }
        Ok(())
    }

    /// Takes the next event. Calls that end go to `sink`.
    pub(crate) fn event(&mut self, at_ns: u64, event: &Event, sink: &mut ItemSink<'_>) -> Result<()> {
        self.check_time(at_ns)?;
        self.last_ns = at_ns;
        match *event {
            Event::Enter { region, number, string } => self.enter(at_ns, region, number, string),
            Event::Leave { region } => self.leave(at_ns, region, sink),
            Event::Send { peer, comm, tag, bytes } => {
                self.counts.bytes = sum(self.counts.bytes, bytes)?;
                self.message(at_ns, (peer, comm, tag, bytes), false, None, sink)
            }
            Event::Receive { peer, comm, tag, bytes, request, number } => {
                let posted = request.and_then(|request| self.posted.remove(&request));
                self.message(at_ns, (peer, comm, tag, bytes), true, number.or(posted), sink)
            }
            Event::Posted { request } => self.post(at_ns, request),
            Event::Probed { peer, comm, tag, message } => {
                self.probe(message, Probed { at_ns, peer, comm, tag })
            }
            Event::MatchedPosted { message, request } => self.post_matched(message, request),
            Event::MatchedReceive { message, bytes } => {
                let probed = self.probed.remove(&message);
                self.matched_receive(at_ns, probed, bytes, sink)
            }
            Event::MatchedCompleted { request, bytes } => {
                let probed = self.matched.remove(&request);
                self.matched_receive(at_ns, probed, bytes, sink)
            }
            Event::CollectiveStarted { request } => {
                self.start_collective(request);
                Ok(())
            }
            Event::CollectiveEnd { op, comm, root, sent, received, request } => {
                self.collective_end(at_ns, (op, comm, root), (sent, received), request, sink)
            }
        }
    }

    fn enter(&mut self, at_ns: u64, region: u32, number: Option<u64>, string: Option<u32>) -> Result<()> {
        if self.regions.len() >= MAX_DEPTH {
            bail!("more than {MAX_DEPTH} regions are entered within each other");
        }
        let is_function = self.open.is_none() && self.processes.functions.contains_key(&region);
        let since = is_function.then(|| self.moment(at_ns));
        self.regions.push(Entered { region, since });
        match self.processes.regions.get(&region) {
            // An MPI function called by another one is not a call of the program.
            Some(_) if self.open.is_some() => {}
            Some(&Some(function)) => {
                let site = string
                    .map(CallSite::String)
                    .or_else(|| self.caller().map(|region| CallSite::Region(region, function)));
                let site = site.map_or(0, |site| self.counts.call_sites.number(site));
                let (count, depth) = (number.unwrap_or(1).max(1), self.regions.len());
                let (collective, started) = (None, None);
                self.open = Some(Open { function, start_ns: at_ns, count, site, depth, collective, started });
            }
            Some(None) => *self.counts.unknown.entry(region).or_default() += 1,
            None => self.counts.regions += u64::from(!is_function),
        }
        Ok(())
    }

    /// A time, and its place among the calls.
    fn moment(&mut self, at_ns: u64) -> Moment {
        let call = self.calls;
        self.calls += 1;
        Moment { at_ns, call }
    }

    /// The innermost function of the program that was entered.
    fn caller(&self) -> Option<u32> {
        let is_own = |region: &u32| *region != UNDEFINED && !self.processes.regions.contains_key(region);
        self.regions.iter().rev().map(|entered| entered.region).find(is_own)
    }

    fn leave(&mut self, at_ns: u64, region: u32, sink: &mut ItemSink<'_>) -> Result<()> {
        let Some(at) = self.regions.iter().rposition(|entered| entered.region == region) else {
            // It was entered before the trace begins, or never: some tools leave regions of their own only.
            self.counts.unmatched_leaves += u64::from(!self.regions.is_empty());
            return Ok(());
        };
        // What was entered within it and not left ends with it.
        self.counts.unmatched_leaves += (self.regions.len() - at - 1) as u64;
        if let Some(open) = self.open.take_if(|open| open.depth > at) {
            self.close(&open, at_ns, sink)?;
        }
        self.leave_functions(at, at_ns);
        Ok(())
    }

    /// Leaves all regions from this depth on.
    fn leave_functions(&mut self, depth: usize, at_ns: u64) {
        for Entered { region, since } in self.regions.split_off(depth).into_iter().rev() {
            if let Some(from) = since
                && let Some(&name) = self.processes.functions.get(&region)
            {
                let to = self.moment(at_ns);
                self.phases.leave(name, from, to, &mut self.counts.phases);
            }
        }
    }

    fn close(&mut self, open: &Open, end_ns: u64, sink: &mut ItemSink<'_>) -> Result<()> {
        let counts = &mut *self.counts;
        counts.calls += 1;
        let began = (open.start_ns, self.number);
        counts.from = Some(counts.from.map_or(began, |from| from.min(began)));
        counts.to = counts.to.max((end_ns, self.number));
        let &Open { function, start_ns, count, site, collective, .. } = open;
        let (rank, thread) = (self.rank, self.thread);
        self.phases.called((start_ns, end_ns), &mut counts.phases, sink)?;
        let key = CallKey { end_ns, thread: self.number, call: self.calls };
        self.calls += 1;
        for OpenTransfer { transfer, order_ns } in self.transfer.drain(..) {
            self.messages += 1;
            sink(if transfer.is_receive {
                let order = (order_ns.unwrap_or(start_ns), self.messages);
                TraceItem::Receive(CompletedReceive { rank, order, key, transfer })
            } else {
                TraceItem::Piece(TracePiece { key, order: self.messages, kind: PieceKind::Message(transfer) })
            })?;
        }
        for (order, number) in (0..).zip(self.completed.drain(..)) {
            sink(TraceItem::Piece(TracePiece { key, order, kind: PieceKind::Completed(number) }))?;
        }
        let call = TraceCall { start_ns, rank, thread, function, count, site, collective };
        if let Some(request) = open.started {
            // What the collective is, its completion says. One that has no completion is a call all the same.
            let before = insert(&mut self.started, request, (key, call), "collectives are started")?;
            return before.map_or(Ok(()), |of| send_call(of, sink));
        }
        sink(TraceItem::Piece(TracePiece { key, order: 0, kind: PieceKind::Call(call) }))
    }

    /// Adds a call that takes no time, for an event outside of all calls.
    fn instant(
        &mut self,
        at_ns: u64,
        function: u16,
        collective: Option<Collective>,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let open = Open { function, start_ns: at_ns, count: 1, site: 0, depth: 0, collective, started: None };
        self.close(&open, at_ns, sink)
    }

    fn message(
        &mut self,
        at_ns: u64,
        (peer, comm, tag, bytes): (u32, u32, u32, u64),
        is_receive: bool,
        order_ns: Option<u64>,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        // Tools write MPI_PROC_NULL as the negative number that it is: there is no message.
        if self.is_unknown_comm(comm) || peer.cast_signed() < 0 {
            return Ok(());
        }
        let peer = self.rank_in(comm, peer)?;
        let Ok(tag) = i32::try_from(tag) else { bail!("at {at_ns} ns a message has a tag of {tag}") };
        let comm = self.processes.comms.get(&comm).copied().unwrap_or_default();
        let transfer = Transfer { peer, tag, comm, bytes, is_receive, post: None };
        self.transfer.push(OpenTransfer { transfer, order_ns });
        if self.open.is_none() {
            self.instant(at_ns, if is_receive { id::RECV } else { id::SEND }, None, sink)?;
        }
        Ok(())
    }

    fn post(&mut self, at_ns: u64, request: u64) -> Result<()> {
        // Where a request is posted anew, nothing says how it ended before.
        let before = insert(&mut self.posted, request, at_ns, "receives are posted")?;
        self.counts.incomplete_receives += u64::from(before.is_some());
        Ok(())
    }

    fn probe(&mut self, message: u64, probed: Probed) -> Result<()> {
        // Without a number it is a plain probe: the receive of the message says the same.
        if message == u64::MAX {
            return Ok(());
        }
        let before = insert(&mut self.probed, message, probed, "messages are probed for")?;
        self.counts.unmatched_completions += u64::from(before.is_some());
        Ok(())
    }

    /// The receive of a message that was probed for is posted.
    fn post_matched(&mut self, message: u64, request: u64) -> Result<()> {
        if let Some(probed) = self.probed.remove(&message) {
            let before = insert(&mut self.matched, request, probed, "receives are posted")?;
            self.counts.incomplete_receives += u64::from(before.is_some());
        }
        Ok(())
    }

    fn start_collective(&mut self, request: u64) {
        if let Some(open) = self.open.as_mut().filter(|open| is_collective(open.function)) {
            open.started = Some(request);
        }
    }

    /// A receive of a message that was probed for.
    fn matched_receive(
        &mut self,
        at_ns: u64,
        probed: Option<Probed>,
        bytes: u64,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let Some(Probed { at_ns: probed_ns, peer, comm, tag }) = probed else {
            self.counts.unmatched_completions += 1;
            return Ok(());
        };
        self.message(at_ns, (peer, comm, tag, bytes), true, Some(probed_ns), sink)
    }

    fn known_collective(&mut self, comm: u32, root: u32, (sent, received): (u64, u64)) -> Result<Collective> {
        // The highest numbers mean no root, or a root of an intercommunicator.
        let is_rank = root < NO_ROOT - 2;
        let root = if is_rank { Some(self.rank_in(comm, root)?) } else { None };
        self.known(comm)?;
        let comm = self.processes.comms.get(&comm).copied().unwrap_or_default();
        // The bytes it sent; the bytes it received if it sent nothing.
        let bytes = if sent > 0 { sent } else { received };
        sum(0, bytes)?;
        Ok(Collective { comm, root, bytes, started: None })
    }

    /// A collective that an earlier call started is complete.
    fn complete_started(
        &mut self,
        at_ns: u64,
        (key, call): (CallKey, TraceCall),
        collective: Collective,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let Some(number) = self.counts.started.checked_add(1) else {
            bail!("more than {} collectives are started", u32::MAX);
        };
        self.counts.started = number;
        let collective = Some(Collective { started: NonZeroU32::new(number), ..collective });
        send_call((key, TraceCall { collective, ..call }), sink)?;
        self.completed.push(number);
        if self.open.is_none() { self.instant(at_ns, id::WAIT, None, sink) } else { Ok(()) }
    }

    fn collective_end(
        &mut self,
        at_ns: u64,
        (op, comm, root): (u8, u32, u32),
        (sent, received): (u64, u64),
        request: Option<u64>,
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let is_own = self.open.as_ref().is_some_and(|open| open.started.is_some() && open.started == request);
        // Of two that were started with one request, the later one is the one that completes.
        let starter = request.filter(|_| !is_own).and_then(|request| self.started.remove(&request));
        let Some(op) = CollectiveOp::from_number(op) else {
            return starter.map_or(Ok(()), |of| send_call(of, sink));
        };
        if self.is_unknown_comm(comm) {
            return starter.map_or(Ok(()), |of| send_call(of, sink));
        }
        let collective = self.known_collective(comm, root, (sent, received))?;
        if let Some(starter) = starter {
            return self.complete_started(at_ns, starter, collective, sink);
        }
        if let Some(open) = self.open.as_mut().filter(|_| is_own) {
            // It completes in the call that started it.
            (open.collective, open.started) = (Some(collective), None);
            return Ok(());
        }
        let collective = Some(collective);
        let function = FUNCTIONS.iter().find(|entry| entry.name == op.function()).map(|entry| entry.id);
        match (&mut self.open, function) {
            (Some(open), Some(function)) if open.function == function || is_collective(open.function) => {
                open.collective = collective;
                Ok(())
            }
            (None, Some(function)) => self.instant(at_ns, function, collective, sink),
            _ => {
                self.counts.unmatched_completions += u64::from(request.is_some());
                Ok(())
            }
        }
    }

    /// Whether the ranks of a communicator are not known. If so, counts the event.
    fn is_unknown_comm(&mut self, comm: u32) -> bool {
        let is_unknown_comm = self.processes.unknown_comms.contains(&comm);
        self.counts.unknown_comm_events += u64::from(is_unknown_comm);
        is_unknown_comm
    }

    fn known(&self, comm: u32) -> Result<()> {
        if self.processes.comms.contains_key(&comm) {
            Ok(())
        } else {
            bail!("communicator {comm} is not defined")
        }
    }

    /// The world rank at a place in a communicator.
    fn rank_in(&self, comm: u32, place: u32) -> Result<u32> {
        self.known(comm)?;
        let number = self.processes.comms[&comm];
        let at = place as usize;
        let found = match self.processes.members.get(&number) {
            None => Some(place).filter(|_| at < self.processes.nodes.len()),
            Some(CommMembers::Group(group)) => group.get(at).copied(),
            Some(CommMembers::Alone) => Some(self.rank).filter(|_| at == 0),
            // A member of one group names members of the other.
            Some(CommMembers::Between(first, second)) => {
                let other = if first.contains(&self.rank) { second } else { first };
                other.get(at).copied()
            }
        };
        match found {
            Some(rank) => Ok(rank),
            None => bail!("communicator {comm} has no rank {place}"),
        }
    }

    /// Ends the location.
    pub(crate) fn finish(mut self, sink: &mut ItemSink<'_>) -> Result<()> {
        self.leave_functions(0, self.last_ns);
        self.phases.finish(&mut self.counts.phases, sink)?;
        self.counts.cut_off += u64::from(self.open.is_some());
        self.counts.incomplete_receives += (self.posted.len() + self.matched.len()) as u64;
        // Collectives that never complete: what they are is not known.
        let mut started: Vec<_> = self.started.into_values().collect();
        started.sort_unstable_by_key(|(key, _)| *key);
        started.into_iter().try_for_each(|of| send_call(of, sink))
    }
}

/// Keeps what is not complete, within a bound; gives what had this number before.
fn insert<T>(pending: &mut HashMap<u64, T>, number: u64, one: T, what: &str) -> Result<Option<T>> {
    if pending.len() >= MAX_POSTED && !pending.contains_key(&number) {
        bail!("more than {MAX_POSTED} {what} and not complete");
    }
    Ok(pending.insert(number, one))
}

fn send_call((key, call): (CallKey, TraceCall), sink: &mut ItemSink<'_>) -> Result<()> {
    sink(TraceItem::Piece(TracePiece { key, order: 0, kind: PieceKind::Call(call) }))
}

/// Whether an event of a collective may belong to a call of this function.
fn is_collective(function: u16) -> bool {
    use mpiscope_wire::Family::{All, Barrier, Rooted};
    mpiscope_wire::by_id(function).is_some_and(|entry| matches!(entry.family, Barrier | Rooted | All))
}

fn sum(sum: u64, more: u64) -> Result<u64> {
    match sum_bytes(sum, more) {
        Some(sum) => Ok(sum),
        None => bail!("the sizes of all messages add up to more than 4 EiB"),
    }
}
