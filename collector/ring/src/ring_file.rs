//! A ring file: the file of one process. The job makes and writes it, the agent opens and reads it.

use crate::in_flight::InFlight;
use crate::layout::{Capacities, MAGIC, RegionHeader, SLOTS_OFFSET, State, TEXT_WORDS};
use crate::map::{Mapping, above_standard, reserve};
use crate::ring::{Consumer, Pause, Producer};
use crate::sync::{AtomicU64, Ordering};
use crate::wake::Waker;
use mpiscope_wire::ClockKind;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Who writes a ring file.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The process.
    pub pid: u32,
    /// When it made this, by its monotonic clock: numbers of processes come again.
    pub made_ns: u64,
    /// Its world rank.
    pub rank: u32,
    /// Ranks in its world.
    pub world_size: u32,
    /// What its ticks are.
    pub clock: ClockKind,
    /// What recording a call costs it, in nanoseconds.
    pub cost_per_call_ns: f64,
    /// The MPI library, in one line of at most 256 bytes; what exceeds them is cut.
    pub library: String,
    /// The host, likewise.
    pub node: String,
    /// The library's constants for any source, for a null process, and for any tag.
    pub constants: [i32; 3],
}

/// Why a ring file could not be made.
#[derive(Debug)]
pub enum CreateError {
    /// The capacities make no sense.
    Capacities,
    /// No room, or no right, at this path.
    File(PathBuf, io::Error),
}

impl std::fmt::Display for CreateError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CreateError::Capacities => write!(formatter, "the sizes asked for are not possible"),
            CreateError::File(path, error) => write!(formatter, "{}: {error}", path.display()),
        }
    }
}

/// Why a file is no ring file that can be read.
#[derive(Debug)]
pub enum OpenError {
    /// It could not be opened or mapped.
    File(io::Error),
    /// Its description of itself is wrong.
    Unsound(&'static str),
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OpenError::File(error) => write!(formatter, "{error}"),
            OpenError::Unsound(reason) => write!(formatter, "{reason}"),
        }
    }
}

fn put_text(words: &[AtomicU64; TEXT_WORDS], text: &str) {
    let mut bytes = [0_u8; TEXT_WORDS * 8];
    let mut length = text.len().min(bytes.len());
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    for (word, chunk) in words.iter().zip(bytes.chunks_exact(8)) {
        word.store(u64::from_le_bytes(chunk.try_into().unwrap_or_default()), Ordering::Relaxed);
    }
}

fn take_text(words: &[AtomicU64; TEXT_WORDS]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    // Control characters of a hostile name must not reach a terminal.
    String::from_utf8_lossy(&bytes[..end]).chars().filter(|character| !character.is_control()).collect()
}

/// The file and its mapping, seen by either side.
#[derive(Debug)]
pub struct RingFile {
    mapping: Mapping,
    capacities: Capacities,
}

/// The job's side.
#[derive(Debug)]
pub struct Writer {
    ring_file: RingFile,
    /// Wakes the agent, where it can be woken.
    waker: Option<Waker>,
}

/// The agent's side.
#[derive(Debug)]
pub struct Reader {
    ring_file: RingFile,
    file: File,
}

impl RingFile {
    fn header(&self) -> &RegionHeader {
        self.mapping.header()
    }
}

