//! Turns the events of one process into calls: an event that begins and ends, with the messages in it.

use super::definitions::{Definitions, KnownComm};
use super::record::{Data, Record};
use crate::import::log_stream::MAX_THREADS;
use crate::import::receive_order::CompletedReceive;
use crate::import::trace::{ItemSink, TraceItem};
use crate::import::trace_piece::{CallKey, Collective, PieceKind, TraceCall, TracePiece, Transfer};
use crate::limits::sum_bytes;
use crate::picl_events::{Shape, TRACE, WORLD, event_name, event_type};
use anyhow::{Result, bail};
use mpiscope_wire::FUNCTIONS;
use std::collections::{BTreeMap, HashMap};

/// Calls within each other.
const MAX_DEPTH: usize = 1 << 16;
/// Receives that are posted and not complete; of further ones the order is that of their ends.
const MAX_POSTED: usize = 1 << 22;
/// Kinds of events that are counted apart.
const MAX_KINDS: usize = 1 << 10;

/// What the whole trace says, for each of its processes.
pub(super) struct TraceFacts<'a> {
    pub(super) definitions: &'a Definitions,
    pub(super) comms: &'a HashMap<i64, KnownComm>,
    pub(super) ranks: u32,
    /// Subtracted from all times; none is negative after it.
    pub(super) zero_ns: i64,
    /// Numbers of functions by their names in small letters.
    pub(super) functions: HashMap<String, u16>,
}

impl<'a> TraceFacts<'a> {
    pub(super) fn new(
        definitions: &'a Definitions,
        comms: &'a HashMap<i64, KnownComm>,
        ranks: u32,
        zero_ns: i64,
    ) -> Self {
        let functions = FUNCTIONS.iter().map(|entry| (entry.name.to_ascii_lowercase(), entry.id));
        Self { definitions, comms, ranks, zero_ns, functions: functions.collect() }
    }

    /// The name of the MPI function that an event is.
    fn name(&self, event: i32) -> Option<&str> {
        event_type(event).map(|kind| kind.function).or_else(|| self.definitions.label(event))
    }
}

/// Counts over all processes.
#[derive(Debug, Default)]
pub(super) struct EventCounts {
    pub(super) calls: u64,
    /// When the first call or the trace of a process began and the last one ended, each with its line.
    pub(super) from: Option<(u64, u64)>,
    pub(super) to: (u64, u64),
    bytes: u64,
    /// Calls of MPI functions that are not recorded, by name.
    pub(super) unknown: BTreeMap<String, u64>,
    /// Events that are no calls, by kind.
    pub(super) left_out: BTreeMap<String, u64>,
    /// Events that do not end, and that did not begin.
    pub(super) without_end: u64,
    pub(super) without_beginning: u64,
    /// Messages and collectives on communicators that are not defined.
    pub(super) unknown_comm_events: u64,
    /// Receives without a source and a size.
    pub(super) unknown_messages: u64,
}

impl EventCounts {
    fn span(&mut self, from: (u64, u64), to: (u64, u64)) {
        self.from = Some(self.from.map_or(from, |known| known.min(from)));
        self.to = self.to.max(to);
    }
}

/// An event that began.
#[derive(Debug, Clone, Copy)]
struct Open {
    event: i32,
    start_ns: u64,
    line: u64,
    data: Data,
}

/// The call that is under way.
#[derive(Debug)]
struct OpenCall {
    function: u16,
    /// How many events were open when it began.
    depth: usize,
    /// Whether sends and receives within it are its own.
    has_messages: bool,
}

#[derive(Debug, Clone, Copy)]
struct OpenTransfer {
    transfer: Transfer,
    /// When the message was sent or the receive was posted, where the trace says so.
    order_ns: Option<u64>,
}

/// Reads the records of all processes, one process after the other.
pub(super) struct ProcessReader<'a> {
    facts: &'a TraceFacts<'a>,
    counts: &'a mut EventCounts,
    process: Option<(u32, u16)>,
    calls: u64,
    messages: u64,
    /// Open events, the innermost last, and how many of them are of each type.
    open: Vec<Open>,
    open_types: HashMap<i32, u32>,
    call: Option<OpenCall>,
    transfers: Vec<OpenTransfer>,
    /// The functions of events that came before, where they have one.
    functions: HashMap<i32, Option<u16>>,
    /// When the receive of each request of the rank was posted.
    posted: HashMap<i64, u64>,
}

impl<'a> ProcessReader<'a> {
    pub(super) fn new(facts: &'a TraceFacts<'a>, counts: &'a mut EventCounts) -> Self {
        Self {
            facts,
            counts,
            process: None,
            calls: 0,
            messages: 0,
            open: Vec::new(),
            open_types: HashMap::new(),
            call: None,
            transfers: Vec::new(),
            functions: HashMap::new(),
            posted: HashMap::new(),
        }
    }

