//! One ring: a single writer, a single reader, positions that only grow.

use crate::in_flight::InFlightWord;
use crate::layout::RingHeader;
use crate::sync::{AtomicU64, Ordering, fetch_to_write, yield_now};
use mpiscope_wire::{Entry, SLOT_WORDS, Slot};

/// How long a writer looks again and again at a full ring, giving the processor away in between, before it drops. Once
/// in vain, it does not wait again before the reader has moved, so that a dead reader costs this once.
#[cfg(not(loom))]
const PATIENCE_NS: u64 = if cfg!(test) { 0 } else { 50_000_000 };

/// After so many slots at the latest a writer looks where the reader is.
const LOOK_EVERY_SLOTS: u64 = 1024;

/// So far ahead of the writer the lines of the ring are taken over from the reader's processor. A store to a line that is
/// still there holds up all that follow it, the program's next message among them.
const FETCHED_AHEAD_SLOTS: usize = 8;

/// A slot in shared memory. Relaxed atomics are plain moves to the processor and defined when both sides touch them.
#[repr(transparent)]
#[derive(Debug)]
pub struct SlotCell([AtomicU64; SLOT_WORDS]);

impl SlotCell {
    /// An empty cell, for tests without a file.
    #[must_use]
    pub fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    #[inline(always)]
    fn store(&self, slot: &Slot) {
        for (cell, word) in self.0.iter().zip(slot) {
            cell.store(*word, Ordering::Relaxed);
        }
    }

    #[inline]
    fn load(&self) -> Slot {
        std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed))
    }
}

impl Default for SlotCell {
    fn default() -> Self {
        Self::new()
    }
}

/// The writing end.
#[derive(Debug)]
pub struct Producer<'a> {
    header: &'a RingHeader,
    slots: &'a [SlotCell],
    /// Where the next slot goes.
    head: u64,
    /// Up to here the reader sees what was written.
    published: u64,
    /// The head may grow up to here before the tail has to be read again.
    free_until: u64,
    lost_calls: u64,
    announced_lost_calls: u64,
    /// The tail at which waiting was in vain: no further wait before it moves.
    stalled_at: Option<u64>,
    /// The tail as it was when it was last looked at.
    seen_tail: u64,
    /// Called when the reader has not moved between two looks, so that it may be gone.
    alarm: Option<fn()>,
}

impl<'a> Producer<'a> {
    /// Takes up a ring where its last writer left it. The number of slots is a power of two.
    #[must_use]
    pub fn new(header: &'a RingHeader, slots: &'a [SlotCell]) -> Self {
        let head = header.head.load(Ordering::Relaxed);
        let lost_calls = header.lost_calls.load(Ordering::Relaxed);
        // Nothing is free until the tail was read and found sound.
        Self {
            header,
            slots,
            head,
            published: head,
            free_until: head,
            lost_calls,
            announced_lost_calls: 0,
            stalled_at: None,
            seen_tail: header.tail.load(Ordering::Relaxed),
            alarm: None,
        }
    }

    /// Lets somebody know when nothing was read between two looks at the reader's place.
    pub fn set_alarm(&mut self, alarm: fn()) {
        self.alarm = Some(alarm);
    }

