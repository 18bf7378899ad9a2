//! Writes a trace as an OTF2 archive.
//!
//! A thread is a location, a rank a process, a node a node of the system tree. Each call is a region that is entered and left.
//! A message is sent where the sending call begins and received where the receiving call ends. Rows do not say which request a
//! call completed: sends and receives are written as blocking ones, and nonblocking collectives only as calls.
//!
//! Ranks come one after the other: the library keeps buffers for the threads of one rank only. A full buffer goes to its file.

mod definitions;
mod groups;
mod locations;

use super::filter::Filter;
use super::gather::{Gathered, TraceContents, gather_items};
use super::item::{Item, MessageEnd};
use super::source::Source;
use super::summary::ExportSummary;
use super::sweep::{CallSink, CallWithEnds, Sweep, moved_remark};
use crate::external_sort::SortedRecords;
use crate::progress::{Progress, report_items};
use anyhow::Result;
use definitions::{ArchiveDefinitions, CALL_SITE, CallSites, POLLS, SENT, SOURCE, collective};
use groups::Groups;
use locations::Locations;
use mpiscope_model::words::plural;
use mpiscope_model::{Call, Function, Nanoseconds, Rank};
use mpiscope_otf2::{Attributes, CollectiveOp, Events, Library, NO_ROOT, UNDEFINED, Writer};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// Writes the events of calls and messages.
struct EventWriter<'a> {
    archive: &'a Writer,
    locations: &'a Locations,
    groups: &'a Groups,
    /// Call sites that are defined in the archive.
    call_sites: &'a CallSites,
    /// The functions, in the order of their regions.
    functions: &'a [Function],
    /// Open locations of the current rank, by thread.
    open: BTreeMap<u16, Events<'a>>,
    /// The number of events of each location.
    counts: BTreeMap<u64, u64>,
    /// Collectives that are written only as calls.
    calls_alone: u64,
}

impl<'a> EventWriter<'a> {
    fn events(&mut self, rank: Rank, thread: u16) -> Result<&mut Events<'a>> {
        Ok(match self.open.entry(thread) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(vacant) => {
                let location = self.locations.number(rank, thread);
                vacant.insert(self.archive.events(location)?)
            }
        })
    }

    /// Bytes that a collective sent and received, as far as the call says.
    fn moved(call: &Call, op: CollectiveOp) -> (u64, u64) {
        let is_root = call.peer == Some(call.rank);
        let only_receives =
            matches!(op, CollectiveOp::Bcast | CollectiveOp::Scatter | CollectiveOp::Scatterv) && !is_root;
        if only_receives { (0, call.bytes) } else { (call.bytes, 0) }
    }
}

fn set_attributes(attributes: &mut Attributes, call: &Call, call_sites: &CallSites) {
    if call.count > 1 {
        attributes.number(POLLS, call.count);
    }
    if let Some(words) = call.site.and_then(|site| call_sites.words(site)) {
        attributes.string(CALL_SITE, words);
    }
    if let Some(source) = call.site.and_then(|site| call_sites.source(site)) {
        attributes.source(SOURCE, source);
    }
}

impl CallSink for EventWriter<'_> {
    fn call(&mut self, placed: &CallWithEnds, _: Option<Nanoseconds>) -> Result<()> {
        let call = &placed.call;
        let (groups, op) = (self.groups, collective(call.function));
        let comm = call.comm.filter(|&comm| groups.has(comm));
        let collective = op.zip(comm);
        self.calls_alone += u64::from(op.is_some() && comm.is_none());
        let root = call.peer.zip(comm).and_then(|(root, comm)| groups.place(comm, root)).unwrap_or(NO_ROOT);
        let region = self.functions.binary_search(&call.function).map_or(UNDEFINED, |at| at as u32);
        let call_sites = self.call_sites;
        let events = self.events(call.rank, call.thread)?;
        set_attributes(events.attributes(), call, call_sites);
        events.enter(call.start_ns, region)?;
        if collective.is_some() {
            events.collective_begin(call.start_ns)?;
        }
        for end in &placed.sent {
            let (peer, comm) = groups.peer(end.comm, end.peer);
            events.send(call.start_ns, peer, comm, end.tag.cast_unsigned(), end.bytes)?;
        }
        for end in &placed.received {
            let (peer, comm) = groups.peer(end.comm, end.peer);
            events.attributes().number(SENT, end.sent_ns);
            events.receive(call.end_ns, peer, comm, end.tag.cast_unsigned(), end.bytes)?;
        }
        if let Some((op, comm)) = collective {
            events.collective_end(call.end_ns, op, (groups.number(comm), root), Self::moved(call, op))?;
        }
        events.leave(call.end_ns, region)?;
        Ok(())
    }

    fn alone(&mut self, thread: u16, end: &MessageEnd) -> Result<()> {
        let (peer, comm) = self.groups.peer(end.comm, end.peer);
        let first = self.locations.first_thread(end.rank);
        let thread = if self.open.contains_key(&thread) { thread } else { first.unwrap_or(thread) };
        let events = self.events(end.rank, thread)?;
        if end.is_receive {
            events.attributes().number(SENT, end.sent_ns);
            events.receive(end.at_ns, peer, comm, end.tag.cast_unsigned(), end.bytes)?;
        } else {
            events.send(end.at_ns, peer, comm, end.tag.cast_unsigned(), end.bytes)?;
        }
        Ok(())
    }

    fn rank_is_over(&mut self, rank: Rank) -> Result<()> {
        for (thread, events) in std::mem::take(&mut self.open) {
            let location = self.locations.number(rank, thread);
            self.counts.insert(location, events.finish()?);
        }
        Ok(())
    }
}

