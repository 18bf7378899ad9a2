//! The slots of a process, one after the other: their meaning and their faults. What they define for the whole run is left to
//! others; all else is the process's own, so those of several processes can be read at once.

use crate::closed_call::{Closed, lacks_comm, makes_sense};
use crate::decoded::Decoded;
use crate::effect::Functions;
use crate::memory_budget::MemoryBudget;
use crate::origin::Origin;
use crate::process::{ProcessInput, Wanted};
use crate::settled::Readable;
use mpiscope_model::{Event, Nanoseconds, Rank};
use mpiscope_wire::{CallFlags, Entry, Part, Slot, Sync};

/// A call completes no more receives than a ring has slots, and rings have a largest size.
const MOST_PARTS: usize = 1 << 20;

/// What a part of a call, or a mark before it, takes until the call comes.
pub(crate) const WAITING_BYTES: usize =
    2 * if size_of::<Part>() > size_of::<Event>() { size_of::<Part>() } else { size_of::<Event>() };

/// What is known beside the slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoding<'a> {
    /// By number: whose clocks the times are of.
    pub(crate) origins: &'a [Origin],
    pub(crate) functions: &'a Functions,
    pub(crate) wanted: Wanted,
}

impl ProcessInput {
    /// How many slots are to be read.
    pub(crate) fn unread_slots(&self) -> usize {
        self.unread.iter().map(|slots| slots.content.len()).sum()
    }

    /// Whether something in them is to be known to the whole run.
    pub(crate) fn defines(&self) -> bool {
        self.unread.iter().any(|slots| slots.content.has_definitions())
    }

