//! Entries: what slots mean. A call is one slot; further details come in slots before it.
//!
//! ```text
//!            word 0                             word 1         word 2                      word 3
//! call       kind u8, flags u8, function u16,   start ticks    peer i24, comm u20, site u20  tag i32, bytes u32
//!            duration u32
//! wide       kind                               duration u64   bytes u64                   -
//! part       kind, flags u8, -, tag i32         post u64       peer i24, comm u20, -       bytes u64
//! comm       kind, other u23, first u1,         id u64         size u32, own rank u32      leader u32, parent u32
//!            index u24, what it is u8
//! lost       kind                               calls lost     -                           -
//! sync       kind                               peer, comm     sent u64                    received u64
//! thread     kind                               number u64     thread id u64               -
//! handle     kind                               handle u64     comm                        -
//! ```
//!
//! Definitions of call sites are in `site.rs`, details of communicators in `about.rs`. All others precede the call
//! they belong to: a reader never looks ahead.

use crate::about::{CommKind, GridPart, NamePart};
use crate::site::{ModuleDefinition, PathPart, SiteDefinition};
use crate::slot::{
    KIND_CALL, KIND_COMM, KIND_GRID, KIND_HANDLE, KIND_LOST, KIND_MODULE, KIND_NAME, KIND_PART, KIND_PATH,
    KIND_PAUSED, KIND_SITE, KIND_SYNC, KIND_THREAD, KIND_WIDE, Slot, pack_halves,
};

/// No peer, or several, or one that does not exist (`MPI_PROC_NULL`).
pub const PEER_NONE: i32 = -1;
/// Any source.
pub const PEER_ANY: i32 = -2;
/// No communicator, or one beyond [`MAX_COMM`].
pub const NO_COMM: u32 = 0xF_FFFF;
/// The greatest index of a communicator.
pub const MAX_COMM: u32 = NO_COMM - 1;

/// The bits of a definition's index; those above say what it defines.
const INDEX_BITS: u32 = 24;

/// What a call's fields mean. A set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallFlags(pub u8);

impl CallFlags {
    /// Nothing but a call.
    pub const NONE: Self = Self(0);
    /// It sent a message of `bytes` to `peer` with `tag`.
    pub const SEND: Self = Self(1);
    /// It posted and completed a receive of `bytes` from `peer` with `tag`.
    pub const RECEIVE: Self = Self(2);
    /// It posted a nonblocking receive; `bytes` holds the low half of the post's number.
    pub const POST: Self = Self(4);
    /// It stands for `bytes` failed polls.
    pub const FOLDED: Self = Self(8);
    /// It returned an error; nothing is known to have moved.
    pub const ERROR: Self = Self(16);
    /// It is a collective; `tag` holds its number on its communicator, `peer` its root, [`PEER_ANY`] if that is the caller,
    /// who deals with the other group of an intercommunicator.
    pub const COLLECTIVE: Self = Self(32);
    /// It reported a message that can be received, of `bytes` from `peer` with `tag`.
    pub const PROBE: Self = Self(64);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a part is. A set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartFlags(pub u8);

impl PartFlags {
    /// A receive posted by an earlier call completed.
    pub const COMPLETED: Self = Self(1);
    /// A receive that this same call posted completed.
    pub const INLINE: Self = Self(2);
    /// A posted receive was cancelled: it takes no message.
    pub const CANCELLED: Self = Self(4);
    /// A posted receive was freed: it takes a message without a visible completion.
    pub const FREED: Self = Self(8);
    /// The call sent a message of `bytes` to `peer` with `tag`, one of perhaps several.
    pub const SENT: Self = Self(16);
    /// The call posted the receive `post` from `peer` with `tag` (-1 is any), one of perhaps several.
    pub const POSTED: Self = Self(32);
    /// A nonblocking collective is complete: the one with the number `tag` on its communicator.
    pub const COLLECTED: Self = Self(64);
    /// The call started a collective that a call of the function `post` had made, one of perhaps several: `tag` is its
    /// number on its communicator, `peer` its root as in a call.
    pub const STARTED: Self = Self(128);

