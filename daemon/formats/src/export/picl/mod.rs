//! Writes a PICL trace.
//!
//! A call is an event of the type that MPICL has for its function, if that type can hold what the call did. Any other call is
//! a user event with the name of its function as label. The messages of such a call are sends and receives within the event.

mod record;

use super::filter::Filter;
use super::gather::{Gathered, TraceContents, gather_items};
use super::item::{Item, MessageEnd};
use super::source::{Source, name_of};
use super::summary::ExportSummary;
use super::sweep::{CallSink, CallWithEnds, Sweep, moved_remark};
use crate::external_sort::Sorter;
use crate::picl_events::{
    ALLOCATE, ENTRY, EVENT_TYPES, EXIT, EventType, LABEL, MARK, NO_COMM, NODE_NAME, PROCESS_SUBSET,
    PROCESSOR_SUBSET, RECEIVE, SEND, SPLIT, Shape, TEXT, TRACE, WORLD,
};
use crate::progress::{Progress, report_items};
use anyhow::{Context as _, Result};
use mpiscope_model::words::plural;
use mpiscope_model::{Call, Comm, CommInfo, Function, Nanoseconds, Rank};
use mpiscope_recording::{Picl, PiclRecord};
use mpiscope_wire::{FUNCTIONS, Family, by_id};
use record::{MAX_DATA, Record};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;

const ANY: i64 = -1;
const WRITING: &str = "write the trace";

/// Turns calls into records.
struct RecordWriter {
    records: Sorter<Record>,
    written: u64,
    /// The types of events that functions have.
    types: HashMap<Function, &'static EventType>,
    /// Functions whose calls are user events, with the numbers of these.
    user_events: BTreeMap<Function, i32>,
    /// Communicators that records name.
    comms: BTreeSet<Comm>,
    /// Message ends without a call.
    alone: u64,
    /// Calls that have a call site, and calls whose peer, tag or bytes are not written.
    with_site: u64,
    without_arguments: u64,
}

/// A record in the place of a call.
struct Event {
    number: i32,
    entry: Vec<i64>,
    exit: Vec<i64>,
}

