//! The state machine: messages in, batches out.

mod entries;
mod flights;
mod nodes;
mod scheduling;

use crate::effect::Functions;
use crate::host_clocks::NodeClock;
use crate::memory_budget::MemoryBudget;
use crate::origin::Origin;
use crate::process::{Key, ProcessInput, Processes};
use crate::site::Sites;
use mpiscope_model::{
    Batch, Comm, Fault, Gap, Losses, Nanoseconds, Node, NodeInfo, ProcessState, Rank, RankCpus, RankInfo,
    Side,
};
use mpiscope_wire::{
    self as wire, EndState, Heard, LastCalls, Lost, Message, Process, RunEnd, RunStart, Switched,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Limit of reports of one recurring fault.
const MOST_FAULTS: usize = 1000;

/// Somebody may switch all the time.
const MOST_GAPS: usize = 1 << 12;

/// More agents than a run has nodes.
const MOST_AGENTS: u32 = 1 << 16;

/// A call completes no more receives than a ring has slots, and rings have a largest size.
const MOST_PARTS: usize = 1 << 20;

/// More nodes than a run has.
const MOST_NODES: usize = 1 << 16;

/// More ranks than a run has: tables must not be sized by a job's own claims.
const MOST_RANKS: u32 = 1 << 23;

/// A node this far behind the others holds nothing up.
const MOST_BEHIND_NS: u64 = 2_000_000_000;

/// A node's times are no further ahead of the daemon's own clock, whatever it sends.
const MOST_AHEAD_NS: u64 = 60_000_000_000;

/// In a truncated log, entries after the last clock sample are at most this much later than it.
const MOST_AFTER_NS: u64 = 24 * 3_600_000_000_000;

/// The cost of a process in the tables.
const PROCESS_BYTES: usize = 2 * size_of::<(ProcessInput, RankInfo, Lost)>();

/// Reads frames of a run.
#[derive(Debug)]
pub struct Ingest {
    /// By number; the daemon's own first.
    origins: Vec<Origin>,
    /// Whose messages are being fed.
    origin: u32,
    /// The moment that is time zero, on the daemon's monotonic clock.
    zero_ns: u64,
    processes: Processes,
    infos: FxHashMap<Key, RankInfo>,
    /// By process: how long it was stopped and blocked while earlier agents looked, and while this one did.
    halted_ns: FxHashMap<Key, [(u64, u64); 2]>,
    generations: FxHashMap<Rank, u32>,
    nodes: Vec<String>,
    /// Communicators by generation and identity.
    comms: FxHashMap<(u32, u64), Comm>,
    comms_told: FxHashSet<Comm>,
    /// The rank of each process in each group of a communicator.
    members: FxHashMap<(Comm, Side, u32), Rank>,
    /// The last calls of processes, with their agents, until they can be published.
    last_calls: Vec<(u32, LastCalls)>,
    comm_names: FxHashMap<Comm, String>,
    coordinates_told: FxHashSet<(Comm, Rank, u16)>,
    sites: Sites,
    /// Calls from call sites beyond the limit.
    calls_beyond_sites: u64,
    lost: FxHashMap<Key, Lost>,
    /// Calls that were made while recording was off.
    unrecorded: FxHashMap<Key, u64>,
    /// When recording was off: since when, and until when where that is over.
    gaps: Vec<Gap>,
    /// Whether the sum of losses differs from the last published one.
    losses_changed: bool,
    /// Slots of no known meaning, counted here.
    unreadable_slots: u64,
    faults_told: usize,
    started: Option<RunStart>,
    ended: Option<RunEnd>,
    batch: Batch,
    /// A clock sample has come since its time was found.
    is_until_old: bool,
    functions: Functions,
    /// Whether batches contain the effects of calls.
    for_diagnosis: bool,
    /// The budget of the tables.
    memory: MemoryBudget,
    /// The budget of what may still wait: parts for their call, slots of other hosts for their clock. Tables take
    /// nothing of it: calls go on.
    waiting: MemoryBudget,
    /// By ring, where slots end for which there was no budget.
    dropped_until: FxHashMap<(Key, u32), u64>,
    /// What is being settled was written before this.
    written_until_ns: Nanoseconds,
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
            calls_beyond_sites: 0,
            lost: FxHashMap::default(),
            unrecorded: FxHashMap::default(),
            gaps: Vec::new(),
            losses_changed: false,
            unreadable_slots: 0,
            faults_told: 0,
            started: None,
            ended: None,
            batch: Batch::default(),
            is_until_old: false,
            functions: Functions::new(),
            for_diagnosis: false,
            memory: MemoryBudget::default(),
            waiting: MemoryBudget::default(),
            dropped_until: FxHashMap::default(),
            written_until_ns: Nanoseconds::MAX,
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
        Self { for_diagnosis: true, ..Self::default() }
    }

    /// The same with budgets of this size instead of a gigabyte: one for the tables, one for what waits.
    #[must_use]
    pub fn within(self, bytes: usize) -> Self {
        Self { memory: MemoryBudget::new(bytes), waiting: MemoryBudget::new(bytes), ..self }
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

    fn switched(&mut self, switched: Switched) {
        let at_ns = self.of_monotonic(switched.monotonic_ns);
        if let Some(open) = self.gaps.last_mut().filter(|gap| gap.until_ns.is_none()) {
            if switched.is_on {
                open.until_ns = Some(at_ns.max(open.from_ns));
            }
        } else if !switched.is_on && self.gaps.len() < MOST_GAPS {
            self.gaps.push(Gap { from_ns: at_ns, until_ns: None });
        }
        self.batch.gaps = Some(self.gaps.clone());
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

    /// Calls with an unknown call site, because there are more sites than the limit.
    #[must_use]
    pub fn calls_beyond_sites(&self) -> u64 {
        self.calls_beyond_sites
    }

    /// Takes in a message. Returns a batch when the message publishes one: a clock sample, or the end.
    pub fn step(&mut self, message: Message) -> Option<Batch> {
        let settles = Self::settles(&message);
        self.feed(message);
        settles.then(|| self.take())
    }

    /// Whether a batch may end with a message: a clock sample, or the end.
    #[must_use]
    pub fn settles(message: &Message) -> bool {
        matches!(message, Message::ClockSample(_) | Message::RunEnd(_))
    }

    /// Takes in a message.
    pub fn feed(&mut self, message: Message) {
        if message.is_from_agent() {
            let next = &mut self.origins[self.origin as usize].next_sequence;
            *next = next.saturating_add(1);
        }
        match message {
            Message::RunStart(start) => {
                self.zero_ns = start.monotonic_ns;
                self.origins[0].clock = NodeClock::reference(self.zero_ns);
                self.started = Some(start);
            }
            Message::Agent(agent) => self.agent(agent),
            Message::Origin(origin) => match self.origins.get_mut(origin.agent as usize) {
                Some(found) => {
                    found.next_sequence = origin.sequence;
                    self.origin = origin.agent;
                }
                None => self.fault(None, format!("messages of agent {}, which nobody knows", origin.agent)),
            },
            Message::RoundTrip(trip) => {
                if let Some(origin) = self.origins.get_mut(trip.agent as usize) {
                    origin.round_trip(&trip);
                }
            }
            Message::Contact(contact) => self.contact(contact),
            Message::RunEnd(end) => {
                self.settle();
                self.ended = Some(end);
                self.is_until_old = false;
                self.batch.until_ns = self.of_monotonic(end.monotonic_ns);
            }
            Message::Process(process) => self.process(&process),
            Message::Slots(slots) => self.wait(slots),
            Message::ClockSample(sample) => {
                self.origins[self.origin as usize].add_clock_sample(sample);
                self.settle_origin(self.origin);
                self.is_until_old = true;
            }
            Message::Lost(lost) => self.lost(&lost),
            Message::Scheduling(figures) => self.scheduling(&figures),
            Message::Cpus(cpus) => self.cpus(&cpus),
            Message::Switched(switched) => self.switched(switched),
            Message::Unrecorded(unrecorded) => {
                let key = (self.origin, unrecorded.process);
                if self.processes.contains(key) {
                    self.unrecorded.insert(key, unrecorded.calls);
                }
            }
            Message::Skipped(skipped) => self.skip((self.origin, skipped.process), skipped),
            Message::LastCalls(last) => self.last_calls.push((self.origin, last)),
        }
    }

    /// Hands out what became known.
    pub fn take(&mut self) -> Batch {
        if std::mem::take(&mut self.losses_changed) {
            self.tell_losses();
        }
        self.settle_last_calls();
        self.update_until();
        let until_ns = self.batch.until_ns;
        std::mem::replace(&mut self.batch, Batch { until_ns, ..Batch::default() })
    }

    /// Whether the daemon's own clock is known well enough to settle entries without a further clock sample.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.origins[0].has_slope()
    }

    /// The log ended without a last clock sample: what waits is settled by the clocks as they are.
    pub fn settle_rest(&mut self) {
        self.update_until();
        self.settle();
        let ends = self.batch.calls.iter().map(|call| call.end_ns);
        self.batch.until_ns = ends.fold(self.batch.until_ns, Nanoseconds::max);
    }

    fn settle(&mut self) {
        let newest_ns = self.origins.iter().filter_map(Origin::newest_ns).max();
        self.written_until_ns = newest_ns.map_or(Nanoseconds::MAX, |ns| ns.saturating_add(MOST_AFTER_NS));
        for agent in 0..self.origins.len() as u32 {
            let origin = &self.origins[agent as usize];
            if !origin.clock.is_known() && !origin.waiting.is_empty() {
                let text = format!(
                    "the clock of {} was never compared with that of the run: its calls have no times",
                    origin.node
                );
                self.fault(None, text);
            }
            self.settle_waiting(agent);
        }
        self.lose_dropped();
    }

    /// A clock sample arrived. Slots of a node wait on while its clock was not compared, or has only one sample.
    fn settle_origin(&mut self, agent: u32) {
        let origin = &self.origins[agent as usize];
        if origin.clock.is_reference() || origin.clock.is_known() && origin.has_slope() {
            // A later end of a call is false.
            self.written_until_ns = origin.newest_ns().unwrap_or_default().min(self.latest_ns());
            self.settle_waiting(agent);
            self.origins[agent as usize].fix();
        }
    }

    fn settle_waiting(&mut self, agent: u32) {
        let waiting = std::mem::take(&mut self.origins[agent as usize].waiting);
        // Most slots are calls; growing step by step copies them all again.
        let most_calls = waiting.iter().map(|slots| slots.slots.len()).sum();
        self.batch.calls.reserve(most_calls);
        if self.for_diagnosis {
            self.batch.activities.reserve(most_calls);
        }
        let mut touched = Vec::new();
        for slots in waiting {
            if agent != 0 {
                self.waiting.give(entries::waiting_bytes(&slots));
            }
            let index = self.processes.index((agent, slots.process));
            self.slots(index, &slots);
            if let Some(index) = index
                && let Some(process) = self.processes.by_index(index)
                && !std::mem::replace(&mut process.is_touched, true)
            {
                touched.push(index);
            }
        }
        for index in touched {
            if let Some(process) = self.processes.by_index(index) {
                process.is_touched = false;
                let ends_ns = self.for_diagnosis.then_some(&mut self.batch.events_end_ns);
                process.take_events(&mut self.batch.events, ends_ns);
            }
        }
    }

    /// Looks at all agents: once for a batch, not for each clock sample in it.
    fn update_until(&mut self) {
        if std::mem::take(&mut self.is_until_old) {
            self.batch.until_ns = self.until_ns();
        }
    }

    /// The time until which everything is in, but for nodes that are far behind.
    fn until_ns(&self) -> Nanoseconds {
        let latest_ns = self.latest_ns();
        let untils = || self.origins.iter().map(|origin| origin.until_ns.min(latest_ns));
        let near = untils().max().unwrap_or_default().saturating_sub(MOST_BEHIND_NS);
        untils().filter(|&until_ns| until_ns >= near).min().unwrap_or_default()
    }

    /// No node can have come further than this.
    fn latest_ns(&self) -> Nanoseconds {
        self.origins[0]
            .newest_ns()
            .map_or(Nanoseconds::MAX, |newest_ns| newest_ns.saturating_add(MOST_AHEAD_NS))
    }

    fn of_monotonic(&self, monotonic_ns: u64) -> Nanoseconds {
        monotonic_ns.saturating_sub(self.zero_ns)
    }

    fn agent(&mut self, agent: wire::Agent) {
        let next = self.origins.len() as u32;
        if agent.agent == next && next < MOST_AGENTS {
            let mut origin = Origin::new(agent.identity, agent.node, self.zero_ns);
            // Another agent on the host of one that went: its clock is the same.
            let before = self.origins[1..].iter().rev().find(|before| before.node == origin.node);
            if let Some(before) = before {
                origin.clock = before.clock.clone();
            }
            self.origins.push(origin);
        } else if agent.agent > next {
            self.fault(None, format!("agent {} of {} comes out of turn", agent.agent, agent.node));
        }
    }

    /// The ranks of a node that is not heard of may run or not.
    fn contact(&mut self, contact: wire::Contact) {
        if let Some(origin) = self.origins.get_mut(contact.agent as usize) {
            origin.is_finished = contact.heard == Heard::Finished;
        }
        let (from, to) = match contact.heard {
            Heard::Missed => (ProcessState::Running, ProcessState::Silent),
            Heard::Again | Heard::Finished => (ProcessState::Silent, ProcessState::Running),
        };
        for ((agent, _), info) in &mut self.infos {
            if *agent == contact.agent && info.state == from {
                info.state = to;
                self.batch.ranks.push(info.clone());
            }
        }
    }

    fn fault(&mut self, rank: Option<Rank>, text: String) {
        self.faults_told += 1;
        if self.faults_told <= MOST_FAULTS {
            self.batch.faults.push(Fault { rank, text });
        }
    }

    /// The number of a node; `None` when there are too many.
    fn node(&mut self, name: &str) -> Option<Node> {
        if let Some(known) = self.nodes.iter().position(|node| node == name) {
            return Some(known as Node);
        }
        let node = self.nodes.len() as Node;
        if self.nodes.len() >= MOST_NODES || !self.memory.take(2 * (name.len() + size_of::<NodeInfo>())) {
            return None;
        }
        self.nodes.push(name.to_owned());
        self.batch.nodes.push(NodeInfo { node, name: name.to_owned() });
        Some(node)
    }

    fn process(&mut self, process: &Process) {
        let key = (self.origin, process.process);
        if self.processes.contains(key) {
            return;
        }
        if process.rank >= process.world_size || process.world_size > MOST_RANKS {
            self.fault(
                None,
                format!("process {} says it is rank {} of {}", process.pid, process.rank, process.world_size),
            );
            return;
        }
        let texts = 2 * (process.library.len() + process.node.len());
        let has_room = self.memory.take(PROCESS_BYTES + texts);
        let Some(node) = has_room.then(|| self.node(&process.node)).flatten() else {
            self.fault(
                None,
                "more processes or nodes than there is room for: what they did is missing".into(),
            );
            return;
        };
        let generation = self.generations.entry(process.rank).or_default();
        let turn = *generation;
        *generation += 1;
        if turn > 0 {
            let text = format!(
                "rank {} was started again as process {}; its calls are added",
                process.rank, process.pid
            );
            self.fault(Some(process.rank), text);
        }
        let input = ProcessInput::new(self.origin, process, turn);
        self.processes.add(key, input);
        self.origins[self.origin as usize].number = Some(node);
        let info = RankInfo {
            rank: process.rank,
            world_size: process.world_size,
            node,
            pid: process.pid,
            library: process.library.clone(),
            state: ProcessState::Running,
            cost_per_call_ns: process.cost_per_call_ns,
            cpus: RankCpus::default(),
        };
        self.batch.ranks.push(info.clone());
        self.infos.insert(key, info);
    }

    fn lost(&mut self, lost: &Lost) {
        let key = (self.origin, lost.process);
        if !self.processes.contains(key) {
            self.fault(
                None,
                format!("losses of process number {}, which never said who it is", lost.process),
            );
            return;
        }
        self.lost.insert(key, *lost);
        self.losses_changed = true;
        let state = match lost.state {
            EndState::Running => ProcessState::Running,
            EndState::Finalized => ProcessState::Finalized,
            EndState::Aborted => ProcessState::Aborted,
            EndState::Vanished => ProcessState::Vanished,
        };
        if let Some(info) = self.infos.get_mut(&key)
            && info.state != state
        {
            info.state = state;
            self.batch.ranks.push(info.clone());
        }
    }

    fn tell_losses(&mut self) {
        let mut losses = Losses { unreadable: self.unreadable_slots, ..Losses::default() };
        for lost in self.lost.values() {
            // A job may report any number.
            losses.ring_full = losses.ring_full.saturating_add(lost.ring_full);
            losses.no_ring = losses.no_ring.saturating_add(lost.no_ring);
            losses.unreadable = losses.unreadable.saturating_add(lost.unreadable);
        }
        self.batch.losses = Some(losses);
    }
}
