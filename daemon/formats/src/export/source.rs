//! Reads the rows of a recording, and the names for the numbers in them. The rows are in segments, or in the log of a run that
//! goes on or was killed.

use super::filter::Filter;
use crate::node_name::UNKNOWN_NODE;
use crate::progress::Progress;
use anyhow::{Result, ensure};
use mpiscope_model::{Call, Comm, CommInfo, Message, Rank, SiteInfo};
use mpiscope_recording::{Cursor, Direction, FunctionName, Job, Recording, Segment, SegmentRow};
use mpiscope_wire::FUNCTIONS;
use std::collections::BTreeMap;

/// Numbers of communicators and call sites are below this.
const MAX_NUMBERS: u32 = 1 << 21;

/// Reads the log of a recording whose segments do not have all rows, as that of a run that goes on or was killed.
pub trait LogReader {
    /// Whether the rows of a recording are to be read from its log.
    fn has_rows(&self, recording: &Recording) -> bool;

    /// Reads the whole log and hands out its calls and messages as they become known.
    ///
    /// # Errors
    /// When the log cannot be read, or `take` fails.
    fn read_rows(&self, recording: &Recording, take: &mut TakeLogRows<'_>) -> Result<LogSummary>;

    /// Finds out what call sites are called; returns sentences about those whose names cannot be found.
    fn name_call_sites(&self, sites: &mut [SiteInfo]) -> Vec<String>;
}

/// Takes rows of a log.
pub type TakeLogRows<'a> = dyn FnMut(Vec<Call>, Vec<Message>) -> Result<()> + 'a;

/// What a log says beside its rows.
#[derive(Debug, Clone)]
pub struct LogSummary {
    /// The job.
    pub job: Job,
    /// The call sites.
    pub sites: Vec<SiteInfo>,
    /// How many calls there are.
    pub calls: u64,
    /// How many messages there are.
    pub messages: u64,
    /// What the log lacks, a sentence each.
    pub missing: Vec<String>,
}

/// A recording to be exported.
pub struct Source<'a> {
    recording: Recording,
    log: &'a dyn LogReader,
    /// Rows that will be read, where that is known.
    calls: Option<u64>,
    messages: Option<u64>,
    pub(crate) job: Job,
    pub(crate) comms: Vec<CommInfo>,
    pub(crate) sites: Vec<SiteInfo>,
    pub(crate) functions: Vec<String>,
    missing: Vec<String>,
}

/// Which rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowSelection {
    pub(crate) calls: bool,
    pub(crate) messages: bool,
}

/// Takes rows as they are read.
pub(crate) type TakeRows<'a> = dyn FnMut(&[Call], &[Message]) -> Result<()> + 'a;

impl<'a> Source<'a> {
    /// Opens a recording; its log is read by `log`.
    ///
    /// # Errors
    /// When the log cannot be read, or the work is given up.
    pub fn open(recording: Recording, log: &'a dyn LogReader, progress: &dyn Progress) -> Result<Self> {
        if log.has_rows(&recording) {
            Self::open_log(recording, log, progress)
        } else {
            Ok(Self::open_segments(recording, log))
        }
    }

    fn open_log(recording: Recording, log: &'a dyn LogReader, progress: &dyn Progress) -> Result<Self> {
        // Names come with the rows: the log is read once for the names alone.
        progress.begin("reading the log", None)?;
        let mut highest = Comm::WORLD;
        let mut find_comms = |calls: Vec<Call>, messages: Vec<Message>| {
            let named = calls.iter().filter_map(|call| call.comm);
            highest = named.chain(messages.iter().map(|message| message.comm)).fold(highest, Comm::max);
            progress.step(calls.len() as u64)
        };
        let summary = log.read_rows(&recording, &mut find_comms)?;
        let LogSummary { job, mut sites, calls, messages, mut missing } = summary;
        missing.extend(log.name_call_sites(&mut sites));
        Ok(Self {
            recording,
            log,
            calls: Some(calls),
            messages: Some(messages),
            job,
            comms: (0..=highest.0).map(|comm| unknown_comm(Comm(comm))).collect(),
            sites,
            functions: function_names(&[]),
            missing,
        })
    }

    fn open_segments(recording: Recording, log: &'a dyn LogReader) -> Self {
        let (tables, faults) = recording.tables();
        let manifest = recording.manifest();
        let rows = |segments: &[Segment]| Some(segments.iter().map(|segment| segment.rows).sum());
        let missing = manifest.missing.iter().cloned().chain(faults.into_iter().map(|fault| fault.text));
        Self {
            log,
            calls: rows(&manifest.segments.calls),
            messages: rows(&manifest.segments.messages),
            job: manifest.job.clone(),
            comms: tables.communicators,
            sites: tables.sites,
            functions: function_names(&tables.functions),
            missing: missing.collect(),
            recording,
        }
    }

