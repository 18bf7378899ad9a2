//! The events of one location as calls: what is entered and left, with the messages between.

use super::super::pairing::Received;
use super::super::step::{Called, Collective, Moved, Place, Step, What};
use super::super::telling::Members;
use super::super::trace::{Found, MOST_NS, Sink, sum_bytes};
use super::world::Processes;
use anyhow::{Result, bail};
use mpiscope_otf2::{CollectiveOp, Event, NO_ROOT};
use mpiscope_wire::{FUNCTIONS, id};
use std::collections::HashMap;

/// What is counted of all locations.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    /// When the first call began and the last ended, and of which threads, as all are counted.
    pub(crate) from: Option<(u64, u32)>,
    pub(crate) to: (u64, u32),
    /// Bytes of all messages that were sent.
    bytes: u64,
    /// Calls of MPI that are not recorded, by region.
    pub(crate) unknown: HashMap<u32, u64>,
    /// Calls that were not left.
    pub(crate) cut_off: u64,
    /// Messages and collectives of communicators of which the ranks are not known.
    pub(crate) strange: u64,
    /// Regions that were entered and are not of MPI.
    pub(crate) regions: u64,
}

/// A call that was entered.
#[derive(Debug)]
struct Open {
    function: u16,
    start_ns: u64,
    count: u64,
    site: u32,
    /// How deep it is.
    depth: usize,
    collective: Option<Collective>,
}

/// A message of a call that is not over.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    moved: Moved,
    /// When its message was sent or it was posted, where the archive says so.
    order_ns: Option<u64>,
}

/// Receives that were posted and are not complete.
const MOST_POSTED: usize = 1 << 22;

/// One location.
pub(crate) struct Thread<'a> {
    processes: &'a Processes,
    counts: &'a mut Counts,
    rank: u32,
    thread: u16,
    /// Which of all it is.
    number: u32,
    /// Calls, and messages.
    calls: u64,
    messages: u64,
    /// When the receive of each request was posted.
    posted: HashMap<u64, u64>,
    /// Regions that were entered, the innermost last.
    regions: Vec<u32>,
    open: Option<Open>,
    /// Messages of the call that is open.
    moved: Vec<Waiting>,
    last_ns: u64,
}

/// Regions within each other.
const MOST_DEPTH: usize = 1 << 16;

impl<'a> Thread<'a> {
    pub(crate) fn new(
        processes: &'a Processes,
        counts: &'a mut Counts,
        number: u32,
        (rank, thread): (u32, u16),
    ) -> Self {
        Self {
            processes,
            counts,
            rank,
            thread,
            number,
            calls: 0,
            messages: 0,
            posted: HashMap::new(),
            regions: Vec::new(),
            open: None,
            moved: Vec::new(),
            last_ns: 0,
        }
    }

    /// Takes an event at a time; calls that are over go to `sink`.
    pub(crate) fn event(&mut self, at_ns: u64, event: &Event, sink: &mut Sink<'_>) -> Result<()> {
        if at_ns < self.last_ns {
            bail!("times run backwards, from {} to {at_ns} ns", self.last_ns);
        }
        if at_ns > MOST_NS {
            bail!("a time of {at_ns} ns is beyond what any run takes");
        }
        self.last_ns = at_ns;
        match *event {
            Event::Enter { region, number, string } => self.enter(at_ns, region, number, string),
            Event::Leave { region } => self.leave(at_ns, region, sink),
            Event::Send { peer, comm, tag, bytes } => {
                self.counts.bytes = sum(self.counts.bytes, bytes)?;
                self.message(at_ns, (peer, comm, tag, bytes), false, None, sink)
            }
            Event::Receive { peer, comm, tag, bytes, request, number } => {
                let posted = request.and_then(|request| self.posted.remove(&request));
                self.message(at_ns, (peer, comm, tag, bytes), true, number.or(posted), sink)
            }
            Event::Posted { request } => {
                if self.posted.len() >= MOST_POSTED {
                    bail!("more than {MOST_POSTED} receives are posted and not complete");
                }
                self.posted.insert(request, at_ns);
                Ok(())
            }
            Event::CollectiveEnd { op, comm, root, sent, received } => {
                self.collective(at_ns, (op, comm, root), (sent, received), sink)
            }
        }
    }

    fn enter(&mut self, at_ns: u64, region: u32, number: Option<u64>, string: Option<u32>) -> Result<()> {
        if self.regions.len() >= MOST_DEPTH {
            bail!("more than {MOST_DEPTH} regions are entered within each other");
        }
        self.regions.push(region);
        match self.processes.regions.get(&region) {
            // What an MPI library calls within is its own business.
            Some(_) if self.open.is_some() => {}
            Some(&Some(function)) => {
                let (count, site) =
                    (number.unwrap_or(1).max(1), string.map_or(0, |string| string.saturating_add(1)));
                let depth = self.regions.len();
                self.open = Some(Open { function, start_ns: at_ns, count, site, depth, collective: None });
            }
            Some(None) => *self.counts.unknown.entry(region).or_default() += 1,
            None => self.counts.regions += 1,
        }
        Ok(())
    }

    fn leave(&mut self, at_ns: u64, region: u32, sink: &mut Sink<'_>) -> Result<()> {
        let Some(&last) = self.regions.last() else {
            // It was entered before the trace begins.
            return Ok(());
        };
        if last != region {
            bail!("at {at_ns} ns a region is left that was not entered last");
        }
        if self.open.as_ref().is_some_and(|open| open.depth == self.regions.len())
            && let Some(open) = self.open.take()
        {
            self.close(&open, at_ns, sink)?;
        }
        self.regions.pop();
        Ok(())
    }

