//! `mpiscope import`: a recording of a table of sends and receives.

mod columns;
mod event;
mod nodes;
mod records;
mod seen;
mod table;
mod told;

use crate::command_line::ImportOptions;
use crate::daemon::{Judge, record_told};
use crate::judge::judge_into;
use crate::run::refuse_occupied;
use crate::sorting::{Sorted, Sorter};
use crate::words::{counted, plural};
use anyhow::{Context as _, Result};
use event::Event;
use mpiscope_recording::Manifest;
use records::Records;
use seen::Seen;
use std::path::Path;
use std::process::ExitCode;
use table::Table;
use told::Job;

/// The node of ranks of which none is known.
const UNKNOWN_NODE: &str = "unknown";

pub(crate) fn import(options: &ImportOptions) -> Result<ExitCode> {
    let out = std::path::absolute(&options.output).context("find the current folder")?;
    refuse_occupied(&out, "-o")?;
    let read = read(&options.file, options.nodes.as_deref(), &out)?;
    for (file, columns) in &read.ignored {
        let names = columns.join(", ");
        eprintln!("mpiscope: {}: {} ignored: {names}", file, plural(columns.len() as u64, "column"));
    }
    let command = vec!["import".into(), options.file.to_string_lossy().into_owned()];
    let (manifest, overlapping) = record(read, command, &out)?;
    if overlapping > 0 {
        eprintln!(
            "mpiscope: calls of {} overlap: they are told as of several threads",
            plural(overlapping, "rank")
        );
    }
    let totals = manifest.totals;
    let of = &options.output;
    eprintln!(
        "mpiscope: {} of {} on {}: {}; {} without a receive, {} without a send",
        plural(totals.calls, "event"),
        plural(manifest.job.ranks.into(), "rank"),
        plural(manifest.job.nodes.len() as u64, "node"),
        plural(totals.messages, "message"),
        plural(totals.unmatched_sends, "send"),
        plural(totals.unmatched_receives, "receive"),
    );
    eprintln!(
        "mpiscope: recording in {}: mpiscope replay shows it, mpiscope report says what it holds",
        of.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// A table that was read and found sound.
struct Read {
    seen: Seen,
    events: Sorted<Event>,
    nodes: Vec<String>,
    are_nodes_known: bool,
    /// Columns that nobody knows, by file.
    ignored: Vec<(String, Vec<String>)>,
}

fn read(file: &Path, nodes: Option<&Path>, out: &Path) -> Result<Read> {
    // Where the recording will be there should be room for what has to be sorted.
    let folder = out.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let mut sorter = Sorter::new(folder);
    let table = Table::open(Records::open(file)?)?;
    let mut ignored = vec![(file.display().to_string(), table.ignored().to_vec())];
    let mut seen = table.read(|event| sorter.push(event))?;
    let node_of_rank = match nodes {
        Some(file) => {
            let (nodes, of_nodes) = nodes::read(Records::open(file)?, &mut seen)?;
            ignored.push((file.display().to_string(), of_nodes));
            nodes
        }
        None => vec![UNKNOWN_NODE.to_owned(); seen.ranks() as usize],
    };
    seen.check_ranks().map_err(|text| anyhow::anyhow!("{}: {text}", file.display()))?;
    ignored.retain(|(_, columns)| !columns.is_empty());
    Ok(Read {
        seen,
        events: sorter.finish()?,
        nodes: node_of_rank,
        are_nodes_known: nodes.is_some(),
        ignored,
    })
}

/// Writes the recording; gives its manifest, and how many ranks had calls that overlap.
fn record(read: Read, command: Vec<String>, out: &Path) -> Result<(Manifest, u64)> {
    let Read { seen, events, nodes, are_nodes_known, .. } = read;
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Without durations nobody can tell what calls were made of.
    let is_timed = seen.untimed == 0;
    let judge: Judge = Box::new(move |out, _| if is_timed { judge_into(out, 1) } else { Ok(()) });
    record_told(out, judge, amend, move |teller| {
        missing(&seen, are_nodes_known).into_iter().for_each(|sentence| teller.miss(sentence));
        let job = Job { seen: &seen, nodes: &nodes, name, command };
        told::tell(&job, events, told::MOST_SLOTS, &mut |message| teller.tell(message))
    })
}

/// What a table says nothing about.
fn amend(manifest: &mut Manifest) {
    manifest.job.exit = None;
    (manifest.cost.nanoseconds_per_call, manifest.cost.seconds) = (None, None);
}

/// What the recording will not have, a sentence each.
fn missing(seen: &Seen, are_nodes_known: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if seen.untimed > 0 {
        let how_many = if seen.untimed == seen.events {
            "durations of calls are not in the table".to_owned()
        } else {
            format!("{} of {} have no duration in the table", seen.untimed, counted(seen.events, "event"))
        };
        missing.push(format!(
            "{how_many}: of a message only the span from its send to its receive is known, and there is no delay budget"
        ));
    }
    if !are_nodes_known {
        missing.push("which rank was on which node is not known: all are told as of one".into());
    }
    missing
}

#[cfg(test)]
mod tests;
