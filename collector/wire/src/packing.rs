//! Slots in less room. A program repeats itself, so most of a slot is what followed the same two slots the last time; only what
//! differs is written.
//!
//! ```text
//! head u8   bits 0-2: bytes of the duration's change, 3-6: bytes of the time's change, 7: whether `more` follows
//! more u8   bit 0: kind, flags and function follow (4 bytes), 1: word 2 follows (8 bytes),
//!           bits 2-4, 5-7: bytes of the changes of the low and the high half of word 3
//! ```
//!
//! Then the bytes follow in this order: those of `more`, the duration's (the high half of word 0, by exclusive or), the time's
//! (word 1). A call is expected to begin when the one before it has ended. All other numbers are expected to grow as the last time.
//! Definitions are not packed: they are few, and who leaves out calls needs them all the same.
//!
//! What is expected follows from [`Expectation`], so all of it is part of the layout: a change there needs a new kind of frame.

use crate::entry::defines;
use crate::frame::MAX_PAYLOAD_BYTES;
use crate::slot::{KIND_CALL, SLOT_BYTES, Slot};

/// Pairs of slots that are remembered. More would cost short messages more than they gain long ones.
const CONTEXTS: usize = 1 << u8::BITS;
/// Slots that are packed before their bytes go where all are.
const PORTION: usize = 32;
/// The longest slot: both heads, and all that may follow.
const MOST_SLOT_BYTES: usize = 2 + 4 + 8 + 4 + 4 + 4 + 8;
/// No message has more slots, packed or not.
const MOST_SLOTS: usize = MAX_PAYLOAD_BYTES / SLOT_BYTES;

const HAS_MORE: u8 = 1 << 7;
const OTHER_KIND: u8 = 1;
const OTHER_PLACE: u8 = 1 << 1;

/// Slots, packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedSlots {
    /// How many.
    pub(crate) count: u32,
    /// Those that define something, each with its place among all.
    pub(crate) definitions: Vec<(u32, Slot)>,
    /// The others.
    pub(crate) bytes: Vec<u8>,
}

impl PackedSlots {
    /// Packs slots, no more than a message has.
    #[must_use]
    pub fn pack(slots: &[Slot]) -> Self {
        let mut packed = Self { count: slots.len() as u32, ..Self::default() };
        let mut expectation = Expectation::new();
        for (number, portion) in slots.chunks(PORTION).enumerate() {
            let (mut bytes, mut end) = ([0; PORTION * MOST_SLOT_BYTES + 8], 0);
            for (at, slot) in portion.iter().enumerate() {
                if defines(slot) {
                    packed.definitions.push(((number * PORTION + at) as u32, *slot));
                } else if let Some(buffer) = bytes[end..].first_chunk_mut() {
                    end += expectation.write(slot, buffer);
                }
            }
            packed.bytes.extend_from_slice(&bytes[..end]);
        }
        packed.bytes.shrink_to_fit();
        packed.definitions.shrink_to_fit();
        packed
    }

    /// How many slots there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The slots that define something, from a place among all slots on.
    pub fn definitions_from(&self, from: usize) -> impl Iterator<Item = Slot> + '_ {
        self.definitions.iter().filter(move |(place, _)| *place as usize >= from).map(|(_, slot)| *slot)
    }

    /// The memory that they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.definitions.len() * size_of::<(u32, Slot)>()
    }

    /// Puts all slots behind those that are there; says whether they make sense. Some may have been put there if not.
    #[must_use]
    pub fn unpack(&self, out: &mut Vec<Slot>) -> bool {
        out.reserve(self.len().min(MOST_SLOTS));
        let mut expectation = Expectation::new();
        let mut input = Input { bytes: &self.bytes, at: 0 };
        let mut definitions = self.definitions.iter().peekable();
        for at in 0..self.count {
            let slot = match definitions.next_if(|(place, _)| *place == at) {
                Some((_, definition)) => Some(*definition),
                None => expectation.read(&mut input),
            };
            let Some(slot) = slot else { return false };
            out.push(slot);
        }
        input.at == self.bytes.len() && definitions.next().is_none()
    }

    /// Whether numbers and sizes can be those of slots that were packed.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let packed =
            self.len().checked_sub(self.definitions.len()).ok_or("it has more slots than it says")?;
        if self.len() > MOST_SLOTS || packed > self.bytes.len() {
            return Err("it has fewer slots than it says");
        }
        let places = || self.definitions.iter().map(|(place, _)| *place);
        if !places().is_sorted_by(|one, next| one < next) || places().any(|place| place >= self.count) {
            return Err("its definitions are out of place");
        }
        let are_definitions = self.definitions.iter().all(|(_, slot)| defines(slot));
        if are_definitions { Ok(()) } else { Err("what it says to be a definition is none") }
    }
}

