//! The slots of a ring, one after the other: their meaning and their faults.

use super::state::Ingest;
use crate::closed_call::{Closed, lacks_comm, makes_sense};
use crate::memory_budget::MemoryBudget;
use crate::origin::waiting_bytes;
use crate::process::{Key, ProcessInput};
use mpiscope_model::{Comm, CommInfo, CommKind, CommName, Coordinate, Event, Rank, Side};
use mpiscope_wire::{
    self as wire, CallFlags, CommDefinition, Entry, GridPart, MOST_NAME_BYTES, NamePart, OtherGroup, Part,
    Skipped, Slots, Sync,
};

/// To which group a process belongs that defines a communicator, and how many ranks the first of two has.
fn groups(definition: &CommDefinition) -> (Side, Option<u32>) {
    match definition.other {
        None => (Side::Only, None),
        Some(OtherGroup { size: OtherGroup::ELSEWHERE, .. }) => (Side::Alone, None),
        Some(OtherGroup { size, is_first: true }) => (Side::Second, Some(size)),
        Some(_) => (Side::First, Some(definition.size)),
    }
}

/// Keeps the numbers of messages with a peer until the next call of the ring.
fn mark_numbers(process: &mut ProcessInput, ring: usize, sync: &Sync, waiting: &mut MemoryBudget) {
    let state = &mut process.rings[ring];
    let comm = process.comms.get(&sync.comm).copied();
    if let (Some(comm), Ok(peer)) = (comm, u32::try_from(sync.peer))
        && peer < process.world_size
        && state.marks.len() < MOST_PARTS
        && waiting.borrow(WAITING_BYTES)
    {
        state.waiting_bytes += WAITING_BYTES;
        let (sent, received) = (sync.sent, sync.received);
        state.marks.push(Event::Numbers { rank: process.rank, comm, peer: Rank(peer), sent, received });
    }
}

fn kind_of(kind: wire::CommKind) -> CommKind {
    match kind {
        wire::CommKind::Communicator => CommKind::Communicator,
        wire::CommKind::Window => CommKind::Window,
        wire::CommKind::File => CommKind::File,
        wire::CommKind::Phase => CommKind::Phase,
    }
}

/// A call completes no more receives than a ring has slots, and rings have a largest size.
const MOST_PARTS: usize = 1 << 20;

/// What a part of a call, or a mark before it, takes until the call comes.
const WAITING_BYTES: usize =
    2 * if size_of::<Part>() > size_of::<Event>() { size_of::<Part>() } else { size_of::<Event>() };

impl Ingest {
    /// Slots of the process with an index; none where nobody knows it.
    pub(super) fn slots(&mut self, index: Option<usize>, slots: &Slots) {
        let Some((index, process)) = index.and_then(|index| Some((index, self.processes.by_index(index)?)))
        else {
            self.fault(
                None,
                format!("slots of process number {}, which never said who it is", slots.process),
            );
            self.lose_slots(slots.slots.len());
            return;
        };
        let rank = process.rank;
        let Some(ring) = process.ring(slots.ring, &mut self.memory) else {
            self.fault(Some(rank), format!("slots of ring {}, which cannot be", slots.ring));
            self.lose_slots(slots.slots.len());
            return;
        };
        let expected = process.rings[ring].position;
        // An agent that took over may send again what its predecessor had already sent.
        let known = usize::try_from(expected.saturating_sub(slots.from)).unwrap_or(usize::MAX);
        let Some(fresh) = slots.slots.get(known..) else { return };
        process.rings[ring].position = slots.from.saturating_add(slots.slots.len() as u64);
        if slots.from > expected {
            process.rings[ring].lose(rank);
            let missing = slots.from - expected;
            self.unreadable_slots = self.unreadable_slots.saturating_add(missing);
            self.fault(Some(rank), format!("{missing} slots of ring {} are missing", slots.ring));
            self.losses_changed = true;
        }
        for slot in fresh {
            match Entry::decode(slot) {
                Some(entry) => self.entry(index, ring, entry),
                None => {
                    self.unreadable_slots += 1;
                    self.fault(Some(rank), format!("a slot of ring {} is of no known kind", slots.ring));
                    self.losses_changed = true;
                }
            }
        }
    }

    /// Slots wait for the next clock sample. Those beyond the budget are dropped and counted.
    pub(super) fn wait(&mut self, slots: Slots) {
        // Those of this host wait for the next look at the rings and no longer.
        if self.origin == 0 || self.waiting.borrow(waiting_bytes(&slots)) {
            self.origins[self.origin as usize].waiting.push(slots);
        } else {
            let node = &self.origins[self.origin as usize].node;
            let text = format!("more waits for the clock of {node:?} than there is room for: it is missing");
            self.fault(None, text);
            let ring = ((self.origin, slots.process), slots.ring);
            let end = slots.from.saturating_add(slots.slots.len() as u64);
            if self.dropped_until.contains_key(&ring)
                || self.processes.contains(ring.0) && self.memory.take_entry::<((Key, u32), u64)>()
            {
                self.dropped_until.insert(ring, end);
            }
        }
    }