/// Whether a call of a function sends a message when it begins, and its row is about that message.
fn sends(function: Function) -> bool {
    let is_other = |name: &str| ["_init", "Start", "Pready"].iter().any(|part| name.contains(part));
    by_id(function).is_some_and(|entry| entry.family == Family::Send && !is_other(entry.name))
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl RecordWriter {
    fn new(folder: &Path) -> Self {
        let types = EVENT_TYPES.iter().filter(|kind| kind.is_written).filter_map(|kind| {
            let entry = FUNCTIONS.iter().find(|entry| entry.name == kind.function)?;
            Some((entry.id, kind))
        });
        Self {
            records: Sorter::new(folder),
            written: 0,
            types: types.collect(),
            user_events: BTreeMap::new(),
            comms: BTreeSet::new(),
            alone: 0,
            with_site: 0,
            without_arguments: 0,
        }
    }

    fn push(
        &mut self,
        at_ns: Nanoseconds,
        (rank, thread): (Rank, u16),
        (is_exit, event): (bool, i32),
        fields: &[i64],
    ) -> Result<()> {
        let mut data = [0; MAX_DATA];
        for (to, from) in data.iter_mut().zip(fields) {
            *to = *from;
        }
        self.written += 1;
        let count = fields.len().min(MAX_DATA) as u8;
        self.records.push(Record { at_ns, place: self.written, rank, thread, is_exit, event, count, data })
    }

    /// The number of a communicator in the trace.
    fn comm(&mut self, comm: Comm) -> i64 {
        if comm == Comm::WORLD {
            return WORLD;
        }
        self.comms.insert(comm);
        comm.0.into()
    }

    /// The data of a message. Those of a receive also say when it was sent: receives need not complete in their order.
    fn message(&mut self, end: &MessageEnd) -> Vec<i64> {
        let mut data = vec![number(end.bytes), end.tag.into(), end.peer.0.into(), 0];
        if end.comm != Comm::WORLD || end.is_receive {
            data.push(self.comm(end.comm));
        }
        if end.is_receive {
            data.push(number(end.sent_ns));
        }
        data
    }

    /// The message that a call without a partner sent or received, if its row says enough.
    fn own_message(&mut self, call: &Call) -> Option<Vec<i64>> {
        let ((peer, tag), comm) = call.peer.zip(call.tag).zip(call.comm)?;
        let mut data = vec![number(call.bytes), tag.into(), peer.0.into(), 0];
        if comm != Comm::WORLD {
            data.push(self.comm(comm));
        }
        Some(data)
    }

    /// The event of MPICL for a call; none if no type can hold what the call did.
    fn system_event(&mut self, placed: &CallWithEnds) -> Option<Event> {
        let CallWithEnds { call, sent, received } = placed;
        let EventType { number: event, shape, .. } = **self.types.get(&call.function)?;
        if call.count > 1 {
            return None;
        }
        let (entry, exit) = match (shape, &sent[..], &received[..]) {
            (Shape::Send | Shape::StartSend, [], []) => (self.own_message(call)?, Vec::new()),
            (Shape::Send | Shape::StartSend, [end], []) => (self.message(end), Vec::new()),
            (Shape::Receive, [], []) => {
                let data = self.own_message(call)?;
                (vec![data[1], data[2], 0], data)
            }
            (Shape::Receive, [], [end]) => (vec![end.tag.into(), end.peer.0.into(), 0], self.message(end)),
            (Shape::StartReceive, [], []) => {
                let peer = call.peer.map_or(ANY, |rank| rank.0.into());
                (vec![call.tag.map_or(ANY, i64::from), peer, 0], Vec::new())
            }
            (Shape::Barrier, [], []) => (vec![self.collective(call)?], Vec::new()),
            (Shape::Rooted, [], []) => {
                let (comm, bytes) = (self.collective(call)?, number(call.bytes));
                (vec![bytes, call.peer.map_or(ANY, |rank| rank.0.into()), comm], vec![bytes])
            }
            (Shape::All, [], []) => {
                let (comm, bytes) = (self.collective(call)?, number(call.bytes));
                (vec![bytes, comm], vec![bytes])
            }
            _ => return None,
        };
        // Rows do not say which request a call completes.
        let is_start = matches!(shape, Shape::StartSend | Shape::StartReceive);
        Some(Event { number: event, entry, exit: if is_start { vec![ANY] } else { exit } })
    }

    /// The communicator of a collective; none if the call is no collective.
    fn collective(&mut self, call: &Call) -> Option<i64> {
        let comm = call.comm.filter(|_| call.instance.is_some())?;
        Some(self.comm(comm))
    }

    /// The user event for a call. Polls have their number, collectives what they moved.
    fn user_event(&mut self, placed: &CallWithEnds) -> Event {
        let call = &placed.call;
        let next = self.user_events.len() as i32 + 1;
        let event = *self.user_events.entry(call.function).or_insert(next);
        let comm = self.collective(call);
        let entry = if call.count > 1 || comm.is_some() {
            let root = call.peer.filter(|_| comm.is_some()).map_or(ANY, |rank| rank.0.into());
            let bytes = if comm.is_some() { number(call.bytes) } else { 0 };
            vec![number(call.count), comm.unwrap_or(NO_COMM), root, bytes]
        } else {
            Vec::new()
        };
        Event { number: event, entry, exit: Vec::new() }
    }

    /// Writes the messages of a user event. The first receive takes as long as the call: that is how long it waited.
    fn messages(&mut self, placed: &CallWithEnds) -> Result<()> {
        let call = &placed.call;
        let place = (call.rank, call.thread);
        let mut sent: Vec<Vec<i64>> = placed.sent.iter().map(|end| self.message(end)).collect();
        if sent.is_empty() && placed.received.is_empty() && call.instance.is_none() {
            let own = if sends(call.function) { self.own_message(call) } else { None };
            let has_arguments = call.peer.is_some() || call.tag.is_some() || call.bytes > 0;
            self.without_arguments += u64::from(own.is_none() && has_arguments);
            sent.extend(own);
        }
        for data in sent {
            self.push(call.start_ns, place, (false, SEND), &data)?;
            self.push(call.start_ns, place, (true, SEND), &[])?;
        }
        let mut start_ns = call.start_ns;
        for end in &placed.received {
            let data = self.message(end);
            self.push(start_ns, place, (false, RECEIVE), &[end.tag.into(), end.peer.0.into(), 0])?;
            self.push(call.end_ns, place, (true, RECEIVE), &data)?;
            start_ns = call.end_ns;
        }
        Ok(())
    }
}

impl CallSink for RecordWriter {
    fn call(&mut self, placed: &CallWithEnds, _: Option<Nanoseconds>) -> Result<()> {
        let call = &placed.call;
        let place = (call.rank, call.thread);
        self.with_site += u64::from(call.site.is_some());
        let system = self.system_event(placed);
        let is_user = system.is_none();
        let event = system.unwrap_or_else(|| self.user_event(placed));
        self.push(call.start_ns, place, (false, event.number), &event.entry)?;
        if is_user {
            self.messages(placed)?;
        }
        self.push(call.end_ns, place, (true, event.number), &event.exit)
    }

    fn alone(&mut self, thread: u16, end: &MessageEnd) -> Result<()> {
        self.alone += 1;
        let (place, data) = ((end.rank, thread), self.message(end));
        if end.is_receive {
            self.push(end.at_ns, place, (false, RECEIVE), &[end.tag.into(), end.peer.0.into(), 0])?;
            return self.push(end.at_ns, place, (true, RECEIVE), &data);
        }
        self.push(end.at_ns, place, (false, SEND), &data)?;
        self.push(end.at_ns, place, (true, SEND), &[])
    }

    fn rank_is_over(&mut self, _: Rank) -> Result<()> {
        Ok(())
    }
}

/// What stands behind the numbers of rows.
pub(crate) struct PiclNames {
    /// Names of functions by number.
    pub(crate) functions: Vec<String>,
    pub(crate) comms: Vec<CommInfo>,
    /// The node of each rank.
    pub(crate) hosts: BTreeMap<Rank, String>,
}

/// Writes a trace; what has to be sorted waits in a file without a name in `folder`.
///
/// # Errors
/// When the recording cannot be read, the trace cannot be written, or the work is given up.
pub fn write_picl<W: Write>(
    source: &mut Source<'_>,
    filter: &Filter,
    folder: &Path,
    target: W,
    progress: &dyn Progress,
) -> Result<(ExportSummary, W)> {
    let Gathered { items, about } = gather_items(source, filter, folder, progress)?;
    progress.begin("writing", Some(about.calls + 2 * about.messages))?;
    let hosts = source.hosts();
    let names = PiclNames { functions: source.functions.clone(), comms: source.comms.clone(), hosts };
    let from_ns = filter.range_ns.as_ref().map_or(0, |range| range.start);
    let items = report_items(items, progress);
    let (remarks, target) = write_items(items, (&about, &names), from_ns, folder, target)?;
    Ok((ExportSummary { calls: about.calls, messages: about.messages, remarks }, target))
}

/// The beginning or the end of the trace of a rank.
fn trace_record(kind: i32, at_ns: Nanoseconds, rank: Rank) -> PiclRecord<'static> {
    PiclRecord { kind, event: TRACE, at_ns, place: (rank.0.into(), 0), data: &[] }
}

