//! Events as the messages that the log of a real run holds.
//!
//! Each event is a call of its own. Calls of a rank that overlap were made by several threads: each goes to the first
//! whose calls are over by then. Calls of one thread come in the order of time, and so do those that ingest merges.

use super::event::Event;
use super::seen::Seen;
use anyhow::Result;
use mpiscope_wire::{
    Call, CallFlags, ClockKind, CommDefinition, EndState, Entry, Knot, Lost, Message, NO_COMM, Process,
    RunEnd, RunStart, Slot, Slots,
};
use std::collections::HashSet;

/// The clock at the start of the run. It is as good as any.
const ZERO_NS: u64 = 1_000_000_000;
/// More threads than the rings of a process; what overlaps beyond that overlaps in the last.
const MOST_THREADS: usize = 64;
/// Slots of all ranks that are told at once: less than what fits into a frame.
pub(crate) const MOST_SLOTS: usize = 1 << 15;
const LIBRARY: &str = "an imported table";

/// A job of which a table tells.
pub(crate) struct Job<'a> {
    pub(crate) seen: &'a Seen,
    /// Of each rank its node.
    pub(crate) nodes: &'a [String],
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

/// A thread of a rank.
#[derive(Default)]
struct Thread {
    /// When its last call ended.
    busy_until_ns: u64,
    /// How many slots were told.
    told: u64,
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Rank {
    threads: Vec<Thread>,
    /// When its newest event was, and of which thread.
    newest: (u64, usize),
    has_world: bool,
    /// Whether it has slots that were not told.
    waits: bool,
}

/// What is told of.
struct Telling<'a> {
    job: &'a Job<'a>,
    ranks: Vec<Rank>,
    /// The communicators that ranks have defined, but for the world.
    defined: HashSet<(u32, u32)>,
    /// Ranks with slots that were not told, and how many these are.
    waiting: Vec<u32>,
    waiting_slots: usize,
}

/// Tells events, which come in the order of time, some slots at once; says how many ranks had calls that overlap.
pub(crate) fn tell(
    job: &Job<'_>,
    events: impl Iterator<Item = Result<Event>>,
    most_slots: usize,
    sink: &mut dyn FnMut(Message),
) -> Result<u64> {
    let mut telling = Telling {
        job,
        ranks: job.nodes.iter().map(|_| Rank::default()).collect(),
        defined: HashSet::new(),
        waiting: Vec::new(),
        waiting_slots: 0,
    };
    telling.introduce(sink);
    for event in events {
        let event = event?;
        if telling.waiting_slots >= most_slots {
            // All that ended before this moment was told.
            telling.flush(event.timestamp_ns, sink);
        }
        telling.event(&event);
    }
    telling.end(sink);
    Ok(telling.ranks.iter().filter(|rank| rank.threads.len() > 1).count() as u64)
}

