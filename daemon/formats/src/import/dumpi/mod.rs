//! A DUMPI trace, as texts that dumpi2ascii writes of its files: one for each rank, beside each other, with the number of the
//! rank at the end of the name. Each is read twice: what a number of a datatype or a communicator means comes behind it, or
//! in the texts of other ranks.
//!
//! Times are those of each node's own clock. The trace does not say how the clocks differ.

mod arguments;
mod comms;
mod rank_files;
mod rank_reader;
#[cfg(test)]
mod tests;
mod text_reader;

use crate::import::trace::{Trace, TraceCollector, describe_long_span};
use crate::node_name::{UNKNOWN_NODE, clean_node_name};
use crate::progress::Progress;
use anyhow::{Context as _, Result, anyhow, bail};
use arguments::comm_creation;
use comms::{CommCreation, resolve_comms};
use mpiscope_model::words::{counted, printable};
use mpiscope_wire::FUNCTIONS;
pub(crate) use rank_files::RankFiles;
use rank_files::{CutOff, FileNames};
use rank_reader::{RankCounts, RankReader};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use text_reader::{Record, TextItem, TextReader, is_text};

/// The first bytes of a file, from which its format is recognized.
const BEGINNING_BYTES: u64 = 64 << 10;
/// The first bytes of a binary DUMPI file, in the byte order of the machine that wrote it.
const MAGIC: [u8; 8] = [0xFF, 0xAA, 0xDD, b'D', b'U', b'M', b'P', b'I'];
const STEP: u64 = 1 << 12;
/// Functions that are named as not recorded.
const MAX_NAMED: usize = 5;
/// The number of the world communicator in all texts.
const WORLD: i64 = 2;

