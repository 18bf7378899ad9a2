//! One ring: a single writer, a single reader, positions that only grow.

use crate::in_flight::InFlightWord;
use crate::layout::RingHeader;
use crate::slot_cell::SlotCell;
use crate::sync::{Ordering, fence, fetch_to_write, yield_now};
#[cfg(not(loom))]
use crate::wake::Waker;
use mpiscope_wire::{Entry, Slot};

/// How long a writer retries at a full ring, yielding the CPU in between, before it drops. After one failure it does
/// not wait again until the reader has moved: a dead reader costs this once.
#[cfg(not(loom))]
const PATIENCE_NS: u64 = if cfg!(test) { 0 } else { 50_000_000 };

/// After this number of slots at the latest a writer reads the reader's position: an eighth of the ring between the
/// two.
const LOOK_EVERY_SLOTS: std::ops::RangeInclusive<u64> = 64..=1024;

/// When this part of its ring waits to be read, a writer wakes the agent: three times as much finds room meanwhile.
#[cfg(not(loom))]
const WAKING_PART: u64 = 4;

/// So far ahead of the writer the lines of the ring are taken over from the reader's processor. A store to a line that is
/// still there holds up all that follow it, the program's next message among them.
const FETCHED_AHEAD_SLOTS: usize = 8;

/// The writing end.
#[derive(Debug)]
pub struct Producer<'a> {
    header: &'a RingHeader,
    slots: &'a [SlotCell],
    /// Where the next slot goes.
    head: u64,
    /// The reader sees everything before this.
    published: u64,
    dropped_calls: u64,
    announced_dropped_calls: u64,
    paused_calls: u64,
    announced_paused_calls: u64,
    told_anew: u64,
    /// The tail at which waiting was in vain: no further wait before it moves.
    stalled_at: Option<u64>,
    /// The tail as it was when it was last looked at.
    seen_tail: u64,
    /// Called when the reader has not moved between two looks, and may be gone.
    alarm: Option<fn()>,
    /// Wakes a reader that rests.
    #[cfg(not(loom))]
    pub(crate) waker: Option<&'a Waker>,
}

impl<'a> Producer<'a> {
    /// Takes up a ring where its last writer left it. The number of slots is a power of two.
    #[must_use]
    pub fn new(header: &'a RingHeader, slots: &'a [SlotCell]) -> Self {
        let head = header.head.load(Ordering::Relaxed);
        let dropped_calls = header.dropped_calls.load(Ordering::Relaxed);
        // Nothing is free until the tail was read and found sound.
        header.free_until.store(head, Ordering::Relaxed);
        Self {
            header,
            slots,
            head,
            published: head,
            dropped_calls,
            announced_dropped_calls: 0,
            paused_calls: header.paused_calls.load(Ordering::Relaxed),
            announced_paused_calls: 0,
            told_anew: header.told_anew.load(Ordering::Relaxed),
            stalled_at: None,
            seen_tail: header.tail.load(Ordering::Relaxed),
            alarm: None,
            #[cfg(not(loom))]
            waker: None,
        }
    }

    /// Called when nothing was read between two looks at the reader's position.
    pub fn set_alarm(&mut self, alarm: fn()) {
        self.alarm = Some(alarm);
    }