    /// Whether a receive completed.
    #[must_use]
    pub fn is_receive(self) -> bool {
        self == Self::COMPLETED || self == Self::INLINE
    }
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// What its fields mean.
    pub flags: CallFlags,
    /// Which function.
    pub function: u16,
    /// Its length in ticks; what exceeds 32 bits travels in a wide slot.
    pub duration: u64,
    /// When it began, in ticks.
    pub start: u64,
    /// The world rank of the other side, [`PEER_NONE`] or [`PEER_ANY`].
    pub peer: i32,
    /// The process's own number of the communicator, or [`NO_COMM`].
    pub comm: u32,
    /// The process's own number of the call site; 0 is none.
    pub site: u32,
    /// The tag, -1 for any.
    pub tag: i32,
    /// Bytes, or what the flags say; what exceeds 32 bits travels in a wide slot.
    pub bytes: u64,
}

/// One of several things that a call did, or what became of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub flags: PartFlags,
    /// The tag of the status, or of the arguments.
    pub tag: i32,
    /// The number of the post.
    pub post: u64,
    /// The source of the status, or the other side, as a world rank.
    pub peer: i32,
    /// The communicator.
    pub comm: u32,
    /// What arrived, or was sent.
    pub bytes: u64,
}

/// The other group of an intercommunicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherGroup {
    /// How many ranks it has, or [`OtherGroup::ELSEWHERE`].
    pub size: u32,
    /// Whether both sides name it first, and the process's own group is the second.
    pub is_first: bool,
}

impl OtherGroup {
    /// The size of a group of another job.
    pub const ELSEWHERE: u32 = 0x7F_FFFF;
}

/// A communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommDefinition {
    /// The process's own number of it.
    pub index: u32,
    /// What it is.
    pub kind: CommKind,
    /// The identity that all members agree on.
    pub id: u64,
    /// Its size.
    pub size: u32,
    /// The process's rank in it.
    pub own_rank: u32,
    /// The world rank of its rank 0.
    pub leader: u32,
    /// The communicator it was made from, or [`NO_COMM`].
    pub parent: u32,
    /// The other group, where it has two.
    pub other: Option<OtherGroup>,
}

/// How much went over a channel until here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sync {
    /// The world rank of the other side.
    pub peer: i32,
    /// The communicator.
    pub comm: u32,
    /// Messages sent to the peer.
    pub sent: u64,
    /// Receives from the peer that completed.
    pub received: u64,
}

/// A decoded slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A call; it closes the group of slots before it. `duration` and `bytes` are their low halves.
    Call(Call),
    /// The full duration and bytes of the call that follows.
    Wide {
        /// Ticks.
        duration: u64,
        /// Bytes, or what the call's flags say.
        bytes: u64,
    },
    /// See [`Part`].
    Part(Part),
    /// See [`CommDefinition`].
    Comm(CommDefinition),
    /// Calls were dropped before this slot: how many so far in the life of this ring.
    Lost {
        /// Cumulative.
        calls: u64,
    },
    /// See [`Sync`].
    Sync(Sync),
    /// From here on the ring is this thread's.
    Thread {
        /// Which of the process's threads, numbered as they first called MPI.
        number: u64,
        /// The operating system's number.
        thread_id: u64,
    },
    /// By which handle the program knows a communicator, from here on.
    Handle {
        /// The process's own number of it.
        comm: u32,
        /// The handle.
        handle: u64,
    },
    /// See [`SiteDefinition`].
    Site(SiteDefinition),
    /// See [`ModuleDefinition`].
    Module(ModuleDefinition),
    /// See [`PathPart`].
    Path(PathPart),
    /// See [`NamePart`].
    Name(NamePart),
    /// See [`GridPart`].
    Grid(GridPart),
    /// Calls were not recorded before this slot, because of a pause.
    Paused,
}

const fn pack_place(peer: i32, comm: u32, site: u32) -> u64 {
    (peer as u32 & 0xFF_FFFF) as u64 | ((comm & NO_COMM) as u64) << 24 | ((site & 0xF_FFFF) as u64) << 44
}