impl Writer {
    /// Creates the ring file of a process in `folder`: reserved, touched, then named. A reader therefore sees only
    /// complete ones. Its writers wake the agent by `waker`; without one, the agent looks more often.
    ///
    /// # Errors
    /// When there is no room or no right. Nothing is left behind.
    pub fn create(
        folder: &Path,
        identity: &Identity,
        capacities: Capacities,
        waker: impl FnOnce() -> Option<Waker>,
    ) -> Result<Self, CreateError> {
        if !capacities.are_sound() {
            return Err(CreateError::Capacities);
        }
        let path = folder.join(format!("{}-{}.making", identity.pid, identity.made_ns));
        let fault = |error| CreateError::File(path.clone(), error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(&path)
            .and_then(above_standard)
            .map_err(fault)?;
        let made = Self::fill(&file, identity, capacities, waker)
            .and_then(|writer| std::fs::rename(&path, path.with_extension("ring")).map(|()| writer));
        made.map_err(|error| {
            // The first of the two errors has the reason.
            let _ = std::fs::remove_file(&path);
            fault(error)
        })
    }

    fn fill(
        file: &File,
        identity: &Identity,
        capacities: Capacities,
        waker: impl FnOnce() -> Option<Waker>,
    ) -> io::Result<Self> {
        reserve(file, capacities.bytes())?;
        let mapping = Mapping::new(file, capacities.bytes(), true)?;
        // Only for a ring that there is: nothing is left behind.
        let waker = waker();
        let ring_file = RingFile { mapping, capacities };
        let header = ring_file.header();
        header.first_slots.store(capacities.first_slots, Ordering::Relaxed);
        header.other_slots.store(capacities.other_slots, Ordering::Relaxed);
        header.rings.store(capacities.rings, Ordering::Relaxed);
        header.pid.store(identity.pid, Ordering::Relaxed);
        header.made_ns.store(identity.made_ns, Ordering::Relaxed);
        header.rank.store(identity.rank, Ordering::Relaxed);
        header.world_size.store(identity.world_size, Ordering::Relaxed);
        header.clock.store(identity.clock.number(), Ordering::Relaxed);
        header.cost_picoseconds.store((identity.cost_per_call_ns * 1e3) as u64, Ordering::Relaxed);
        for (word, constant) in header.constants.iter().zip(identity.constants) {
            word.store(constant as u32, Ordering::Relaxed);
        }
        put_text(&header.library, &identity.library);
        put_text(&header.node, &identity.node);
        header.waker.store(waker.as_ref().map_or(0, Waker::number), Ordering::Relaxed);
        header.magic.store(MAGIC, Ordering::Release);
        Ok(Self { ring_file, waker })
    }

    /// Takes a ring for the calling thread, which has this number; `None` when all are taken.
    #[must_use]
    pub fn claim(&self, thread: u16) -> Option<(usize, Producer<'_>)> {
        (0..self.ring_file.capacities.rings as usize).find_map(|ring| {
            let header = self.ring_file.mapping.ring_header(ring);
            header.claim(thread).then_some(())?;
            let mut producer =
                Producer::new(header, self.ring_file.mapping.slots(&self.ring_file.capacities, ring));
            producer.waker = self.waker.as_ref();
            Some((ring, producer))
        })
    }

    /// Gives a ring back, when its thread ends.
    pub fn give_back(&self, ring: usize) {
        self.ring_file.mapping.ring_header(ring).give_back();
    }

    /// Lets nothing be written by any thread, or again.
    pub fn pause(&self, who: Pause, paused: bool) {
        (0..self.ring_file.capacities.rings as usize).for_each(|ring| {
            self.ring_file.mapping.ring_header(ring).pause(who, paused);
        });
    }

    /// Counts calls of a thread that found no ring.
    pub fn count_unrecorded(&self, calls: u64) {
        self.ring_file.header().unrecorded_calls.fetch_add(calls, Ordering::Relaxed);
    }

    /// Says how the process stands.
    pub fn set_state(&self, state: State) {
        self.ring_file.header().state.store(state.number(), Ordering::Release);
    }
}

impl Reader {
    /// Opens a ring file that a process made.
    ///
    /// # Errors
    /// When it cannot be opened, or its header is wrong.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(path)
            .map_err(OpenError::File)?;
        let metadata = file.metadata().map_err(OpenError::File)?;
        if !metadata.is_file() || metadata.len() < SLOTS_OFFSET as u64 {
            return Err(OpenError::Unsound("it is too short for a ring"));
        }
        let first = Mapping::new(&file, SLOTS_OFFSET, false).map_err(OpenError::File)?;
        let header = first.header();
        if header.magic.load(Ordering::Acquire) != MAGIC {
            return Err(OpenError::Unsound("it is no ring, or one of another version of mpiscope"));
        }
        let capacities = Capacities {
            first_slots: header.first_slots.load(Ordering::Relaxed),
            other_slots: header.other_slots.load(Ordering::Relaxed),
            rings: header.rings.load(Ordering::Relaxed),
        };
        if !capacities.are_sound() || metadata.len() < capacities.bytes() as u64 {
            return Err(OpenError::Unsound("its sizes make no sense"));
        }
        let mapping = Mapping::new(&file, capacities.bytes(), false).map_err(OpenError::File)?;
        Ok(Self { ring_file: RingFile { mapping, capacities }, file })
    }