    /// Goes on to where slots of a ring end. Returns those that are new, in `buffer` if they were packed.
    pub(crate) fn arrive<'a>(
        &mut self,
        slots: &'a Readable,
        buffer: &'a mut Vec<Slot>,
        out: &mut Decoded,
    ) -> Option<&'a [Slot]> {
        let (ring, from, count) = (slots.ring, slots.from, slots.content.len());
        let expected = self.rings[ring].position;
        // An agent that took over may send again what its predecessor had already sent.
        let known = usize::try_from(expected.saturating_sub(from)).unwrap_or(usize::MAX);
        if known >= count.max(1) {
            return None;
        }
        self.rings[ring].position = from.saturating_add(count as u64);
        if from > expected {
            self.rings[ring].lose(self.rank);
            let missing = from - expected;
            out.lose_slots(missing);
            out.fault(Some(self.rank), format!("{missing} slots of ring {ring} are missing"));
        }
        let (unread, is_whole) = slots.content.unpacked(known, buffer);
        if !is_whole {
            let missing = count - known - unread.len();
            self.rings[ring].lose(self.rank);
            out.lose_slots(missing as u64);
            out.fault(Some(self.rank), format!("{missing} slots of ring {ring} do not unpack"));
        }
        Some(unread)
    }

    /// Reads slots up to the first that defines something for the whole run. Returns that, and the slots behind it. `of` is
    /// where they came from.
    pub(crate) fn read<'a>(
        &mut self,
        of: &Readable,
        unread: &'a [Slot],
        with: Decoding<'_>,
        out: &mut Decoded,
    ) -> Option<(Entry, &'a [Slot])> {
        let ring = of.ring;
        for (at, slot) in unread.iter().enumerate() {
            match Entry::decode(slot) {
                Some(Entry::Call(call)) => self.call(ring, call, of.written_until_ns, with, out),
                Some(Entry::Wide { duration, bytes }) => self.rings[ring].wide = Some((duration, bytes)),
                Some(Entry::Part(part)) => self.part(ring, part, out),
                Some(Entry::Thread { number, .. }) => {
                    self.rings[ring].hand_over(number.min(u64::from(u16::MAX)) as u16);
                }
                Some(Entry::Lost { calls }) => {
                    let state = &mut self.rings[ring];
                    if calls > state.lost_calls {
                        state.lost_calls = calls;
                        state.lose(self.rank);
                    }
                }
                Some(Entry::Sync(sync)) => self.mark_numbers(ring, &sync, &mut out.waiting),
                Some(Entry::Paused) => self.rings[ring].lose(self.rank),
                Some(definition) => return Some((definition, &unread[at + 1..])),
                None => {
                    out.lose_slots(1);
                    out.fault(Some(self.rank), format!("a slot of ring {ring} is of no known kind"));
                }
            }
        }
        None
    }

    /// Hands over the events of what was read.
    pub(crate) fn finish_reading(&mut self, wanted: Wanted, out: &mut Decoded) {
        let ends_ns = wanted.effects.then_some(&mut out.batch.events_end_ns);
        self.take_events(&mut out.batch.events, ends_ns);
    }

    fn part(&mut self, ring: usize, part: Part, out: &mut Decoded) {
        let state = &mut self.rings[ring];
        if state.parts.len() < MOST_PARTS && out.waiting.borrow(WAITING_BYTES) {
            state.parts.push(part);
            state.waiting_bytes += WAITING_BYTES;
        } else {
            out.lose_slots(1);
        }
    }

    /// Keeps the numbers of messages with a peer until the next call of the ring.
    fn mark_numbers(&mut self, ring: usize, sync: &Sync, waiting: &mut MemoryBudget) {
        let state = &mut self.rings[ring];
        let comm = self.comms.get(&sync.comm).copied();
        if let (Some(comm), Ok(peer)) = (comm, u32::try_from(sync.peer))
            && peer < self.world_size
            && state.marks.len() < MOST_PARTS
            && waiting.borrow(WAITING_BYTES)
        {
            state.waiting_bytes += WAITING_BYTES;
            let (sent, received) = (sync.sent, sync.received);
            state.marks.push(Event::Numbers { rank: self.rank, comm, peer: Rank(peer), sent, received });
        }
    }

    #[inline]
    fn call(
        &mut self,
        ring: usize,
        mut call: mpiscope_wire::Call,
        written_until_ns: Nanoseconds,
        with: Decoding<'_>,
        out: &mut Decoded,
    ) {
        let rank = self.rank;
        let origin = &with.origins[self.agent as usize];
        let (state, clock, earlier) = (&mut self.rings[ring], self.clock, &mut self.earlier_line);
        let (start_ns, end_ns) =
            state.times(&mut call, |ticks| origin.run_ns(clock, ticks, earlier).min(written_until_ns));
        out.waiting.give(std::mem::take(&mut state.waiting_bytes));
        let (mut parts, mut closing) = state.take_parts();
        if !makes_sense(&call, &parts, self.world_size) {
            state.keep_parts(parts, closing);
            out.lose_slots(1);
            out.fault(Some(rank), format!("a call of function {} makes no sense", call.function));
            return;
        }
        let comms = &self.comms;
        let of = |comm: u32| comms.get(&comm).copied();
        let comm = of(call.comm);
        closing.extend(parts.drain(..).map(|part| (part, of(part.comm))));
        let is_comm_unknown = lacks_comm(&call, comm, &closing);
        let post = if call.flags.has(CallFlags::POST) { self.full_post(call.bytes) } else { 0 };
        let site = self.sites.get(call.site);
        // That of a full table, and one that does not fit into that of the run.
        if site.is_none() && (self.sites.is_full || call.site != 0) {
            out.calls_beyond_sites = out.calls_beyond_sites.saturating_add(call.calls());
        }
        let side = self.side_of_call(&call, &closing);
        let closed = Closed { call, start_ns, end_ns, comm, side, parts: closing, site, post };
        self.close(ring, &closed, &mut out.batch, with.wanted, with.functions);
        self.rings[ring].keep_parts(parts, closed.parts);
        if is_comm_unknown {
            let text =
                "messages on communicators that were not defined, or beyond the millionth, are not matched";
            out.fault(Some(rank), text.into());
        }
    }
}