    /// Nothing more comes after the slots for which there was no budget: they are lost.
    pub(super) fn lose_dropped(&mut self) {
        for ((key, ring), end) in std::mem::take(&mut self.dropped_until) {
            let index = self.processes.index(key);
            self.slots(index, &Slots { process: key.1, ring, from: end, slots: Vec::new() });
        }
    }

    /// Nobody can say what these slots mean: they count as lost.
    fn lose_slots(&mut self, slots: usize) {
        self.unreadable_slots = self.unreadable_slots.saturating_add(slots as u64);
        self.losses_changed = true;
    }

    /// Nobody wanted what lies between: it is no fault, but nothing is sure of what comes.
    pub(super) fn skip(&mut self, key: Key, skipped: Skipped) {
        let index = self.processes.index(key);
        let Some(process) = index.and_then(|index| self.processes.by_index(index)) else { return };
        let Some(ring) = process.ring(skipped.ring, &mut self.memory) else { return };
        let position = &mut process.rings[ring].position;
        if skipped.to > *position {
            *position = skipped.to;
            process.rings[ring].lose(process.rank);
        }
    }

    fn entry(&mut self, index: usize, ring: usize, entry: Entry) {
        let Some(process) = self.processes.by_index(index) else { return };
        let state = &mut process.rings[ring];
        match entry {
            Entry::Wide { duration, bytes } => state.wide = Some((duration, bytes)),
            Entry::Part(part) if state.parts.len() < MOST_PARTS && self.waiting.borrow(WAITING_BYTES) => {
                state.parts.push(part);
                state.waiting_bytes += WAITING_BYTES;
            }
            Entry::Part(_) => {
                self.unreadable_slots = self.unreadable_slots.saturating_add(1);
                self.losses_changed = true;
            }
            Entry::Thread { number, .. } => state.hand_over(number.min(u64::from(u16::MAX)) as u16),
            Entry::Lost { calls } => {
                if calls > state.lost_calls {
                    state.lost_calls = calls;
                    state.lose(process.rank);
                }
            }
            Entry::Sync(sync) => mark_numbers(process, ring, &sync, &mut self.waiting),
            Entry::Comm(definition) => self.defined(index, &definition),
            Entry::Handle { comm, handle } => {
                if process.handles.contains_key(&handle) || self.memory.take_entry::<(u64, u32)>() {
                    process.handles.insert(handle, comm);
                }
            }
            Entry::Name(part) => self.name(index, &part),
            Entry::Grid(part) => self.grid(index, &part),
            Entry::Paused => state.lose(process.rank),
            Entry::Module(module) => process.sites.module(&module, &mut self.memory),
            Entry::Path(part) => process.sites.path(&part),
            Entry::Site(site) => {
                let new = self.sites.define(&mut process.sites, &site, &mut self.memory);
                self.batch.sites.extend(new);
            }
            Entry::Call(call) => self.call(index, ring, call),
        }
    }

    /// A process defines one of its numbers. One beyond the budget means nothing, not its earlier meaning.
    fn defined(&mut self, index: usize, definition: &CommDefinition) {
        let Some(process) = self.processes.by_index(index) else { return };
        let (generation, rank) = (process.generation, process.rank);
        let parent = process.comms.get(&definition.parent).copied();
        let has_room =
            process.comms.contains_key(&definition.index) || self.memory.take_entry::<(u32, Comm, Side)>();
        let comm = if has_room { self.comm(generation, definition, parent) } else { None };
        let side = groups(definition).0;
        if let Some(comm) = comm {
            self.member(comm, side, definition, rank);
        }
        let Some(process) = self.processes.by_index(index) else { return };
        match comm {
            Some(comm) => process.comms.insert(definition.index, comm),
            None => process.comms.remove(&definition.index),
        };
        match side {
            Side::First | Side::Second | Side::Alone if comm.is_some() => {
                process.sides.insert(definition.index, side)
            }
            _ => process.sides.remove(&definition.index),
        };
    }

