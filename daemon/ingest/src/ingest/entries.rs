//! What slots define for the whole run: communicators, their names and grids, call sites. And slots that wait.

use super::state::Ingest;
use crate::process::Key;
use crate::settled::{Content, Written};
use mpiscope_model::{Comm, CommInfo, CommKind, CommName, Coordinate, Nanoseconds, Rank, Side};
use mpiscope_wire::{
    self as wire, CommDefinition, Entry, GridPart, MOST_NAME_BYTES, NamePart, OtherGroup, Skipped,
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

fn kind_of(kind: wire::CommKind) -> CommKind {
    match kind {
        wire::CommKind::Communicator => CommKind::Communicator,
        wire::CommKind::Window => CommKind::Window,
        wire::CommKind::File => CommKind::File,
        wire::CommKind::Phase => CommKind::Phase,
    }
}

impl Ingest {
    /// Slots wait for the next clock sample. Those beyond the budget are dropped and counted.
    pub(super) fn wait(&mut self, slots: Written) {
        // Those of this host wait for the next look at the rings and no longer.
        if self.origin == 0 || self.has_room_for(slots.waiting_bytes()) {
            self.origins[self.origin as usize].waiting.push(slots);
        } else {
            let node = &self.origins[self.origin as usize].node;
            let text = format!("more waits for the clock of {node:?} than there is room for: it is missing");
            self.fault(None, text);
            let ring = ((self.origin, slots.process), slots.ring);
            let end = slots.from.saturating_add(slots.content.len() as u64);
            if self.dropped_until.contains_key(&ring)
                || self.processes.contains(ring.0) && self.memory.take_entry::<((Key, u32), u64)>()
            {
                self.dropped_until.insert(ring, end);
            }
        }
    }

    fn has_room_for(&mut self, bytes: usize) -> bool {
        let has_room = self.decoded.waiting.borrow(bytes);
        if has_room || self.settled.is_empty() {
            return has_room;
        }
        self.read_settled();
        self.decoded.waiting.borrow(bytes)
    }

    /// Nothing more comes after the slots for which there was no budget: they are lost.
    pub(super) fn lose_dropped(&mut self) {
        for ((key, ring), from) in std::mem::take(&mut self.dropped_until) {
            let nothing = Written { process: key.1, ring, from, content: Content::Plain(Vec::new()) };
            if let Some((index, nothing)) = self.readable(key.0, nothing, Nanoseconds::MAX)
                && let Some(process) = self.processes.by_index(index)
            {
                process.arrive(&nothing, &mut Vec::new(), &mut self.decoded);
            }
        }
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

    /// A process says what something means in what comes.
    pub(super) fn define(&mut self, index: usize, definition: Entry) {
        let Some(process) = self.processes.by_index(index) else { return };
        match definition {
            Entry::Comm(definition) => self.comm_defined(index, &definition),
            Entry::Handle { comm, handle } => {
                if process.handles.contains_key(&handle) || self.memory.take_entry::<(u64, u32)>() {
                    process.handles.insert(handle, comm);
                }
            }
            Entry::Name(part) => self.name(index, &part),
            Entry::Grid(part) => self.grid(index, &part),
            Entry::Module(module) => process.sites.module(&module, &mut self.memory),
            Entry::Path(part) => process.sites.path(&part),
            Entry::Site(site) => {
                let new = self.sites.define(&mut process.sites, &site, &mut self.memory);
                self.decoded.batch.sites.extend(new);
            }
            // They define nothing.
            Entry::Call(_)
            | Entry::Wide { .. }
            | Entry::Part(_)
            | Entry::Thread { .. }
            | Entry::Lost { .. }
            | Entry::Sync(_)
            | Entry::Paused => {}
        }
    }

    /// A process defines one of its numbers. One beyond the budget means nothing, not its earlier meaning.
    fn comm_defined(&mut self, index: usize, definition: &CommDefinition) {
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
            self.decoded.batch.comm_names.push(CommName { comm, name });
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
            self.decoded.batch.coordinates.push(Coordinate {
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
            self.decoded.batch.comms.push(CommInfo {
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
}