fn event_record(record: &Record) -> PiclRecord<'_> {
    PiclRecord {
        kind: if record.is_exit { EXIT } else { ENTRY },
        event: record.event,
        at_ns: record.at_ns,
        place: (record.rank.0.into(), record.thread.into()),
        data: &record.data[..usize::from(record.count).min(MAX_DATA)],
    }
}

/// Writes sorted items as a trace that begins at `from_ns`, or earlier if a call does. Returns remarks.
pub(crate) fn write_items<W: Write>(
    items: impl Iterator<Item = Result<Item>>,
    (about, names): (&TraceContents, &PiclNames),
    from_ns: Nanoseconds,
    folder: &Path,
    target: W,
) -> Result<(Vec<String>, W)> {
    let mut writer = RecordWriter::new(folder);
    let mut sweep = Sweep::new(&mut writer);
    for item in items {
        sweep.item(&item?)?;
    }
    let moved = sweep.finish()?;
    let remarks = remarks(&writer, names, moved);
    let mut trace = Picl::begin(target);
    define(&mut trace, &writer, (about, names), from_ns).context(WRITING)?;
    let mut records = writer.records.finish()?.peekable();
    // Calls may begin before the range of a filter.
    let from_ns = match records.peek() {
        Some(Ok(first)) => from_ns.min(first.at_ns),
        _ => from_ns,
    };
    for &rank in about.threads.keys() {
        trace.record(&trace_record(ENTRY, from_ns, rank)).context(WRITING)?;
    }
    let mut until_ns = about.until_ns.max(from_ns);
    for record in records {
        let record = record?;
        until_ns = until_ns.max(record.at_ns);
        trace.record(&event_record(&record)).context(WRITING)?;
    }
    for &rank in about.threads.keys() {
        trace.record(&trace_record(EXIT, until_ns, rank)).context(WRITING)?;
    }
    Ok((remarks, trace.finish().context(WRITING)?))
}