    /// A part of a name; the name is published when it is complete.
    fn name(&mut self, index: usize, part: &NamePart) {
        let Some(process) = self.processes.by_index(index) else { return };
        let Some(&comm) = process.comms.get(&part.comm) else { return };
        let whole = usize::from(part.name_bytes).min(MOST_NAME_BYTES);
        let (of, bytes) = &mut process.naming;
        if *of != part.comm || bytes.len() >= whole {
            (*of, *bytes) = (part.comm, Vec::new());
        }
        bytes.extend_from_slice(part.bytes());
        if bytes.len() < whole {
            return;
        }
        let name = String::from_utf8_lossy(&std::mem::take(bytes)).into_owned();
        // Control characters of a hostile name must not reach a terminal.
        let name: String = name.chars().filter(|character| !character.is_control()).collect();
        let before = self.comm_names.get(&comm);
        if before == Some(&name) {
            return;
        }
        // In this table, and in the batch.
        let bytes = |name: &String| 2 * (size_of::<CommName>() + name.len());
        self.memory.give(before.map_or(0, bytes));
        if self.memory.take(bytes(&name)) {
            self.comm_names.insert(comm, name.clone());
            self.batch.comm_names.push(CommName { comm, name });
        } else {
            self.comm_names.remove(&comm);
        }
    }

    fn grid(&mut self, index: usize, part: &GridPart) {
        let Some(process) = self.processes.by_index(index) else { return };
        let Some(&comm) = process.comms.get(&part.comm) else { return };
        let (rank, dimension) = (process.rank, u16::from(part.dimension));
        let place = (comm, rank, dimension);
        if !self.coordinates_told.contains(&place)
            && self.memory.take_entry::<((Comm, u32, u16), Coordinate)>()
        {
            self.coordinates_told.insert(place);
            self.batch.coordinates.push(Coordinate {
                comm,
                rank,
                dimension,
                coordinate: part.coordinate,
                size: part.size,
                periodic: u16::from(part.is_periodic),
            });
        }
    }

    /// The run's number of a communicator; `None` when there is no room for one more.
    fn comm(&mut self, generation: u32, definition: &CommDefinition, parent: Option<Comm>) -> Option<Comm> {
        // The world is always number 0, in any order of definitions.
        if self.comms.is_empty() {
            self.comms.insert((0, 0), Comm::WORLD);
        }
        let next = Comm(self.comms.len() as u32);
        let known = self.comms.get(&(generation, definition.id)).copied();
        let comm = match known {
            Some(known) => known,
            None if self.memory.take_entry::<((u32, u64), Comm, CommInfo)>() => {
                self.comms.insert((generation, definition.id), next);
                next
            }
            None => return None,
        };
        if self.comms_told.insert(comm) {
            let (_, first_size) = groups(definition);
            let others = definition.other.filter(|_| first_size.is_some()).map_or(0, |other| other.size);
            self.batch.comms.push(CommInfo {
                comm,
                id: definition.id,
                size: definition.size.saturating_add(others),
                first_size,
                parent,
                leader: Rank(definition.leader),
                kind: kind_of(definition.kind),
                name: String::new(),
            });
        }
        Some(comm)
    }

    fn call(&mut self, index: usize, ring: usize, mut call: mpiscope_wire::Call) {
        let Some(process) = self.processes.by_index(index) else { return };
        let (rank, world_size) = (process.rank, process.world_size);
        let origin = &self.origins[process.agent as usize];
        let state = &mut process.rings[ring];
        let (start_ns, end_ns) =
            state.times(&mut call, |ticks| origin.run_ns(process.clock, ticks).min(self.written_until_ns));
        self.waiting.give(std::mem::take(&mut state.waiting_bytes));
        let (mut parts, mut closing) = state.take_parts();
        if !makes_sense(&call, &parts, world_size) {
            state.keep_parts(parts, closing);
            self.unreadable_slots += 1;
            self.fault(Some(rank), format!("a call of function {} makes no sense", call.function));
            self.losses_changed = true;
            return;
        }
        let comms = &process.comms;
        let of = |comm: u32| comms.get(&comm).copied();
        let comm = of(call.comm);
        closing.extend(parts.drain(..).map(|part| (part, of(part.comm))));
        let is_comm_unknown = lacks_comm(&call, comm, &closing);
        let post = if call.flags.has(CallFlags::POST) { process.full_post(call.bytes) } else { 0 };
        let site = process.sites.get(call.site);
        // That of a full table, and one that does not fit into that of the run.
        if site.is_none() && (process.sites.is_full || call.site != 0) {
            self.calls_beyond_sites = self.calls_beyond_sites.saturating_add(call.calls());
        }
        let side = process.side_of_call(&call, &closing);
        let closed = Closed { call, start_ns, end_ns, comm, side, parts: closing, site, post };
        process.close(ring, &closed, &mut self.batch, self.wanted, &self.functions);
        process.rings[ring].keep_parts(parts, closed.parts);
        if is_comm_unknown {
            let text =
                "messages on communicators that were not defined, or beyond the millionth, are not matched";
            self.fault(Some(rank), text.into());
        }
    }
}
