//! A DUMPI trace, as texts that dumpi2ascii writes of its files: one for each rank, beside each other, with the number of the
//! rank at the end of the name. Each is read twice: what a number of a datatype or a communicator means comes behind it, or
//! in the texts of other ranks.
//!
//! The times are those of each node's own clock; nothing in the trace says how these went.

mod comms;
mod rank;
#[cfg(test)]
mod tests;
mod text;
mod texts;

use super::UNKNOWN_NODE;
use super::trace::{Collecting, Trace, long_span};
use crate::progress::Progress;
use crate::words::{counted, printable};
use anyhow::{Context as _, Result, anyhow, bail};
use comms::{Made, resolve};
use mpiscope_wire::FUNCTIONS;
use rank::{Counts, Rank, made};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use text::{Record, Said, Text, is_text};
use texts::{CutOff, Names, Texts};

/// So much of a file says what it is.
const BEGINNING_BYTES: u64 = 64 << 10;
/// What a file of DUMPI's own form begins with, in the order of bytes of whatever machine wrote it.
const MAGIC: [u8; 8] = [0xFF, 0xAA, 0xDD, b'D', b'U', b'M', b'P', b'I'];
const STEP: u64 = 1 << 12;
/// Functions of which it is said that they are not recorded.
const MOST_NAMED: usize = 5;
/// The number of the world in all texts.
const WORLD: i64 = 2;

/// The texts of all ranks, if this is the text of one of them.
pub(crate) fn texts(file: &Path) -> Result<Option<Texts>> {
    let mut beginning = Vec::new();
    // What cannot be read is said by whoever reads it as a table.
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
    let (stem, extension) = name
        .rsplit_once('.')
        .map_or((name.as_str(), String::new()), |(stem, extension)| (stem, format!(".{extension}")));
    let digits = stem
        .rsplit_once('-')
        .filter(|(_, digits)| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()));
    let Some((prefix, digits)) = digits else {
        bail!(
            "{}: the name of a text ends with the number of its rank, as dumpi-0000.txt does",
            file.display()
        );
    };
    let names = Names { file: file.to_owned(), prefix: prefix.into(), width: digits.len(), extension };
    Ok(Some(Texts::find(names)?))
}

/// What is said of a rank around its calls.
#[derive(Default)]
struct About {
    host: Option<String>,
    sizes: HashMap<i64, u64>,
    made: Vec<Made>,
    /// How many ranks the job has, and the line that says so.
    ranks: Option<(u64, u64)>,
    /// The rank's text does not lead to the end of its MPI.
    cut_off: Option<CutOff>,
}

/// Reads a trace to its end.
pub(crate) fn read(mut texts: Texts, scratch: &Path, progress: &Progress) -> Result<Trace> {
    progress.begin("reading", Some(2 * texts.bytes() / (1 << 10)))?;
    let mut about = Vec::new();
    for path in texts.paths() {
        about.push(match path {
            Some(path) => about_rank(path)?,
            None => About::default(),
        });
        progress.step(texts::kibibytes(path))?;
    }
    let sizes = about.iter().enumerate().filter_map(|(rank, about)| Some((rank, about.ranks?)));
    if let Some((rank, (ranks, line))) = sizes.max_by_key(|(_, (ranks, _))| *ranks) {
        texts.job_has(ranks, rank, line)?;
        about.resize_with(texts.count(), About::default);
    }
    let calls: Vec<Vec<Made>> = about.iter_mut().map(|about| std::mem::take(&mut about.made)).collect();
    let resolved = resolve(&calls);
    let functions: HashMap<&'static str, u16> =
        FUNCTIONS.iter().map(|entry| (entry.name, entry.id)).collect();
    let (mut counts, mut collecting) = (Counts::default(), Collecting::new(scratch));
    for (at, (path, about)) in texts.paths().zip(&about).enumerate() {
        let Some(path) = path else { continue };
        let numbers = (at as u32, texts.count() as u32);
        let mut rank = Rank::new(numbers, &functions, &about.sizes, &resolved, &mut counts);
        calls_of(path, &mut rank, &mut collecting, progress)?;
        progress.step(texts::kibibytes(Some(path)))?;
    }
    let Some(from) = counts.from else {
        bail!("{}: there are no calls that are recorded in it", texts.name(0));
    };
    let sentence = |(ns, rank): (u64, u32)| format!("{ns} ns ({})", texts.name(rank as usize));
    let span_ns = counts.to.0 - from.0;
    let long_span = long_span("the trace", span_ns, &sentence(from), &sentence(counts.to));
    let mut missing: Vec<String> = texts.missing().into_iter().collect();
    missing.extend(texts.cut_off(about.iter().map(|about| about.cut_off.as_ref())));
    let read = about.iter().zip(texts.paths()).filter(|(_, path)| path.is_some());
    let hosts: Vec<Option<&String>> = read.map(|(about, _)| about.host.as_ref()).collect();
    let are_several = hosts.windows(2).any(|pair| pair[0] != pair[1]);
    missing.extend(missing_of(&counts, hosts.iter().all(Option::is_some), are_several));
    let host = |about: About| about.host.unwrap_or_else(|| UNKNOWN_NODE.into());
    Ok(Trace {
        steps: collecting.finish()?,
        calls: counts.calls,
        from_ns: from.0,
        to_ns: counts.to.0,
        unix_ns: 0,
        nodes: about.into_iter().map(host).collect(),
        comms: resolved.members,
        places: Vec::new(),
        missing,
        notes: long_span.into_iter().collect(),
    })
}

