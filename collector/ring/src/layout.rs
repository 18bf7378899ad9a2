//! Where things lie in a ring file: a page of header, a page of ring headers, then the slots of each ring.

use crate::sync::{AtomicU32, AtomicU64};
use mpiscope_wire::SLOT_BYTES;

/// "MSRING" and the version of this layout.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"MSRING\x00\x05");
pub(crate) const PAGE_BYTES: usize = 4096;
pub(crate) const SLOTS_OFFSET: usize = 2 * PAGE_BYTES;
/// The most rings a ring file has.
pub const MAX_RINGS: usize = PAGE_BYTES / size_of::<RingHeader>();
pub(crate) const TEXT_WORDS: usize = 32;
const MOST_SLOTS: u32 = 1 << 24;

/// The state of a process, by its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, or it is gone without a word.
    Running,
    /// It returned from `MPI_Finalize`.
    Finalized,
    /// It called `MPI_Abort`.
    Aborted,
}

impl State {
    pub(crate) fn number(self) -> u32 {
        match self {
            State::Running => 0,
            State::Finalized => 1,
            State::Aborted => 2,
        }
    }

    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            1 => State::Finalized,
            2 => State::Aborted,
            _ => State::Running,
        }
    }
}

/// How many slots the rings of a ring file have: a large one for the first thread, smaller ones for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacities {
    /// Slots of ring 0, a power of two.
    pub first_slots: u32,
    /// Slots of each further ring, a power of two.
    pub other_slots: u32,
    /// Rings in all.
    pub rings: u32,
}

impl Default for Capacities {
    /// Under 4 MiB a process.
    fn default() -> Self {
        Self { first_slots: 1 << 16, other_slots: 1 << 13, rings: 8 }
    }
}

impl Capacities {
    /// Whether a ring file can have them.
    #[must_use]
    pub fn are_sound(&self) -> bool {
        let sound = |slots: u32| slots.is_power_of_two() && (64..=MOST_SLOTS).contains(&slots);
        sound(self.first_slots) && sound(self.other_slots) && (1..=MAX_RINGS as u32).contains(&self.rings)
    }

    pub(crate) fn slots(&self, ring: usize) -> usize {
        (if ring == 0 { self.first_slots } else { self.other_slots }) as usize
    }

    pub(crate) fn offset(&self, ring: usize) -> usize {
        let before = if ring == 0 { 0 } else { self.slots(0) + (ring - 1) * self.slots(1) };
        SLOTS_OFFSET + before * SLOT_BYTES
    }

    pub(crate) fn bytes(&self) -> usize {
        self.offset(self.rings as usize)
    }
}

/// The first page.
#[repr(C)]
#[derive(Debug)]
pub struct RegionHeader {
    pub(crate) magic: AtomicU64,
    pub(crate) first_slots: AtomicU32,
    pub(crate) other_slots: AtomicU32,
    pub(crate) rings: AtomicU32,
    pub(crate) pid: AtomicU32,
    pub(crate) rank: AtomicU32,
    pub(crate) world_size: AtomicU32,
    pub(crate) clock: AtomicU32,
    pub(crate) state: AtomicU32,
    pub(crate) made_ns: AtomicU64,
    pub(crate) cost_picoseconds: AtomicU64,
    pub(crate) unrecorded_calls: AtomicU64,
    /// The library's constants for any source, for a null process, and for any tag.
    pub(crate) constants: [AtomicU32; 4],
    pub(crate) library: [AtomicU64; TEXT_WORDS],
    pub(crate) node: [AtomicU64; TEXT_WORDS],
    /// The number of the file by which its writers wake an agent that rests; 0 where they do not.
    pub(crate) waker: AtomicU64,
}

/// What writer and reader of one ring share. Each writes a cache line of its own.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct RingHeader {
    pub(crate) head: AtomicU64,
    /// The head may grow up to here before the writer has to look whether there is room, and what the others want of it.
    /// Whoever wants something makes it look at once.
    pub(crate) free_until: AtomicU64,
    /// Since when the thread is in a call, and what it asks for: see `in_flight`.
    pub(crate) in_flight: AtomicU64,
    pub(crate) in_flight_what: AtomicU32,
    pub(crate) in_flight_site: AtomicU32,
    pub(crate) in_flight_fields: [AtomicU32; 4],
    pub(crate) in_flight_long: AtomicU64,
    writer_line: [u64; 1],
    pub(crate) tail: AtomicU64,
    /// Who switched recording off: see [`Pause`]. 0 for nobody.
    pub(crate) paused: AtomicU64,
    /// How often the writer was asked to repeat all definitions for later slots.
    pub(crate) asked_anew: AtomicU64,
    reader_line: [u64; 5],
    /// 0 without an owner, else one more than the number of its thread.
    pub(crate) owner: AtomicU32,
    owner_pad: u32,
    /// Calls that were dropped since there was no room, and such as were made while nothing was to be written.
    pub(crate) dropped_calls: AtomicU64,
    pub(crate) paused_calls: AtomicU64,
    /// How often definitions were repeated, and from which slot on the last time.
    pub(crate) told_anew: AtomicU64,
    pub(crate) anew_from: AtomicU64,
    owner_line: [u64; 3],
}

impl RingHeader {
    /// A header of an empty ring, for tests without a file.
    #[must_use]
    pub fn new() -> Self {
        Self {
            head: AtomicU64::new(0),
            free_until: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            in_flight_what: AtomicU32::new(0),
            in_flight_site: AtomicU32::new(0),
            in_flight_fields: std::array::from_fn(|_| AtomicU32::new(0)),
            in_flight_long: AtomicU64::new(0),
            writer_line: [0; 1],
            tail: AtomicU64::new(0),
            paused: AtomicU64::new(0),
            asked_anew: AtomicU64::new(0),
            reader_line: [0; 5],
            owner: AtomicU32::new(0),
            owner_pad: 0,
            dropped_calls: AtomicU64::new(0),
            paused_calls: AtomicU64::new(0),
            told_anew: AtomicU64::new(0),
            anew_from: AtomicU64::new(0),
            owner_line: [0; 3],
        }
    }
}

impl Default for RingHeader {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(loom))]
const _: () = {
    assert!(size_of::<RingHeader>() == 192);
    assert!(core::mem::offset_of!(RingHeader, tail) == 64);
    assert!(core::mem::offset_of!(RingHeader, owner) == 128);
    // Benchmarks read it.
    assert!(core::mem::offset_of!(RingHeader, dropped_calls) == 136);
    assert!(size_of::<RegionHeader>() <= PAGE_BYTES);
    assert!(core::mem::offset_of!(RegionHeader, library) == 80);
};