/// What followed two slots the last time.
#[derive(Clone, Copy, Default)]
struct Expected {
    slot: Slot,
    /// By how much words 1 and the halves of word 3 had changed.
    time_step: u64,
    low_step: u32,
    high_step: u32,
}

impl Expected {
    fn low(&self) -> u32 {
        (self.slot[3] as u32).wrapping_add(self.low_step)
    }

    fn high(&self) -> u32 {
        ((self.slot[3] >> 32) as u32).wrapping_add(self.high_step)
    }
}

/// What is expected of the next slot.
struct Expectation {
    expected: [Expected; CONTEXTS],
    /// Which of them comes.
    context: u8,
    /// What the last slot was.
    last: u64,
    /// When the last call ended.
    end: u64,
}

impl Expectation {
    fn new() -> Self {
        Self { expected: [Expected::default(); CONTEXTS], context: 0, last: 0, end: 0 }
    }

    /// The first word behind its kind: when a call begins, or whatever other slots have there.
    #[inline(always)]
    fn time(&self, kind: u64, expected: &Expected) -> u64 {
        if is_call(kind) { self.end } else { expected.slot[1].wrapping_add(expected.time_step) }
    }

    #[inline(always)]
    fn learn(&mut self, slot: &Slot) {
        let [head, time, place, rest] = *slot;
        let expected = &mut self.expected[usize::from(self.context)];
        expected.time_step = time.wrapping_sub(expected.slot[1]);
        expected.low_step = (rest as u32).wrapping_sub(expected.slot[3] as u32);
        expected.high_step = ((rest >> 32) as u32).wrapping_sub((expected.slot[3] >> 32) as u32);
        expected.slot = *slot;
        if is_call(head) {
            self.end = time.wrapping_add(head >> 32);
        }
        let what = u64::from(head as u32) ^ place.rotate_left(20);
        let hash = what.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.context = ((hash ^ self.last.rotate_left(7)) >> 56) as u8;
        self.last = hash;
    }

    #[inline(always)]
    fn write(&mut self, slot: &Slot, buffer: &mut [u8; MOST_SLOT_BYTES + 8]) -> usize {
        let expected = &self.expected[usize::from(self.context)];
        let [head, time, place, rest] = *slot;
        let duration = (head ^ expected.slot[0]) >> 32;
        let time = time.wrapping_sub(self.time(head, expected));
        let time = if is_call(head) { time } else { fold(time as i64) };
        let low = fold(i64::from((rest as u32).wrapping_sub(expected.low()) as i32));
        let high = fold(i64::from(((rest >> 32) as u32).wrapping_sub(expected.high()) as i32));
        let is_other_kind = head as u32 != expected.slot[0] as u32;
        let is_other_place = place != expected.slot[2];
        let mut output = Output { bytes: buffer, at: 1 };
        output.bytes[0] = length(duration) | length(time) << 3;
        if is_other_kind || is_other_place || low | high != 0 {
            output.bytes[0] |= HAS_MORE;
            output.bytes[1] = if is_other_kind { OTHER_KIND } else { 0 }
                | if is_other_place { OTHER_PLACE } else { 0 }
                | length(low) << 2
                | length(high) << 5;
            output.at = 2;
            output.put(head & 0xFFFF_FFFF, if is_other_kind { 4 } else { 0 });
            output.put(place, if is_other_place { 8 } else { 0 });
            output.put(low, length(low));
            output.put(high, length(high));
        }
        output.put(duration, length(duration));
        output.put(time, length(time));
        let length = output.at;
        self.learn(slot);
        length
    }