const fn unpack_place(word: u64) -> (i32, u32, u32) {
    // Shifting left, then right as a signed number, spreads the sign of the 24 bits.
    let peer = ((word as u32) << 8) as i32 >> 8;
    (peer, (word >> 24) as u32 & NO_COMM, (word >> 44) as u32 & 0xF_FFFF)
}

impl Call {
    /// Whether a wide slot has to go before this call.
    #[inline(always)]
    #[must_use]
    pub fn needs_wide(&self) -> bool {
        (self.duration | self.bytes) >> 32 != 0
    }

    /// The call's slot.
    #[inline(always)]
    #[must_use]
    pub fn encode(&self) -> Slot {
        let head = pack_halves(
            u32::from(KIND_CALL) | u32::from(self.flags.0) << 8 | u32::from(self.function) << 16,
            self.duration as u32,
        );
        [
            head,
            self.start,
            pack_place(self.peer, self.comm, self.site),
            pack_halves(self.tag as u32, self.bytes as u32),
        ]
    }

    #[inline]
    fn decode(low: u32, high: u32, &[_, start, place, rest]: &Slot) -> Self {
        let (peer, comm, site) = unpack_place(place);
        Self {
            flags: CallFlags((low >> 8) as u8),
            function: (low >> 16) as u16,
            duration: u64::from(high),
            start,
            peer,
            comm,
            site,
            tag: rest as u32 as i32,
            bytes: rest >> 32,
        }
    }

    /// How many calls of the program it stands for.
    #[must_use]
    pub fn calls(&self) -> u64 {
        if self.flags.has(CallFlags::FOLDED) { self.bytes.max(1) } else { 1 }
    }

    /// The wide slot.
    #[must_use]
    pub fn encode_wide(&self) -> Slot {
        [u64::from(KIND_WIDE), self.duration, self.bytes, 0]
    }
}

impl Part {
    /// The bytes of a receive of unknown size: as many as its message had.
    pub const UNKNOWN_BYTES: u64 = u64::MAX;

    /// Its slot.
    #[inline(always)]
    #[must_use]
    pub fn encode(&self) -> Slot {
        let head = pack_halves(u32::from(KIND_PART) | u32::from(self.flags.0) << 8, self.tag as u32);
        [head, self.post, pack_place(self.peer, self.comm, 0), self.bytes]
    }

    #[inline]
    fn decode(low: u32, high: u32, &[_, post, place, bytes]: &Slot) -> Self {
        let (peer, comm, _) = unpack_place(place);
        Self { flags: PartFlags((low >> 8) as u8), tag: high as i32, post, peer, comm, bytes }
    }
}

impl CommDefinition {
    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        // Nobody is in a communicator with a group of none.
        let other = self
            .other
            .map_or(0, |other| other.size.min(OtherGroup::ELSEWHERE) << 8 | u32::from(other.is_first) << 31);
        [
            pack_halves(u32::from(KIND_COMM) | other, self.index | self.kind.number() << INDEX_BITS),
            self.id,
            pack_halves(self.size, self.own_rank),
            pack_halves(self.leader, self.parent),
        ]
    }

    fn decode(low: u32, high: u32, &[_, id, sizes, ranks]: &Slot) -> Self {
        Self {
            index: high & (u32::MAX >> (u32::BITS - INDEX_BITS)),
            kind: CommKind::of_number(high >> INDEX_BITS),
            id,
            size: sizes as u32,
            own_rank: (sizes >> 32) as u32,
            leader: ranks as u32,
            parent: (ranks >> 32) as u32,
            other: Some(low >> 8 & OtherGroup::ELSEWHERE)
                .filter(|&size| size > 0)
                .map(|size| OtherGroup { size, is_first: low >> 31 == 1 }),
        }
    }
}

impl Sync {
    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        [u64::from(KIND_SYNC), pack_place(self.peer, self.comm, 0), self.sent, self.received]
    }
}