    /// Takes the next record. Calls that end go to `sink`.
    pub(super) fn record(&mut self, record: &Record, sink: &mut ItemSink<'_>) -> Result<()> {
        let process = (record.rank, record.thread);
        if self.process != Some(process) {
            self.end_process();
            if self.process.is_none_or(|(rank, _)| rank != record.rank) {
                self.posted.clear();
            }
            self.process = Some(process);
        }
        // Times are checked: neither the difference nor its sign can be wrong.
        let at_ns = u64::try_from(record.at_ns - self.facts.zero_ns).unwrap_or_default();
        if record.event == TRACE {
            self.counts.span((at_ns, record.line), (at_ns, record.line));
            return Ok(());
        }
        if record.is_exit { self.exit(at_ns, record, sink) } else { self.entry(at_ns, record) }
    }

    fn entry(&mut self, start_ns: u64, record: &Record) -> Result<()> {
        let &Record { event, line, data, .. } = record;
        let Some(function) = self.function(event) else {
            if self.call.is_none() {
                self.leave_out(event);
            }
            return Ok(());
        };
        if self.open.len() >= MAX_DEPTH {
            bail!("more than {MAX_DEPTH} calls begin within each other");
        }
        // An MPI function called by another one is not a call of the program.
        if self.call.is_none() {
            self.call = Some(OpenCall { function, depth: self.open.len(), has_messages: event >= 0 });
        }
        self.open.push(Open { event, start_ns, line, data });
        *self.open_types.entry(event).or_default() += 1;
        Ok(())
    }

    /// The function of an event, if it is one that is recorded.
    fn function(&mut self, event: i32) -> Option<u16> {
        let facts = self.facts;
        *self.functions.entry(event).or_insert_with(|| {
            let name = facts.name(event)?;
            facts.functions.get(&name.to_ascii_lowercase()).copied()
        })
    }

    /// Counts an event that is no call of a recorded function.
    fn leave_out(&mut self, event: i32) {
        let (counts, name) = match self.facts.name(event) {
            Some(name) => (&mut self.counts.unknown, name.to_owned()),
            None => (&mut self.counts.left_out, event_name(event)),
        };
        let is_full = counts.len() >= MAX_KINDS && !counts.contains_key(&name);
        *counts.entry(if is_full { "other event".into() } else { name }).or_default() += 1;
    }

    fn exit(&mut self, end_ns: u64, record: &Record, sink: &mut ItemSink<'_>) -> Result<()> {
        if self.function(record.event).is_none() {
            return Ok(());
        }
        if self.open_types.get(&record.event).is_none_or(|&open| open == 0) {
            self.counts.without_beginning += 1;
            return Ok(());
        }
        while let Some(open) = self.open.pop() {
            if let Some(count) = self.open_types.get_mut(&open.event) {
                *count = count.saturating_sub(1);
            }
            if open.event == record.event {
                return self.end(&open, end_ns, record, sink);
            }
            // It began within the event that ends, and does not end itself.
            self.abandon();
        }
        Ok(())
    }

    /// Leaves out the event that was just removed.
    fn abandon(&mut self) {
        self.counts.without_end += 1;
        if self.call.as_ref().is_some_and(|call| call.depth == self.open.len()) {
            self.call = None;
            self.transfers.clear();
        }
    }

    fn end_process(&mut self) {
        while self.open.pop().is_some() {
            self.abandon();
        }
        self.open_types.clear();
    }

    /// Ends an event.
    fn end(&mut self, open: &Open, end_ns: u64, record: &Record, sink: &mut ItemSink<'_>) -> Result<()> {
        let Some(call) = &self.call else { return Ok(()) };
        let is_call = call.depth == self.open.len();
        let shape = event_type(open.event).map(|kind| kind.shape);
        let within = call.has_messages && matches!(shape, Some(Shape::Send | Shape::Receive));
        if !is_call && !within {
            return Ok(());
        }
        let exit = &record.data;
        match shape {
            Some(Shape::Send | Shape::StartSend) => self.message(&open.data, false, None)?,
            Some(Shape::Receive) => self.message(exit, true, None)?,
            Some(Shape::CompleteReceive) => {
                let posted = open.data.get(0).and_then(|request| self.posted.remove(&request));
                self.message(exit, true, posted)?;
            }
            Some(Shape::StartReceive) => {
                // A negative number is none.
                let request = exit.get(0).filter(|&request| request >= 0);
                if let Some(request) = request.filter(|_| self.posted.len() < MAX_POSTED) {
                    self.posted.insert(request, open.start_ns);
                }
            }
            _ => {}
        }
        if is_call && let Some(call) = self.call.take() {
            return self.end_call(&call, open, (end_ns, record), sink);
        }
        Ok(())
    }