    /// Where the thread of this ring writes its current call.
    #[must_use]
    pub fn in_flight(&self) -> InFlightWord<'a> {
        self.header.in_flight_word()
    }

    /// Calls dropped in this ring's life.
    #[must_use]
    pub fn dropped_calls(&self) -> u64 {
        self.dropped_calls
    }

    /// Writes a row and what belongs before it, or counts the calls it stands for as dropped. Returns whether it was
    /// written.
    #[inline]
    pub fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        let end = self.head + before.len() as u64 + 1;
        if end <= self.free_until() && self.announced_dropped_calls == self.dropped_calls {
            for slot in before {
                self.put(slot);
            }
            self.put(row);
            self.publish();
            return true;
        }
        self.push_slowly(before, row, calls)
    }

    #[inline(always)]
    fn free_until(&self) -> u64 {
        self.header.free_until.load(Ordering::Relaxed)
    }

    /// Whether nothing is to be written now.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.header.paused.load(Ordering::Acquire) != 0
    }

    /// Whether this number of slots surely fits, and no loss must be reported first.
    #[inline(always)]
    fn is_sure(&self, more: u64) -> bool {
        self.head + more <= self.free_until() && self.announced_dropped_calls == self.dropped_calls
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

    /// Takes back the staged slots, in their order.
    pub fn unstage(&mut self) -> Vec<Slot> {
        let staged = self.published..std::mem::replace(&mut self.head, self.published);
        staged.map(|at| self.slots[at as usize & (self.slots.len() - 1)].load()).collect()
    }

    /// Writes a row after the staged slots, if it surely fits; `false` when nothing was done.
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
        if self.is_paused() {
            self.header.free_until.store(self.head, Ordering::Relaxed);
            self.paused_calls += calls;
            self.header.paused_calls.store(self.paused_calls, Ordering::Release);
            return false;
        }
        let announce = self.announced_dropped_calls != self.dropped_calls;
        let resumes = self.announced_paused_calls != self.paused_calls;
        let needed = before.len() + 1 + usize::from(announce) + usize::from(resumes);
        if !self.wait_for_room(needed) {
            self.dropped_calls += calls;
            self.header.dropped_calls.store(self.dropped_calls, Ordering::Release);
            return false;
        }
        if announce {
            self.announced_dropped_calls = self.dropped_calls;
            self.put(&Entry::encode_lost(self.dropped_calls));
        }
        if resumes {
            self.announced_paused_calls = self.paused_calls;
            self.put(&Entry::encode_paused());
        }
        for slot in before {
            self.put(slot);
        }
        self.put(row);
        self.publish();
        true
    }

    /// Shows the written slots to the reader.
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

    /// Publishes the head up to there. Whoever has a request sets it first and then takes this back: one of the two is
    /// seen.
    fn grant(&self, free_until: u64) {
        self.header.free_until.store(free_until, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.is_paused() || self.is_asked() {
            self.header.free_until.store(0, Ordering::Relaxed);
        }
    }

    fn is_asked(&self) -> bool {
        self.header.asked_anew.load(Ordering::Acquire) != self.told_anew
    }

    /// Whether all definitions must be repeated from here on. True only once.
    pub fn begins_anew(&mut self) -> bool {
        let asked = self.header.asked_anew.load(Ordering::Acquire);
        if asked == self.told_anew || self.head != self.published {
            return false;
        }
        self.told_anew = asked;
        self.header.anew_from.store(self.head, Ordering::Relaxed);
        self.header.told_anew.store(asked, Ordering::Release);
        true
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
            // A reader that gave nothing back when it was called is not called for each call.
            #[cfg(not(loom))]
            if let Some(waker) = self.waker
                && self.stalled_at != Some(tail)
                && self.head.wrapping_sub(tail) >= self.slots.len() as u64 / WAKING_PART
            {
                waker.call();
            }
            // A tail that no reader can have written leaves no room: the writer never trusts it into overwriting.
            let sound = self.head.wrapping_sub(tail) <= self.slots.len() as u64;
            if sound {
                let free_until = tail + self.slots.len() as u64;
                if free_until - self.head >= needed as u64 {
                    // Looked at again before long, also where a ring holds all that a program ever does.
                    let (least, most) = (*LOOK_EVERY_SLOTS.start(), *LOOK_EVERY_SLOTS.end());
                    let step = (self.slots.len() as u64 / 8).clamp(least, most);
                    let free_until = free_until.min(self.head + step.max(needed as u64));
                    self.grant(free_until);
                    self.stalled_at = None;
                    return true;
                }
                self.header.free_until.store(self.head, Ordering::Relaxed);
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

/// Who may want that nothing is written. It is written when neither does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Whoever watches the run.
    Watcher,
    /// The program itself.
    Program,
}

impl RingHeader {
    /// Lets nothing more be written, or again.
    pub(crate) fn pause(&self, who: Pause, paused: bool) {
        let bit = match who {
            Pause::Watcher => 1,
            Pause::Program => 2,
        };
        if paused {
            self.paused.fetch_or(bit, Ordering::Release);
            self.look_at_once();
        } else {
            self.paused.fetch_and(!bit, Ordering::Release);
        }
    }

    /// The writer sees the request with its next slot.
    fn look_at_once(&self) {
        fence(Ordering::SeqCst);
        self.free_until.store(0, Ordering::Relaxed);
    }
}

/// A ring whose positions make no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt {
    /// The writer's own count of what it wrote.
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

    /// How many slots wait to be read; none where positions make no sense.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let filled = self.header.head.load(Ordering::Acquire).wrapping_sub(self.tail);
        if filled > self.slots.len() as u64 { 0 } else { filled }
    }

    /// Lets nothing more be written, or again. The writer looks at its next call.
    pub fn pause(&self, paused: bool) {
        self.header.pause(Pause::Watcher, paused);
    }

    /// Asks the writer to repeat all definitions for later slots: earlier ones can then be dropped.
    pub fn ask_anew(&self) {
        self.header.asked_anew.fetch_add(1, Ordering::Release);
        self.header.look_at_once();
    }

    /// How often it did so, and from which slot on the last time.
    #[must_use]
    pub fn told_anew(&self) -> (u64, u64) {
        let times = self.header.told_anew.load(Ordering::Acquire);
        (times, self.header.anew_from.load(Ordering::Relaxed))
    }

    /// Calls that were made while nothing was to be written, cumulative.
    #[must_use]
    pub fn paused_calls(&self) -> u64 {
        self.header.paused_calls.load(Ordering::Acquire)
    }

    /// Calls that the writer dropped, cumulative.
    #[must_use]
    pub fn dropped_calls(&self) -> u64 {
        self.header.dropped_calls.load(Ordering::Acquire)
    }

    /// Whether this number of slots, or an eighth of the ring, is waiting to be read.
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

    /// Returns slots to the writer. To be called when their content is safe elsewhere.
    pub fn release(&mut self) {
        self.header.tail.store(self.tail, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;
