//! What is known of one process while its slots are read.

use crate::clock::EarlierLine;
use crate::closed_call::{Closed, ClosingPart};
use crate::effect::{Functions, Undiagnosed};
use crate::memory_budget::MemoryBudget;
use crate::ring::{Output, RingState};
use crate::settled::Readable;
use crate::site::OwnSites;
use crate::timed_event::Timed;
use mpiscope_model::{Batch, Comm, Event, Nanoseconds, Rank, Side};
use mpiscope_wire::{Call, ClockKind, PartFlags, Process};
use rustc_hash::FxHashMap;

/// One process.
#[derive(Debug)]
pub(crate) struct ProcessInput {
    /// The number of its agent.
    pub(crate) agent: u32,
    /// Its process id and when it made its rings.
    pub(crate) identity: (u32, u64),
    pub(crate) rank: Rank,
    pub(crate) world_size: u32,
    pub(crate) clock: ClockKind,
    /// How many processes had this rank before: their communicators are others.
    pub(crate) generation: u32,
    /// The process's own numbers of communicators, as indices of the run.
    pub(crate) comms: FxHashMap<u32, Comm>,
    /// By which handles it knows them, its own numbers.
    pub(crate) handles: FxHashMap<u64, u32>,
    /// To which group of a communicator it belongs, by its own number, where there are two.
    pub(crate) sides: FxHashMap<u32, Side>,
    pub(crate) rings: Vec<RingState>,
    pub(crate) sites: OwnSites,
    pub(crate) undiagnosed: Undiagnosed,
    /// An incomplete name, and whose it is.
    pub(crate) naming: (u32, Vec<u8>),
    last_post: u64,
    /// Events of each ring since the last clock sample.
    pub(crate) events: Vec<Vec<Timed>>,
    /// Messages that a matched probe reported and that were not received yet, by their posts: since when.
    pub(crate) matched: FxHashMap<u64, u64>,
    /// A line of its clock that was looked up.
    pub(crate) earlier_line: EarlierLine,
    /// Slots whose times are known and that were not read yet.
    pub(crate) unread: Vec<Readable>,
}

/// A process: its agent's number, then the agent's number of it.
pub(crate) type Key = (u32, u32);

/// All processes. Slots find theirs once and then by its index.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    indices: FxHashMap<Key, usize>,
    inputs: Vec<ProcessInput>,
}

impl Processes {
    pub(crate) fn index(&self, key: Key) -> Option<usize> {
        self.indices.get(&key).copied()
    }

    pub(crate) fn contains(&self, key: Key) -> bool {
        self.indices.contains_key(&key)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&ProcessInput> {
        self.inputs.get(self.index(key)?)
    }

    /// The process with an index.
    pub(crate) fn by_index(&mut self, index: usize) -> Option<&mut ProcessInput> {
        self.inputs.get_mut(index)
    }

    /// Those with slots that are to be read.
    pub(crate) fn unread(&mut self) -> impl Iterator<Item = &mut ProcessInput> {
        self.inputs.iter_mut().filter(|input| !input.unread.is_empty())
    }

    /// Adds a process that is not in yet.
    pub(crate) fn add(&mut self, key: Key, input: ProcessInput) {
        self.indices.insert(key, self.inputs.len());
        self.inputs.push(input);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &ProcessInput)> {
        self.indices.iter().filter_map(|(&key, &index)| Some((key, self.inputs.get(index)?)))
    }
}

/// What batches contain of calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The rows of calls.
    pub(crate) rows: bool,
    /// Their effects.
    pub(crate) effects: bool,
}

/// More rings than a region can have.
const MOST_RINGS: u32 = 64;

impl ProcessInput {
    pub(crate) fn new(agent: u32, process: &Process, generation: u32) -> Self {
        Self {
            agent,
            identity: (process.pid, process.made_ns),
            rank: Rank(process.rank),
            world_size: process.world_size,
            clock: process.clock,
            generation,
            comms: FxHashMap::default(),
            handles: FxHashMap::default(),
            sides: FxHashMap::default(),
            rings: Vec::new(),
            sites: OwnSites::default(),
            undiagnosed: Undiagnosed::default(),
            naming: (0, Vec::new()),
            last_post: 0,
            events: Vec::new(),
            matched: FxHashMap::default(),
            earlier_line: EarlierLine::default(),
            unread: Vec::new(),
        }
    }