/// Writes what the numbers in the trace mean: user events, communicators, nodes.
fn define<W: Write>(
    trace: &mut Picl<W>,
    writer: &RecordWriter,
    (about, names): (&TraceContents, &PiclNames),
    at_ns: Nanoseconds,
) -> std::io::Result<()> {
    for (function, event) in &writer.user_events {
        let name = name_of(&names.functions, Some((*function).into()));
        trace.text(LABEL, *event, at_ns, if name.is_empty() { "unknown" } else { name })?;
    }
    let mut subset = |kind, event, data: &[i64], text: Option<&str>| {
        trace.record(&PiclRecord { kind, event, at_ns, place: (-1, -1), data })?;
        text.map_or(Ok(()), |text| trace.text(MARK, TEXT, at_ns, text))
    };
    let leaders: BTreeMap<Comm, Rank> =
        names.comms.iter().filter(|info| info.size > 0).map(|info| (info.comm, info.leader)).collect();
    for comm in &writer.comms {
        let Some(members) = about.members.get(comm) else { continue };
        let leader = leaders.get(comm).copied().filter(|leader| members.contains(leader));
        let others = members.iter().copied().filter(|rank| Some(*rank) != leader);
        let ranks = leader.into_iter().chain(others).map(|rank| rank.0.into());
        let data: Vec<i64> = [i64::from(comm.0)].into_iter().chain(ranks).collect();
        subset(PROCESS_SUBSET, SPLIT, &data, None)?;
    }
    let mut nodes: BTreeMap<&String, Vec<i64>> = BTreeMap::new();
    for (rank, host) in names.hosts.iter().filter(|(rank, _)| about.threads.contains_key(rank)) {
        nodes.entry(host).or_default().push(rank.0.into());
    }
    for (node, (name, ranks)) in (0_i64..).zip(nodes) {
        let data: Vec<i64> = [node].into_iter().chain(ranks).collect();
        let text = format!("{NODE_NAME} {node} {name}");
        subset(PROCESSOR_SUBSET, ALLOCATE, &data, Some(&text))?;
    }
    Ok(())
}

/// What the trace does not say, a sentence each.
fn remarks(writer: &RecordWriter, names: &PiclNames, moved: u64) -> Vec<String> {
    let mut remarks = Vec::from_iter(moved_remark(moved));
    if writer.alone > 0 {
        let ends = plural(writer.alone, "message end");
        remarks.push(format!("{ends} without a call: each is written as an MPI_Send or MPI_Recv of its own"));
    }
    if writer.with_site > 0 {
        remarks.push("call sites are left out: PICL has no place for them".into());
    }
    if writer.without_arguments > 0 {
        let calls = plural(writer.without_arguments, "call");
        remarks.push(format!("peer, tag and bytes of {calls} without a message are left out"));
    }
    let is_named = |comm: &Comm| names.comms.iter().any(|info| info.comm == *comm && !info.name.is_empty());
    if writer.comms.iter().any(is_named) {
        remarks.push("names of communicators are left out: PICL has no place for them".into());
    }
    remarks
}
