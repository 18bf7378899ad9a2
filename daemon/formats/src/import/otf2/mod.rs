//! Reads an OTF2 archive through the OTF2 library: one location after the other, sorted by time with bounded memory.
//!
//! It takes what a recording has: calls of recorded MPI functions, messages, and blocking collectives. Messages and collectives
//! outside of all calls become calls without a duration. Functions of the program become phases.

mod call_sites;
mod location;
mod phases;
mod processes;
#[cfg(test)]
mod tests;

use super::trace::{Trace, TraceCollector, describe_long_span};
use crate::otf2_attributes;
use crate::progress::{PROGRESS_INTERVAL, Progress};
use anyhow::{Context as _, Result, anyhow, bail};
use call_sites::CallSite;
use location::{EventCounts, LocationReader};
use mpiscope_model::words::{counted, plural, printable};
use mpiscope_otf2::{Definitions, Event, Library, Location, OtherEvents, Reader, WantedAttributes};
use processes::Processes;
use std::path::{Path, PathBuf};

/// The anchor file of an archive that is named by its folder.
const ANCHOR: &str = "traces.otf2";
const EXTENSION: &str = "otf2";
/// Functions that are named as not recorded.
const MAX_NAMED: usize = 5;

/// The anchor file of an archive; none if this is not the name of an archive.
pub(crate) fn find_anchor(file: &Path) -> Option<PathBuf> {
    if file.is_dir() {
        return Some(file.join(ANCHOR)).filter(|anchor| anchor.is_file());
    }
    file.extension().is_some_and(|extension| extension == EXTENSION).then(|| file.to_owned())
}

/// Reads an archive to its end.
pub(crate) fn read_archive(anchor: &Path, scratch: &Path, progress: &dyn Progress) -> Result<Trace> {
    let name = anchor.display().to_string();
    std::fs::File::open(anchor).with_context(|| format!("cannot read {name}"))?;
    let library = Library::load()?;
    let mut reader = Reader::open(&library, anchor)?;
    let definitions = reader.definitions()?;
    if definitions.ticks_per_s == 0 {
        bail!("{name}: a second has no ticks by its clock");
    }
    let processes = Processes::from_definitions(&definitions).map_err(|error| anyhow!("{name}: {error}"))?;
    let collector = TraceCollector::new(scratch);
    let mut archive = ArchiveSink { name: &name, definitions: &definitions, collector };
    let (counts, others) = read_locations(&mut reader, &processes, &mut archive, progress)?;
    let pieces = archive.collector.finish()?;
    let Some(from) = counts.from else {
        bail!("{name}: there are no calls of MPI in it that are recorded, and no messages");
    };
    let missing = missing_sentences(&definitions, &counts);
    let span = describe_span(&name, &processes, from, counts.to);
    let left_out = describe_left_out(&definitions, &processes, &counts, &others);
    let phases: Vec<String> = counts.phases.iter().map(|name| printable(definitions.string(name))).collect();
    let unix_ns = definitions.began_unix_ns.map_or(0, |began| began.saturating_add(from.0));
    Ok(Trace {
        pieces,
        calls: counts.calls,
        from_ns: from.0,
        to_ns: counts.to.0,
        unix_ns,
        nodes: processes.nodes,
        comms: processes.members,
        call_sites: counts.call_sites.iter().map(|site| call_site_name(&definitions, site)).collect(),
        missing,
        notes: span
            .into_iter()
            .chain(left_out)
            .chain(describe_phases(&phases, counts.phases.phases))
            .collect(),
        phases,
    })
}

/// A sentence about a trace that is very long. Both ends are a time and the number of a thread.
fn describe_span(name: &str, processes: &Processes, from: (u64, u32), to: (u64, u32)) -> Option<String> {
    let location = |thread: u32| processes.threads.keys().nth(thread as usize).copied().unwrap_or_default();
    let end = |(ns, thread): (u64, u32)| format!("{ns} ns (location {})", location(thread));
    describe_long_span(name, to.0 - from.0, &end(from), &end(to))
}

/// Reads the events of all locations. Returns what was counted, and events of other kinds.
fn read_locations(
    reader: &mut Reader,
    processes: &Processes,
    archive: &mut ArchiveSink<'_>,
    progress: &dyn Progress,
) -> Result<(EventCounts, OtherEvents)> {
    let definitions = archive.definitions;
    let events =
        definitions.locations.iter().fold(0, |sum: u64, location| sum.saturating_add(location.events));
    progress.begin("reading", Some(events).filter(|&events| events > 0))?;
    let asked = WantedAttributes {
        enter_number: definitions.attribute(otf2_attributes::POLLS),
        enter_string: definitions.attribute(otf2_attributes::CALL_SITE),
        receive_number: definitions.attribute(otf2_attributes::SENT),
    };
    let (mut counts, mut others) = (EventCounts::default(), OtherEvents::default());
    for (number, (&location, &of)) in (0..).zip(&processes.threads) {
        let mut thread = LocationReader::new(processes, &mut counts, number, of);
        let (mut outcome, mut events) = (Ok(()), 0);
        let passed_over =
            reader.events(location, (asked, &definitions.calling_contexts), &mut |time, event| {
                events += 1;
                let reported =
                    if events % PROGRESS_INTERVAL == 0 { progress.step(PROGRESS_INTERVAL) } else { Ok(()) };
                outcome = reported.and_then(|()| archive.add_event(&mut thread, location, time, &event));
                outcome.is_ok()
            })?;
        outcome?;
        others.add(&passed_over);
        thread.finish(&mut |found| archive.collector.push(found))?;
    }
    Ok((counts, others))
}