/// Finds the texts of all ranks; none if this file is not the text of a rank.
pub(crate) fn find_rank_files(file: &Path) -> Result<Option<RankFiles>> {
    let mut beginning = Vec::new();
    // A file that cannot be read counts as a table, whose reader reports the error.
    let Ok(opened) = File::open(file) else { return Ok(None) };
    if opened.take(BEGINNING_BYTES).read_to_end(&mut beginning).is_err() {
        return Ok(None);
    }
    let backwards: Vec<u8> = MAGIC.iter().rev().copied().collect();
    if beginning.starts_with(&MAGIC) || beginning.starts_with(&backwards) {
        bail!(
            "{} is a trace in DUMPI's own form: have dumpi2ascii -a write a text of each rank's file beside it, and import one of \
             those",
            file.display()
        );
    }
    if !is_text(&beginning) {
        return Ok(None);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((prefix, digits, extension)) = rank_in(&name) else {
        bail!(
            "{}: the name of a text ends with the number of its rank, as dumpi-0000.txt does",
            file.display()
        );
    };
    let (prefix, width, extension) = (prefix.into(), digits.len(), extension.into());
    Ok(Some(RankFiles::find(FileNames { file: file.to_owned(), prefix, width, extension })?))
}

/// What is before the number of the rank in the name of a text, the number, and what is behind it: nothing, or endings such
/// as `.bin.txt`.
fn rank_in(name: &str) -> Option<(&str, &str, &str)> {
    let (prefix, rest) = name.rsplit_once('-')?;
    let (digits, extension) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then_some((prefix, digits, extension))
}

/// What a text says about its rank outside of the calls.
#[derive(Default)]
struct RankInfo {
    host: Option<String>,
    sizes: HashMap<i64, u64>,
    made: Vec<CommCreation>,
    /// How many ranks the job has, and the line that says so.
    ranks: Option<(u64, u64)>,
    /// Set if the text ends before MPI_Finalize.
    cut_off: Option<CutOff>,
    /// Calls that the program made and the trace leaves out.
    ignored: u64,
}

/// Reads what the texts of all ranks say outside of the calls.
fn read_rank_infos(texts: &mut RankFiles, progress: &dyn Progress) -> Result<Vec<RankInfo>> {
    let mut infos = Vec::new();
    for path in texts.paths() {
        infos.push(match path {
            Some(path) => read_rank_info(path)?,
            None => RankInfo::default(),
        });
        progress.step(rank_files::kibibytes(path))?;
    }
    let sizes = infos.iter().enumerate().filter_map(|(rank, infos)| Some((rank, infos.ranks?)));
    if let Some((rank, (ranks, line))) = sizes.max_by_key(|(_, (ranks, _))| *ranks) {
        texts.check_rank_count(ranks, rank, line)?;
        infos.resize_with(texts.count(), RankInfo::default);
    }
    Ok(infos)
}

/// What is missing from the trace, a sentence each.
fn describe_missing(texts: &RankFiles, infos: &[RankInfo], counts: &RankCounts) -> Vec<String> {
    let mut missing: Vec<String> = texts.missing().into_iter().collect();
    missing.extend(texts.cut_off(infos.iter().map(|infos| infos.cut_off.as_ref())));
    let ignored = infos.iter().fold(0, |sum: u64, infos| sum.saturating_add(infos.ignored));
    if ignored > 0 {
        missing.push(format!("{}: left out of the trace when it was recorded", counted(ignored, "call")));
    }
    let read = infos.iter().zip(texts.paths()).filter(|(_, path)| path.is_some());
    let hosts: Vec<Option<&String>> = read.map(|(infos, _)| infos.host.as_ref()).collect();
    let are_several = hosts.windows(2).any(|pair| pair[0] != pair[1]);
    missing.extend(missing_sentences(counts, hosts.iter().all(Option::is_some), are_several));
    missing
}

/// Reads a trace to its end.
pub(crate) fn read_trace(mut texts: RankFiles, scratch: &Path, progress: &dyn Progress) -> Result<Trace> {
    progress.begin("reading", Some(2 * texts.kibibytes()))?;
    let mut infos = read_rank_infos(&mut texts, progress)?;
    let calls: Vec<Vec<CommCreation>> =
        infos.iter_mut().map(|infos| std::mem::take(&mut infos.made)).collect();
    let resolved = resolve_comms(&calls);
    let functions: HashMap<&'static str, u16> =
        FUNCTIONS.iter().map(|entry| (entry.name, entry.id)).collect();
    let (mut counts, mut collector) = (RankCounts::default(), TraceCollector::new(scratch));
    for (at, (path, infos)) in texts.paths().zip(&infos).enumerate() {
        let Some(path) = path else { continue };
        let numbers = (at as u32, texts.count() as u32);
        let mut rank = RankReader::new(numbers, &functions, &infos.sizes, &resolved, &mut counts);
        read_calls(path, &mut rank, &mut collector, progress)?;
        progress.step(rank_files::kibibytes(Some(path)))?;
    }
    let Some(from) = counts.from else {
        bail!("{}: there are no calls that are recorded in it", texts.name(0));
    };
    let sentence = |(ns, rank): (u64, u32)| format!("{ns} ns ({})", texts.name(rank as usize));
    let span_ns = counts.to.0 - from.0;
    let long_span = describe_long_span("the trace", span_ns, &sentence(from), &sentence(counts.to));
    let missing = describe_missing(&texts, &infos, &counts);
    let host = |infos: RankInfo| infos.host.unwrap_or_else(|| UNKNOWN_NODE.into());
    Ok(Trace {
        pieces: collector.finish()?,
        calls: counts.calls,
        from_ns: from.0,
        to_ns: counts.to.0,
        unix_ns: 0,
        nodes: infos.into_iter().map(host).collect(),
        comms: resolved.members,
        call_sites: Vec::new(),
        phases: Vec::new(),
        missing,
        notes: long_span.into_iter().collect(),
    })
}

fn read_rank_info(path: &Path) -> Result<RankInfo> {
    let mut text = TextReader::open(path)?;
    let mut infos = RankInfo { sizes: standard_sizes(), ..RankInfo::default() };
    let (mut within, mut is_finalized) = (None, false);
    while let Some(item) = text.next()? {
        match item {
            TextItem::Call(record) => {
                is_finalized |= record.function == "MPI_Finalize";
                let ranks = world_size(record);
                infos.made.extend(comm_creation(record));
                infos.ranks = infos.ranks.max(ranks.map(|ranks| (ranks, text.lines())));
            }
            TextItem::Other(line) => {
                if let Some(host) = line.strip_prefix("hostname=").and_then(clean_node_name) {
                    infos.host = Some(host);
                }
                infos.sizes.extend(size(line));
                infos.ignored = infos.ignored.saturating_add(ignored(line).unwrap_or_default());
            }
            TextItem::CutOff(function) => within = Some(function.to_owned()),
        }
    }
    infos.cut_off = (!is_finalized).then(|| CutOff { line: text.lines(), within });
    Ok(infos)
}

/// How many ranks the job has, if a call says so.
fn world_size(record: &Record) -> Option<u64> {
    let is_world = record.function == "MPI_Comm_size" && record.number("comm") == Some(WORLD);
    record.number("size").filter(|_| is_world).and_then(|size| u64::try_from(size).ok())
}

/// `Datatype 9 (MPI_INT) has size 4`.
fn size(line: &str) -> Option<(i64, u64)> {
    let (number, size) = line.strip_prefix("Datatype ")?.split_once(" has size ")?;
    Some((number.split(' ').next()?.parse().ok()?, size.trim().parse().ok()?))
}

/// `MPI_Send called 10 times and ignored 2 times`: the others are in the trace.
fn ignored(line: &str) -> Option<u64> {
    let (function, counts) = line.split_once(" called ")?;
    let ignored = counts.split_once(" times and ignored ")?.1.strip_suffix(" times")?;
    ignored.parse().ok().filter(|_| function.starts_with("MPI"))
}

/// Sizes of the C datatypes by their numbers in a trace, for texts that do not say them: as on every machine of today.
fn standard_sizes() -> HashMap<i64, u64> {
    let of = [
        (2, 1), // char
        (3, 1),
        (4, 1),
        (5, 1), // byte
        (6, 4), // wide char
        (7, 2), // short
        (8, 2),
        (9, 4), // int
        (10, 4),
        (11, 8), // long
        (12, 8),
        (13, 4), // float
        (14, 8), // double
        (15, 16),
        (16, 8), // long long
        (17, 8),
        (18, 8),
        (19, 1), // packed
        (20, 0), // bounds
        (21, 0),
        (22, 8), // a value and its place
        (23, 12),
        (24, 12),
        (25, 6),
        (26, 8),
        (27, 20),
    ];
    of.into()
}

fn read_calls(
    path: &Path,
    rank: &mut RankReader<'_>,
    collector: &mut TraceCollector,
    progress: &dyn Progress,
) -> Result<()> {
    let mut text = TextReader::open(path)?;
    let mut calls = 0_u64;
    loop {
        let wrong = match text.next()? {
            None => return Ok(()),
            Some(TextItem::Other(_) | TextItem::CutOff(_)) => continue,
            Some(TextItem::Call(record)) => {
                let mut unsorted = None;
                let taken = rank.call(record, &mut |found| {
                    unsorted = collector.push(found).err();
                    Ok(())
                });
                match unsorted {
                    // An error of the sorter is not a fault of the text.
                    Some(error) => return Err(error).context("sort the trace"),
                    None => taken.err(),
                }
            }
        };
        if let Some(error) = wrong {
            return Err(anyhow!("{}", text.wrong(error)));
        }
        calls += 1;
        if calls.is_multiple_of(STEP) {
            progress.step(0)?;
        }
    }
}

/// What the recording will not have, a sentence each.
fn missing_sentences(counts: &RankCounts, are_hosts_known: bool, are_several: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if !counts.unknown.is_empty() {
        let calls = counts.unknown.values().sum();
        let names: Vec<&str> = counts.unknown.keys().map(String::as_str).take(MAX_NAMED).collect();
        let more = counts.unknown.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = printable(&names.join(", "));
        missing.push(format!("{} of functions that are not recorded: {names}{more}", counted(calls, "call")));
    }
    if counts.unknown_transfers > 0 {
        let ends = counted(counts.unknown_transfers, "send or receive");
        missing.push(format!(
            "{ends}: of a communicator whose members are not known, or from anywhere without a status"
        ));
    }
    if !are_hosts_known {
        missing.push("which rank was on which node is missing: write the texts with dumpi2ascii -a".into());
    }
    if are_several {
        missing.push(
            "the clocks of the nodes are as they were: what lies between nodes may seem shorter or longer"
                .into(),
        );
    }
    missing
}
