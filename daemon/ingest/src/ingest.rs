//! The state machine: messages in, batches out.

use crate::clock::ClockMap;
use crate::process::ProcessInput;
use crate::ring::{Closed, Output};
use mpiscope_model::{
    Batch, Comm, CommInfo, Event, Fault, Losses, Nanoseconds, Node, NodeInfo, ProcessState, Rank, RankInfo,
};
use mpiscope_wire::{
    CallFlags, EndState, Entry, Lost, Message, NO_COMM, Part, PartFlags, Process, RunEnd, RunStart, Slots,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The same thing going wrong again and again is told a bounded number of times.
const MOST_FAULTS: usize = 1000;

/// A call completes no more receives than a ring has slots.
const MOST_PARTS: usize = 1 << 24;

/// Reads frames of a run.
#[derive(Debug, Default)]
pub struct Ingest {
    clock: ClockMap,
    processes: FxHashMap<u32, ProcessInput>,
    infos: FxHashMap<u32, RankInfo>,
    generations: FxHashMap<Rank, u32>,
    nodes: Vec<String>,
    /// Communicators by generation and identity.
    comms: FxHashMap<(u32, u64), Comm>,
    comms_told: FxHashSet<Comm>,
    /// Slots since the last knot: their times are known only with the next one.
    waiting: Vec<Slots>,
    lost: FxHashMap<u32, Lost>,
    /// Slots of no known meaning, counted here.
    unreadable_slots: u64,
    faults_told: usize,
    started: Option<RunStart>,
    ended: Option<RunEnd>,
    batch: Batch,
}

impl Ingest {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the run said of itself when it began.
    #[must_use]
    pub fn started(&self) -> Option<&RunStart> {
        self.started.as_ref()
    }

    /// How and when it ended: its exit status, and nanoseconds since its start.
    #[must_use]
    pub fn ended(&self) -> Option<(Option<i32>, u64)> {
        self.ended.map(|end| (end.exit, self.clock.of_monotonic(end.monotonic_ns)))
    }

    /// The positions up to which the rings of a process have been fed, for an agent that takes over.
    pub fn positions(&self, process: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let rings = self.processes.get(&process).into_iter().flat_map(|process| process.rings.iter());
        rings.enumerate().map(|(ring, state)| (ring as u32, state.position))
    }

    /// The processes fed so far: number, and process id with the time when it made its rings.
    pub fn processes(&self) -> impl Iterator<Item = (u32, (u32, u64))> + '_ {
        self.processes.iter().map(|(&number, process)| (number, process.identity))
    }

    /// Ticks of a process's clock as time of the run, by what is known of that clock now; `None` for a process that
    /// never said who it is.
    #[must_use]
    pub fn run_ns(&self, process: u32, ticks: u64) -> Option<Nanoseconds> {
        self.processes.get(&process).map(|process| self.clock.of(process.clock, ticks))
    }

    /// Takes in a message.
    pub fn feed(&mut self, message: Message) {
        match message {
            Message::RunStart(start) => {
                self.clock.set_zero(start.monotonic_ns);
                self.started = Some(start);
            }
            Message::Process(process) => self.process(&process),
            Message::Slots(slots) => self.waiting.push(slots),
            Message::Knot(knot) => {
                let until_ns = self.clock.until_ns();
                self.clock.push(knot);
                self.settle();
                // What was written before the last knot has been read since.
                self.batch.until_ns = until_ns;
            }
            Message::Lost(lost) => self.lost(&lost),
            Message::RunEnd(end) => {
                self.settle();
                self.ended = Some(end);
                self.batch.until_ns = self.clock.of_monotonic(end.monotonic_ns);
            }
        }
    }

    /// Hands out what became known.
    pub fn take(&mut self) -> Batch {
        let until_ns = self.batch.until_ns;
        std::mem::replace(&mut self.batch, Batch { until_ns, ..Batch::default() })
    }

    /// Whether the clock is known well enough to settle what no further knot will come for.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        self.clock.has_slope()
    }

    /// The log ended without a last knot: what waits is settled by the clock as far as it is known.
    pub fn settle_rest(&mut self) {
        self.settle();
        let ends = self.batch.calls.iter().map(|call| call.end_ns);
        self.batch.until_ns = ends.fold(self.batch.until_ns, Nanoseconds::max);
    }

    fn settle(&mut self) {
        let mut touched = Vec::new();
        for slots in std::mem::take(&mut self.waiting) {
            self.slots(&slots);
            if !touched.contains(&slots.process) {
                touched.push(slots.process);
            }
        }
        for process in touched {
            if let Some(process) = self.processes.get_mut(&process) {
                process.take_events(&mut self.batch.events);
            }
        }
    }

    fn fault(&mut self, rank: Option<Rank>, text: String) {
        self.faults_told += 1;
        if self.faults_told <= MOST_FAULTS {
            self.batch.faults.push(Fault { rank, text });
        }
    }

    fn node(&mut self, name: &str) -> Node {
        let known = self.nodes.iter().position(|node| node == name);
        let node = known.unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.batch.nodes.push(NodeInfo { node: (self.nodes.len() - 1) as Node, name: name.to_owned() });
            self.nodes.len() - 1
        });
        node as Node
    }

    fn process(&mut self, process: &Process) {
        if self.processes.contains_key(&process.process) {
            return;
        }
        if process.rank >= process.world_size {
            self.fault(
                None,
                format!("process {} says it is rank {} of {}", process.pid, process.rank, process.world_size),
            );
            return;
        }
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
        let input = ProcessInput::new(process, turn);
        self.processes.insert(process.process, input);
        let info = RankInfo {
            rank: process.rank,
            world_size: process.world_size,
            node: self.node(&process.node),
            pid: process.pid,
            library: process.library.clone(),
            state: ProcessState::Running,
            cost_per_call_ns: process.cost_per_call_ns,
        };
        self.batch.ranks.push(info.clone());
        self.infos.insert(process.process, info);
    }

    fn lost(&mut self, lost: &Lost) {
        self.lost.insert(lost.process, *lost);
        self.tell_losses();
        let state = match lost.state {
            EndState::Running => ProcessState::Running,
            EndState::Finalized => ProcessState::Finalized,
            EndState::Aborted => ProcessState::Aborted,
            EndState::Vanished => ProcessState::Vanished,
        };
        if let Some(info) = self.infos.get_mut(&lost.process)
            && info.state != state
        {
            info.state = state;
            self.batch.ranks.push(info.clone());
        }
    }

    fn tell_losses(&mut self) {
        let mut losses = Losses { unreadable: self.unreadable_slots, ..Losses::default() };
        for lost in self.lost.values() {
            // What a job says of itself may be any number.
            losses.ring_full = losses.ring_full.saturating_add(lost.ring_full);
            losses.no_ring = losses.no_ring.saturating_add(lost.no_ring);
            losses.unreadable = losses.unreadable.saturating_add(lost.unreadable);
        }
        self.batch.losses = Some(losses);
    }

    fn slots(&mut self, slots: &Slots) {
        let Some(process) = self.processes.get_mut(&slots.process) else {
            self.fault(
                None,
                format!("slots of process number {}, which never said who it is", slots.process),
            );
            return;
        };
        let rank = process.rank;
        let Some(ring) = process.ring(slots.ring) else {
            self.fault(Some(rank), format!("slots of ring {}, which cannot be", slots.ring));
            return;
        };
        let expected = process.rings[ring].position;
        // An agent that took over may send again what its predecessor had already sent.
        let known = usize::try_from(expected.saturating_sub(slots.from)).unwrap_or(usize::MAX);
        let Some(fresh) = slots.slots.get(known..) else { return };
        if slots.from > expected {
            self.unreadable_slots = self.unreadable_slots.saturating_add(slots.from - expected);
            self.fault(
                Some(rank),
                format!("{} slots of ring {} are missing", slots.from - expected, slots.ring),
            );
            self.tell_losses();
            self.lose(slots.process, ring);
        }
        if let Some(process) = self.processes.get_mut(&slots.process) {
            process.rings[ring].position = slots.from.saturating_add(slots.slots.len() as u64);
        }
        for slot in fresh {
            match Entry::decode(slot) {
                Some(entry) => self.entry(slots.process, ring, entry),
                None => {
                    self.unreadable_slots += 1;
                    self.fault(Some(rank), format!("a slot of ring {} is of no known kind", slots.ring));
                    self.tell_losses();
                }
            }
        }
    }

    /// Something of this ring is missing here.
    fn lose(&mut self, process: u32, ring: usize) {
        if let Some(process) = self.processes.get_mut(&process) {
            let state = &mut process.rings[ring];
            state.wide = None;
            state.parts.clear();
            state.marks.push(Event::Lost { rank: process.rank });
        }
    }

    fn entry(&mut self, number: u32, ring: usize, entry: Entry) {
        let Some(process) = self.processes.get_mut(&number) else { return };
        let state = &mut process.rings[ring];
        match entry {
            Entry::Wide { duration, bytes } => state.wide = Some((duration, bytes)),
            Entry::Part(part) if state.parts.len() < MOST_PARTS => state.parts.push(part),
            Entry::Part(_) => {
                self.unreadable_slots = self.unreadable_slots.saturating_add(1);
                self.tell_losses();
            }
            Entry::Thread { number, .. } => state.thread = number.min(u64::from(u16::MAX)) as u16,
            Entry::Lost { calls } => {
                if calls > state.lost_calls {
                    state.lost_calls = calls;
                    self.lose(number, ring);
                }
            }
            Entry::Sync(sync) => {
                let comm = process.comms.get(&sync.comm).copied();
                if let (Some(comm), Ok(peer)) = (comm, u32::try_from(sync.peer)) {
                    let (sent, received) = (sync.sent, sync.received);
                    state.marks.push(Event::Numbers { rank: process.rank, comm, peer, sent, received });
                }
            }
            Entry::Comm(definition) => {
                let generation = process.generation;
                let parent = process.comms.get(&definition.parent).copied();
                let comm = self.comm(generation, &definition, parent);
                if let Some(process) = self.processes.get_mut(&number) {
                    process.comms.insert(definition.index, comm);
                }
            }
            Entry::Call(call) => self.call(number, ring, call),
        }
    }

    fn comm(
        &mut self,
        generation: u32,
        definition: &mpiscope_wire::CommDefinition,
        parent: Option<Comm>,
    ) -> Comm {
        // The world is always number 0, whoever speaks of what first.
        if self.comms.is_empty() {
            self.comms.insert((0, 0), 0);
        }
        let next = self.comms.len() as Comm;
        let comm = *self.comms.entry((generation, definition.id)).or_insert(next);
        if self.comms_told.insert(comm) {
            self.batch.comms.push(CommInfo {
                comm,
                id: definition.id,
                size: definition.size,
                parent,
                leader: definition.leader,
            });
        }
        comm
    }

    fn call(&mut self, number: u32, ring: usize, mut call: mpiscope_wire::Call) {
        let Some(process) = self.processes.get_mut(&number) else { return };
        let (rank, world_size) = (process.rank, process.world_size);
        let (start_ns, end_ns) = process.rings[ring].times(&mut call, &self.clock, process.clock);
        let parts = std::mem::take(&mut process.rings[ring].parts);
        let beyond = |peer: i32| u32::try_from(peer).is_ok_and(|peer| peer >= world_size);
        if mpiscope_wire::by_id(call.function).is_none()
            || beyond(call.peer)
            || parts.iter().any(|part| beyond(part.peer))
        {
            self.unreadable_slots += 1;
            self.fault(Some(rank), format!("a call of function {} makes no sense", call.function));
            self.tell_losses();
            return;
        }
        let comms = &process.comms;
        let of = |comm: u32| comms.get(&comm).copied();
        let comm = of(call.comm);
        let parts: Vec<_> = parts.into_iter().map(|part| (part, of(part.comm))).collect();
        let moves =
            [CallFlags::SEND, CallFlags::RECEIVE, CallFlags::POST].iter().any(|&flag| call.flags.has(flag));
        let moving =
            |flags: PartFlags| flags.is_receive() || flags == PartFlags::SENT || flags == PartFlags::POSTED;
        let lost_part = |(part, comm): &(Part, Option<Comm>)| comm.is_none() && moving(part.flags);
        let unknown = comm.is_none() && (moves || call.comm != NO_COMM) || parts.iter().any(lost_part);
        let post = if call.flags.has(CallFlags::POST) { process.full_post(call.bytes) } else { 0 };
        let closed = Closed { call, start_ns, end_ns, comm, parts, post };
        let ProcessInput { rings, events, matched, .. } = process;
        let mut out = Output { calls: &mut self.batch.calls, events: &mut events[ring], matched };
        rings[ring].close(rank, &closed, &mut out);
        if unknown {
            let text =
                "messages on communicators that were not defined, or beyond the millionth, are not matched";
            self.fault(Some(rank), text.into());
        }
    }
}
