//! What is imported as the messages that the log of a real run holds: who there is, their slots some at once, and the end.

use mpiscope_wire::{
    ClockKind, CommDefinition, CommKind, EndState, Entry, Knot, Lost, Message, NO_COMM, OtherGroup, Process,
    RunEnd, RunStart, Slot, Slots,
};
use std::collections::{BTreeMap, HashSet};

/// The clock at the start of the run. It is as good as any.
const ZERO_NS: u64 = 1_000_000_000;
/// More threads than the rings of a process: calls of those beyond are told as of the last.
pub(crate) const MOST_THREADS: usize = 64;
/// Slots of all ranks that are told at once: less than what fits into a frame.
pub(crate) const MOST_SLOTS: usize = 1 << 15;

/// A job of which something else than a run tells.
pub(crate) struct World<'a> {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// What stands for the MPI library.
    pub(crate) library: &'static str,
    /// When the run began; 0 where that is not known.
    pub(crate) unix_ns: u64,
    /// Of each rank its node.
    pub(crate) nodes: &'a [String],
    /// When the first call began and the last ended.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// By number, the communicators; the world, which has number 0, need not be among them.
    pub(crate) comms: &'a BTreeMap<u32, Members>,
}

/// The ranks of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Members {
    /// One group: its ranks in order.
    Group(Vec<u32>),
    /// Two groups that talk with each other.
    Between(Vec<u32>, Vec<u32>),
    /// Each rank alone.
    Alone,
}

impl Members {
    /// What a rank says of it; nothing where it is not one of them.
    fn definition(&self, number: u32, rank: u32) -> Option<CommDefinition> {
        let place = |group: &[u32]| group.iter().position(|&member| member == rank).map(|place| place as u32);
        let id = u64::from(number);
        let plain = |group: &[u32], id: u64, own_rank: u32, other: Option<OtherGroup>| CommDefinition {
            index: number,
            kind: CommKind::Communicator,
            id,
            size: group.len() as u32,
            own_rank,
            leader: group.first().copied().unwrap_or_default(),
            parent: NO_COMM,
            other,
        };
        match self {
            // Each has one of its own.
            Self::Alone => Some(plain(&[rank], id | u64::from(rank + 1) << 32, 0, None)),
            Self::Group(group) => place(group).map(|place| plain(group, id, place, None)),
            Self::Between(first, second) => {
                let other = |group: &[u32], is_first| Some(OtherGroup { size: group.len() as u32, is_first });
                let of_first = place(first).map(|place| plain(first, id, place, other(second, false)));
                of_first.or_else(|| place(second).map(|place| plain(second, id, place, other(first, true))))
            }
        }
    }
}

/// A thread of a rank.
#[derive(Default)]
struct Thread {
    /// How many slots were told.
    told: u64,
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Rank {
    threads: Vec<Thread>,
    has_world: bool,
    /// Whether it has slots that were not told.
    waits: bool,
}

/// What is told of.
pub(crate) struct Telling<'a> {
    world: &'a World<'a>,
    ranks: Vec<Rank>,
    /// The communicators that ranks have defined, but for the world.
    defined: HashSet<(u32, u32)>,
    /// Ranks with slots that were not told, and how many these are.
    waiting: Vec<u32>,
    waiting_slots: usize,
    sink: &'a mut dyn FnMut(Message),
}

impl<'a> Telling<'a> {
    /// Begins with who there is.
    pub(crate) fn begin(world: &'a World<'a>, sink: &'a mut dyn FnMut(Message)) -> Self {
        let ranks = world.nodes.iter().map(|_| Rank::default()).collect();
        let (defined, waiting) = (HashSet::new(), Vec::new());
        let mut telling = Self { world, ranks, defined, waiting, waiting_slots: 0, sink };
        telling.introduce();
        telling
    }

    /// A time of what is imported on the clock of the run.
    pub(crate) fn clock_ns(&self, own_ns: u64) -> u64 {
        ZERO_NS + (own_ns - self.world.from_ns)
    }