impl Telling<'_> {
    /// A time of the table on the clock of the run.
    fn clock_ns(&self, table_ns: u64) -> u64 {
        ZERO_NS + (table_ns - self.job.seen.from_ns)
    }

    fn introduce(&self, sink: &mut dyn FnMut(Message)) {
        let Job { nodes, name, command, .. } = self.job;
        sink(Message::RunStart(RunStart {
            run: name.clone(),
            node: nodes[0].clone(),
            // When the run began is in no table.
            unix_ns: 0,
            monotonic_ns: ZERO_NS,
            command: command.clone(),
        }));
        for (rank, node) in (0..).zip(*nodes) {
            sink(Message::Process(Process {
                process: rank,
                pid: 0,
                made_ns: ZERO_NS,
                rank,
                world_size: nodes.len() as u32,
                clock: ClockKind::Monotonic,
                cost_per_call_ns: 0.0,
                library: LIBRARY.into(),
                node: node.clone(),
            }));
        }
        self.knot(self.job.seen.from_ns, sink);
    }

    fn knot(&self, table_ns: u64, sink: &mut dyn FnMut(Message)) {
        let now_ns = self.clock_ns(table_ns);
        sink(Message::Knot(Knot { ticks: now_ns, monotonic_ns: now_ns }));
    }

    fn event(&mut self, event: &Event) {
        let start = self.clock_ns(event.start_ns());
        let call = Call {
            flags: if event.sends { CallFlags::SEND } else { CallFlags::RECEIVE },
            function: event.function,
            duration: event.duration_ns,
            start,
            peer: event.peer as i32,
            comm: event.comm,
            site: 0,
            tag: event.tag,
            bytes: event.bytes,
        };
        let at = event.rank as usize;
        let thread = self.ranks[at].thread(event);
        self.define(event);
        let rank = &mut self.ranks[at];
        if !std::mem::replace(&mut rank.waits, true) {
            self.waiting.push(event.rank);
        }
        let slots = &mut rank.threads[thread].slots;
        let before = slots.len();
        if call.needs_wide() {
            slots.push(call.encode_wide());
        }
        slots.push(call.encode());
        self.waiting_slots += slots.len() - before;
    }

    /// Says what a communicator is, in the first of the rank's rings: it is told before the others.
    fn define(&mut self, event: &Event) {
        let rank = &mut self.ranks[event.rank as usize];
        let definition = if event.comm == 0 {
            if std::mem::replace(&mut rank.has_world, true) {
                return;
            }
            let size = self.job.nodes.len() as u32;
            CommDefinition {
                index: 0,
                id: 0,
                size,
                own_rank: event.rank,
                leader: 0,
                parent: NO_COMM,
                other: None,
            }
        } else {
            let members = self
                .job
                .seen
                .members
                .get(&event.comm)
                .filter(|_| self.defined.insert((event.rank, event.comm)));
            let Some(members) = members else { return };
            CommDefinition {
                index: event.comm,
                id: event.comm.into(),
                size: members.len() as u32,
                own_rank: members.range(..event.rank).count() as u32,
                leader: members.first().copied().unwrap_or_default(),
                parent: NO_COMM,
                other: None,
            }
        };
        rank.threads[0].slots.push(definition.encode());
        self.waiting_slots += 1;
    }

    /// Tells all slots that wait. Nothing that is told later ends before this moment.
    fn flush(&mut self, table_ns: u64, sink: &mut dyn FnMut(Message)) {
        self.waiting_slots = 0;
        for process in self.waiting.drain(..) {
            let rank = &mut self.ranks[process as usize];
            rank.waits = false;
            for (ring, thread) in (0..).zip(&mut rank.threads) {
                let slots = std::mem::take(&mut thread.slots);
                if slots.is_empty() {
                    continue;
                }
                let from = thread.told;
                thread.told += slots.len() as u64;
                sink(Message::Slots(Slots { process, ring, from, slots }));
            }
        }
        self.knot(table_ns, sink);
    }

    fn end(&mut self, sink: &mut dyn FnMut(Message)) {
        let to_ns = self.job.seen.to_ns;
        self.flush(to_ns, sink);
        for process in 0..self.ranks.len() as u32 {
            let state = EndState::Finalized;
            sink(Message::Lost(Lost { process, ring_full: 0, no_ring: 0, unreadable: 0, state }));
        }
        // How it ended is in no table either, and will be taken out again: a run whose end is not known was cut off.
        sink(Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns: self.clock_ns(to_ns) }));
    }
}

impl Rank {
    /// Finds the thread that made a call.
    fn thread(&mut self, event: &Event) -> usize {
        let (start_ns, end_ns) = (event.start_ns(), event.end_ns());
        // Events of one moment keep their order when those of several threads are merged by time.
        let first = if self.newest.0 == event.timestamp_ns { self.newest.1 } else { 0 };
        let free = (first..self.threads.len()).find(|&at| self.threads[at].busy_until_ns <= start_ns);
        let at = free.unwrap_or_else(|| {
            if self.threads.len() < MOST_THREADS {
                let number = self.threads.len() as u64;
                let slots = vec![Entry::encode_thread(number, number)];
                self.threads.push(Thread { slots, ..Thread::default() });
            }
            self.threads.len() - 1
        });
        self.threads[at].busy_until_ns = self.threads[at].busy_until_ns.max(end_ns);
        self.newest = (event.timestamp_ns, at);
        at
    }
}