    /// Where the thread of this ring says which call it is in.
    #[must_use]
    pub fn in_flight(&self) -> InFlightWord<'a> {
        self.header.in_flight_word()
    }

    /// Calls dropped in this ring's life.
    #[must_use]
    pub fn lost_calls(&self) -> u64 {
        self.lost_calls
    }

    /// Writes a row and what belongs before it, or counts the calls it stands for as lost. Returns whether it was
    /// written.
    #[inline]
    pub fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        let end = self.head + before.len() as u64 + 1;
        if end <= self.free_until && self.announced_lost_calls == self.lost_calls {
            for slot in before {
                self.put(slot);
            }
            self.put(row);
            self.publish();
            return true;
        }
        self.push_slowly(before, row, calls)
    }

    /// Whether so many more slots surely find room, and no loss is to be told first.
    #[inline(always)]
    fn is_sure(&self, more: u64) -> bool {
        self.head + more <= self.free_until && self.announced_lost_calls == self.lost_calls
    }

    /// Writes a slot that belongs before the coming row, if there surely is room for both; `false` when nothing was
    /// done. The reader sees it with the row.
    #[inline(always)]
    pub fn stage(&mut self, slot: &Slot) -> bool {
        let sure = self.is_sure(2);
        if sure {
            self.put(slot);
        }
        sure
    }

    /// Takes back what was staged, in its order.
    pub fn unstage(&mut self) -> Vec<Slot> {
        let staged = self.published..std::mem::replace(&mut self.head, self.published);
        staged.map(|at| self.slots[at as usize & (self.slots.len() - 1)].load()).collect()
    }

    /// Writes a row after what was staged, if there surely is room; `false` when nothing was done.
    #[inline(always)]
    pub fn push_row(&mut self, row: &Slot) -> bool {
        let sure = self.is_sure(1);
        if sure {
            self.put(row);
            self.publish();
        }
        sure
    }

    #[cold]
    #[inline(never)]
    fn push_slowly(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        let announce = self.announced_lost_calls != self.lost_calls;
        let needed = before.len() + 1 + usize::from(announce);
        if !self.wait_for_room(needed) {
            self.lost_calls += calls;
            self.header.lost_calls.store(self.lost_calls, Ordering::Release);
            return false;
        }
        if announce {
            self.announced_lost_calls = self.lost_calls;
            self.put(&Entry::encode_lost(self.lost_calls));
        }
        for slot in before {
            self.put(slot);
        }
        self.put(row);
        self.publish();
        true
    }

    /// Lets the reader see what was written.
    #[inline(always)]
    fn publish(&mut self) {
        self.published = self.head;
        self.header.head.store(self.head, Ordering::Release);
    }

    #[inline(always)]
    fn put(&mut self, slot: &Slot) {
        let mask = self.slots.len() - 1;
        fetch_to_write(&self.slots[(self.head as usize + FETCHED_AHEAD_SLOTS) & mask]);
        self.slots[self.head as usize & mask].store(slot);
        self.head += 1;
    }

    fn wait_for_room(&mut self, needed: usize) -> bool {
        if needed > self.slots.len() {
            return false;
        }
        // The clock is not looked at where there is room.
        let mut patience = None;
        let before = std::mem::replace(&mut self.seen_tail, self.header.tail.load(Ordering::Acquire));
        if let Some(alarm) = self.alarm
            && self.seen_tail == before
            && self.head != before
        {
            alarm();
        }
        loop {
            let tail = self.header.tail.load(Ordering::Acquire);
            // A tail that no reader can have written leaves no room: the writer never trusts it into overwriting.
            let sound = self.head.wrapping_sub(tail) <= self.slots.len() as u64;
            if sound {
                let free_until = tail + self.slots.len() as u64;
                if free_until - self.head >= needed as u64 {
                    // Looked at again before long, also where a ring holds all that a program ever does.
                    self.free_until = free_until.min(self.head + LOOK_EVERY_SLOTS.max(needed as u64));
                    self.stalled_at = None;
                    return true;
                }
                self.free_until = self.head;
            }
            if self.stalled_at == Some(tail) {
                return false;
            }
            if patience.get_or_insert_with(Patience::new).is_over() {
                self.stalled_at = Some(tail);
                return false;
            }
            yield_now();
        }
    }
}

/// The bound of a wait: time, or under loom the number of looks.
struct Patience {
    #[cfg(not(loom))]
    until_ns: u64,
    #[cfg(loom)]
    looks: u32,
}

impl Patience {
    fn new() -> Self {
        Self {
            #[cfg(not(loom))]
            until_ns: crate::clock::monotonic_ns() + PATIENCE_NS,
            #[cfg(loom)]
            looks: 1,
        }
    }

    #[cfg(not(loom))]
    fn is_over(&mut self) -> bool {
        crate::clock::monotonic_ns() >= self.until_ns
    }

    #[cfg(loom)]
    fn is_over(&mut self) -> bool {
        self.looks = self.looks.wrapping_sub(1);
        self.looks == u32::MAX
    }
}

/// A ring whose positions make no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt {
    /// What the writer says it wrote.
    pub head: u64,
    /// What was read.
    pub tail: u64,
}

