//! The payloads of frames, by kind of message.

use crate::entry::defines;
use crate::flight::Flight;
use crate::frame::FrameKind;
use crate::packing::PackedSlots;
use crate::slot::{SLOT_BYTES, Slot};

/// Which clock a process's ticks are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockKind {
    /// The invariant time-stamp counter.
    TimeStampCounter,
    /// Nanoseconds of the monotonic clock.
    Monotonic,
}

impl ClockKind {
    /// The number in headers.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            ClockKind::TimeStampCounter => 1,
            ClockKind::Monotonic => 2,
        }
    }

    /// The kind of a number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        [ClockKind::TimeStampCounter, ClockKind::Monotonic].into_iter().find(|kind| kind.number() == number)
    }
}

/// How a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndState {
    /// It runs.
    Running,
    /// It returned from `MPI_Finalize`.
    Finalized,
    /// It called `MPI_Abort`.
    Aborted,
    /// It is gone without either.
    Vanished,
}

impl EndState {
    /// The number in headers.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            EndState::Running => 0,
            EndState::Finalized => 1,
            EndState::Aborted => 2,
            EndState::Vanished => 3,
        }
    }

    /// The state of a number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        [EndState::Running, EndState::Finalized, EndState::Aborted, EndState::Vanished]
            .into_iter()
            .find(|state| state.number() == number)
    }
}

/// A run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    /// The run's name.
    pub run: String,
    /// The host of this agent.
    pub node: String,
    /// Wall-clock time, in nanoseconds since 1970, when the run began.
    pub unix_ns: u64,
    /// The monotonic clock of the node at that moment: the zero of the run's time.
    pub monotonic_ns: u64,
    /// The command line.
    pub command: Vec<String>,
}

/// A process and its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// The agent's number for it.
    pub process: u32,
    /// Its process id.
    pub pid: u32,
    /// When it made its rings, by its monotonic clock: numbers of processes come again.
    pub made_ns: u64,
    /// Its world rank.
    pub rank: u32,
    /// Ranks in its world.
    pub world_size: u32,
    /// What its ticks are.
    pub clock: ClockKind,
    /// What recording a call costs it, in nanoseconds.
    pub cost_per_call_ns: f64,
    /// The MPI library in one line.
    pub library: String,
    /// Its host.
    pub node: String,
}

/// Slots of one ring, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// Whose.
    pub process: u32,
    /// Which ring of the process: one thread's at a time.
    pub ring: u32,
    /// The position of the first slot in the ring's life.
    pub from: u64,
    /// The slots.
    pub slots: Vec<Slot>,
}

/// Slots of one ring, in order, packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Whose.
    pub process: u32,
    /// Which ring of the process.
    pub ring: u32,
    /// The position of the first slot in the ring's life.
    pub from: u64,
    /// The slots.
    pub slots: PackedSlots,
}

/// Ticks and nanoseconds of the same moment on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSample {
    /// The time-stamp counter; 0 where there is none to use.
    pub ticks: u64,
    /// The monotonic clock.
    pub monotonic_ns: u64,
}

/// What a process lost, cumulative, and how it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Whose.
    pub process: u32,
    /// Calls dropped at full rings.
    pub ring_full: u64,
    /// Calls of threads without a ring.
    pub no_ring: u64,
    /// Slots that the agent could not take from a damaged ring.
    pub unreadable: u64,
    /// How it stands.
    pub state: EndState,
}

/// The run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// The command's exit status as in a shell; none when unknown.
    pub exit: Option<i32>,
    /// The monotonic clock then.
    pub monotonic_ns: u64,
}

/// An agent is known: the one process of a node that reads the rings there. The daemon's own is number 0 and is not
/// introduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The daemon's number for it.
    pub agent: u32,
    /// Its own identity, drawn at random once, to recognise it later.
    pub identity: u128,
    /// Its host.
    pub node: String,
}

/// What follows in the log, until the next of these, comes from this agent; before the first, from number 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Whose messages follow.
    pub agent: u32,
    /// The agent's own number of the first of them; it numbers all its messages.
    pub sequence: u64,
}

/// Whether an agent is heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It was missed for a while.
    Missed,
    /// It is there again.
    Again,
    /// It has sent everything and has closed the connection.
    Finished,
}

impl Heard {
    pub(crate) const ALL: [Self; 3] = [Heard::Missed, Heard::Again, Heard::Finished];

    pub(crate) fn number(self) -> u32 {
        match self {
            Heard::Missed => 0,
            Heard::Again => 1,
            Heard::Finished => 2,
        }
    }
}

/// How contact with an agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contact {
    /// Which.
    pub agent: u32,
    /// How it stands.
    pub heard: Heard,
}

/// A comparison of an agent's clock, by a message to it and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// Whose clock.
    pub agent: u32,
    /// The agent's monotonic clock in the middle.
    pub local_ns: u64,
    /// What has to be added to it for the daemon's monotonic clock.
    pub offset_ns: i64,
    /// Half the time it took: the true offset lies no further away.
    pub uncertainty_ns: u64,
}

