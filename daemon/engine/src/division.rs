//! Who reads the slots of a process, where several read those of a run.

use crate::owners::Owners;
use mpiscope_wire::{Message, Packed, Process, Skipped, Slots};
use rustc_hash::FxHashMap;

/// A process: its agent's number, then the agent's number of it.
type Key = (u32, u32);

/// How far the slots of a ring have come, and how many of them were handed to all.
#[derive(Default)]
struct RingState {
    position: u64,
    handed_on: u64,
}

/// Hands out messages in the order of the run.
pub struct Division {
    owners: Owners,
    /// Whose messages follow, and how many agents there are.
    origin: u32,
    agents: u32,
    reader_of: FxHashMap<Key, usize>,
    rings: FxHashMap<(Key, u32), RingState>,
}

/// Who gets a message.
#[derive(Debug, PartialEq)]
pub enum Divided {
    /// Everybody.
    ForAll(Message),
    /// One reader gets it as it is, and all others what it means for the whole run. In the order in which slots are read, those that
    /// define nothing have a place, too.
    ForOne(usize, Message, Message),
}

impl Division {
    /// Among this number of readers.
    #[must_use]
    pub fn new(readers: usize) -> Self {
        Self {
            owners: Owners::new(readers),
            origin: 0,
            agents: 1,
            reader_of: FxHashMap::default(),
            rings: FxHashMap::default(),
        }
    }

    /// Who gets the next message.
    pub fn divide(&mut self, message: Message) -> Divided {
        match &message {
            Message::Agent(agent) if agent.agent == self.agents => self.agents += 1,
            Message::Origin(origin) if origin.agent < self.agents => self.origin = origin.agent,
            Message::Process(process) => self.assign(process),
            Message::Skipped(skipped) => {
                let key = (self.origin, skipped.process);
                if let Some(&reader) = self.reader_of.get(&key) {
                    let state = self.rings.entry((key, skipped.ring)).or_default();
                    state.position = state.position.max(skipped.to);
                    let nothing = Message::Skipped(Skipped { to: state.handed_on, ..*skipped });
                    return Divided::ForOne(reader, message, nothing);
                }
            }
            Message::Slots(Slots { process, ring, from, .. })
            | Message::Packed(Packed { process, ring, from, .. }) => {
                let key = (self.origin, *process);
                // One that has not said who it is may still do so.
                let reader = *self.reader_of.entry(key).or_default();
                let definitions = Message::Slots(self.definitions(key, *ring, *from, &message));
                return Divided::ForOne(reader, message, definitions);
            }
            _ => {}
        }
        Divided::ForAll(message)
    }

    /// How far the rings of an agent's processes have come: the process, the ring, and the next position.
    pub fn positions(&self, agent: u32) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let of_agent = self.rings.iter().filter(move |(((of, _), _), _)| *of == agent);
        of_agent.map(|(((_, process), ring), state)| (*process, *ring, state.position))
    }

    fn assign(&mut self, process: &Process) {
        if let Some(owner) = self.owners.hear(process) {
            self.reader_of.entry((self.origin, process.process)).or_insert(owner);
        }
    }

    /// Those of a message's slots that define something, as if the ring had no others.
    fn definitions(&mut self, key: Key, ring: u32, from: u64, message: &Message) -> Slots {
        let state = self.rings.entry((key, ring)).or_default();
        // An agent that took over may send again what its predecessor had already sent.
        let known = usize::try_from(state.position.saturating_sub(from)).unwrap_or(usize::MAX);
        state.position = state.position.max(from.saturating_add(message.slot_count() as u64));
        let slots = message.definitions_from(known);
        let first = state.handed_on;
        state.handed_on += slots.len() as u64;
        Slots { process: key.1, ring, from: first, slots }
    }
}
