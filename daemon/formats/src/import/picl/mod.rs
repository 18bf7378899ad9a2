//! A PICL trace, as PICL, MPICL and other tools write it for ParaGraph: text with a record on each line, in both revisions of
//! the format. Records of a process are sorted by time; those of different processes come in any order.
//!
//! It takes what a recording has: events of MPI functions as calls, with their messages and collectives. A user event whose
//! label is the name of an MPI function is a call of it, and sends and receives within it are its messages.

mod definitions;
mod fields;
mod old;
mod process;
mod record;
#[cfg(test)]
mod tests;

use super::log_stream::MAX_THREADS;
use super::table::read_node_table;
use super::trace::{Trace, TraceCollector, describe_long_span};
use crate::external_sort::Sorter;
use crate::node_name::NODES_NOT_KNOWN;
use crate::picl_events::{
    ALLOCATE, ENTRY, EXIT, LABEL, MARK, PROCESS_SUBSET, PROCESSOR_SUBSET, Shape, TEXT, TRACE, event_type,
};
use crate::progress::{PROGRESS_INTERVAL, Progress, report_items};
use anyhow::{Context as _, Result, anyhow, bail};
use definitions::Definitions;
use fields::Fields;
use mpiscope_model::words::{counted, plural, printable};
use old::OldContent;
use process::{EventCounts, ProcessReader, TraceFacts};
use record::{Data, MAX_DATA, Record};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

const EXTENSION: &str = "picl";
/// The first bytes of a file, from which its format is recognized.
const BEGINNING_BYTES: u64 = 4 << 10;
/// No line is longer. One with the members of a communicator may be long.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Functions and kinds of records that are named.
const MAX_NAMED: usize = 5;
/// The fields that each record of PICL 2.0 begins with.
const HEADER_FIELDS: usize = 6;

/// Whether a file is a PICL trace, by its name or its first line.
pub(crate) fn is_trace(file: &Path) -> bool {
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION)) {
        return true;
    }
    let mut beginning = Vec::new();
    // A file that cannot be read counts as a table, whose reader reports the error.
    let read = File::open(file).and_then(|opened| opened.take(BEGINNING_BYTES).read_to_end(&mut beginning));
    let text = String::from_utf8_lossy(&beginning);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    read.is_ok() && first.is_some_and(|line| is_new_beginning(line) || old::is_beginning(line))
}

fn is_new_beginning(line: &str) -> bool {
    let mut fields = Fields::new(line);
    let is_record =
        matches!(fields.next(), Some("-2" | "-3" | "-4" | "-5" | "-6" | "-7" | "-201" | "-202" | "-203"));
    let rest: Vec<&str> = fields.take(HEADER_FIELDS - 1).collect();
    is_record && rest.len() == HEADER_FIELDS - 1 && rest.iter().all(|field| field.parse::<f64>().is_ok())
}

/// Reads all lines. Returns what they define, and the number of the last one if it is truncated.
fn read_records(
    file: &Path,
    records: &mut Sorter<Record>,
    progress: &dyn Progress,
) -> Result<(LineReader, Option<u64>)> {
    let name = file.display().to_string();
    let opened = File::open(file).with_context(|| format!("cannot read {name}"))?;
    let kibibytes = opened.metadata().ok().map(|found| found.len() >> 10).filter(|&length| length > 0);
    progress.begin("reading", kibibytes)?;
    let mut lines = LineReader { definitions: Definitions::default(), processes: HashMap::new(), zero_ns: 0 };
    let truncated =
        read_lines(&name, BufReader::with_capacity(1 << 20, opened), progress, &mut |text, line| {
            lines.line(text, line, &mut |record| records.push(record))
        })?;
    Ok((lines, truncated))
}

