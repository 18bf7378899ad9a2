//! Slots on their way from their clock to whoever reads them.

use mpiscope_model::Nanoseconds;
use mpiscope_wire::{Packed, PackedSlots, SLOT_BYTES, Slot, Slots, defines};

/// Slots of a ring, as they came.
#[derive(Debug)]
pub(crate) struct Written {
    /// The agent's number of their process.
    pub(crate) process: u32,
    pub(crate) ring: u32,
    /// The position of the first.
    pub(crate) from: u64,
    pub(crate) content: Content,
}

/// The slots themselves.
#[derive(Debug)]
pub(crate) enum Content {
    Plain(Vec<Slot>),
    Packed(PackedSlots),
}

/// Slots of an agent whose times are known.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) agent: u32,
    pub(crate) slots: Vec<Written>,
    /// They were written before this.
    pub(crate) written_until_ns: Nanoseconds,
}

/// Likewise of one ring of a process.
#[derive(Debug)]
pub(crate) struct Readable {
    /// The ring's place among those of its process.
    pub(crate) ring: usize,
    /// The position of the first.
    pub(crate) from: u64,
    pub(crate) content: Content,
    /// They were written before this.
    pub(crate) written_until_ns: Nanoseconds,
}

impl Written {
    /// What they count for until their clock sample comes: as much as they come to when all that waited is read at once.
    pub(crate) fn waiting_bytes(&self) -> usize {
        size_of::<Self>() + self.content.len() * SLOT_BYTES
    }
}

impl From<Slots> for Written {
    fn from(Slots { process, ring, from, slots }: Slots) -> Self {
        Self { process, ring, from, content: Content::Plain(slots) }
    }
}

impl From<Packed> for Written {
    fn from(Packed { process, ring, from, slots }: Packed) -> Self {
        Self { process, ring, from, content: Content::Packed(slots) }
    }
}

impl Content {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(slots) => slots.len(),
            Self::Packed(slots) => slots.len(),
        }
    }

    /// Whether something in it is to be known to the whole run.
    pub(crate) fn has_definitions(&self) -> bool {
        match self {
            Self::Plain(slots) => slots.iter().any(defines),
            Self::Packed(slots) => slots.definitions_from(0).next().is_some(),
        }
    }

    /// The slots from one on, in `buffer` if they were packed, and whether these are all. If they do not unpack, only those are
    /// there that define something: all others who know of this run have them, too.
    pub(crate) fn unpacked<'a>(&'a self, from: usize, buffer: &'a mut Vec<Slot>) -> (&'a [Slot], bool) {
        match self {
            Self::Plain(slots) => (slots.get(from..).unwrap_or_default(), true),
            Self::Packed(slots) => {
                buffer.clear();
                if slots.unpack(buffer) {
                    return (buffer.get(from..).unwrap_or_default(), true);
                }
                buffer.clear();
                buffer.extend(slots.definitions_from(from));
                (buffer, false)
            }
        }
    }
}