    fn introduce(&mut self) {
        let World { nodes, name, command, library, unix_ns, .. } = self.world;
        (self.sink)(Message::RunStart(RunStart {
            run: name.clone(),
            node: nodes[0].clone(),
            unix_ns: *unix_ns,
            monotonic_ns: ZERO_NS,
            command: command.clone(),
        }));
        for (rank, node) in (0..).zip(*nodes) {
            (self.sink)(Message::Process(Process {
                process: rank,
                pid: 0,
                made_ns: ZERO_NS,
                rank,
                world_size: nodes.len() as u32,
                clock: ClockKind::Monotonic,
                cost_per_call_ns: 0.0,
                library: (*library).into(),
                node: node.clone(),
            }));
        }
        self.knot(self.world.from_ns);
    }

    fn knot(&mut self, own_ns: u64) {
        let now_ns = self.clock_ns(own_ns);
        (self.sink)(Message::Knot(Knot { ticks: now_ns, monotonic_ns: now_ns }));
    }

    /// Slots that wait to be told.
    pub(crate) fn waiting_slots(&self) -> usize {
        self.waiting_slots
    }

    /// How many ranks have several threads.
    pub(crate) fn ranks_with_threads(&self) -> u64 {
        self.ranks.iter().filter(|rank| rank.threads.len() > 1).count() as u64
    }

    /// Slots of a thread, one of [`MOST_THREADS`], in their order.
    pub(crate) fn slots(&mut self, rank: u32, thread: usize, slots: &[Slot]) {
        let of = &mut self.ranks[rank as usize];
        while of.threads.len() <= thread {
            let number = of.threads.len() as u64;
            of.threads.push(Thread { told: 0, slots: vec![Entry::encode_thread(number, number)] });
        }
        of.threads[thread].slots.extend_from_slice(slots);
        if !std::mem::replace(&mut of.waits, true) {
            self.waiting.push(rank);
        }
        self.waiting_slots += slots.len();
    }

    /// Says what a communicator is, in the first of the rank's rings: it is told before the others.
    pub(crate) fn define(&mut self, rank: u32, comm: u32) {
        let definition = if comm == 0 {
            if std::mem::replace(&mut self.ranks[rank as usize].has_world, true) {
                return;
            }
            let size = self.world.nodes.len() as u32;
            Some(CommDefinition {
                index: 0,
                kind: CommKind::Communicator,
                id: 0,
                size,
                own_rank: rank,
                leader: 0,
                parent: NO_COMM,
                other: None,
            })
        } else {
            let members = self.world.comms.get(&comm).filter(|_| self.defined.insert((rank, comm)));
            members.and_then(|members| members.definition(comm, rank))
        };
        if let Some(definition) = definition {
            self.slots(rank, 0, &[definition.encode()]);
        }
    }

    /// Tells all slots that wait. Nothing that is told later ends before this moment.
    pub(crate) fn flush(&mut self, own_ns: u64) {
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
                (self.sink)(Message::Slots(Slots { process, ring, from, slots }));
            }
        }
        self.knot(own_ns);
    }

    pub(crate) fn end(&mut self) {
        let to_ns = self.world.to_ns;
        self.flush(to_ns);
        for process in 0..self.ranks.len() as u32 {
            let state = EndState::Finalized;
            (self.sink)(Message::Lost(Lost { process, ring_full: 0, no_ring: 0, unreadable: 0, state }));
        }
        // How it ended is nowhere told, and will be taken out again: a run whose end is not known was cut off.
        let monotonic_ns = self.clock_ns(to_ns);
        (self.sink)(Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_says_its_place_and_others_say_nothing() {
        let group = Members::Group(vec![5, 2, 7]);
        let of = group.definition(3, 2).unwrap();
        assert_eq!((of.index, of.id, of.size, of.own_rank, of.leader), (3, 3, 3, 1, 5));
        assert_eq!(group.definition(3, 4), None);
        let between = Members::Between(vec![0, 1], vec![4]);
        let second = between.definition(1, 4).unwrap();
        assert_eq!((second.size, second.own_rank, second.leader), (1, 0, 4));
        assert_eq!(second.other, Some(OtherGroup { size: 2, is_first: true }));
        assert_eq!(between.definition(1, 1).unwrap().other, Some(OtherGroup { size: 1, is_first: false }));
        let alone = |rank| Members::Alone.definition(2, rank).unwrap();
        assert_eq!((alone(0).size, alone(6).own_rank, alone(6).leader), (1, 0, 6));
        assert_ne!(alone(0).id, alone(6).id);
    }
}