    /// Whether the file is still as long as the mapping; a shorter one must not be touched.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let bytes = self.ring_file.capacities.bytes() as u64;
        self.file.metadata().is_ok_and(|metadata| metadata.len() >= bytes)
    }

    /// Who writes it.
    ///
    /// # Errors
    /// When it contains something impossible.
    pub fn identity(&self) -> Result<Identity, OpenError> {
        let header = self.ring_file.header();
        let clock = ClockKind::from_number(header.clock.load(Ordering::Relaxed));
        let (rank, world_size) =
            (header.rank.load(Ordering::Relaxed), header.world_size.load(Ordering::Relaxed));
        if rank >= world_size || world_size > 1 << 23 {
            return Err(OpenError::Unsound("its rank is not within its world"));
        }
        Ok(Identity {
            pid: header.pid.load(Ordering::Relaxed),
            made_ns: header.made_ns.load(Ordering::Relaxed),
            rank,
            world_size,
            clock: clock.ok_or(OpenError::Unsound("its clock is of no known kind"))?,
            cost_per_call_ns: header.cost_picoseconds.load(Ordering::Relaxed) as f64 / 1e3,
            library: take_text(&header.library),
            node: take_text(&header.node),
            constants: self.constants(),
        })
    }

    fn constants(&self) -> [i32; 3] {
        let words = &self.ring_file.header().constants;
        std::array::from_fn(|at| words[at].load(Ordering::Relaxed) as i32)
    }

    /// How many rings it has.
    #[must_use]
    pub fn rings(&self) -> usize {
        self.ring_file.capacities.rings as usize
    }

    /// The reading end of a ring.
    #[must_use]
    pub fn consumer(&self, ring: usize, resume_at: Option<u64>) -> Consumer<'_> {
        let slots = self.ring_file.mapping.slots(&self.ring_file.capacities, ring);
        Consumer::new(self.ring_file.mapping.ring_header(ring), slots, resume_at)
    }

    /// The call that the thread of a ring is in. `now` is the tick of the ring file's clock at the moment.
    #[must_use]
    pub fn in_flight(&self, ring: usize, now: u64) -> Option<InFlight> {
        let seen = self.ring_file.mapping.ring_header(ring).in_flight(now)?;
        Some(seen.in_words_of_all(self.constants()))
    }

    /// The number of the file by which its writers wake an agent that rests, before their rings are full; 0 where they do
    /// not.
    #[must_use]
    pub fn waker(&self) -> u64 {
        self.ring_file.header().waker.load(Ordering::Relaxed)
    }

    /// Calls of threads that found no ring.
    #[must_use]
    pub fn unrecorded_calls(&self) -> u64 {
        self.ring_file.header().unrecorded_calls.load(Ordering::Relaxed)
    }

    /// The state of the process, by its own word.
    #[must_use]
    pub fn state(&self) -> State {
        State::from_number(self.ring_file.header().state.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_wire::{Asked, id};

    fn identity() -> Identity {
        Identity {
            pid: 77,
            made_ns: 5,
            rank: 1,
            world_size: 2,
            clock: ClockKind::Monotonic,
            cost_per_call_ns: 30.5,
            library: "Open MPI \u{1b}[31mred".into(),
            node: "é".repeat(200),
            constants: [-1, -2, -1],
        }
    }

    #[test]
    fn what_one_side_writes_the_other_reads() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::create(folder.path(), &identity(), Capacities::default(), || None).unwrap();
        let reader = Reader::open(&folder.path().join("77-5.ring")).unwrap();
        let seen = reader.identity().unwrap();
        assert_eq!((seen.pid, seen.rank, seen.cost_per_call_ns), (77, 1, 30.5));
        assert_eq!(seen.library, "Open MPI [31mred");
        assert_eq!(seen.node, "é".repeat(128));
        let (ring, mut producer) = writer.claim(0).unwrap();
        assert!(producer.push(&[], &[1, 2, 3, 4], 1));
        let mut consumer = reader.consumer(ring, None);
        let mut out = Vec::new();
        assert_eq!(consumer.read(10, &mut out), Ok(1));
        assert_eq!(out, [[1, 2, 3, 4]]);
        writer.count_unrecorded(1);
        writer.set_state(State::Aborted);
        assert_eq!((reader.unrecorded_calls(), reader.state()), (1, State::Aborted));
    }

    #[test]
    fn rings_are_claimed_once_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::create(folder.path(), &identity(), Capacities::default(), || None).unwrap();
        let claimed: Vec<usize> = std::iter::from_fn(|| writer.claim(0).map(|(ring, _)| ring)).collect();
        assert_eq!(claimed, (0..8).collect::<Vec<_>>());
        writer.give_back(3);
        assert_eq!(writer.claim(8).map(|(ring, _)| ring), Some(3));
        assert!(writer.claim(9).is_none());
    }

    #[test]
    fn the_call_a_thread_is_in_is_seen_until_its_ring_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::create(folder.path(), &identity(), Capacities::default(), || None).unwrap();
        let reader = Reader::open(&folder.path().join("77-5.ring")).unwrap();
        let (first, other) = (writer.claim(0).unwrap(), writer.claim(3).unwrap());
        other.1.in_flight().enter((id::BARRIER, 4), 70, Asked::Members { comm: 9 });
        assert_eq!(reader.in_flight(first.0, 100), None);
        let asked = Asked::Members { comm: 9 };
        let seen = InFlight { thread: 3, function: id::BARRIER, site: 4, since_ticks: 70, asked };
        assert_eq!(reader.in_flight(other.0, 100), Some(seen));
        writer.give_back(other.0);
        assert_eq!(reader.in_flight(other.0, 100), None);
        let again = writer.claim(4).unwrap();
        assert_eq!((again.0, reader.in_flight(again.0, 100)), (other.0, None));
    }

    #[test]
    fn files_that_are_no_ring_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.ring");
        for bytes in [vec![], vec![0; 100], vec![0; 10_000], vec![0xFF; 100_000]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(Reader::open(&path).is_err());
        }
        drop(Writer::create(folder.path(), &identity(), Capacities::default(), || None).unwrap());
        let whole = std::fs::read(folder.path().join("77-5.ring")).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(matches!(Reader::open(&path), Err(OpenError::Unsound(_))));
        std::os::unix::fs::symlink(folder.path().join("77-5.ring"), folder.path().join("2.ring")).unwrap();
        assert!(Reader::open(&folder.path().join("2.ring")).is_err());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error =
            Writer::create(Path::new("/nowhere"), &identity(), Capacities::default(), || None).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/77-5.making: "), "{error}");
    }
}
