//! Tables of events: each line is a send or a receive of a rank.

mod columns;
mod event;
mod event_stream;
mod node_table;
mod number;
mod reader;
mod records;
mod summary;
#[cfg(test)]
mod tests;

use crate::external_sort::{SortedRecords, Sorter};
use crate::import::log_stream::MAX_SLOTS;
use crate::node_name::{NODES_NOT_KNOWN, UNKNOWN_NODE};
use crate::progress::{PROGRESS_INTERVAL, Progress, report_items};
use anyhow::Result;
use event::Event;
use mpiscope_model::words::{counted, nanoseconds, plural};
use mpiscope_wire::Message;
use reader::TableReader;
use records::Records;
use std::path::Path;
use summary::TableSummary;

/// Times that are rounded to this or more are reported as rounded.
const COARSE_NS: u64 = 1_000;

/// A table that was read and found sound.
pub(crate) struct ImportedTable {
    pub(crate) summary: TableSummary,
    events: SortedRecords<Event>,
    /// Of each rank its node.
    nodes: Vec<String>,
    /// What the recording will not have, a sentence each.
    pub(crate) missing: Vec<String>,
    /// What the user should know, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Reads a table, and the table that says which rank was on which node.
pub(crate) fn read_table(
    file: &Path,
    nodes: Option<&Path>,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<ImportedTable> {
    let mut sorter = Sorter::new(scratch);
    let table = TableReader::open(Records::open(file)?)?;
    let mut ignored = vec![(file, table.ignored().to_vec())];
    progress.begin("reading", None)?;
    let mut event_count = 0;
    let mut summary = table.read_events(|event| {
        event_count += 1;
        if event_count % PROGRESS_INTERVAL == 0 {
            progress.step(PROGRESS_INTERVAL)?;
        }
        sorter.push(event)
    })?;
    let node_of_rank = match nodes {
        Some(file) => {
            let (nodes, of_nodes) = node_table::read_nodes(Records::open(file)?, &mut summary)?;
            ignored.push((file, of_nodes));
            nodes
        }
        None => vec![UNKNOWN_NODE.to_owned(); summary.rank_count() as usize],
    };
    summary.check_ranks().map_err(|text| anyhow::anyhow!("{}: {text}", file.display()))?;
    let mut notes: Vec<String> =
        summary.describe_long_span(&file.display().to_string()).into_iter().collect();
    notes.extend(ignored.iter().filter_map(|(file, columns)| describe_ignored(file, columns)));
    Ok(ImportedTable {
        missing: missing_sentences(&summary, nodes.is_some()),
        summary,
        events: sorter.finish()?,
        nodes: node_of_rank,
        notes,
    })
}

/// Reads the table that says which rank of another format was on which node. Returns the node of each rank, with those that
/// only this table names, and a sentence about columns that are ignored.
pub(crate) fn read_node_table(file: &Path, ranks: u32) -> Result<(Vec<String>, Option<String>)> {
    let mut summary = TableSummary::default();
    (0..ranks).for_each(|rank| summary.add_rank(rank));
    let (nodes, ignored) = node_table::read_nodes(Records::open(file)?, &mut summary)?;
    Ok((nodes, describe_ignored(file, &ignored)))
}

/// A sentence about columns that are ignored.
fn describe_ignored(file: &Path, columns: &[String]) -> Option<String> {
    let (how_many, names) = (plural(columns.len() as u64, "column"), columns.join(", "));
    (!columns.is_empty()).then(|| format!("{}: {how_many} ignored: {names}", file.display()))
}

impl ImportedTable {
    /// Hands out the messages of the run's log; returns how many ranks have calls that overlap.
    pub(crate) fn write_log(
        self,
        name: String,
        command: Vec<String>,
        progress: &dyn Progress,
        sink: &mut dyn FnMut(Message),
    ) -> Result<u64> {
        let Self { summary, events, nodes, .. } = self;
        let comms = summary.comms();
        let job = summary.job_description(&nodes, &comms, name, command);
        let limits = (MAX_SLOTS, summary.resolution_ns);
        event_stream::write_events(&job, report_items(events, progress), summary.from_ns, limits, sink)
    }
}

/// What the recording will not have, a sentence each.
fn missing_sentences(summary: &TableSummary, are_nodes_known: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if summary.untimed > 0 {
        let how_many = if summary.untimed == summary.events {
            "durations of calls are not in the table".to_owned()
        } else {
            let events = counted(summary.events, "event");
            format!("{} of {events} have no duration in the table", summary.untimed)
        };
        missing.push(format!(
            "{how_many}: of a message only the span from its send to its receive is known, and there is no delay budget"
        ));
    }
    if summary.resolution_ns >= COARSE_NS && summary.untimed == 0 {
        let step = nanoseconds(summary.resolution_ns);
        missing.push(format!("times below {step}: all times of the table are multiples of {step}"));
    }
    if summary.rounded > 0 {
        let events = counted(summary.rounded, "event");
        missing.push(format!("parts of nanoseconds: the times of {events} are rounded"));
    }
    if !are_nodes_known {
        missing.push(NODES_NOT_KNOWN.into());
    }
    missing
}