    /// Hands out all wanted rows that the filter keeps: calls, then messages, each in the order in which they begin. Rows of a
    /// log come as they became known. Adds a sentence to `missing` for rows that cannot be read.
    pub(crate) fn read_rows(
        &mut self,
        wanted: RowSelection,
        (filter, direction): (&Filter, Direction),
        progress: &dyn Progress,
        take: &mut TakeRows<'_>,
    ) -> Result<()> {
        let rows = |is_wanted: bool, rows: Option<u64>| if is_wanted { rows } else { Some(0) };
        let all = rows(wanted.calls, self.calls).zip(rows(wanted.messages, self.messages));
        progress.begin("reading", all.map(|(calls, messages)| calls + messages))?;
        if self.log.has_rows(&self.recording) {
            ensure!(
                direction == Direction::Forward,
                "a recording that was not completed can be read forward only: `mpiscope repair` makes a sound one of it"
            );
            let mut keep = |mut calls: Vec<Call>, mut messages: Vec<Message>| {
                progress.step((calls.len() + messages.len()) as u64)?;
                calls.retain(|call| wanted.calls && filter.keeps_call(call));
                messages.retain(|message| wanted.messages && filter.keeps_message(message));
                take(&calls, &messages)
            };
            self.log.read_rows(&self.recording, &mut keep)?;
            return Ok(());
        }
        let range = filter.range_ns.clone().unwrap_or(0..u64::MAX);
        let reader = || self.recording.segment_reader();
        if wanted.calls {
            let segments = self.recording.call_segments();
            let calls = Cursor::<Call, _>::new(reader(), segments, range.clone(), direction, filter);
            let faults = hand_out_rows(calls, progress, &mut |calls| take(&calls, &[]))?;
            self.missing.extend(faults);
        }
        if wanted.messages {
            let segments = self.recording.message_segments();
            let messages = Cursor::<Message, _>::new(reader(), segments, range, direction, filter);
            let faults = hand_out_rows(messages, progress, &mut |messages| take(&[], &messages))?;
            self.missing.extend(faults);
        }
        Ok(())
    }

    /// Names of the functions by number; empty where a number has none.
    pub fn function_names(&self) -> &[String] {
        &self.functions
    }

    /// What the recording lacks, a sentence each. What could not be read is among them once an export has read it.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Names of communicators by number.
    pub(crate) fn comm_names(&self) -> Vec<String> {
        by_number(self.comms.iter().map(|info| (info.comm.0, info.words())))
    }

    /// Names of call sites by number.
    pub fn site_names(&self) -> Vec<String> {
        by_number(self.sites.iter().map(|info| (info.site.0, info.words())))
    }

    /// The name of each rank's node.
    pub(crate) fn hosts(&self) -> BTreeMap<Rank, String> {
        let of_nodes = self
            .job
            .nodes
            .iter()
            .flat_map(|node| node.ranks.iter().map(|&rank| (Rank(rank), node.name.clone())));
        let mut hosts: BTreeMap<Rank, String> = of_nodes.collect();
        for rank in Rank::all(self.job.plausible_ranks()) {
            hosts.entry(rank).or_insert_with(|| UNKNOWN_NODE.into());
        }
        hosts
    }
}

/// Names of functions by number: those of the standard, and those of a recording.
fn function_names(recorded: &[FunctionName]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |number: u16, name: &str| {
        let at = usize::from(number);
        names.resize(names.len().max(at + 1), String::new());
        name.clone_into(&mut names[at]);
    };
    FUNCTIONS.iter().for_each(|entry| add(entry.id, entry.name));
    recorded.iter().for_each(|row| add(row.function, &row.name));
    names
}

/// The name of a number; empty where it is not known.
pub(crate) fn name_of(names: &[String], number: Option<usize>) -> &str {
    number.and_then(|number| names.get(number)).map_or("", String::as_str)
}

/// Puts names at the positions of their numbers, below a limit.
fn by_number(named: impl Iterator<Item = (u32, String)>) -> Vec<String> {
    let mut names = Vec::new();
    for (number, name) in named.filter(|(number, _)| *number < MAX_NUMBERS) {
        let at = number as usize;
        names.resize(names.len().max(at + 1), String::new());
        names[at] = name;
    }
    names
}

/// A communicator of a log: only its number is known.
fn unknown_comm(comm: Comm) -> CommInfo {
    CommInfo { comm, ..CommInfo::default() }
}

fn hand_out_rows<R: SegmentRow>(
    mut rows: Cursor<R, &Filter>,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Vec<R>) -> Result<()>,
) -> Result<Vec<String>>
where
    for<'a> &'a Filter: mpiscope_recording::Filter<R>,
{
    for batch in rows.by_ref() {
        progress.step(batch.len() as u64)?;
        take(batch)?;
    }
    let describe_fault = |fault: &mpiscope_recording::SegmentFault| {
        format!("{} rows of {}: {}", fault.missing_rows, fault.file, fault.text)
    };
    Ok(rows.faults().iter().map(describe_fault).collect())
}