/// Turns sorted records into calls.
fn read_calls(
    name: &str,
    records: impl Iterator<Item = Result<Record>>,
    facts: &TraceFacts<'_>,
    collector: &mut TraceCollector,
) -> Result<EventCounts> {
    let mut counts = EventCounts::default();
    let mut reader = ProcessReader::new(facts, &mut counts);
    for record in records {
        let record = record?;
        let mut unsorted = None;
        let taken = reader.record(&record, &mut |found| {
            unsorted = collector.push(found).err();
            Ok(())
        });
        match unsorted {
            // An error of the sorter is not a fault of the trace.
            Some(error) => return Err(error).context("sort the trace"),
            None => taken.map_err(|error| anyhow!("{name}, line {}: {error}", record.line))?,
        }
    }
    reader.finish();
    Ok(counts)
}

/// The node of each rank, from the table if there is one, and whether the nodes are known.
fn find_nodes(
    table: Option<&Path>,
    definitions: &Definitions,
    ranks: u32,
    notes: &mut Vec<String>,
) -> Result<(Vec<String>, bool)> {
    let Some(table) = table else { return Ok(definitions.node_of_rank(ranks)) };
    let (nodes, ignored) = read_node_table(table, ranks)?;
    notes.extend(ignored);
    Ok((nodes, true))
}

