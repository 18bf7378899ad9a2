//! A trace as an OTF2 archive.
//!
//! A thread of a rank is a location, a rank a process, its node a part of the system. Each call is a region that is entered
//! and left; a message is sent where the call that sent it begins and received where the one that received it ends. Rows do
//! not say which request a call completed, so that sends and receives are told as blocking ones, in the calls that began and
//! completed them, and collectives that return before they are done only as calls.
//!
//! Ranks come one after the other, so that the library keeps buffers for the threads of one rank alone; a full buffer goes
//! to its file.

mod groups;
mod names;

use super::filter::Filter;
use super::gather::{About, Gathered, gather};
use super::item::{End, Item};
use super::source::Source;
use super::sweep::{Placed, Stage, Sweep};
use super::{Exported, plural_calls};
use crate::progress::Progress;
use crate::sorting::Sorted;
use anyhow::Result;
use groups::Groups;
use mpiscope_model::{Call, Function, Nanoseconds, Rank};
use mpiscope_otf2::{Attributes, CollectiveOp, Events, Library, NO_ROOT, UNDEFINED, Writer};
pub(crate) use names::ATTRIBUTES;
use names::{Named, PLACE, POLLS, Places, SENT, SOURCE, collective};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// How often progress is told.
const STEP: u64 = 1 << 14;

/// A location for each thread of each rank; the first thread of a rank has the number of the rank.
pub(super) struct Locations {
    by_thread: BTreeMap<(Rank, u16), u64>,
}

impl Locations {
    fn new(about: &About, ranks: u32) -> Self {
        let mut further = u64::from(ranks);
        let mut by_thread = BTreeMap::new();
        for (rank, threads) in &about.threads {
            for (at, &thread) in threads.iter().enumerate() {
                let location = if at == 0 { u64::from(*rank) } else { further };
                further += u64::from(at > 0);
                by_thread.insert((*rank, thread), location);
            }
        }
        Self { by_thread }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Rank, u16, u64)> {
        self.by_thread.iter().map(|(&(rank, thread), &location)| (rank, thread, location))
    }
}

/// Writes what is swept over.
struct Stream<'a> {
    archive: &'a Writer,
    locations: &'a Locations,
    groups: &'a Groups,
    /// Places of calls that are in the archive.
    places: &'a Places,
    /// The functions, in the order of their regions.
    functions: &'a [Function],
    /// Those of the rank at hand, by thread.
    open: BTreeMap<u16, Events<'a>>,
    /// Of each location how many events were written.
    counts: BTreeMap<u64, u64>,
    /// Collectives that are told only as calls.
    calls_alone: u64,
}

impl<'a> Stream<'a> {
    fn events(&mut self, rank: Rank, thread: u16) -> Result<&mut Events<'a>> {
        Ok(match self.open.entry(thread) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(vacant) => {
                let location = self.locations.by_thread.get(&(rank, thread)).copied().unwrap_or(rank.into());
                vacant.insert(self.archive.events(location)?)
            }
        })
    }

    /// What a collective moved, as far as a call says: what it sent, or received where it sent nothing.
    fn moved(call: &Call, op: CollectiveOp) -> (u64, u64) {
        let is_root = call.peer == Some(call.rank);
        let only_receives =
            matches!(op, CollectiveOp::Bcast | CollectiveOp::Scatter | CollectiveOp::Scatterv) && !is_root;
        if only_receives { (0, call.bytes) } else { (call.bytes, 0) }
    }
}

fn said(attributes: &mut Attributes, call: &Call, places: &Places) {
    if call.count > 1 {
        attributes.number(POLLS, call.count);
    }
    if let Some(words) = call.site.and_then(|site| places.words(site)) {
        attributes.string(PLACE, words);
    }
    if let Some(source) = call.site.and_then(|site| places.source(site)) {
        attributes.source(SOURCE, source);
    }
}