    /// The next slot, if that is what follows.
    #[inline(always)]
    fn read(&mut self, input: &mut Input<'_>) -> Option<Slot> {
        let expected = self.expected[usize::from(self.context)];
        let first = input.take(1)? as u8;
        let (mut kind, mut place, mut low, mut high) =
            (expected.slot[0] & 0xFFFF_FFFF, expected.slot[2], expected.low(), expected.high());
        if first & HAS_MORE != 0 {
            let more = input.take(1)? as u8;
            if more & OTHER_KIND != 0 {
                kind = input.take(4)?;
            }
            if more & OTHER_PLACE != 0 {
                place = input.take(8)?;
            }
            low = low.wrapping_add(unfold(input.take_half(more >> 2 & 7)?) as u32);
            high = high.wrapping_add(unfold(input.take_half(more >> 5)?) as u32);
        }
        let duration = input.take_half(first & 7)? ^ expected.slot[0] >> 32;
        let time = input.take(first >> 3 & 15)?;
        let time = if is_call(kind) { time } else { unfold(time) as u64 };
        let head = kind | duration << 32;
        let time = self.time(head, &expected).wrapping_add(time);
        let slot = [head, time, place, u64::from(low) | u64::from(high) << 32];
        // Definitions are elsewhere.
        if defines(&slot) {
            return None;
        }
        self.learn(&slot);
        Some(slot)
    }
}

fn is_call(head: u64) -> bool {
    head as u8 == KIND_CALL
}

/// How many bytes a number needs.
#[inline(always)]
fn length(number: u64) -> u8 {
    ((71 - number.leading_zeros()) / 8) as u8
}

/// A number near 0, of either sign, as one that needs few bytes.
#[inline(always)]
fn fold(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[inline(always)]
fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// The bytes of a slot.
struct Output<'a> {
    bytes: &'a mut [u8; MOST_SLOT_BYTES + 8],
    at: usize,
}

impl Output<'_> {
    /// Puts the lower bytes of a number there. All are written, and those in excess are then written over.
    #[inline(always)]
    fn put(&mut self, number: u64, bytes: u8) {
        self.bytes[self.at..][..8].copy_from_slice(&number.to_le_bytes());
        self.at += usize::from(bytes);
    }
}