/// What the scheduler did to a process since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// Whose.
    pub process: u32,
    /// The agent's monotonic clock then.
    pub monotonic_ns: u64,
    /// Time on a processor, of all its threads.
    pub run_ns: u64,
    /// Time ready to run and without a processor.
    pub wait_ns: u64,
    /// Times it gave its processor away.
    pub voluntary: u64,
    /// Times its processor was taken away.
    pub involuntary: u64,
    /// Time stopped by a signal or a debugger.
    pub stopped_ns: u64,
    /// Time in uninterruptible sleep in the kernel, such as for a disk or for swapped memory.
    pub blocked_ns: u64,
    /// Major page faults: pages that had to be read from a disk, a network file system, or swap.
    pub major_faults: u64,
}

/// The calls that the threads of a process were in when it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastCalls {
    /// Whose.
    pub process: u32,
    /// One a thread at the most.
    pub calls: Vec<Flight>,
}

/// Recording was switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switched {
    /// Whether it is on now.
    pub is_on: bool,
    /// The daemon's monotonic clock then.
    pub monotonic_ns: u64,
}

/// Calls that a process made while recording was off, cumulative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrecorded {
    /// Whose.
    pub process: u32,
    /// How many.
    pub calls: u64,
}

/// Slots of a ring from a pause: they are not missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// Whose.
    pub process: u32,
    /// Which of its rings.
    pub ring: u32,
    /// The first slot after it.
    pub to: u64,
}

/// The CPUs that a process may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    /// Whose.
    pub process: u32,
    /// CPUs that are online on its host.
    pub on_host: u32,
    /// The quota of its control group, in thousandths of a CPU; 0 without one.
    pub quota_milli: u32,
    /// Those that its affinity allows, as the kernel writes them: `0-3,8`.
    pub allowed: String,
}

/// Any payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// See [`RunStart`].
    RunStart(RunStart),
    /// See [`Process`].
    Process(Process),
    /// See [`Slots`].
    Slots(Slots),
    /// See [`ClockSample`].
    ClockSample(ClockSample),
    /// See [`Lost`].
    Lost(Lost),
    /// See [`RunEnd`].
    RunEnd(RunEnd),
    /// See [`Agent`].
    Agent(Agent),
    /// See [`Origin`].
    Origin(Origin),
    /// See [`Contact`].
    Contact(Contact),
    /// See [`RoundTrip`].
    RoundTrip(RoundTrip),
    /// See [`Scheduling`].
    Scheduling(Scheduling),
    /// See [`LastCalls`].
    LastCalls(LastCalls),
    /// See [`Switched`].
    Switched(Switched),
    /// See [`Unrecorded`].
    Unrecorded(Unrecorded),
    /// See [`Skipped`].
    Skipped(Skipped),
    /// See [`Cpus`].
    Cpus(Cpus),
    /// See [`Packed`].
    Packed(Packed),
}

/// Fewer slots are not packed: it would cost more than it gains.
const LEAST_PACKED: usize = 8;

impl Message {
    /// Slots of a ring from a position on, packed if that takes less room.
    #[must_use]
    pub fn of_slots(process: u32, ring: u32, from: u64, slots: &[Slot]) -> Self {
        let packed = (slots.len() >= LEAST_PACKED).then(|| PackedSlots::pack(slots));
        match packed.filter(|packed| packed.bytes() < size_of_val(slots)) {
            Some(slots) => Message::Packed(Packed { process, ring, from, slots }),
            None => Message::Slots(Slots { process, ring, from, slots: slots.to_vec() }),
        }
    }

    /// Those of its slots that define something, behind a number of slots.
    #[must_use]
    pub fn definitions_from(&self, from: usize) -> Vec<Slot> {
        match self {
            Message::Slots(slots) => {
                let slots = slots.slots.get(from..).unwrap_or_default();
                slots.iter().filter(|slot| defines(slot)).copied().collect()
            }
            Message::Packed(packed) => packed.slots.definitions_from(from).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the slots in it can be read, if they are packed.
    #[must_use]
    pub fn unpacks(&self) -> bool {
        match self {
            Message::Packed(packed) => packed.slots.unpack(&mut Vec::new()),
            _ => true,
        }
    }

    /// The memory that its slots take.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        match self {
            Message::Packed(packed) => packed.slots.bytes(),
            message => message.slot_count() * SLOT_BYTES,
        }
    }

    /// How many slots it has.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        match self {
            Message::Slots(slots) => slots.slots.len(),
            Message::Packed(slots) => slots.slots.len(),
            _ => 0,
        }
    }

    /// Whether an agent sends this, about its own node, and counts it; all else is the daemon's.
    #[must_use]
    pub fn is_from_agent(&self) -> bool {
        match self {
            Message::Process(_)
            | Message::Slots(_)
            | Message::ClockSample(_)
            | Message::Lost(_)
            | Message::Scheduling(_)
            | Message::LastCalls(_)
            | Message::Unrecorded(_)
            | Message::Skipped(_)
            | Message::Cpus(_)
            | Message::Packed(_) => true,
            Message::RunStart(_)
            | Message::RunEnd(_)
            | Message::Agent(_)
            | Message::Origin(_)
            | Message::Contact(_)
            | Message::RoundTrip(_)
            | Message::Switched(_) => false,
        }
    }
}