/// The reading end.
#[derive(Debug)]
pub struct Consumer<'a> {
    header: &'a RingHeader,
    slots: &'a [SlotCell],
    tail: u64,
}

impl<'a> Consumer<'a> {
    /// Takes up a ring at `resume_at`, or where its last reader left it.
    #[must_use]
    pub fn new(header: &'a RingHeader, slots: &'a [SlotCell], resume_at: Option<u64>) -> Self {
        let tail = resume_at.unwrap_or_else(|| header.tail.load(Ordering::Relaxed));
        Self { header, slots, tail }
    }

    /// The position of the next slot to read.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.tail
    }

    /// Calls that the writer dropped, cumulative.
    #[must_use]
    pub fn lost_calls(&self) -> u64 {
        self.header.lost_calls.load(Ordering::Acquire)
    }

    /// Whether so many slots are to be read, or an eighth of what the ring holds.
    #[must_use]
    pub fn holds(&self, slots: usize) -> bool {
        let filled = self.header.head.load(Ordering::Relaxed).wrapping_sub(self.tail);
        filled >= slots.min(self.slots.len() / 8).max(1) as u64
    }

    /// Appends at most `most` slots to `out` without releasing them; returns how many.
    ///
    /// # Errors
    /// When the positions make no sense: the ring is damaged and should not be read again.
    pub fn read(&mut self, most: usize, out: &mut Vec<Slot>) -> Result<usize, Corrupt> {
        let head = self.header.head.load(Ordering::Acquire);
        let filled = head.wrapping_sub(self.tail);
        if filled > self.slots.len() as u64 {
            return Err(Corrupt { head, tail: self.tail });
        }
        let count = (filled as usize).min(most);
        let mask = self.slots.len() - 1;
        out.extend((0..count).map(|step| self.slots[(self.tail as usize + step) & mask].load()));
        self.tail += count as u64;
        Ok(count)
    }

    /// Gives what was read back to the writer. To be called when it is safe elsewhere.
    pub fn release(&mut self) {
        self.header.tail.store(self.tail, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells(count: usize) -> Vec<SlotCell> {
        (0..count).map(|_| SlotCell::new()).collect()
    }

    #[test]
    fn a_full_ring_drops_the_newest_and_says_so() {
        let (header, slots) = (RingHeader::new(), cells(4));
        let mut producer = Producer::new(&header, &slots);
        let mut consumer = Consumer::new(&header, &slots, None);
        let written = (0..7).filter(|&number| producer.push(&[], &[1, number, 0, 0], 1)).count();
        assert_eq!((written, producer.lost_calls(), consumer.lost_calls()), (4, 3, 3));
        let mut out = Vec::new();
        assert_eq!(consumer.read(100, &mut out), Ok(4));
        consumer.release();
        assert!(producer.push(&[], &[1, 9, 0, 0], 1));
        consumer.read(100, &mut out).unwrap();
        assert_eq!(out.iter().map(|slot| slot[1]).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 9]);
        assert_eq!(Entry::decode(&out[4]), Some(Entry::Lost { calls: 3 }));
    }

    #[test]
    fn a_group_is_written_whole_or_not_at_all() {
        let (header, slots) = (RingHeader::new(), cells(4));
        let mut producer = Producer::new(&header, &slots);
        assert!(producer.push(&[[2; 4], [3; 4]], &[1; 4], 1));
        assert!(!producer.push(&[[2; 4]], &[1; 4], 1));
        let mut out = Vec::new();
        let mut consumer = Consumer::new(&header, &slots, None);
        assert_eq!(consumer.read(100, &mut out), Ok(3));
        assert!(!producer.push(&[[2; 4]; 5], &[1; 4], 1), "a group longer than the ring is lost, not split");
    }

    #[test]
    fn a_lost_row_counts_the_calls_it_stands_for() {
        let (header, slots) = (RingHeader::new(), cells(2));
        let mut producer = Producer::new(&header, &slots);
        let written = [1_u64, 10, 100, 1000].map(|calls| producer.push(&[], &[1; 4], calls));
        assert_eq!((written, producer.lost_calls()), ([true, true, false, false], 1100));
    }

    #[test]
    fn positions_that_lie_are_refused() {
        let (header, slots) = (RingHeader::new(), cells(4));
        header.head.store(1_000_000, Ordering::Relaxed);
        let mut consumer = Consumer::new(&header, &slots, None);
        assert_eq!(consumer.read(100, &mut Vec::new()), Err(Corrupt { head: 1_000_000, tail: 0 }));
        let header = RingHeader::new();
        header.tail.store(77, Ordering::Relaxed);
        let mut producer = Producer::new(&header, &slots);
        assert!(!producer.push(&[], &[1; 4], 1), "a tail before any head leaves no room");
    }

    #[test]
    fn staged_slots_are_seen_with_their_row_or_taken_back() {
        let (header, slots) = (RingHeader::new(), cells(4));
        let mut producer = Producer::new(&header, &slots);
        let mut consumer = Consumer::new(&header, &slots, None);
        let mut out = Vec::new();
        assert!(!producer.stage(&[2; 4]), "nothing is sure before the tail was read");
        assert!(producer.push(&[], &[1; 4], 1));
        assert!(producer.stage(&[2; 4]) && producer.stage(&[3; 4]) && !producer.stage(&[4; 4]));
        assert_eq!(consumer.read(9, &mut out).map(|_| out.len()), Ok(1));
        assert!(!consumer.holds(1));
        assert!(producer.push_row(&[5; 4]));
        assert!(consumer.holds(3) && consumer.holds(100), "three of four is much");
        consumer.read(9, &mut out).unwrap();
        consumer.release();
        assert_eq!(out, [[1; 4], [2; 4], [3; 4], [5; 4]]);
        assert!(producer.push(&[], &[6; 4], 1) && producer.stage(&[7; 4]));
        assert_eq!(producer.unstage(), [[7; 4]]);
        assert!(producer.push(&[[8; 4]], &[9; 4], 1));
        out.clear();
        consumer.read(9, &mut out).unwrap();
        assert_eq!(out, [[6; 4], [8; 4], [9; 4]]);
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written_and_the_rest_is_counted(
            steps in proptest::collection::vec((0_usize..5, 0_usize..9), 1..200),
        ) {
            let (header, slots) = (RingHeader::new(), cells(8));
            let mut producer = Producer::new(&header, &slots);
            let mut consumer = Consumer::new(&header, &slots, None);
            let (mut made, mut expected, mut out) = (0_u64, Vec::new(), Vec::new());
            for (extra, read) in steps {
                made += 1;
                let before = vec![[2, made, 0, 0]; extra];
                if producer.push(&before, &[1, made, 0, 0], 1) {
                    expected.extend(before);
                    expected.push([1, made, 0, 0]);
                }
                consumer.read(read, &mut out).unwrap();
                consumer.release();
            }
            consumer.read(100, &mut out).unwrap();
            let lost = producer.lost_calls();
            let calls = out.iter().filter(|slot| slot[0] == 1).count() as u64;
            prop_assert_eq!(calls + lost, made);
            out.retain(|slot| slot[0] != 5);
            prop_assert_eq!(out, expected);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn every_interleaving_keeps_order_and_counts() {
        loom::model(|| {
            let shared = Arc::new((RingHeader::new(), [SlotCell::new(), SlotCell::new()]));
            let writer = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut producer = Producer::new(&shared.0, &shared.1);
                    let first = producer.push(&[[2, 1, 1, 1]], &[1, 1, 1, 1], 1);
                    let second = producer.push(&[], &[1, 2, 2, 2], 1);
                    (first, second)
                })
            };
            let mut consumer = Consumer::new(&shared.0, &shared.1, None);
            let mut out = Vec::new();
            for _ in 0..2 {
                consumer.read(8, &mut out).unwrap();
                consumer.release();
                thread::yield_now();
            }
            let (first, second) = writer.join().unwrap();
            consumer.read(8, &mut out).unwrap();
            assert!(first);
            let mut expected = vec![[2, 1, 1, 1], [1, 1, 1, 1]];
            if second {
                expected.push([1, 2, 2, 2]);
            }
            assert_eq!(out, expected);
            assert_eq!(consumer.lost_calls(), u64::from(!second));
        });
    }
}