impl Entry {
    /// The slot with the number of calls that a ring has lost.
    #[must_use]
    pub fn encode_lost(calls: u64) -> Slot {
        [u64::from(KIND_LOST), calls, 0, 0]
    }

    /// The slot that marks the end of a pause.
    #[must_use]
    pub fn encode_paused() -> Slot {
        [u64::from(KIND_PAUSED), 0, 0, 0]
    }

    /// The slot that identifies the owner of a ring from here on.
    #[must_use]
    pub fn encode_thread(number: u64, thread_id: u64) -> Slot {
        [u64::from(KIND_THREAD), number, thread_id, 0]
    }

    /// The slot with the program's handle of a communicator.
    #[must_use]
    pub fn encode_handle(comm: u32, handle: u64) -> Slot {
        [u64::from(KIND_HANDLE), handle, u64::from(comm), 0]
    }

    /// Reads a slot; `None` when it is of no known kind.
    #[must_use]
    #[inline]
    pub fn decode(slot: &Slot) -> Option<Self> {
        let [head, first, second, third] = *slot;
        let (low, high) = (head as u32, (head >> 32) as u32);
        Some(match low as u8 {
            KIND_CALL => Entry::Call(Call::decode(low, high, slot)),
            KIND_WIDE => Entry::Wide { duration: first, bytes: second },
            KIND_PART => Entry::Part(Part::decode(low, high, slot)),
            KIND_COMM => Entry::Comm(CommDefinition::decode(low, high, slot)),
            KIND_LOST => Entry::Lost { calls: first },
            KIND_SYNC => {
                let (peer, comm, _) = unpack_place(first);
                Entry::Sync(Sync { peer, comm, sent: second, received: third })
            }
            KIND_THREAD => Entry::Thread { number: first, thread_id: second },
            KIND_HANDLE => Entry::Handle { comm: second as u32, handle: first },
            KIND_SITE => Entry::Site(SiteDefinition::decode(high, slot)),
            KIND_MODULE => Entry::Module(ModuleDefinition::decode(low, high, slot)),
            KIND_PATH => Entry::Path(PathPart::decode(low, high, slot)),
            KIND_NAME => Entry::Name(NamePart::decode(low, high, slot)),
            KIND_GRID => Entry::Grid(GridPart::decode(low, high, slot)),
            KIND_PAUSED => Entry::Paused,
            _ => return None,
        })
    }
}

/// Whether a slot says what a number means in calls, also in later ones.
#[must_use]
pub fn defines(slot: &Slot) -> bool {
    matches!(
        slot[0] as u8,
        KIND_COMM | KIND_HANDLE | KIND_SITE | KIND_MODULE | KIND_PATH | KIND_NAME | KIND_GRID
    )
}