impl Stage for Stream<'_> {
    fn call(&mut self, placed: &Placed, _: Option<Nanoseconds>) -> Result<()> {
        let call = &placed.call;
        let (groups, op) = (self.groups, collective(call.function));
        let comm = call.comm.filter(|&comm| groups.has(comm));
        let collective = op.zip(comm);
        self.calls_alone += u64::from(op.is_some() && comm.is_none());
        let root = call.peer.zip(comm).and_then(|(root, comm)| groups.place(comm, root)).unwrap_or(NO_ROOT);
        let region = self.functions.binary_search(&call.function).map_or(UNDEFINED, |at| at as u32);
        let places = self.places;
        let events = self.events(call.rank, call.thread)?;
        said(events.attributes(), call, places);
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

    fn alone(&mut self, thread: u16, end: &End) -> Result<()> {
        let (peer, comm) = self.groups.peer(end.comm, end.peer);
        let first = self.locations.by_thread.range((end.rank, 0)..=(end.rank, u16::MAX)).next();
        let thread =
            if self.open.contains_key(&thread) { thread } else { first.map_or(thread, |(key, _)| key.1) };
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
            let location = self.locations.by_thread.get(&(rank, thread)).copied().unwrap_or(rank.into());
            self.counts.insert(location, events.finish()?);
        }
        Ok(())
    }
}

/// Writes the archive into a folder, where files without a name are meanwhile as well.
pub(super) fn write(
    library: &Library,
    source: &mut Source,
    filter: &Filter,
    folder: &Path,
    progress: &Progress,
) -> Result<Exported> {
    let Gathered { items, mut about } = gather(source, filter, folder, progress)?;
    // Places in communicators are counted from the first of all ranks, whichever are exported.
    let ranks = source.job.ranks.max(about.threads.keys().next_back().map_or(0, |rank| rank + 1));
    for rank in 0..ranks {
        about.threads.entry(rank).or_insert_with(|| [0].into());
    }
    let locations = Locations::new(&about, ranks);
    let groups = Groups::new(&about, source, ranks);
    let archive = Writer::create(library, folder, concat!("mpiscope ", env!("CARGO_PKG_VERSION")))?;
    progress.begin("writing", Some(about.calls + 2 * about.messages))?;
    let places = Places::new(source);
    let functions: Vec<Function> = about.functions.iter().copied().collect();
    let open = BTreeMap::new();
    let stream = Stream {
        archive: &archive,
        locations: &locations,
        groups: &groups,
        places: &places,
        functions: &functions,
        open,
        counts: BTreeMap::new(),
        calls_alone: 0,
    };
    let (counts, told) = write_all(stream, items, progress)?;
    let named = Named {
        functions: &functions,
        locations: &locations,
        counts: &counts,
        groups: &groups,
        places: &places,
    };
    named.define(&archive, source, about.until_ns)?;
    archive.finish()?;
    let mut remarks = Vec::new();
    if told.moved > 0 {
        let calls = plural_calls(told.moved);
        remarks.push(format!("{calls} began before the one before had ended, and are put behind it"));
    }
    if told.calls_alone > 0 {
        let calls = plural_calls(told.calls_alone);
        remarks.push(format!("{calls} of collectives without a known communicator are told only as calls"));
    }
    Ok(Exported { calls: about.calls, messages: about.messages, remarks })
}

/// What could not be told as it was.
struct Told {
    /// Calls that began too early.
    moved: u64,
    /// Collectives that are told only as calls.
    calls_alone: u64,
}

/// Writes all events; says how many there are of each location.
fn write_all(
    mut stream: Stream<'_>,
    items: Sorted<Item>,
    progress: &Progress,
) -> Result<(BTreeMap<u64, u64>, Told)> {
    let mut sweep = Sweep::new(&mut stream);
    let mut steps = 0;
    for item in items {
        sweep.item(&item?)?;
        steps += 1;
        if steps % STEP == 0 {
            progress.step(STEP)?;
        }
    }
    let moved = sweep.finish()?;
    let Stream { archive, locations, mut counts, calls_alone, .. } = stream;
    for (.., location) in locations.iter() {
        if let Entry::Vacant(none) = counts.entry(location) {
            // A location without events has a file as well.
            none.insert(archive.events(location)?.finish()?);
            progress.step(0)?;
        }
    }
    Ok((counts, Told { moved, calls_alone }))
}
