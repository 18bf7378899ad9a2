//! Slots with details of a communicator: its name, and the position of the process in its grid.
//!
//! ```text
//!            word 0                                         word 1              word 2     word 3
//! name       kind u8, bytes u8, name's bytes u16, comm u32  up to 24 bytes of the name
//! grid       kind u8, dimension u8, dimensions u8,          coordinate u32,     -          -
//!            periodic u8, comm u32                          size u32
//! paused     kind u8                                        -                   -          -
//! ```
//!
//! A name comes in consecutive parts; all but the last are full. A file's name is its path. The last kind marks a gap:
//! recording was off, and calls of the thread are missing.

use crate::slot::{KIND_GRID, KIND_NAME, Slot, bytes_of, words_of};

/// What the members of a communicator share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommKind {
    /// It is a communicator.
    #[default]
    Communicator,
    /// A window of one-sided communication: the group that it was made for.
    Window,
    /// A file, likewise.
    File,
    /// What the program calls a stretch of its course (`MPI_Pcontrol`).
    Phase,
}

impl CommKind {
    const ALL: [Self; 4] = [CommKind::Communicator, CommKind::Window, CommKind::File, CommKind::Phase];

    pub(crate) fn number(self) -> u32 {
        match self {
            CommKind::Communicator => 0,
            CommKind::Window => 1,
            CommKind::File => 2,
            CommKind::Phase => 3,
        }
    }

    pub(crate) fn of_number(number: u32) -> Self {
        Self::ALL.into_iter().find(|kind| kind.number() == number).unwrap_or_default()
    }
}

/// Bytes of a name in one slot.
const NAME_PART_BYTES: usize = 24;
/// Longer names lose their beginning: the end of a path matters more.
pub const MOST_NAME_BYTES: usize = 480;

/// A part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamePart {
    /// The process's own number of what has the name.
    pub comm: u32,
    /// How many bytes the whole name has.
    pub name_bytes: u16,
    length: u8,
    bytes: [u8; NAME_PART_BYTES],
}

impl NamePart {
    /// A name in parts.
    pub fn all(comm: u32, name: &str) -> impl Iterator<Item = Self> + '_ {
        let mut from = name.len().saturating_sub(MOST_NAME_BYTES);
        while !name.is_char_boundary(from) {
            from += 1;
        }
        let name = &name.as_bytes()[from..];
        name.chunks(NAME_PART_BYTES).map(move |chunk| {
            let mut bytes = [0; NAME_PART_BYTES];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Self { comm, name_bytes: name.len() as u16, length: chunk.len() as u8, bytes }
        })
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length).min(NAME_PART_BYTES)]
    }

    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        let head = u64::from(KIND_NAME)
            | u64::from(self.length) << 8
            | u64::from(self.name_bytes) << 16
            | u64::from(self.comm) << 32;
        let [first, second, third] = words_of(&self.bytes);
        [head, first, second, third]
    }

    pub(crate) fn decode(low: u32, high: u32, slot: &Slot) -> Self {
        Self {
            comm: high,
            name_bytes: (low >> 16) as u16,
            length: (low >> 8) as u8,
            bytes: bytes_of([slot[1], slot[2], slot[3]]),
        }
    }
}

/// One dimension of a communicator's grid, and where the process stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GridPart {
    /// The process's own number of the communicator.
    pub comm: u32,
    /// Which dimension.
    pub dimension: u8,
    /// Of how many.
    pub dimensions: u8,
    /// Whether its ends meet.
    pub is_periodic: bool,
    /// Where the process stands.
    pub coordinate: u32,
    /// How many stand there.
    pub size: u32,
}

impl GridPart {
    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        let head = u64::from(KIND_GRID)
            | u64::from(self.dimension) << 8
            | u64::from(self.dimensions) << 16
            | u64::from(self.is_periodic) << 24
            | u64::from(self.comm) << 32;
        [head, u64::from(self.coordinate) | u64::from(self.size) << 32, 0, 0]
    }

    pub(crate) fn decode(low: u32, high: u32, slot: &Slot) -> Self {
        Self {
            comm: high,
            dimension: (low >> 8) as u8,
            dimensions: (low >> 16) as u8,
            is_periodic: low >> 24 != 0,
            coordinate: slot[1] as u32,
            size: (slot[1] >> 32) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;

    #[test]
    fn names_come_whole_through_their_parts_and_long_ones_keep_their_end() {
        let long = format!("\u{e4}{}", "ab".repeat(400));
        for (name, kept) in [("grid", "grid"), ("", ""), (&*long, &long[long.len() - MOST_NAME_BYTES..])] {
            let mut found = Vec::new();
            for part in NamePart::all(7, name) {
                let Some(Entry::Name(part)) = Entry::decode(&part.encode()) else { panic!("no name") };
                assert_eq!((part.comm, usize::from(part.name_bytes)), (7, kept.len()));
                found.extend_from_slice(part.bytes());
            }
            assert_eq!(found, kept.as_bytes());
        }
    }

    #[test]
    fn grids_pauses_and_kinds_survive() {
        let part = GridPart {
            comm: 9,
            dimension: 2,
            dimensions: 3,
            is_periodic: true,
            coordinate: 5,
            size: 1 << 20,
        };
        assert_eq!(Entry::decode(&part.encode()), Some(Entry::Grid(part)));
        assert_eq!(Entry::decode(&Entry::encode_paused()), Some(Entry::Paused));
        for kind in CommKind::ALL {
            assert_eq!(CommKind::of_number(kind.number()), kind);
        }
    }
}
