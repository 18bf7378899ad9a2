//! What is known of a run so far, and what of it is asked for.

use crate::decoded::Decoded;
use crate::effect::Functions;
use crate::memory_budget::MemoryBudget;
use crate::origin::Origin;
use crate::process::{Key, Processes, Wanted};
use crate::settled::Settled;
use crate::site::Sites;
use mpiscope_model::{Batch, Comm, Gap, Nanoseconds, Rank, RankInfo, Side};
use mpiscope_wire::{LastCalls, Lost, RunEnd, RunStart, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// For fewer slots, some milliseconds of work, a thread costs more than it brings.
const LEAST_FOR_THREAD: usize = 1 << 14;

/// Reads frames of a run.
#[derive(Debug)]
pub struct Ingest {
    /// By number; the daemon's own first.
    pub(super) origins: Vec<Origin>,
    /// Whose messages are being fed.
    pub(super) origin: u32,
    /// The moment that is time zero, on the daemon's monotonic clock.
    pub(super) zero_ns: u64,
    pub(super) processes: Processes,
    pub(super) infos: FxHashMap<Key, RankInfo>,
    /// By process: how long it was stopped and blocked while earlier agents looked, and while this one did.
    pub(super) halted_ns: FxHashMap<Key, [(u64, u64); 2]>,
    pub(super) generations: FxHashMap<Rank, u32>,
    pub(super) nodes: Vec<String>,
    /// Communicators by generation and identity.
    pub(super) comms: FxHashMap<(u32, u64), Comm>,
    pub(super) comms_told: FxHashSet<Comm>,
    /// The rank of each process in each group of a communicator.
    pub(super) members: FxHashMap<(Comm, Side, u32), Rank>,
    /// The last calls of processes, with their agents, until they can be published.
    pub(super) last_calls: Vec<(u32, LastCalls)>,
    pub(super) comm_names: FxHashMap<Comm, String>,
    pub(super) coordinates_told: FxHashSet<(Comm, Rank, u16)>,
    pub(super) sites: Sites,
    pub(super) lost: FxHashMap<Key, Lost>,
    /// Calls that were made while recording was off.
    pub(super) unrecorded: FxHashMap<Key, u64>,
    /// Times without recording; the last may still go on.
    pub(super) gaps: Vec<Gap>,
    pub(super) started: Option<RunStart>,
    pub(super) ended: Option<RunEnd>,
    /// What became known since it was handed out last.
    pub(super) decoded: Decoded,
    /// What threads read beside it, to be handed out behind it.
    pub(super) beside: VecDeque<Batch>,
    /// Until when everything was in when a batch was handed out last.
    pub(super) told_until_ns: Nanoseconds,
    /// How many threads may read slots, and how many slots there have to be for each.
    pub(super) threads: usize,
    pub(super) least_for_thread: usize,
    /// Slots that wait for nothing any more.
    pub(super) settled: Vec<Settled>,
    /// Room for those that are read.
    pub(super) unpacked: Vec<Slot>,
    /// A clock sample has come since its time was found.
    pub(super) is_until_old: bool,
    pub(super) functions: Functions,
    /// What batches contain of calls.
    pub(super) wanted: Wanted,
    /// The budget of the tables.
    pub(super) memory: MemoryBudget,
    /// By ring, where slots end for which there was no budget.
    pub(super) dropped_until: FxHashMap<(Key, u32), u64>,
}

/// What is known of an agent of another host, for a daemon that takes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAgent {
    /// Its number in this run.
    pub agent: u32,
    /// What it calls itself.
    pub identity: u128,
    /// Its host.
    pub node: String,
    /// The number of its next message.
    pub next_sequence: u64,
    /// Whether it has sent everything and closed the connection.
    pub is_finished: bool,
}