    fn end_call(
        &mut self,
        call: &OpenCall,
        open: &Open,
        (end_ns, record): (u64, &Record),
        sink: &mut ItemSink<'_>,
    ) -> Result<()> {
        let (rank, thread) = (record.rank, record.thread);
        self.counts.calls += 1;
        self.counts.span((open.start_ns, open.line), (end_ns, record.line));
        let (count, collective) = self.arguments(rank, open, &record.data)?;
        let number = rank * MAX_THREADS as u32 + u32::from(thread);
        let key = CallKey { end_ns, thread: number, call: self.calls };
        self.calls += 1;
        for OpenTransfer { transfer, order_ns } in self.transfers.drain(..) {
            self.messages += 1;
            sink(if transfer.is_receive {
                let order = (order_ns.unwrap_or(open.start_ns), self.messages);
                TraceItem::Receive(CompletedReceive { rank, order, key, transfer })
            } else {
                TraceItem::Piece(TracePiece { key, order: self.messages, kind: PieceKind::Message(transfer) })
            })?;
        }
        let (start_ns, function) = (open.start_ns, call.function);
        let call = TraceCall { start_ns, rank, thread, function, count, site: 0, collective };
        sink(TraceItem::Piece(TracePiece { key, order: 0, kind: PieceKind::Call(call) }))
    }

    /// How many calls an event stands for, and the collective that it is.
    fn arguments(&mut self, rank: u32, open: &Open, exit: &Data) -> Result<(u64, Option<Collective>)> {
        let entry = &open.data;
        let shape = event_type(open.event).map(|kind| kind.shape);
        let (count, comm, root, bytes) = match shape {
            Some(Shape::Barrier) => (1, entry.get(0).unwrap_or(WORLD), None, 0),
            Some(Shape::Rooted) => {
                // Whoever receives says the size at the end.
                let bytes = entry.get(0).filter(|&bytes| bytes >= 0).or(exit.get(0)).unwrap_or_default();
                (1, entry.get(2).unwrap_or(WORLD), entry.get(1), bytes)
            }
            Some(Shape::All) => (1, entry.get(1).unwrap_or(WORLD), None, entry.get(0).unwrap_or_default()),
            Some(_) => return Ok((1, None)),
            None if entry.len() >= 4 => {
                let of = |at: usize| entry.get(at).unwrap_or_default();
                (of(0), of(1), entry.get(2), of(3))
            }
            None => return Ok((1, None)),
        };
        let Ok(count) = u64::try_from(count.max(1)) else { return Ok((1, None)) };
        let Some(comm) = self.comm(comm, rank) else { return Ok((count, None)) };
        let root = match root.filter(|&root| root >= 0) {
            Some(root) => Some(self.rank(root)?),
            None => None,
        };
        let bytes = u64::try_from(bytes).unwrap_or_default();
        if sum_bytes(0, bytes).is_none() {
            bail!("a collective of {bytes} bytes moves more than 4 EiB");
        }
        Ok((count, Some(Collective { comm, root, bytes, started: None })))
    }

    /// The number of a communicator in the recording; counts one that is not defined, or not with this rank.
    fn comm(&mut self, own: i64, rank: u32) -> Option<u32> {
        if own < 0 {
            return (own == WORLD).then_some(0);
        }
        let known = self.facts.comms.get(&own).filter(|comm| comm.has(rank));
        self.counts.unknown_comm_events += u64::from(known.is_none());
        known.map(|comm| comm.number)
    }

    fn rank(&self, number: i64) -> Result<u32> {
        match u32::try_from(number).ok().filter(|&rank| rank < self.facts.ranks) {
            Some(rank) => Ok(rank),
            None => bail!("processor {number} is not among the {} of the trace", self.facts.ranks),
        }
    }

    /// Takes in a message of the call.
    fn message(&mut self, data: &Data, is_receive: bool, posted_ns: Option<u64>) -> Result<()> {
        let [Some(bytes), Some(tag), Some(peer)] = [0, 1, 2].map(|at| data.get(at)) else {
            self.counts.unknown_messages += 1;
            return Ok(());
        };
        // A negative processor is none, such as the host of old machines.
        let (Some((rank, _)), false) = (self.process, peer < 0) else { return Ok(()) };
        let Ok(tag) = i32::try_from(tag) else { bail!("a message cannot have a type of {tag}") };
        let Some(bytes) = u64::try_from(bytes).ok().filter(|&bytes| sum_bytes(0, bytes).is_some()) else {
            bail!("a message cannot have {bytes} bytes");
        };
        let peer = self.rank(peer)?;
        let Some(comm) = self.comm(data.get(4).unwrap_or(WORLD), rank) else { return Ok(()) };
        if !is_receive {
            let Some(sum) = sum_bytes(self.counts.bytes, bytes) else {
                bail!("the sizes of all messages add up to more than 4 EiB");
            };
            self.counts.bytes = sum;
        }
        let sent_ns = data.get(5).and_then(|sent_ns| u64::try_from(sent_ns).ok());
        let transfer = Transfer { peer, tag, comm, bytes, is_receive, post: None };
        self.transfers.push(OpenTransfer { transfer, order_ns: sent_ns.or(posted_ns) });
        Ok(())
    }

    /// Ends the trace.
    pub(super) fn finish(mut self) {
        self.end_process();
    }
}