    fn close(&mut self, open: &Open, end_ns: u64, sink: &mut Sink<'_>) -> Result<()> {
        let counts = &mut *self.counts;
        counts.calls += 1;
        let began = (open.start_ns, self.number);
        counts.from = Some(counts.from.map_or(began, |from| from.min(began)));
        counts.to = counts.to.max((end_ns, self.number));
        let &Open { function, start_ns, count, site, collective, .. } = open;
        let (rank, thread) = (self.rank, self.thread);
        let place = Place { end_ns, thread: self.number, call: self.calls };
        self.calls += 1;
        for Waiting { moved, order_ns } in self.moved.drain(..) {
            self.messages += 1;
            sink(if moved.is_receive {
                let order = (order_ns.unwrap_or(start_ns), self.messages);
                Found::Received(Received { rank, order, place, moved })
            } else {
                Found::Step(Step { place, order: self.messages, what: What::Message(moved) })
            })?;
        }
        let call = Called { start_ns, rank, thread, function, count, site, collective };
        sink(Found::Step(Step { place, order: 0, what: What::Call(call) }))
    }

    /// A call that takes no time, for what happens outside of all calls.
    fn instant(
        &mut self,
        at_ns: u64,
        function: u16,
        collective: Option<Collective>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let open = Open { function, start_ns: at_ns, count: 1, site: 0, depth: 0, collective };
        self.close(&open, at_ns, sink)
    }

    fn message(
        &mut self,
        at_ns: u64,
        (peer, comm, tag, bytes): (u32, u32, u32, u64),
        is_receive: bool,
        order_ns: Option<u64>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        if self.is_strange(comm) {
            return Ok(());
        }
        let peer = self.rank_in(comm, peer)?;
        let Ok(tag) = i32::try_from(tag) else { bail!("at {at_ns} ns a message has a tag of {tag}") };
        let comm = self.processes.comms.get(&comm).copied().unwrap_or_default();
        let moved = Moved { peer, tag, comm, bytes, is_receive, post: None };
        self.moved.push(Waiting { moved, order_ns });
        if self.open.is_none() {
            self.instant(at_ns, if is_receive { id::RECV } else { id::SEND }, None, sink)?;
        }
        Ok(())
    }

    fn collective(
        &mut self,
        at_ns: u64,
        (op, comm, root): (u8, u32, u32),
        (sent, received): (u64, u64),
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(op) = CollectiveOp::of(op) else { return Ok(()) };
        if self.is_strange(comm) {
            return Ok(());
        }
        // Beyond the ranks are words for no root, and for those of two groups.
        let is_rank = root < NO_ROOT - 2;
        let root = if is_rank { Some(self.rank_in(comm, root)?) } else { None };
        self.known(comm)?;
        let comm = self.processes.comms.get(&comm).copied().unwrap_or_default();
        // What it sent, or received where it sent nothing.
        let bytes = if sent > 0 { sent } else { received };
        sum(0, bytes)?;
        let collective = Some(Collective { comm, root, bytes });
        let function = FUNCTIONS.iter().find(|entry| entry.name == op.function()).map(|entry| entry.id);
        match (&mut self.open, function) {
            (Some(open), Some(function)) if open.function == function || is_collective(open.function) => {
                open.collective = collective;
                Ok(())
            }
            (None, Some(function)) => self.instant(at_ns, function, collective, sink),
            _ => Ok(()),
        }
    }

    /// Whether nobody knows which ranks are in a communicator; counts what is told of it.
    fn is_strange(&mut self, comm: u32) -> bool {
        let is_strange = self.processes.strange_comms.contains(&comm);
        self.counts.strange += u64::from(is_strange);
        is_strange
    }

    fn known(&self, comm: u32) -> Result<()> {
        if self.processes.comms.contains_key(&comm) {
            Ok(())
        } else {
            bail!("communicator {comm} is not defined")
        }
    }

    /// A place in a communicator, as a rank of the world.
    fn rank_in(&self, comm: u32, place: u32) -> Result<u32> {
        self.known(comm)?;
        let number = self.processes.comms[&comm];
        let at = place as usize;
        let found = match self.processes.members.get(&number) {
            None => Some(place).filter(|_| at < self.processes.nodes.len()),
            Some(Members::Group(group)) => group.get(at).copied(),
            Some(Members::Alone) => Some(self.rank).filter(|_| at == 0),
            // Those of one group talk with those of the other.
            Some(Members::Between(first, second)) => {
                let other = if first.contains(&self.rank) { second } else { first };
                other.get(at).copied()
            }
        };
        match found {
            Some(rank) => Ok(rank),
            None => bail!("communicator {comm} has no rank {place}"),
        }
    }

    /// The location is over.
    pub(crate) fn finish(self) {
        self.counts.cut_off += u64::from(self.open.is_some());
    }
}

/// Whether a call that is open may be what a collective is told of.
fn is_collective(function: u16) -> bool {
    use mpiscope_wire::Family::{All, Barrier, Rooted};
    mpiscope_wire::by_id(function).is_some_and(|entry| matches!(entry.family, Barrier | Rooted | All))
}

fn sum(sum: u64, more: u64) -> Result<u64> {
    match sum_bytes(sum, more) {
        Some(sum) => Ok(sum),
        None => bail!("the sizes of all messages add up to more than 4 EiB"),
    }
}