/// Gives each rank of the job a thread; returns how many there are. Places in communicators count all ranks, also those that
/// are not exported.
fn add_all_ranks(about: &mut TraceContents, source: &Source<'_>) -> u32 {
    let last = about.threads.keys().next_back().map_or(0, |rank| rank.0.saturating_add(1));
    let ranks = source.job.plausible_ranks().max(last);
    for rank in Rank::all(ranks) {
        about.threads.entry(rank).or_insert_with(|| [0].into());
    }
    ranks
}

/// Writes an archive into a folder; what has to be sorted waits in a file without a name there.
///
/// # Errors
/// When the recording cannot be read, the archive cannot be written, or the work is given up.
pub fn write_otf2(
    library: &Library,
    source: &mut Source<'_>,
    filter: &Filter,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<ExportSummary> {
    let Gathered { items, mut about } = gather_items(source, filter, folder, progress)?;
    let ranks = add_all_ranks(&mut about, source);
    let locations = Locations::new(&about, ranks);
    let groups = Groups::new(&about, source, ranks);
    let archive = Writer::create(library, folder, concat!("mpiscope ", env!("CARGO_PKG_VERSION")))?;
    progress.begin("writing", Some(about.calls + 2 * about.messages))?;
    let call_sites = CallSites::new(source);
    let functions: Vec<Function> = about.functions.iter().copied().collect();
    let open = BTreeMap::new();
    let writer = EventWriter {
        archive: &archive,
        locations: &locations,
        groups: &groups,
        call_sites: &call_sites,
        functions: &functions,
        open,
        counts: BTreeMap::new(),
        calls_alone: 0,
    };
    let (counts, approximations) = write_all(writer, items, progress)?;
    let definitions = ArchiveDefinitions {
        functions: &functions,
        locations: &locations,
        counts: &counts,
        groups: &groups,
        call_sites: &call_sites,
    };
    definitions.write(&archive, source, about.until_ns)?;
    archive.finish()?;
    Ok(ExportSummary { calls: about.calls, messages: about.messages, remarks: approximations.remarks() })
}

/// What had to be changed or left out.
struct Approximations {
    /// Calls that began too early.
    moved: u64,
    /// Collectives that are written only as calls.
    calls_alone: u64,
}

impl Approximations {
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::from_iter(moved_remark(self.moved));
        if self.calls_alone > 0 {
            let calls = plural(self.calls_alone, "call");
            remarks.push(format!(
                "{calls} of collectives without a known communicator are written only as calls"
            ));
        }
        remarks
    }
}

/// Writes all events. Returns the number of events of each location.
fn write_all(
    mut writer: EventWriter<'_>,
    items: SortedRecords<Item>,
    progress: &dyn Progress,
) -> Result<(BTreeMap<u64, u64>, Approximations)> {
    let mut sweep = Sweep::new(&mut writer);
    for item in report_items(items, progress) {
        sweep.item(&item?)?;
    }
    let moved = sweep.finish()?;
    let EventWriter { archive, locations, mut counts, calls_alone, .. } = writer;
    for (.., location) in locations.iter() {
        if let Entry::Vacant(none) = counts.entry(location) {
            // A location without events needs a file as well.
            none.insert(archive.events(location)?.finish()?);
            progress.step(0)?;
        }
    }
    Ok((counts, Approximations { moved, calls_alone }))
}
