//! The rows of a recording and the names for their numbers, wherever the rows are: in segments, or in the log of a run that
//! goes on or was killed.

use super::filter::Filter;
use crate::load::{Rows, Trust, is_in_log, load_with};
use crate::places::{PATIENCE, look_up};
use crate::progress::Progress;
use anyhow::{Result, ensure};
use mpiscope_feed::Overview;
use mpiscope_model::{Call, Comm, CommInfo, Message, Rank, SiteInfo};
use mpiscope_recording::{Cursor, Direction, Job, Recording, SegmentRow};
use mpiscope_wire::FUNCTIONS;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a rank's node is called where that is not known.
const UNKNOWN_NODE: &str = "unknown";
/// More than a run has communicators or call sites.
const MOST_NUMBERS: u32 = 1 << 21;

/// A recording to be exported.
pub(crate) struct Source {
    dir: PathBuf,
    recording: Recording,
    /// Rows that will be read, where that is known.
    calls: Option<u64>,
    messages: Option<u64>,
    pub(crate) job: Job,
    pub(crate) comms: Vec<CommInfo>,
    pub(crate) sites: Vec<SiteInfo>,
    /// By number; empty where there is none.
    pub(crate) functions: Vec<String>,
    /// What the recording lacks, a sentence each.
    pub(crate) missing: Vec<String>,
}

/// Which rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) calls: bool,
    pub(crate) messages: bool,
}

/// Takes rows as they are read.
pub(crate) type Take<'a> = dyn FnMut(&[Call], &[Message]) -> Result<()> + 'a;

impl Source {
    pub(crate) fn open(dir: &Path, progress: &Progress) -> Result<Self> {
        let recording = Recording::open(dir)?;
        let mut functions: Vec<String> = Vec::new();
        let mut name = |number: u16, name: &str| {
            let at = usize::from(number);
            functions.resize(functions.len().max(at + 1), String::new());
            name.clone_into(&mut functions[at]);
        };
        FUNCTIONS.iter().for_each(|entry| name(entry.id, entry.name));
        if is_in_log(&recording) {
            // The names come with the rows: they are read once for those alone.
            progress.begin("reading the log", None)?;
            let mut comms = 0;
            let mut see = |Rows { calls, messages, .. }| {
                let named = calls.iter().filter_map(|call| call.comm);
                comms = named.chain(messages.iter().map(|message| message.comm)).fold(comms, Comm::max);
                progress.step(calls.len() as u64)
            };
            let loaded = load_with(dir, &recording, Trust::Checked, Overview::default(), &mut see)?;
            let mut sites = loaded.sites;
            let mut missing = loaded.missing;
            missing.extend(look_up(&mut sites, PATIENCE));
            let comms = (0..=comms).map(unknown_comm).collect();
            let (calls, messages) = (Some(loaded.totals.calls), Some(loaded.totals.messages));
            return Ok(Self {
                dir: dir.to_owned(),
                recording,
                calls,
                messages,
                job: loaded.job,
                comms,
                sites,
                functions,
                missing,
            });
        }
        let (tables, faults) = recording.tables();
        tables.functions.iter().for_each(|row| name(row.function, &row.name));
        let manifest = recording.manifest();
        let rows = |segments: &[mpiscope_recording::Segment]| {
            Some(segments.iter().map(|segment| segment.rows).sum())
        };
        let missing = manifest.missing.iter().cloned().chain(faults.into_iter().map(|fault| fault.text));
        Ok(Self {
            dir: dir.to_owned(),
            calls: rows(&manifest.segments.calls),
            messages: rows(&manifest.segments.messages),
            job: manifest.job.clone(),
            comms: tables.communicators,
            sites: tables.sites,
            functions,
            missing: missing.collect(),
            recording,
        })
    }

