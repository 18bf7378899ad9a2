//! Writes an imported run as the messages of a log: the processes, their slots in batches, and the end of the run.

use mpiscope_wire::{
    ClockKind, ClockSample, CommDefinition, CommKind, EndState, Entry, Lost, Message, NO_COMM, NamePart,
    OtherGroup, Process, RunEnd, RunStart, Slot, Slots,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The clock at the start of the run; any value would do.
const ZERO_NS: u64 = 1_000_000_000;
/// Threads per process. Calls of further threads count as calls of the last one.
pub(crate) const MAX_THREADS: usize = 64;
/// Slots of all ranks in one batch: fewer than fit into a frame.
pub(crate) const MAX_SLOTS: usize = 1 << 15;

/// The job that an imported file describes.
pub(crate) struct JobDescription<'a> {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// What stands for the MPI library.
    pub(crate) library: &'static str,
    /// When the run began; 0 where that is not known.
    pub(crate) unix_ns: u64,
    /// The node of each rank.
    pub(crate) nodes: &'a [String],
    /// When the first call began and the last ended.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// The communicators by number. The world communicator has number 0 and need not be listed.
    pub(crate) comms: &'a BTreeMap<u32, CommMembers>,
    /// The names of phases.
    pub(crate) phases: &'a [String],
}

/// The ranks of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommMembers {
    /// One group: its ranks in order.
    Group(Vec<u32>),
    /// The two groups of an intercommunicator.
    Between(Vec<u32>, Vec<u32>),
    /// Each rank has one of its own, as with `MPI_COMM_SELF`.
    Alone,
}

impl CommMembers {
    /// The place of each member in its group, and whether that is the second one of two.
    fn places(&self) -> HashMap<u32, (u32, bool)> {
        let number = |group: &[u32], is_second| {
            let places: Vec<_> =
                group.iter().zip(0..).map(|(rank, place)| (*rank, (place, is_second))).collect();
            // If a rank is there twice, its first place counts.
            places.into_iter().rev()
        };
        match self {
            Self::Alone => HashMap::new(),
            Self::Group(group) => number(group, false).collect(),
            Self::Between(first, second) => number(second, true).chain(number(first, false)).collect(),
        }
    }

    /// The definition that a rank sends; none if the rank is not among the `places` of members.
    fn definition(
        &self,
        number: u32,
        rank: u32,
        places: &HashMap<u32, (u32, bool)>,
    ) -> Option<CommDefinition> {
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
            Self::Alone => Some(plain(&[rank], id | u64::from(rank + 1) << 32, 0, None)),
            Self::Group(group) => places.get(&rank).map(|&(place, _)| plain(group, id, place, None)),
            Self::Between(first, second) => {
                let other = |group: &[u32], is_first| Some(OtherGroup { size: group.len() as u32, is_first });
                places.get(&rank).map(|&(place, is_second)| {
                    let (own, others) = if is_second { (second, first) } else { (first, second) };
                    plain(own, id, place, other(others, is_second))
                })
            }
        }
    }
}

/// A thread of a rank.
#[derive(Default)]
struct Thread {
    /// How many slots were written.
    sent_slots: u64,
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Rank {
    threads: Vec<Thread>,
    has_world: bool,
    /// Whether it has slots that are not written yet.
    is_waiting: bool,
}

/// Collects slots by rank and thread, and writes them in batches.
pub(crate) struct LogStream<'a> {
    job: &'a JobDescription<'a>,
    ranks: Vec<Rank>,
    /// Pairs of rank and communicator that are defined; the world communicator is not among them.
    defined: HashSet<(u32, u32)>,
    /// The places of members in communicators that are defined for a rank.
    places: HashMap<u32, HashMap<u32, (u32, bool)>>,
    /// Ranks with slots that are not written yet, and the number of these slots.
    pending: Vec<u32>,
    pending_slots: usize,
    sink: &'a mut dyn FnMut(Message),
}

impl<'a> LogStream<'a> {
    /// Writes the start of the run and its processes.
    pub(crate) fn begin(job: &'a JobDescription<'a>, sink: &'a mut dyn FnMut(Message)) -> Self {
        let ranks = job.nodes.iter().map(|_| Rank::default()).collect();
        let (defined, places, pending) = (HashSet::new(), HashMap::new(), Vec::new());
        let mut stream = Self { job, ranks, defined, places, pending, pending_slots: 0, sink };
        stream.write_beginning();
        stream
    }

    /// Converts a time of the imported file to the clock of the run.
    pub(crate) fn to_clock_ns(&self, own_ns: u64) -> u64 {
        ZERO_NS + (own_ns - self.job.from_ns)
    }

    fn write_beginning(&mut self) {
        let JobDescription { nodes, name, command, library, unix_ns, .. } = self.job;
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
        self.write_clock_sample(self.job.from_ns);
    }

    fn write_clock_sample(&mut self, own_ns: u64) {
        let now_ns = self.to_clock_ns(own_ns);
        (self.sink)(Message::ClockSample(ClockSample { ticks: now_ns, monotonic_ns: now_ns }));
    }

