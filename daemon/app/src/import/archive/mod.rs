//! An OTF2 archive, read through the OTF2 library: one location after the other, sorted by time with bounded memory.
//!
//! Of MPI it takes what a recording of ours would have: calls that are recorded, messages, collectives that are done when
//! they return. Messages and collectives outside of all calls become calls without a duration. Functions that are not of MPI
//! are passed over.

#[cfg(test)]
mod tests;
mod thread;
mod world;

use super::trace::{Collecting, Trace, long_span};
use crate::export::ATTRIBUTES;
use crate::progress::Progress;
use crate::words::{counted, plural, printable};
use anyhow::{Context as _, Result, anyhow, bail};
use mpiscope_otf2::{Asked, Definitions, Event, Library, Location, OtherEvents, Reader};
use std::path::{Path, PathBuf};
use thread::{Counts, Thread};
use world::Processes;

/// The anchor file of an archive that is named by its folder.
const ANCHOR: &str = "traces.otf2";
const EXTENSION: &str = "otf2";
/// How often progress is told.
const STEP: u64 = 1 << 14;
/// Functions of which it is said that they are not recorded.
const MOST_NAMED: usize = 5;

/// The anchor file, if this is the name of an archive.
pub(crate) fn anchor(file: &Path) -> Option<PathBuf> {
    if file.is_dir() {
        return Some(file.join(ANCHOR)).filter(|anchor| anchor.is_file());
    }
    file.extension().is_some_and(|extension| extension == EXTENSION).then(|| file.to_owned())
}

/// Reads an archive to its end.
pub(crate) fn read(anchor: &Path, scratch: &Path, progress: &Progress) -> Result<Trace> {
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
    let collecting = Collecting::new(scratch);
    let mut taking = Taking { name: &name, definitions: &definitions, collecting };
    let (mut counts, mut others) = (Counts::default(), OtherEvents::default());
    for (number, (&location, &of)) in (0..).zip(&processes.threads) {
        let mut thread = Thread::new(&processes, &mut counts, number, of);
        let (mut outcome, mut events) = (Ok(()), 0);
        let passed_over = reader.events(location, asked, &mut |time, event| {
            events += 1;
            let told = if events % STEP == 0 { progress.step(STEP) } else { Ok(()) };
            outcome = told.and_then(|()| taking.take(&mut thread, location, time, &event));
            outcome.is_ok()
        })?;
        outcome?;
        others.add(&passed_over);
        thread.finish();
    }
    let steps = taking.collecting.finish()?;
    let Some(from) = counts.from else {
        bail!("{name}: there are no calls of MPI in it that are recorded, and no messages");
    };
    let missing = missing(&definitions, &counts);
    let location = |thread: u32| processes.threads.keys().nth(thread as usize).copied().unwrap_or_default();
    let end = |(ns, thread): (u64, u32)| format!("{ns} ns (location {})", location(thread));
    let span = long_span(&name, counts.to.0 - from.0, &end(from), &end(counts.to));
    let left_out = left_out(&definitions, &processes, &counts, &others);
    let unix_ns = definitions.began_unix_ns.map_or(0, |began| began.saturating_add(from.0));
    Ok(Trace {
        steps,
        calls: counts.calls,
        from_ns: from.0,
        to_ns: counts.to.0,
        unix_ns,
        nodes: processes.nodes,
        comms: processes.members,
        places: places(&definitions),
        missing,
        notes: span.into_iter().chain(left_out).collect(),
    })
}

/// Where events go.
struct Taking<'a> {
    /// What the archive is called.
    name: &'a str,
    definitions: &'a Definitions,
    collecting: Collecting,
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
            unsorted = self.collecting.push(found).err();
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

/// Says what of the archive is not in a recording, as recordings hold calls of MPI.
fn left_out(
    definitions: &Definitions,
    processes: &Processes,
    counts: &Counts,
    others: &OtherEvents,
) -> Option<String> {
    let mut parts = Vec::new();
    let mut part = |number: u64, one: &str| {
        if number > 0 {
            parts.push(plural(number, one));
        }
    };
    part(counts.regions, "non-MPI call");
    for (kind, number) in others.iter() {
        part(number, kind.name());
    }
    let is_other = |location: &&Location| !processes.threads.contains_key(&location.location);
    let locations = definitions.locations.iter().filter(is_other);
    part(locations.count() as u64, "non-rank location");
    (!parts.is_empty()).then(|| format!("left out of the archive: {}", parts.join(", ")))
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
    if counts.strange > 0 {
        let of = counted(counts.strange, "communication");
        missing.push(format!("{of}: of communicators whose members are not known as ranks"));
    }
    if counts.cut_off > 0 {
        missing.push(format!("{}: not over when the trace ends", counted(counts.cut_off, "call")));
    }
    missing
}