/// A payload that does not match its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadFault {
    /// Which kind.
    pub kind: FrameKind,
    /// What is wrong.
    pub reason: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flight::Asked;
    use crate::frame::Decoder;
    use proptest::prelude::*;

    fn examples() -> Vec<Message> {
        let scheduling = Scheduling {
            process: 1,
            monotonic_ns: 2,
            run_ns: 3,
            wait_ns: 4,
            voluntary: 5,
            involuntary: 6,
            stopped_ns: 0,
            blocked_ns: 0,
            major_faults: 0,
        };
        vec![
            Message::RunStart(RunStart {
                run: "r".into(),
                node: "n".into(),
                unix_ns: 1,
                monotonic_ns: 2,
                command: vec!["mpirun".into(), "-n".into(), "2".into()],
            }),
            Message::Process(Process {
                process: 1,
                pid: 2,
                made_ns: 5,
                rank: 3,
                world_size: 4,
                clock: ClockKind::TimeStampCounter,
                cost_per_call_ns: 31.5,
                library: "MPI".into(),
                node: "node".into(),
            }),
            Message::Slots(Slots { process: 1, ring: 2, from: 4, slots: vec![[1, 2, 3, 4], [5; 4]] }),
            Message::ClockSample(ClockSample { ticks: 1, monotonic_ns: 2 }),
            Message::Lost(Lost {
                process: 1,
                ring_full: 2,
                no_ring: 3,
                unreadable: 4,
                state: EndState::Aborted,
            }),
            Message::RunEnd(RunEnd { exit: Some(-3), monotonic_ns: 9 }),
            Message::RunEnd(RunEnd { exit: None, monotonic_ns: 9 }),
            Message::Agent(Agent { agent: 1, identity: 2, node: "node".into() }),
            Message::Origin(Origin { agent: 1, sequence: 2 }),
            Message::Contact(Contact { agent: 1, heard: Heard::Again }),
            Message::RoundTrip(RoundTrip { agent: 1, local_ns: 2, offset_ns: -3, uncertainty_ns: 4 }),
            Message::Scheduling(scheduling),
            Message::LastCalls(LastCalls {
                process: 1,
                calls: vec![Flight {
                    process: 1,
                    rank: 2,
                    thread: 3,
                    function: 4,
                    site: 5,
                    since_ticks: 6,
                    asked: Asked::Exchange { to: 7, from: -2, tag: -1, comm: 8 },
                }],
            }),
            Message::Switched(Switched { is_on: true, monotonic_ns: 2 }),
            Message::Unrecorded(Unrecorded { process: 1, calls: 2 }),
            Message::Skipped(Skipped { process: 1, ring: 2, to: 3 }),
            Message::Scheduling(Scheduling { stopped_ns: 7, ..scheduling }),
            Message::Cpus(Cpus { process: 1, on_host: 2, quota_milli: 1_500, allowed: "0-1".into() }),
            Message::Scheduling(Scheduling { blocked_ns: 8, ..scheduling }),
            Message::Scheduling(Scheduling { major_faults: 9, ..scheduling }),
            Message::Packed(Packed {
                process: 1,
                ring: 2,
                from: 4,
                slots: PackedSlots::pack(&[[1, 2, 3, 4], [4, 5, 6, 7], [1, 3, 3, 4], [5; 4]]),
            }),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        for message in examples() {
            message.encode(&mut bytes);
        }
        let mut decoder = Decoder::new();
        decoder.feed(&bytes);
        for message in examples() {
            let frame = decoder.next_frame().unwrap().unwrap();
            assert_eq!(Message::decode(frame.kind, frame.payload), Ok(message));
        }
    }

    #[test]
    fn the_bytes_of_version_1_stay() {
        let mut bytes = Vec::new();
        let mut golden = Vec::new();
        for (at, message) in examples().iter().enumerate() {
            message.encode(&mut bytes);
            // The messages of one host's runs came first; those of several hosts were added, then last calls, then
            // the time a process was stopped, its CPUs, the time it was blocked, its page faults, and packed slots.
            if [7, 12, 13, 16, 17, 18, 19, 20, examples().len()].contains(&(at + 1)) {
                golden.push((bytes.len(), crate::check::checksum(&bytes)));
            }
        }
        // A change here is a new WIRE_VERSION, and readers must still know the old one.
        assert_eq!(golden, GOLDEN);
    }

    const GOLDEN: [(usize, u32); 9] = [
        (374, 2329833072),
        (574, 3866438358),
        (642, 4236167502),
        (730, 711623749),
        (798, 947460513),
        (833, 1278725180),
        (909, 368672805),
        (993, 888031683),
        (1117, 3437895676),
    ];

    proptest! {
        #[test]
        fn garbage_is_refused_or_read_but_never_panics(
            kind in proptest::sample::select(FrameKind::ALL.to_vec()), payload in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let _ = Message::decode(kind, &payload);
        }
    }
}
