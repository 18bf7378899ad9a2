//! The payloads of frames: fixed little-endian fields, strings with a length before them.

use crate::frame::{FrameKind, encode_frame};
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

/// Ticks and nanoseconds of the same moment on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knot {
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
    /// The command's exit status as a shell would say it; none when it is not known.
    pub exit: Option<i32>,
    /// The monotonic clock then.
    pub monotonic_ns: u64,
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
    /// See [`Knot`].
    Knot(Knot),
    /// See [`Lost`].
    Lost(Lost),
    /// See [`RunEnd`].
    RunEnd(RunEnd),
}

/// A payload that does not hold what its kind says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadFault {
    /// Which kind.
    pub kind: FrameKind,
    /// What is wrong.
    pub reason: &'static str,
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (head, rest) = self.bytes.split_at_checked(count).ok_or("it is too short")?;
        self.bytes = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.take(N)?.try_into().map_err(|_| "it is too short")
    }

    fn u32(&mut self) -> Result<u32, &'static str> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<String, &'static str> {
        let length = self.u32()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| "a text is no UTF-8")
    }

    fn end(&self) -> Result<(), &'static str> {
        if self.bytes.is_empty() { Ok(()) } else { Err("it is too long") }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

impl Message {
    /// Appends the message as a frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut payload = Vec::new();
        encode_frame(self.write(&mut payload), &payload, out);
    }

    fn write(&self, out: &mut Vec<u8>) -> FrameKind {
        match self {
            Message::RunStart(start) => {
                put_text(out, &start.run);
                put_text(out, &start.node);
                out.extend_from_slice(&start.unix_ns.to_le_bytes());
                out.extend_from_slice(&start.monotonic_ns.to_le_bytes());
                out.extend_from_slice(&(start.command.len() as u32).to_le_bytes());
                for word in &start.command {
                    put_text(out, word);
                }
                FrameKind::RunStart
            }
            Message::Process(process) => {
                for number in
                    [process.process, process.pid, process.rank, process.world_size, process.clock.number()]
                {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                out.extend_from_slice(&process.made_ns.to_le_bytes());
                out.extend_from_slice(&process.cost_per_call_ns.to_bits().to_le_bytes());
                put_text(out, &process.library);
                put_text(out, &process.node);
                FrameKind::Process
            }
            Message::Slots(slots) => {
                out.reserve(16 + slots.slots.len() * SLOT_BYTES);
                out.extend_from_slice(&slots.process.to_le_bytes());
                out.extend_from_slice(&slots.ring.to_le_bytes());
                out.extend_from_slice(&slots.from.to_le_bytes());
                for word in slots.slots.iter().flatten() {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                FrameKind::Slots
            }
            Message::Knot(knot) => {
                out.extend_from_slice(&knot.ticks.to_le_bytes());
                out.extend_from_slice(&knot.monotonic_ns.to_le_bytes());
                FrameKind::Knot
            }
            Message::Lost(lost) => {
                out.extend_from_slice(&lost.process.to_le_bytes());
                out.extend_from_slice(&lost.state.number().to_le_bytes());
                for number in [lost.ring_full, lost.no_ring, lost.unreadable] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                FrameKind::Lost
            }
            Message::RunEnd(end) => {
                out.extend_from_slice(&u32::from(end.exit.is_some()).to_le_bytes());
                out.extend_from_slice(&end.exit.unwrap_or_default().to_le_bytes());
                out.extend_from_slice(&end.monotonic_ns.to_le_bytes());
                FrameKind::RunEnd
            }
        }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When it does not hold what its kind says.
    pub fn decode(kind: FrameKind, payload: &[u8]) -> Result<Self, PayloadFault> {
        let mut reader = Reader { bytes: payload };
        Self::read(kind, &mut reader)
            .and_then(|message| reader.end().map(|()| message))
            .map_err(|reason| PayloadFault { kind, reason })
    }

    fn read(kind: FrameKind, reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Ok(match kind {
            FrameKind::RunStart => {
                let (run, node) = (reader.text()?, reader.text()?);
                let (unix_ns, monotonic_ns) = (reader.u64()?, reader.u64()?);
                let mut command = Vec::new();
                for _ in 0..reader.u32()? {
                    command.push(reader.text()?);
                }
                Message::RunStart(RunStart { run, node, unix_ns, monotonic_ns, command })
            }
            FrameKind::Process => Message::Process(Process {
                process: reader.u32()?,
                pid: reader.u32()?,
                rank: reader.u32()?,
                world_size: reader.u32()?,
                clock: ClockKind::from_number(reader.u32()?).ok_or("its clock is of no known kind")?,
                made_ns: reader.u64()?,
                cost_per_call_ns: f64::from_bits(reader.u64()?),
                library: reader.text()?,
                node: reader.text()?,
            }),
            FrameKind::Slots => {
                let (process, ring, from) = (reader.u32()?, reader.u32()?, reader.u64()?);
                let bytes = reader.take(reader.bytes.len())?;
                if bytes.len() % SLOT_BYTES != 0 {
                    return Err("its slots are not whole");
                }
                let slots = bytes
                    .chunks_exact(SLOT_BYTES)
                    .map(|slot| {
                        let mut words = slot.chunks_exact(8);
                        std::array::from_fn(|_| {
                            let word = words.next().and_then(|word| word.try_into().ok());
                            u64::from_le_bytes(word.unwrap_or_default())
                        })
                    })
                    .collect();
                Message::Slots(Slots { process, ring, from, slots })
            }
            FrameKind::Knot => Message::Knot(Knot { ticks: reader.u64()?, monotonic_ns: reader.u64()? }),
            FrameKind::Lost => {
                let process = reader.u32()?;
                let state = EndState::from_number(reader.u32()?).ok_or("its state is of no known kind")?;
                Message::Lost(Lost {
                    process,
                    state,
                    ring_full: reader.u64()?,
                    no_ring: reader.u64()?,
                    unreadable: reader.u64()?,
                })
            }
            FrameKind::RunEnd => {
                let known = reader.u32()? != 0;
                let exit = i32::from_le_bytes(reader.array()?);
                Message::RunEnd(RunEnd { exit: known.then_some(exit), monotonic_ns: reader.u64()? })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Decoder;
    use proptest::prelude::*;

    fn examples() -> Vec<Message> {
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
            Message::Knot(Knot { ticks: 1, monotonic_ns: 2 }),
            Message::Lost(Lost {
                process: 1,
                ring_full: 2,
                no_ring: 3,
                unreadable: 4,
                state: EndState::Aborted,
            }),
            Message::RunEnd(RunEnd { exit: Some(-3), monotonic_ns: 9 }),
            Message::RunEnd(RunEnd { exit: None, monotonic_ns: 9 }),
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
        for message in examples() {
            message.encode(&mut bytes);
        }
        // A change here is a new WIRE_VERSION, and readers must still know the old one.
        assert_eq!((bytes.len(), crate::check::checksum(&bytes)), GOLDEN);
    }

    const GOLDEN: (usize, u32) = (374, 2329833072);

    proptest! {
        #[test]
        fn garbage_is_refused_or_read_but_never_panics(
            kind in 0_usize..6, payload in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let kinds = [FrameKind::RunStart, FrameKind::Process, FrameKind::Slots, FrameKind::Knot,
                FrameKind::Lost, FrameKind::RunEnd];
            let _ = Message::decode(kinds[kind], &payload);
        }
    }
}
