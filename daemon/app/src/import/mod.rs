//! `mpiscope import`: a recording of a table of sends and receives, or of a trace of somebody else.

mod archive;
mod columns;
mod dumpi;
mod event;
mod nodes;
mod number;
mod pairing;
mod records;
mod seen;
mod step;
mod steps_told;
mod table;
mod telling;
mod told;
mod trace;

use crate::command_line::ImportOptions;
use crate::daemon::{Judge, record_told};
use crate::interrupt::Interrupt;
use crate::judge::judge_into;
use crate::progress::Progress;
use crate::run::refuse_occupied;
use crate::sorting::{Sorted, Sorter};
use crate::words::{counted, nanoseconds, plural};
use anyhow::{Context as _, Result, bail};
use event::Event;
use mpiscope_recording::{Manifest, RecordingError};
use records::Records;
use seen::Seen;
use std::path::Path;
use std::process::ExitCode;
use table::Table;
use telling::World;
use trace::Trace;

/// The node of ranks of which none is known.
const UNKNOWN_NODE: &str = "unknown";
/// How often progress is told.
const STEP: u64 = 1 << 14;

pub(crate) fn import(options: &ImportOptions) -> Result<ExitCode> {
    let out = std::path::absolute(&options.output).context("find the current folder")?;
    refuse_occupied(&out, "-o")?;
    let interrupt = Interrupt::catch("nothing was imported");
    let outcome = import_into(&out, options, &interrupt);
    if outcome.as_ref().is_err_and(is_of_others) {
        interrupt.keep();
    }
    interrupt.outcome(outcome)
}

/// Whether somebody was quicker, so that what is in the folder is not of this import.
fn is_of_others(error: &anyhow::Error) -> bool {
    use RecordingError::{AlreadyRecorded, BeingWritten, NotAFolder, NotEmpty};
    matches!(
        error.downcast_ref(),
        Some(AlreadyRecorded { .. } | BeingWritten { .. } | NotAFolder { .. } | NotEmpty { .. })
    )
}

fn import_into(out: &Path, options: &ImportOptions, interrupt: &Interrupt) -> Result<()> {
    let progress = Progress::new(interrupt);
    let command = vec!["import".into(), options.file.to_string_lossy().into_owned()];
    let (manifest, what) = if let Some(anchor) = archive::anchor(&options.file) {
        if options.nodes.is_some() {
            bail!("--nodes goes with a table: an OTF2 archive says which rank was on which node");
        }
        let trace = archive::read(&anchor, scratch(out), &progress)?;
        interrupt.begin_folder(out);
        (record_trace(trace, command, out, &progress)?, "call")
    } else if let Some(texts) = dumpi::texts(&options.file)? {
        if options.nodes.is_some() {
            bail!("--nodes goes with a table: the texts of a DUMPI trace say which rank was on which node");
        }
        let trace = dumpi::read(texts, scratch(out), &progress)?;
        interrupt.begin_folder(out);
        (record_trace(trace, command, out, &progress)?, "call")
    } else {
        let read = read(&options.file, options.nodes.as_deref(), out, &progress)?;
        for (file, columns) in &read.ignored {
            let names = columns.join(", ");
            say!("{}: {} ignored: {names}", file, plural(columns.len() as u64, "column"));
        }
        interrupt.begin_folder(out);
        let (manifest, overlapping) = record(read, command, out, &progress)?;
        if overlapping > 0 {
            say!("{} with overlapping calls: treated as multi-threaded", plural(overlapping, "rank"));
        }
        (manifest, "event")
    };
    interrupt.keep();
    drop(progress);
    say(&manifest, what, &options.output);
    Ok(())
}

