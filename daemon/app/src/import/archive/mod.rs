//! An OTF2 archive, read through the OTF2 library: one location after the other, sorted by time with bounded memory.
//!
//! Of MPI it takes what a recording of ours would have: calls that are recorded, messages, collectives that are done when
//! they return. Messages and collectives outside of all calls become calls without a duration. Functions that are not of MPI
//! are passed over.

#[cfg(test)]
mod tests;
mod thread;
mod world;

use super::pairing::{Received, put_in_order};
use super::step::Step;
use super::telling::Members;
use crate::export::ATTRIBUTES;
use crate::progress::Progress;
use crate::sorting::{Sorted, Sorter};
use crate::words::{counted, printable};
use anyhow::{Context as _, Result, anyhow, bail};
use mpiscope_otf2::{Asked, Definitions, Event, Library, Reader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thread::{Counts, Found, Thread};
use world::Processes;

/// The anchor file of an archive that is named by its folder.
const ANCHOR: &str = "traces.otf2";
const EXTENSION: &str = "otf2";
/// How often progress is told.
const STEP: u64 = 1 << 14;
/// Functions of which it is said that they are not recorded.
const MOST_NAMED: usize = 5;

/// An archive that was read and found sound.
pub(crate) struct Archive {
    pub(crate) steps: Sorted<Step>,
    pub(crate) calls: u64,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// When times are 0, in nanoseconds since 1970; 0 where that is not known.
    pub(crate) unix_ns: u64,
    pub(crate) nodes: Vec<String>,
    pub(crate) comms: BTreeMap<u32, Members>,
    /// Where calls were made, by number from 1 on.
    pub(crate) places: Vec<String>,
    /// What the recording will not have, a sentence each.
    pub(crate) missing: Vec<String>,
}

/// The anchor file, if this is the name of an archive.
pub(crate) fn anchor(file: &Path) -> Option<PathBuf> {
    if file.is_dir() {
        return Some(file.join(ANCHOR)).filter(|anchor| anchor.is_file());
    }
    file.extension().is_some_and(|extension| extension == EXTENSION).then(|| file.to_owned())
}

/// Reads an archive to its end.
pub(crate) fn read(anchor: &Path, scratch: &Path, progress: &Progress) -> Result<Archive> {
    let name = anchor.display().to_string();
    std::fs::File::open(anchor).with_context(|| format!("cannot read {name}"))?;
    let library = Library::load()?;
    let mut reader = Reader::open(&library, anchor)?;
    let definitions = reader.definitions()?;
    if definitions.ticks_per_s == 0 {
        bail!("{name}: a second has no ticks by its clock");
    }
    let processes = Processes::of(&definitions).map_err(|error| anyhow!("{name}: {error}"))?;
    let events =
        definitions.locations.iter().fold(0, |sum: u64, location| sum.saturating_add(location.events));
    progress.begin("reading", Some(events).filter(|&events| events > 0))?;
    let asked = Asked {
        enter_number: definitions.attribute(ATTRIBUTES.polls),
        enter_string: definitions.attribute(ATTRIBUTES.place),
        receive_number: definitions.attribute(ATTRIBUTES.sent),
    };
    let mut taking = Taking {
        name: &name,
        definitions: &definitions,
        steps: Sorter::new(scratch),
        received: Sorter::new(scratch),
    };
    let mut counts = Counts::default();
    for (number, (&location, &of)) in (0..).zip(&processes.threads) {
        let mut thread = Thread::new(&processes, &mut counts, number, of);
        let (mut outcome, mut events) = (Ok(()), 0);
        reader.events(location, asked, &mut |time, event| {
            events += 1;
            let told = if events % STEP == 0 { progress.step(STEP) } else { Ok(()) };
            outcome = told.and_then(|()| taking.take(&mut thread, location, time, &event));
            outcome.is_ok()
        })?;
        outcome?;
        thread.finish();
    }
    let Taking { mut steps, received, .. } = taking;
    put_in_order(received.finish()?, &mut steps)?;
    let Some(from_ns) = counts.from_ns else {
        bail!("{name}: there are no calls of MPI in it that are recorded, and no messages");
    };
    let missing = missing(&definitions, &counts);
    let unix_ns = definitions.began_unix_ns.map_or(0, |began| began.saturating_add(from_ns));
    Ok(Archive {
        steps: steps.finish()?,
        calls: counts.calls,
        from_ns,
        to_ns: counts.to_ns,
        unix_ns,
        nodes: processes.nodes,
        comms: processes.members,
        places: places(&definitions),
        missing,
    })
}

/// Where events go.
struct Taking<'a> {
    /// What the archive is called.
    name: &'a str,
    definitions: &'a Definitions,
    steps: Sorter<Step>,
    received: Sorter<Received>,
}

impl Taking<'_> {
    /// Takes an event of a location.
    fn take(&mut self, thread: &mut Thread<'_>, location: u64, time: u64, event: &Event) -> Result<()> {
        let (name, clock) = (self.name, self.definitions);
        let Some(ticks) = time.checked_sub(clock.from) else {
            let from = clock.from;
            bail!("{name}, location {location}: a time of {time} is before the first of its clock, {from}");
        };
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(clock.ticks_per_s);
        let at_ns = u64::try_from(ns).unwrap_or(u64::MAX);
        let mut unsorted = None;
        let taken = thread.event(at_ns, event, &mut |found| {
            let sorted = match found {
                Found::Step(step) => self.steps.push(step),
                Found::Received(received) => self.received.push(received),
            };
            unsorted = sorted.err();
            Ok(())
        });
        // What cannot be sorted is no fault of the archive.
        match unsorted {
            Some(error) => Err(error),
            None => taken.map_err(|error| anyhow!("{name}, location {location}: {error}")),
        }
    }
}

/// Strings of the archive as places of calls: number 1 is string 0.
fn places(definitions: &Definitions) -> Vec<String> {
    let last = definitions.strings.keys().max().copied().unwrap_or_default();
    // Archives of ours have the places first; what is beyond them is no place.
    let last = (last as usize).min(1 << 12);
    (0..=last).map(|number| printable(definitions.string(number as u32))).collect()
}

/// What a recording has and the archive has not, or the other way round.
fn missing(definitions: &Definitions, counts: &Counts) -> Vec<String> {
    let mut missing = Vec::new();
    if !counts.unknown.is_empty() {
        let calls: u64 = counts.unknown.values().sum();
        let name = |region: &u32| definitions.string(definitions.regions[region].name);
        let mut names: Vec<&str> = counts.unknown.keys().map(name).collect();
        names.sort_unstable();
        let more = names.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = printable(&names[..names.len().min(MOST_NAMED)].join(", "));
        missing.push(format!("{} of functions that are not recorded: {names}{more}", counted(calls, "call")));
    }
    if counts.cut_off > 0 {
        missing.push(format!("{}: not over when the trace ends", counted(counts.cut_off, "call")));
    }
    missing
}