/// Reads a trace to its end. The table of `nodes`, if there is one, says which rank was on which node.
pub(crate) fn read_trace(
    file: &Path,
    nodes: Option<&Path>,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Trace> {
    let name = file.display().to_string();
    let mut records = Sorter::new(scratch);
    let (lines, truncated) = read_records(file, &mut records, progress)?;
    let LineReader { definitions, zero_ns, .. } = lines;
    let ranks = definitions.rank_count().map_err(|error| anyhow!("{name}: {error}"))?;
    let (comms, members) = definitions.comms();
    let facts = TraceFacts::new(&definitions, &comms, ranks, zero_ns);
    let mut collector = TraceCollector::new(scratch);
    let counts = read_calls(&name, report_items(records.finish()?, progress), &facts, &mut collector)?;
    let Some(from) = counts.from.filter(|_| counts.calls > 0) else {
        bail!("{name}: there are no calls of MPI in it");
    };
    let mut notes: Vec<String> = describe_left_out(&definitions, &counts).into_iter().collect();
    let (nodes, are_nodes_known) = find_nodes(nodes, &definitions, ranks, &mut notes)?;
    let mut missing = missing_sentences(&counts, are_nodes_known);
    missing.extend(truncated.map(|line| format!("line {line} of the trace, its last: it is truncated")));
    let end = |(ns, line): (u64, u64)| {
        format!("{:.9} s (line {line})", (ns.cast_signed().saturating_add(zero_ns)) as f64 / 1e9)
    };
    let span = describe_long_span(&name, counts.to.0 - from.0, &end(from), &end(counts.to));
    Ok(Trace {
        pieces: collector.finish()?,
        calls: counts.calls,
        from_ns: from.0,
        to_ns: counts.to.0,
        unix_ns: 0,
        nodes,
        comms: members,
        call_sites: Vec::new(),
        phases: Vec::new(),
        missing,
        notes: span.into_iter().chain(notes).collect(),
    })
}

/// Takes in lines with their numbers; the inner result says what is wrong with a line.
type LineSink<'a> = dyn FnMut(&str, u64) -> Result<Result<(), String>> + 'a;

/// Hands out the lines of a trace with their numbers. Returns the number of the last line if it is truncated.
fn read_lines(
    name: &str,
    mut from: impl BufRead,
    progress: &dyn Progress,
    take: &mut LineSink<'_>,
) -> Result<Option<u64>> {
    let (mut bytes, mut number, mut unreported) = (Vec::new(), 0, 0);
    loop {
        bytes.clear();
        let length = from.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let length = length.with_context(|| format!("cannot read {name}"))?;
        if length == 0 {
            return Ok(None);
        }
        number += 1;
        unreported += length as u64;
        if number % PROGRESS_INTERVAL == 0 {
            progress.step(unreported >> 10)?;
            unreported &= (1 << 10) - 1;
        }
        let is_whole = bytes.last() == Some(&b'\n');
        if !is_whole && length as u64 == MAX_LINE_BYTES {
            bail!("{name}, line {number}: no record is longer than {} MiB", MAX_LINE_BYTES >> 20);
        }
        let text = String::from_utf8_lossy(&bytes);
        match take(text.trim(), number)? {
            Ok(()) => {}
            // A trace that is cut off at any byte loses no more than that record.
            Err(_) if !is_whole && number > 1 => return Ok(Some(number)),
            Err(error) => bail!("{name}, line {number}: {error}"),
        }
    }
}

/// Takes in the lines of a trace.
struct LineReader {
    definitions: Definitions,
    /// Threads of processes whose numbers are too large for one, by rank and number.
    processes: HashMap<u32, HashMap<i64, u16>>,
    /// The earliest time below 0.
    zero_ns: i64,
}

/// Takes in records in any order.
type RecordSink<'a> = dyn FnMut(Record) -> Result<()> + 'a;

impl LineReader {
    /// Takes in a line; the inner result says what is wrong with it.
    fn line(&mut self, text: &str, line: u64, sink: &mut RecordSink<'_>) -> Result<Result<(), String>> {
        let mut unsorted = Ok(());
        let read = self.read_line(text, line, &mut |record| unsorted = sink(record));
        unsorted.map(|()| read)
    }

    fn read_line(&mut self, text: &str, line: u64, sink: &mut dyn FnMut(Record)) -> Result<(), String> {
        let mut fields = Fields::new(text);
        let Some(first) =
            fields.rest().split_ascii_whitespace().next().filter(|first| !first.starts_with('#'))
        else {
            return Ok(());
        };
        if old::is_named(first) || first.starts_with(|digit: char| ('1'..='9').contains(&digit)) {
            return self.read_old(text, line, sink);
        }
        let kind = fields.short_number("the type of a record")?;
        let event = fields.short_number("the type of an event")?;
        let at_ns = fields.time_ns()?;
        let processor = fields.number("a processor")?;
        let process = fields.number("a process")?;
        let count = fields.number("the number of data fields")?;
        let count = usize::try_from(count).map_err(|_| format!("there cannot be {count} data fields"))?;
        if count > 0 && !fields.skip_format() {
            fields.next();
        }
        match kind {
            ENTRY | EXIT => {
                let data = read_data(fields, count)?;
                self.event((processor, process), at_ns, (line, kind == EXIT, event), data, sink)?;
            }
            LABEL => self.definitions.add_label(event, fields),
            PROCESS_SUBSET => self.definitions.add_subset(false, count, fields, line)?,
            PROCESSOR_SUBSET if event == ALLOCATE => {
                self.definitions.add_subset(true, count, fields, line)?;
            }
            MARK if event == TEXT && self.definitions.add_text(fields) => {}
            // How tracing was switched says nothing about the program.
            MARK if (-999..=-900).contains(&event) && event != TEXT => {}
            other => self.definitions.leave_out(record_name(other)),
        }
        Ok(())
    }

    fn read_old(&mut self, text: &str, line: u64, sink: &mut dyn FnMut(Record)) -> Result<(), String> {
        let record = old::read_line(text)?;
        if record.processor < 0 {
            self.definitions.leave_out("record of the host");
            return Ok(());
        }
        let (place, at_ns) = ((record.processor, 0), record.at_ns);
        match record.content {
            OldContent::Entry(event, data) => self.event(place, at_ns, (line, false, event), data, sink),
            OldContent::Exit(event, data) => self.event(place, at_ns, (line, true, event), data, sink),
            OldContent::Whole(event, data) => {
                self.event(place, at_ns, (line, false, event), data, sink)?;
                self.event(place, at_ns, (line, true, event), data, sink)
            }
            OldContent::LeftOut(kind) => {
                self.definitions.leave_out(kind);
                Ok(())
            }
        }
    }

    /// Takes in the beginning or the end of an event.
    fn event(
        &mut self,
        (processor, process): (i64, i64),
        at_ns: i64,
        (line, is_exit, event): (u64, bool, i32),
        data: Data,
        sink: &mut dyn FnMut(Record),
    ) -> Result<(), String> {
        let rank = self.definitions.add_rank(processor, line)?;
        let has_message = match event_type(event).map(|kind| kind.shape) {
            Some(Shape::Send | Shape::StartSend) => !is_exit,
            Some(Shape::Receive | Shape::CompleteReceive) => is_exit,
            _ => false,
        };
        if let Some(peer) = data.get(2).filter(|&peer| has_message && peer >= 0) {
            self.definitions.add_rank(peer, line)?;
        }
        if event_type(event).is_none() && (-999..=-900).contains(&event) && event != TRACE {
            // Flushes and switches of the tracer itself.
            return Ok(());
        }
        self.zero_ns = self.zero_ns.min(at_ns);
        let thread = self.thread(rank, process);
        sink(Record { rank, thread, at_ns, line, is_exit, event, data });
        Ok(())
    }

    /// The thread of a process. Its number is that of the thread, or, where that is too large, counted from 0.
    fn thread(&mut self, rank: u32, process: i64) -> u16 {
        const LAST: u16 = MAX_THREADS as u16 - 1;
        if process < MAX_THREADS as i64 {
            return process.max(0) as u16;
        }
        let known = self.processes.entry(rank).or_default();
        let next = known.len().min(LAST.into()) as u16;
        if next == LAST && !known.contains_key(&process) {
            return LAST;
        }
        *known.entry(process).or_insert(next)
    }
}

/// The first data fields. What is no whole number counts as 0.
fn read_data(fields: Fields<'_>, count: usize) -> Result<Data, String> {
    let mut data = Vec::new();
    let mut found = 0;
    for field in fields.take(count) {
        found += 1;
        if found <= MAX_DATA {
            let whole = || field.parse::<f64>().map_or(0, |number| number as i64);
            data.push(field.parse().unwrap_or_else(|_| whole()));
        }
    }
    if found < count {
        return Err(format!("{count} data fields are announced, and there are {found}"));
    }
    Ok(Data::new(&data))
}

fn record_name(kind: i32) -> String {
    match kind {
        MARK => "mark".into(),
        -6 => "data description".into(),
        -7 => "event message".into(),
        -105..=-101 => "statistics record".into(),
        PROCESSOR_SUBSET | -203 => "subset definition".into(),
        other => format!("record of type {other}"),
    }
}

/// A sentence about records and events of the trace that a recording does not hold.
fn describe_left_out(definitions: &Definitions, counts: &EventCounts) -> Option<String> {
    let all = definitions.left_out.iter().chain(&counts.left_out);
    let mut kinds: Vec<(u64, &str)> = all.map(|(kind, number)| (*number, kind.as_str())).collect();
    kinds.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    let named: Vec<String> =
        kinds.iter().take(2 * MAX_NAMED).map(|(number, kind)| plural(*number, &printable(kind))).collect();
    let more = kinds.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more kinds") } else { String::new() };
    (!named.is_empty()).then(|| format!("left out of the trace: {}{more}", named.join(", ")))
}

/// What the recording will not have, a sentence each.
fn missing_sentences(counts: &EventCounts, are_nodes_known: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if !counts.unknown.is_empty() {
        let calls = counts.unknown.values().sum();
        let names: Vec<&str> = counts.unknown.keys().map(String::as_str).take(MAX_NAMED).collect();
        let more = counts.unknown.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = printable(&names.join(", "));
        missing.push(format!("{} of functions that are not recorded: {names}{more}", counted(calls, "call")));
    }
    let mut add = |number: u64, one: &str, why: &str| {
        if number > 0 {
            missing.push(format!("{}: {why}", counted(number, one)));
        }
    };
    add(counts.without_end, "event", "not over when the trace ends");
    add(counts.without_beginning, "event", "begun before the trace begins");
    add(counts.unknown_comm_events, "communication", "of communicators that the trace does not define");
    add(counts.unknown_messages, "message", "the trace does not say its size, type and processor");
    if !are_nodes_known {
        missing.push(NODES_NOT_KNOWN.into());
    }
    missing
}