impl Default for Ingest {
    fn default() -> Self {
        Self {
            origins: vec![Origin::own(0)],
            origin: 0,
            zero_ns: 0,
            processes: Processes::default(),
            infos: FxHashMap::default(),
            halted_ns: FxHashMap::default(),
            generations: FxHashMap::default(),
            nodes: Vec::new(),
            comms: FxHashMap::default(),
            comms_told: FxHashSet::default(),
            members: FxHashMap::default(),
            last_calls: Vec::new(),
            comm_names: FxHashMap::default(),
            coordinates_told: FxHashSet::default(),
            sites: Sites::default(),
            lost: FxHashMap::default(),
            unrecorded: FxHashMap::default(),
            gaps: Vec::new(),
            started: None,
            ended: None,
            decoded: Decoded::default(),
            beside: VecDeque::new(),
            told_until_ns: 0,
            threads: 1,
            least_for_thread: LEAST_FOR_THREAD,
            settled: Vec::new(),
            unpacked: Vec::new(),
            is_until_old: false,
            functions: Functions::new(),
            wanted: Wanted { rows: true, effects: false },
            memory: MemoryBudget::default(),
            dropped_until: FxHashMap::default(),
        }
    }
}

impl Ingest {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty state. Its batches also contain the effects of calls, for the diagnosis.
    #[must_use]
    pub fn for_diagnosis() -> Self {
        Self { wanted: Wanted { rows: true, effects: true }, ..Self::default() }
    }

    /// The same without the rows of calls.
    #[must_use]
    pub fn without_rows(self) -> Self {
        Self { wanted: Wanted { rows: false, ..self.wanted }, ..self }
    }

    /// The same with budgets of this size instead of a gigabyte: one for the tables, one for what waits.
    #[must_use]
    pub fn within(self, bytes: usize) -> Self {
        Self { memory: MemoryBudget::new(bytes), decoded: Decoded::within(bytes), ..self }
    }

    /// Reads many slots on up to this number of threads. Then more batches may be ready behind one: see [`Ingest::more`].
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same from this number of slots for each thread on, instead of some milliseconds of work.
    #[must_use]
    pub fn with_least_for_thread(self, slots: usize) -> Self {
        Self { least_for_thread: slots.max(1), ..self }
    }

    /// How many definitions of processes (identity, communicators, names, call sites) exceeded the budget.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.memory.refused()
    }

    /// The run's own description at its beginning.
    #[must_use]
    pub fn started(&self) -> Option<&RunStart> {
        self.started.as_ref()
    }

    /// When recording was off.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Calls that were made while it was.
    #[must_use]
    pub fn unrecorded_calls(&self) -> u64 {
        self.unrecorded.values().fold(0, |sum, &calls| sum.saturating_add(calls))
    }

    /// How and when it ended: its exit status, and nanoseconds since its start.
    #[must_use]
    pub fn ended(&self) -> Option<(Option<i32>, u64)> {
        self.ended.map(|end| (end.exit, self.of_monotonic(end.monotonic_ns)))
    }

    /// The agent whose messages were fed last.
    #[must_use]
    pub fn origin(&self) -> u32 {
        self.origin
    }

    /// The agents of other hosts.
    pub fn agents(&self) -> impl Iterator<Item = KnownAgent> + '_ {
        let numbered = self.origins.iter().enumerate();
        numbered.filter_map(|(agent, origin)| {
            Some(KnownAgent {
                agent: agent as u32,
                identity: origin.identity?,
                node: origin.node.clone(),
                next_sequence: origin.next_sequence,
                is_finished: origin.is_finished,
            })
        })
    }

    /// The positions up to which the rings of one of an agent's processes have been fed, for one that takes over.
    pub fn positions(&self, agent: u32, process: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let process = self.processes.get((agent, process));
        let rings = process.into_iter().flat_map(|process| process.rings.iter());
        rings.enumerate().map(|(ring, state)| (ring as u32, state.position))
    }

    /// An agent's processes fed so far: number, and process id with the time when it made its rings.
    pub fn processes(&self, agent: u32) -> impl Iterator<Item = (u32, (u32, u64))> + '_ {
        let of_agent = self.processes.iter().filter(move |((of, _), _)| *of == agent);
        of_agent.map(|((_, number), process)| (number, process.identity))
    }

    /// Slots that could not be read until now.
    #[must_use]
    pub fn unreadable_slots(&self) -> u64 {
        self.decoded.unreadable_slots
    }

    /// Calls with an unknown call site, because there are more sites than the limit.
    #[must_use]
    pub fn calls_beyond_sites(&self) -> u64 {
        self.decoded.calls_beyond_sites
    }

    pub(super) fn of_monotonic(&self, monotonic_ns: u64) -> Nanoseconds {
        monotonic_ns.saturating_sub(self.zero_ns)
    }

    pub(super) fn fault(&mut self, rank: Option<Rank>, text: String) {
        self.decoded.fault(rank, text);
    }
}