fn about_rank(path: &Path) -> Result<About> {
    let mut text = Text::open(path)?;
    let mut about = About { sizes: standard_sizes(), ..About::default() };
    let (mut within, mut is_finalized) = (None, false);
    while let Some(said) = text.next()? {
        match said {
            Said::Call(record) => {
                is_finalized |= record.function == "MPI_Finalize";
                let ranks = world_size(record);
                about.made.extend(made(record));
                about.ranks = about.ranks.max(ranks.map(|ranks| (ranks, text.lines())));
            }
            Said::Other(line) => {
                if let Some(host) =
                    line.strip_prefix("hostname=").map(printable).filter(|host| !host.is_empty())
                {
                    about.host = Some(host.chars().take(255).collect());
                }
                about.sizes.extend(size(line));
            }
            Said::CutOff(function) => within = Some(function.to_owned()),
        }
    }
    about.cut_off = (!is_finalized).then(|| CutOff { line: text.lines(), within });
    Ok(about)
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

/// Sizes of the datatypes of C by their numbers in a trace, for texts that do not tell: as on every machine of today.
fn standard_sizes() -> HashMap<i64, u64> {
    let of = [
        (2, 1), // char
        (3, 1),
        (4, 1),
        (5, 1), // byte
        (7, 2), // short
        (8, 2),
        (9, 4), // int
        (10, 4),
        (11, 8), // long
        (12, 8),
        (13, 4), // float
        (14, 8), // double
        (16, 8), // long long
        (17, 8),
        (18, 8),
        (19, 1), // packed
    ];
    of.into()
}

fn calls_of(
    path: &Path,
    rank: &mut Rank<'_>,
    collecting: &mut Collecting,
    progress: &Progress,
) -> Result<()> {
    let mut text = Text::open(path)?;
    let mut calls = 0_u64;
    loop {
        let wrong = match text.next()? {
            None => return Ok(()),
            Some(Said::Other(_) | Said::CutOff(_)) => continue,
            Some(Said::Call(record)) => {
                let mut unsorted = None;
                let taken = rank.call(record, &mut |found| {
                    unsorted = collecting.push(found).err();
                    Ok(())
                });
                match unsorted {
                    // What cannot be sorted is no fault of the text.
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

/// What a recording has and the trace has not, or the other way round.
fn missing_of(counts: &Counts, are_hosts_known: bool, are_several: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if !counts.unknown.is_empty() {
        let calls = counts.unknown.values().sum();
        let names: Vec<&str> = counts.unknown.keys().map(String::as_str).take(MOST_NAMED).collect();
        let more = counts.unknown.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = printable(&names.join(", "));
        missing.push(format!("{} of functions that are not recorded: {names}{more}", counted(calls, "call")));
    }
    if counts.untold > 0 {
        let ends = counted(counts.untold, "send or receive");
        missing.push(format!(
            "{ends}: of a communicator whose members are not known, or from anywhere without a status"
        ));
    }
    if !are_hosts_known {
        missing.push("which rank was on which node is not told: write the texts with dumpi2ascii -a".into());
    }
    if are_several {
        missing.push(
            "the clocks of the nodes are as they were: what lies between nodes may seem shorter or longer"
                .into(),
        );
    }
    missing
}