    /// The number of slots that are not written yet.
    pub(crate) fn pending_slots(&self) -> usize {
        self.pending_slots
    }

    /// How many ranks have more than one thread.
    pub(crate) fn ranks_with_threads(&self) -> u64 {
        self.ranks.iter().filter(|rank| rank.threads.len() > 1).count() as u64
    }

    /// Appends slots of a thread; `thread` is below [`MAX_THREADS`].
    pub(crate) fn push_slots(&mut self, rank: u32, thread: usize, slots: &[Slot]) {
        let of = &mut self.ranks[rank as usize];
        while of.threads.len() <= thread {
            let number = of.threads.len() as u64;
            of.threads.push(Thread { sent_slots: 0, slots: vec![Entry::encode_thread(number, number)] });
        }
        of.threads[thread].slots.extend_from_slice(slots);
        if !std::mem::replace(&mut of.is_waiting, true) {
            self.pending.push(rank);
        }
        self.pending_slots += slots.len();
    }

    /// Defines a communicator for a rank, once. The definition goes to the first ring, which is written before the others.
    pub(crate) fn define_comm(&mut self, rank: u32, comm: u32) {
        let definition = if comm == 0 {
            if std::mem::replace(&mut self.ranks[rank as usize].has_world, true) {
                return;
            }
            let size = self.job.nodes.len() as u32;
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
            let members = self.job.comms.get(&comm).filter(|_| self.defined.insert((rank, comm)));
            members.and_then(|members| {
                let places = self.places.entry(comm).or_insert_with(|| members.places());
                members.definition(comm, rank, places)
            })
        };
        if let Some(definition) = definition {
            self.push_slots(rank, 0, &[definition.encode()]);
        }
    }

    /// Defines a phase for a rank, once, and returns its number, which follows those of communicators.
    pub(crate) fn define_phase(&mut self, rank: u32, phase: u32) -> u32 {
        let after = self.job.comms.last_key_value().map_or(0, |(number, _)| *number);
        let number = after + 1 + phase;
        if self.defined.insert((rank, number)) {
            let definition = CommDefinition {
                index: number,
                kind: CommKind::Phase,
                id: u64::from(number),
                size: self.job.nodes.len() as u32,
                own_rank: rank,
                leader: 0,
                parent: NO_COMM,
                other: None,
            };
            let name = &self.job.phases[phase as usize];
            let parts = NamePart::all(number, name).map(|part| part.encode());
            let slots: Vec<Slot> = std::iter::once(definition.encode()).chain(parts).collect();
            self.push_slots(rank, 0, &slots);
        }
        number
    }

    /// Writes all pending slots. No call that is pushed later may end before `own_ns`.
    pub(crate) fn flush(&mut self, own_ns: u64) {
        self.pending_slots = 0;
        for process in self.pending.drain(..) {
            let rank = &mut self.ranks[process as usize];
            rank.is_waiting = false;
            for (ring, thread) in (0..).zip(&mut rank.threads) {
                let slots = std::mem::take(&mut thread.slots);
                if slots.is_empty() {
                    continue;
                }
                let from = thread.sent_slots;
                thread.sent_slots += slots.len() as u64;
                (self.sink)(Message::Slots(Slots { process, ring, from, slots }));
            }
        }
        self.write_clock_sample(own_ns);
    }

    pub(crate) fn finish(&mut self) {
        let to_ns = self.job.to_ns;
        self.flush(to_ns);
        for process in 0..self.ranks.len() as u32 {
            let state = EndState::Finalized;
            (self.sink)(Message::Lost(Lost { process, ring_full: 0, no_ring: 0, unreadable: 0, state }));
        }
        // The exit status is not known. The caller removes it from the manifest; without one the run would count as cut off.
        let monotonic_ns = self.to_clock_ns(to_ns);
        (self.sink)(Message::RunEnd(RunEnd { exit: Some(0), monotonic_ns }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_says_its_place_and_others_say_nothing() {
        let group = CommMembers::Group(vec![5, 2, 7]);
        let define =
            |members: &CommMembers, number, rank| members.definition(number, rank, &members.places());
        let one = define(&group, 3, 2).unwrap();
        assert_eq!((one.index, one.id, one.size, one.own_rank, one.leader), (3, 3, 3, 1, 5));
        assert_eq!(define(&group, 3, 4), None);
        let between = CommMembers::Between(vec![0, 1], vec![4]);
        let second = define(&between, 1, 4).unwrap();
        assert_eq!((second.size, second.own_rank, second.leader), (1, 0, 4));
        assert_eq!(second.other, Some(OtherGroup { size: 2, is_first: true }));
        assert_eq!(define(&between, 1, 1).unwrap().other, Some(OtherGroup { size: 1, is_first: false }));
        let alone = |rank| define(&CommMembers::Alone, 2, rank).unwrap();
        assert_eq!((alone(0).size, alone(6).own_rank, alone(6).leader), (1, 0, 6));
        assert_ne!(alone(0).id, alone(6).id);
    }
}