/// How many calls whole groups of slots stand for.
#[must_use]
pub fn calls_in(slots: impl IntoIterator<Item = Slot>) -> u64 {
    let (mut calls, mut wide) = (0_u64, None);
    for slot in slots {
        match Entry::decode(&slot) {
            Some(Entry::Wide { bytes, .. }) => wide = Some(bytes),
            Some(Entry::Call(call)) => {
                let bytes = wide.take().unwrap_or(call.bytes);
                let is_folded = call.flags.has(CallFlags::FOLDED);
                calls = calls.saturating_add(if is_folded { bytes.max(1) } else { 1 });
            }
            _ => {}
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kind_says_what_is_a_definition() {
        use Entry::{Comm, Grid, Handle, Module, Name, Path, Site};
        for kind in 0..=u8::MAX {
            let slot = [u64::from(kind), 0, 0, 0];
            let is_definition = matches!(
                Entry::decode(&slot),
                Some(Comm(_) | Handle { .. } | Site(_) | Module(_) | Path(_) | Name(_) | Grid(_))
            );
            assert_eq!(defines(&slot), is_definition, "{kind}");
        }
    }

    prop_compose! {
        fn calls()(
            flags: u8, function: u16, duration: u32, start: u64, peer in -(1_i32 << 23)..(1 << 23),
            comm in 0..=NO_COMM, site in 0_u32..=0xF_FFFF, tag: i32, bytes: u32,
        ) -> Call {
            Call {
                flags: CallFlags(flags), function, duration: duration.into(), start, peer, comm, site, tag,
                bytes: bytes.into(),
            }
        }
    }

    proptest! {
        #[test]
        fn calls_survive(call in calls()) {
            prop_assert!(!call.needs_wide());
            prop_assert_eq!(Entry::decode(&call.encode()), Some(Entry::Call(call)));
        }

        #[test]
        fn parts_survive(flags: u8, tag: i32, post: u64, peer in -2_i32..(1 << 23), comm in 0..=NO_COMM, bytes: u64) {
            let part = Part { flags: PartFlags(flags), tag, post, peer, comm, bytes };
            prop_assert_eq!(Entry::decode(&part.encode()), Some(Entry::Part(part)));
        }

        #[test]
        fn the_rest_survives(index in 0_u32..1 << INDEX_BITS, id: u64, size: u32, own_rank: u32, leader: u32, parent: u32,
            other in proptest::option::of((1..=OtherGroup::ELSEWHERE, any::<bool>())), peer in -2_i32..(1 << 23), comm in 0..=NO_COMM, sent: u64, received: u64) {
            let other = other.map(|(size, is_first)| OtherGroup { size, is_first });
            let definition = CommDefinition { index, kind: CommKind::File, id, size, own_rank, leader, parent, other };
            prop_assert_eq!(Entry::decode(&definition.encode()), Some(Entry::Comm(definition)));
            let sync = Sync { peer, comm, sent, received };
            prop_assert_eq!(Entry::decode(&sync.encode()), Some(Entry::Sync(sync)));
            prop_assert_eq!(Entry::decode(&Entry::encode_lost(id)), Some(Entry::Lost { calls: id }));
            let thread = Entry::Thread { number: id, thread_id: sent };
            prop_assert_eq!(Entry::decode(&Entry::encode_thread(id, sent)), Some(thread));
            let handle = Entry::Handle { comm: index, handle: id };
            prop_assert_eq!(Entry::decode(&Entry::encode_handle(index, id)), Some(handle));
        }

        #[test]
        fn wide_halves_join(duration: u64, bytes: u64) {
            let call = Call { flags: CallFlags::NONE, function: 1, duration, start: 0, peer: 0, comm: 0, site: 0,
                tag: 0, bytes };
            prop_assert_eq!(call.needs_wide(), duration > u64::from(u32::MAX) || bytes > u64::from(u32::MAX));
            prop_assert_eq!(Entry::decode(&call.encode_wide()), Some(Entry::Wide { duration, bytes }));
        }
    }

    #[test]
    fn slots_of_older_recordings_are_read_and_newer_ones_lie_where_they_do() {
        // The definition of a communicator before there were groups.
        let encoded = [u64::from(KIND_COMM) | 3 << 32, 77, 4 | 2 << 32, 9 | u64::from(NO_COMM) << 32];
        let mut definition = CommDefinition {
            index: 3,
            kind: CommKind::Communicator,
            id: 77,
            size: 4,
            own_rank: 2,
            leader: 9,
            parent: NO_COMM,
            other: None,
        };
        assert_eq!(Entry::decode(&encoded), Some(Entry::Comm(definition)));
        assert_eq!(definition.encode(), encoded);
        definition.other = Some(OtherGroup { size: 0x1_2345, is_first: true });
        assert_eq!(definition.encode()[0], 0x0000_0003_8123_4504);
        assert_eq!(definition.encode()[1..], encoded[1..]);
        let flags = PartFlags::COLLECTED;
        let part = Part { flags, tag: 6, post: 6, peer: PEER_NONE, comm: 3, bytes: 0 };
        assert_eq!(part.encode(), [0x0000_0006_0000_4003, 6, 0x0000_0000_03FF_FFFF, 0]);
    }

    #[test]
    fn an_unknown_kind_is_refused() {
        assert_eq!(Entry::decode(&[0; 4]), None);
        assert_eq!(Entry::decode(&[0xFF; 4]), None);
    }
}