/// Packed slots, as far as they were read.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    /// A number of this many bytes, 8 at the most.
    #[inline(always)]
    fn take(&mut self, bytes: u8) -> Option<u64> {
        let count = usize::from(bytes);
        let unused_bits = 64_u32.checked_sub(u32::from(bytes) * 8)?;
        let number = match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(word) if count > 0 => u64::from_le_bytes(*word) << unused_bits >> unused_bits,
            Some(_) => 0,
            None => self.near_end(count)?,
        };
        self.at += count;
        Some(number)
    }

    /// Likewise 4 at the most.
    #[inline(always)]
    fn take_half(&mut self, bytes: u8) -> Option<u64> {
        if bytes > 4 { None } else { self.take(bytes) }
    }

    #[cold]
    fn near_end(&self, count: usize) -> Option<u64> {
        let mut word = [0; 8];
        word[..count].copy_from_slice(self.bytes.get(self.at..)?.get(..count)?);
        Some(u64::from_le_bytes(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, CallFlags, Part, PartFlags};
    use proptest::prelude::*;

    fn unpacked(packed: &PackedSlots) -> Result<Vec<Slot>, &'static str> {
        let mut slots = Vec::new();
        packed.check()?;
        if packed.unpack(&mut slots) { Ok(slots) } else { Err("they do not unpack") }
    }

    /// A loop of an exchange with two neighbours and a sum, as a rank makes it; durations vary.
    fn of_a_loop(turns: u64) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut now = 1 << 40;
        for turn in 0..turns {
            for at in 0..4_u32 {
                let (flags, peer, site) = match at {
                    0 | 1 => (CallFlags::SEND, at as i32, at + 1),
                    2 => (CallFlags::NONE, -1, 3),
                    _ => (CallFlags::COLLECTIVE, 0, 4),
                };
                if at == 2 {
                    let part = |post, peer| Part {
                        flags: PartFlags::COMPLETED,
                        tag: 7,
                        post,
                        peer,
                        comm: 0,
                        bytes: 800,
                    };
                    slots.extend([part(2 * turn, 0).encode(), part(2 * turn + 1, 1).encode()]);
                }
                let duration = 300 + turn * 7919 % 1009;
                let (tag, bytes) = if at == 3 { (turn as i32, 8) } else { (7, 800) };
                slots.push(
                    Call {
                        flags,
                        function: at as u16 + 9,
                        duration,
                        start: now,
                        peer,
                        comm: 0,
                        site,
                        tag,
                        bytes,
                    }
                    .encode(),
                );
                now += duration + 50_000 + turn * 31 % 997;
            }
        }
        slots
    }

    #[test]
    fn a_loop_takes_a_sixth_and_is_read_again() {
        let slots = of_a_loop(1000);
        let packed = PackedSlots::pack(&slots);
        assert_eq!(unpacked(&packed), Ok(slots.clone()));
        assert!(packed.bytes() < slots.len() * SLOT_BYTES / 6, "{} bytes", packed.bytes());
    }

    #[test]
    fn the_bytes_stay_as_they_are() {
        let bytes = PackedSlots::pack(&of_a_loop(300)).bytes;
        // Logs have them: other bytes need another kind of frame.
        assert_eq!((bytes.len(), crate::check::checksum(&bytes)), (6310, 1029383411));
    }

    #[test]
    fn what_is_cut_off_or_added_is_noticed() {
        let packed = PackedSlots::pack(&of_a_loop(3));
        let with = |change: &dyn Fn(&mut PackedSlots)| {
            let mut changed = packed.clone();
            change(&mut changed);
            unpacked(&changed)
        };
        for length in 0..packed.bytes.len() {
            assert!(with(&|packed| packed.bytes.truncate(length)).is_err(), "{length}");
        }
        assert!(with(&|packed| packed.bytes.push(0)).is_err());
        assert!(with(&|packed| packed.count += 1).is_err());
        assert!(with(&|packed| packed.count -= 1).is_err());
        assert!(with(&|packed| packed.count = u32::MAX).is_err());
        let definition = [4, 1, 2, 3];
        assert!(defines(&definition));
        for places in [vec![0, 0], vec![2, 1], vec![packed.count]] {
            let definitions: Vec<_> = places.iter().map(|&place| (place, definition)).collect();
            assert!(with(&|packed| packed.definitions.clone_from(&definitions)).is_err(), "{places:?}");
        }
        let bytes = vec![HAS_MORE, OTHER_KIND, 4, 0, 0, 0];
        let hidden = PackedSlots { count: 1, definitions: Vec::new(), bytes };
        assert!(unpacked(&hidden).is_err(), "a definition is packed");
        let none = PackedSlots { count: 1, definitions: vec![(0, [1, 0, 0, 0])], bytes: Vec::new() };
        assert!(unpacked(&none).is_err(), "it is a call");
    }

    /// Slots of any words, many of them alike.
    fn any_slots() -> impl Strategy<Value = Vec<Slot>> {
        let word = prop_oneof![0..40_u64, any::<u32>().prop_map(u64::from), any::<u64>()];
        let duration = prop_oneof![0..2_000_u32, any::<u32>()];
        let slot = (0..30_u64, duration, prop::array::uniform3(word)).prop_map(
            |(kind, duration, [one, two, three])| [kind | u64::from(duration) << 32, one, two, three],
        );
        let pool = prop::collection::vec(slot, 1..6);
        (pool, prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u64>()), 0..200)).prop_map(
            |(pool, which): (Vec<Slot>, Vec<_>)| {
                let varied = |(index, shift, noise): (prop::sample::Index, u8, u64)| {
                    let mut slot = *index.get(&pool);
                    slot[usize::from(shift)] ^= noise >> 20 << 8;
                    slot
                };
                which.into_iter().map(varied).collect()
            },
        )
    }

    proptest! {
        #[test]
        fn whatever_is_packed_is_unpacked(slots in any_slots()) {
            let packed = PackedSlots::pack(&slots);
            prop_assert_eq!(packed.definitions.len(), slots.iter().filter(|slot| defines(slot)).count());
            prop_assert!(packed.bytes.len() <= (slots.len() - packed.definitions.len()) * MOST_SLOT_BYTES);
            prop_assert_eq!(unpacked(&packed), Ok(slots));
        }

        #[test]
        fn garbage_unpacks_to_no_more_than_it_says(count in 0..400_u32, bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let packed = PackedSlots { count, definitions: Vec::new(), bytes };
            let mut slots = Vec::new();
            let _ = packed.unpack(&mut slots);
            prop_assert!(slots.len() <= count as usize);
        }
    }
}