/// Takes in the events of an archive.
struct ArchiveSink<'a> {
    /// The name of the archive in messages.
    name: &'a str,
    definitions: &'a Definitions,
    collector: TraceCollector,
}

impl ArchiveSink<'_> {
    /// Adds an event of a location.
    fn add_event(
        &mut self,
        thread: &mut LocationReader<'_>,
        location: u64,
        time: u64,
        event: &Event,
    ) -> Result<()> {
        let (name, clock) = (self.name, self.definitions);
        let Some(ticks) = time.checked_sub(clock.from) else {
            let from = clock.from;
            bail!("{name}, location {location}: a time of {time} is before the first of its clock, {from}");
        };
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(clock.ticks_per_s);
        let at_ns = u64::try_from(ns).unwrap_or(u64::MAX);
        let mut unsorted = None;
        let taken = thread.event(at_ns, event, &mut |found| {
            unsorted = self.collector.push(found).err();
            Ok(())
        });
        // An error of the sorter is not a fault of the archive.
        match unsorted {
            Some(error) => Err(error),
            None => taken.map_err(|error| anyhow!("{name}, location {location}: {error}")),
        }
    }
}

/// The name of a call site: a string of the archive, or the function that made the call, with its file.
fn call_site_name(definitions: &Definitions, site: CallSite) -> String {
    let text = |string: u32| definitions.string(string);
    printable(&match site {
        CallSite::String(string) => text(string).to_owned(),
        CallSite::Region(region, _) => match definitions.regions.get(&region) {
            Some(region) if text(region.file).is_empty() => text(region.name).to_owned(),
            Some(region) => format!("{} ({})", text(region.name), text(region.file)),
            None => String::new(),
        },
    })
}

/// A sentence about events of the archive that a recording does not hold.
fn describe_left_out(
    definitions: &Definitions,
    processes: &Processes,
    counts: &EventCounts,
    others: &OtherEvents,
) -> Option<String> {
    let mut parts = Vec::new();
    let mut part = |number: u64, one: &str| {
        if number > 0 {
            parts.push(plural(number, one));
        }
    };
    part(counts.regions, "non-MPI region");
    part(counts.phases.left_out, "short function");
    part(counts.unmatched_completions, "unmatched completion");
    for (kind, number) in others.iter() {
        part(number, kind.name());
    }
    let is_other = |location: &&Location| !processes.threads.contains_key(&location.location);
    let locations = definitions.locations.iter().filter(is_other);
    part(locations.count() as u64, "non-rank location");
    (!parts.is_empty()).then(|| format!("left out of the archive: {}", parts.join(", ")))
}

/// A sentence about functions of the program that the recording has as phases.
fn describe_phases(names: &[String], phases: u64) -> Option<String> {
    let more = names.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = names[..names.len().min(MAX_NAMED)].join(", ");
    (phases > 0).then(|| format!("kept as phases: {} of functions: {named}{more}", counted(phases, "call")))
}

/// What the recording will not have, a sentence each.
fn missing_sentences(definitions: &Definitions, counts: &EventCounts) -> Vec<String> {
    let mut missing = Vec::new();
    if !counts.unknown.is_empty() {
        let calls: u64 = counts.unknown.values().sum();
        let name = |region: &u32| definitions.string(definitions.regions[region].name);
        let mut names: Vec<&str> = counts.unknown.keys().map(name).collect();
        names.sort_unstable();
        let more = names.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = printable(&names[..names.len().min(MAX_NAMED)].join(", "));
        missing.push(format!("{} of functions that are not recorded: {names}{more}", counted(calls, "call")));
    }
    if counts.unknown_comm_events > 0 {
        let of = counted(counts.unknown_comm_events, "communication");
        missing.push(format!("{of}: of communicators whose members are not known as ranks"));
    }
    if counts.incomplete_receives > 0 {
        let receives = counted(counts.incomplete_receives, "posted receive");
        missing.push(format!("{receives}: the archive does not say what they received"));
    }
    if counts.unmatched_leaves > 0 {
        let regions = counted(counts.unmatched_leaves, "region");
        missing.push(format!("{regions}: left without being entered, or not left before what is around"));
    }
    if counts.cut_off > 0 {
        missing.push(format!("{}: not over when the trace ends", counted(counts.cut_off, "call")));
    }
    missing
}