    /// Its own number of the communicator that it knows by a handle. Of handles in 32 bits the others mean nothing.
    fn number_of(&self, handle: u64) -> Option<u32> {
        let short = || self.handles.get(&(handle & u64::from(u32::MAX)));
        self.handles.get(&handle).or_else(short).copied()
    }

    /// The communicator that it knows by a handle.
    pub(crate) fn comm_of(&self, handle: u64) -> Option<Comm> {
        self.comms.get(&self.number_of(handle)?).copied()
    }

    /// To which group of that it belongs.
    pub(crate) fn side_of(&self, handle: u64) -> Side {
        let side = self.number_of(handle).and_then(|number| self.sides.get(&number));
        side.copied().unwrap_or(Side::Only)
    }

    /// The state of a ring; `None` when there can be no such ring, or no room for it.
    pub(crate) fn ring(&mut self, ring: u32, budget: &mut MemoryBudget) -> Option<usize> {
        let at = ring as usize;
        let new = (at + 1).saturating_sub(self.rings.len());
        if ring >= MOST_RINGS || new > 0 && !budget.take(new * size_of::<(RingState, Vec<Timed>)>()) {
            return None;
        }
        while self.rings.len() <= at {
            self.rings.push(RingState::new(self.rings.len() as u16));
            self.events.push(Vec::new());
        }
        Some(at)
    }

    /// The full number of a post whose low half travelled.
    pub(crate) fn full_post(&mut self, low: u64) -> u64 {
        const HALF: u64 = 1 << 32;
        let mut full = (self.last_post & !(HALF - 1)) | (low & (HALF - 1));
        if full + HALF / 2 < self.last_post {
            full += HALF;
        } else if full > self.last_post + HALF / 2 && full >= HALF {
            full -= HALF;
        }
        self.last_post = self.last_post.max(full);
        full
    }

    /// Events since the last clock sample, in the order of the process, and when their calls returned.
    pub(crate) fn take_events(&mut self, out: &mut Vec<Event>, ends_ns: Option<&mut Vec<Nanoseconds>>) {
        let mut filled = self.events.iter_mut().filter(|events| !events.is_empty());
        let Some(merged) = filled.next() else { return };
        if filled.map(|events| merged.append(events)).count() > 0 {
            // Several threads called: a stable sort keeps the order of each and merges them by time.
            merged.sort_by_key(|timed| timed.at_ns);
        }
        if let Some(ends_ns) = ends_ns {
            ends_ns.extend(merged.iter().map(|timed| timed.end_ns));
        }
        out.extend(merged.drain(..).map(|timed| timed.event));
    }

    /// To which group of its communicator a call belongs, or the collective that it starts.
    #[inline]
    pub(crate) fn side_of_call(&self, call: &Call, parts: &[ClosingPart]) -> Side {
        if self.sides.is_empty() {
            return Side::Only;
        }
        let started = parts.iter().find(|(part, _)| part.flags == PartFlags::STARTED);
        let comm = started.map_or(call.comm, |(part, _)| part.comm);
        self.sides.get(&comm).copied().unwrap_or(Side::Only)
    }

    /// A call closes its group: rows, messages and effects go into the batch.
    #[inline]
    pub(crate) fn close(
        &mut self,
        ring: usize,
        closed: &Closed,
        batch: &mut Batch,
        wanted: Wanted,
        functions: &Functions,
    ) {
        let mut out = Output {
            calls: wanted.rows.then_some(&mut batch.calls),
            lone_polls: &mut batch.lone_polls,
            activities: wanted.effects.then_some(&mut batch.activities),
            collected: [&mut batch.collected, &mut batch.undiagnosed],
            events: &mut self.events[ring],
            matched: &mut self.matched,
            undiagnosed: &mut self.undiagnosed,
            functions,
        };
        self.rings[ring].close(self.rank, closed, &mut out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_halves_become_whole_again() {
        let process = Process {
            process: 0,
            pid: 1,
            made_ns: 0,
            rank: 0,
            world_size: 1,
            clock: ClockKind::Monotonic,
            cost_per_call_ns: 0.0,
            library: String::new(),
            node: String::new(),
        };
        let mut process = ProcessInput::new(0, &process, 0);
        let numbers = [0, 1, 5, (1 << 32) - 1, 1 << 32, (1 << 32) - 2, (1 << 32) + 7, (3 << 31) - 9, 7 << 30];
        for number in numbers {
            assert_eq!(process.full_post(number & 0xFFFF_FFFF), number);
        }
    }
}