fn say(manifest: &Manifest, what: &str, of: &Path) {
    let totals = manifest.totals;
    say!(
        "{} of {} on {}: {}; {} without a receive, {} without a send",
        plural(totals.calls, what),
        plural(manifest.job.ranks.into(), "rank"),
        plural(manifest.job.nodes.len() as u64, "node"),
        plural(totals.messages, "message"),
        plural(totals.unmatched_sends, "send"),
        plural(totals.unmatched_receives, "receive"),
    );
    say!("recording in {}: mpiscope replay shows it, mpiscope report says what it holds", of.display());
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

/// Where what has to be sorted is meanwhile: where the recording will be there should be room.
fn scratch(out: &Path) -> &Path {
    out.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
}

fn read(file: &Path, nodes: Option<&Path>, out: &Path, progress: &Progress) -> Result<Read> {
    let mut sorter = Sorter::new(scratch(out));
    let table = Table::open(Records::open(file)?)?;
    let mut ignored = vec![(file.display().to_string(), table.ignored().to_vec())];
    progress.begin("reading", None)?;
    let mut steps = 0;
    let mut seen = table.read(|event| {
        steps += 1;
        if steps % STEP == 0 {
            progress.step(STEP)?;
        }
        sorter.push(event)
    })?;
    let node_of_rank = match nodes {
        Some(file) => {
            let (nodes, of_nodes) = nodes::read(Records::open(file)?, &mut seen)?;
            ignored.push((file.display().to_string(), of_nodes));
            nodes
        }
        None => vec![UNKNOWN_NODE.to_owned(); seen.ranks() as usize],
    };
    seen.check_ranks().map_err(|text| anyhow::anyhow!("{}: {text}", file.display()))?;
    if let Some(sentence) = seen.long_span(&file.display().to_string()) {
        say!("{sentence}");
    }
    ignored.retain(|(_, columns)| !columns.is_empty());
    Ok(Read {
        seen,
        events: sorter.finish()?,
        nodes: node_of_rank,
        are_nodes_known: nodes.is_some(),
        ignored,
    })
}

/// Hands on what comes, and fails when it is time to give up.
fn watched<T>(of: impl Iterator<Item = Result<T>>, progress: &Progress) -> impl Iterator<Item = Result<T>> {
    (1_u64..).zip(of).map(|(number, item)| {
        if number % STEP == 0 {
            progress.step(STEP)?;
        }
        item
    })
}

fn name_of(out: &Path) -> String {
    out.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes the recording; gives its manifest, and how many ranks had calls that overlap.
fn record(read: Read, command: Vec<String>, out: &Path, progress: &Progress) -> Result<(Manifest, u64)> {
    let Read { seen, events, nodes, are_nodes_known, .. } = read;
    let name = name_of(out);
    // Without durations nobody can tell what calls were made of.
    let is_timed = seen.untimed == 0;
    let judge: Judge = Box::new(move |out, _| if is_timed { judge_into(out, 1) } else { Ok(()) });
    progress.begin("recording", Some(seen.events))?;
    let comms = seen.comms();
    record_told(out, judge, amend, move |teller| {
        missing(&seen, are_nodes_known).into_iter().for_each(|sentence| teller.miss(sentence));
        let world = seen.world(&nodes, &comms, name, command);
        let limits = (telling::MOST_SLOTS, seen.resolution_ns);
        told::tell(&world, watched(events, progress), seen.from_ns, limits, &mut |message| {
            teller.tell(message);
        })
    })
}

/// The same, of a trace.
fn record_trace(trace: Trace, command: Vec<String>, out: &Path, progress: &Progress) -> Result<Manifest> {
    let Trace { steps, calls, from_ns, to_ns, unix_ns, nodes, comms, places, missing, notes } = trace;
    for sentence in notes {
        say!("{sentence}");
    }
    let name = name_of(out);
    progress.begin("recording", Some(calls))?;
    let recorded = record_told(out, Box::new(|out, _| judge_into(out, 1)), amend, move |teller| {
        missing.into_iter().for_each(|sentence| teller.miss(sentence));
        let library = "an imported trace";
        let world = World { name, command, library, unix_ns, nodes: &nodes, from_ns, to_ns, comms: &comms };
        let steps = watched(steps, progress);
        steps_told::tell(&world, &places, steps, telling::MOST_SLOTS, &mut |message| teller.tell(message))
    });
    recorded.map(|(manifest, ())| manifest)
}

/// What a table says nothing about.
fn amend(manifest: &mut Manifest) {
    manifest.job.exit = None;
    (manifest.cost.nanoseconds_per_call, manifest.cost.seconds) = (None, None);
}

/// Times that are rounded to this or more are said to be.
const COARSE_NS: u64 = 1_000;

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
    if seen.resolution_ns >= COARSE_NS && seen.untimed == 0 {
        let step = nanoseconds(seen.resolution_ns);
        missing.push(format!("times below {step}: all times of the table are multiples of {step}"));
    }
    if seen.rounded > 0 {
        let events = counted(seen.rounded, "event");
        missing.push(format!("parts of nanoseconds: the times of {events} are rounded"));
    }
    if !are_nodes_known {
        missing.push("which rank was on which node is not known: all are told as of one".into());
    }
    missing
}

#[cfg(test)]
mod tests;