    /// Hands out all rows that are wanted and that a filter keeps: calls, then messages, each in the order in which they
    /// begin, or both as they became known where they are read from a log. What could not be read is told of in the end.
    pub(crate) fn read(
        &mut self,
        wanted: Wanted,
        (filter, direction): (&Filter, Direction),
        progress: &Progress,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let rows = |is_wanted: bool, rows: Option<u64>| if is_wanted { rows } else { Some(0) };
        let all = rows(wanted.calls, self.calls).zip(rows(wanted.messages, self.messages));
        progress.begin("reading", all.map(|(calls, messages)| calls + messages))?;
        if is_in_log(&self.recording) {
            ensure!(
                direction == Direction::Forward,
                "a recording that was not completed can be read forward only: `mpiscope repair` makes a sound one of it"
            );
            let mut see = |Rows { mut calls, mut messages, .. }| {
                progress.step((calls.len() + messages.len()) as u64)?;
                calls.retain(|call| wanted.calls && filter.has_call(call));
                messages.retain(|message| wanted.messages && filter.has_message(message));
                take(&calls, &messages)
            };
            load_with(&self.dir, &self.recording, Trust::Checked, Overview::default(), &mut see)?;
            return Ok(());
        }
        let range = filter.range_ns.clone().unwrap_or(0..u64::MAX);
        let reader = || self.recording.segment_reader();
        if wanted.calls {
            let segments = self.recording.call_segments();
            let calls = Cursor::<Call, _>::new(reader(), segments, range.clone(), direction, filter);
            let faults = hand_on(calls, progress, &mut |calls| take(&calls, &[]))?;
            self.missing.extend(faults);
        }
        if wanted.messages {
            let segments = self.recording.message_segments();
            let messages = Cursor::<Message, _>::new(reader(), segments, range, direction, filter);
            let faults = hand_on(messages, progress, &mut |messages| take(&[], &messages))?;
            self.missing.extend(faults);
        }
        Ok(())
    }

    /// By number, what communicators are called.
    pub(crate) fn comm_names(&self) -> Vec<String> {
        by_number(self.comms.iter().map(|info| (info.comm, info.words())))
    }

    /// By number, where calls were made.
    pub(crate) fn site_names(&self) -> Vec<String> {
        by_number(self.sites.iter().map(|info| (info.site, info.words())))
    }

    /// The name of each rank's node.
    pub(crate) fn hosts(&self) -> BTreeMap<Rank, String> {
        let of_nodes =
            self.job.nodes.iter().flat_map(|node| node.ranks.iter().map(|&rank| (rank, node.name.clone())));
        let mut hosts: BTreeMap<Rank, String> = of_nodes.collect();
        for rank in 0..self.job.ranks {
            hosts.entry(rank).or_insert_with(|| UNKNOWN_NODE.into());
        }
        hosts
    }
}

/// Names in the places of their numbers; numbers that no run has get none.
fn by_number(named: impl Iterator<Item = (u32, String)>) -> Vec<String> {
    let mut names = Vec::new();
    for (number, name) in named.filter(|(number, _)| *number < MOST_NUMBERS) {
        let at = number as usize;
        names.resize(names.len().max(at + 1), String::new());
        names[at] = name;
    }
    names
}

/// Of a log's communicators only the numbers are known.
fn unknown_comm(comm: Comm) -> CommInfo {
    CommInfo { comm, ..CommInfo::default() }
}

fn hand_on<R: SegmentRow>(
    mut rows: Cursor<R, &Filter>,
    progress: &Progress,
    take: &mut dyn FnMut(Vec<R>) -> Result<()>,
) -> Result<Vec<String>>
where
    for<'a> &'a Filter: mpiscope_recording::Filter<R>,
{
    for batch in rows.by_ref() {
        progress.step(batch.len() as u64)?;
        take(batch)?;
    }
    let told = |fault: &mpiscope_recording::SegmentFault| {
        format!("{} rows of {}: {}", fault.missing_rows, fault.file, fault.text)
    };
    Ok(rows.faults().iter().map(told).collect())
}
