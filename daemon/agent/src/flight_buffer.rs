//! The newest slots of a process's rings, held back while recording is off and handed out when something happens.
//!
//! Old slots can only go when those that stay need nothing of them: the writer is asked now and then to tell everything
//! anew, and what lies before that may go. The last such stretch of a ring always stays, also where its thread has made no
//! call for long: what a thread did before it hung is what one wants to see.
//!
//! The writer repeats a definition with the next call that needs it, which may be the one that hangs and is never written.
//! Definitions are kept when the slots around them go.

use mpiscope_ring::Consumer;
use mpiscope_wire::{Entry, SLOT_BYTES, Slot, calls_in, defines};
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// What an agent holds back at the most, of all processes together.
pub(super) const MOST_BYTES: usize = 512 << 20;
/// In the time for which slots are held the writer tells everything anew so often; what is held too long is one part.
const STRETCHES: u32 = 4;
/// It is not asked more often than this.
const LEAST_STRETCH: Duration = Duration::from_millis(50);

/// Definitions of all rings take at most a quarter of the slots.
const DEFINITIONS_PART: usize = 4;

/// What is held of one process.
#[derive(Debug)]
pub(super) struct FlightBuffer {
    span: Duration,
    rings: Vec<BufferedRing>,
    asked: Instant,
    /// Calls in slots that went.
    pub(super) left_out: u64,
    /// For how long slots could be held at the least, where there was no room for them all.
    pub(super) shortest: Option<Duration>,
}

#[derive(Debug)]
struct BufferedRing {
    /// The definitions in slots that went, each once and in their order: later ones build on earlier ones. They take the last
    /// positions before the slots.
    definitions: Vec<Slot>,
    slots: VecDeque<Slot>,
    /// The position of the first of them.
    from: u64,
    /// Where stretches begin that stand alone, after the first, and since when they do.
    stretches: VecDeque<(u64, Instant)>,
    /// How often the writer has repeated its whole state.
    generation: u64,
}

impl BufferedRing {
    fn until(&self) -> u64 {
        self.from + self.slots.len() as u64
    }

    fn slot_count(&self) -> usize {
        self.definitions.len() + self.slots.len()
    }

    /// Whether a call was made since this position. One that hangs writes none, though it may have told at which place it is:
    /// what it did before that is still to be seen.
    fn has_call_since(&self, position: u64) -> bool {
        let count = (position - self.from).min(self.slots.len() as u64) as usize;
        self.slots.range(count..).any(|slot| matches!(Entry::decode(slot), Some(Entry::Call(_))))
    }

    /// Keeps the definitions of a stretch. If there are too many, only these are kept: a stretch has what they build on.
    fn define(&mut self, mut defined: Vec<Slot>, most: usize) {
        // The parts of a name are in order only as a whole.
        let named: HashSet<u32> = defined.iter().filter_map(named_comm).collect();
        self.definitions.retain(|slot| named_comm(slot).is_none_or(|comm| !named.contains(&comm)));
        let known: HashSet<Slot> = self.definitions.iter().copied().collect();
        let new: Vec<Slot> = defined.iter().filter(|slot| !known.contains(*slot)).copied().collect();
        if self.definitions.len() + new.len() > most {
            defined.truncate(most);
            self.definitions = defined;
        } else {
            self.definitions.extend(new);
        }
    }

    /// Drops the first stretch but keeps its definitions; returns the number of calls dropped.
    fn drop_first(&mut self, most_definitions: usize) -> u64 {
        let (begin, _) = self.stretches.pop_front().unwrap_or((self.until(), Instant::now()));
        let count = (begin - self.from).min(self.slots.len() as u64) as usize;
        self.from = begin;
        let mut defined = Vec::new();
        let dropped = self.slots.drain(..count);
        let calls = calls_in(dropped.inspect(|slot| defined.extend(defines(slot).then_some(*slot))));
        self.define(defined, most_definitions);
        calls
    }
}

/// The communicator of whose name a slot has a part.
fn named_comm(slot: &Slot) -> Option<u32> {
    match Entry::decode(slot) {
        Some(Entry::Name(part)) => Some(part.comm),
        _ => None,
    }
}

impl FlightBuffer {
    /// `span`: how long slots are kept. `rings`: of each ring the first position, and how often its writer has repeated the
    /// whole state.
    pub(super) fn new(span: Duration, rings: impl Iterator<Item = (u64, u64)>) -> Self {
        let ring = |(from, generation)| BufferedRing {
            definitions: Vec::new(),
            slots: VecDeque::new(),
            from,
            stretches: VecDeque::new(),
            generation,
        };
        let rings = rings.map(ring).collect();
        Self { span, rings, asked: Instant::now(), left_out: 0, shortest: None }
    }

    /// Takes the next slots of a ring.
    pub(super) fn take(&mut self, ring: usize, slots: &[Slot], consumer: &Consumer<'_>) {
        let buffered = &mut self.rings[ring];
        buffered.slots.extend(slots);
        let (generation, from) = consumer.told_anew();
        // Where a job says what cannot be, nothing stands alone.
        let sound = (buffered.stretches.back().map_or(buffered.from, |last| last.0)..=buffered.until())
            .contains(&from);
        if generation != buffered.generation && sound {
            buffered.generation = generation;
            buffered.stretches.push_back((from, Instant::now()));
        }
    }

    /// Whether the writers are to tell everything anew now.
    pub(super) fn asks(&mut self, most_slots: usize) -> bool {
        let since = self.asked.elapsed();
        let newest =
            |ring: &BufferedRing| ring.until() - ring.stretches.back().map_or(ring.from, |last| last.0);
        let much =
            self.rings.iter().map(newest).sum::<u64>() as usize > most_slots / (2 * STRETCHES as usize);
        let asks = since >= self.span / STRETCHES || much && since >= LEAST_STRETCH;
        if asks {
            self.asked = Instant::now();
        }
        asks
    }

    /// Lets go what was held for long enough, and what there is no room for. Returns the rings.
    pub(super) fn thin(&mut self, most_slots: usize) -> Vec<u32> {
        let mut thinned = Vec::new();
        let most_definitions = most_slots / (DEFINITIONS_PART * self.rings.len().max(1));
        for (number, ring) in self.rings.iter_mut().enumerate() {
            let is_old = |ring: &BufferedRing| {
                let next = ring.stretches.front().filter(|(_, since)| since.elapsed() >= self.span);
                next.is_some_and(|(begin, _)| ring.has_call_since(*begin))
            };
            while is_old(ring) {
                self.left_out += ring.drop_first(most_definitions);
                thinned.push(number as u32);
            }
        }
        while self.rings.iter().map(BufferedRing::slot_count).sum::<usize>() > most_slots {
            // One that never tells anything anew loses all it has.
            let longest = self.rings.iter_mut().enumerate().max_by_key(|(_, ring)| ring.slot_count());
            let Some((number, ring)) = longest else { break };
            if ring.slots.is_empty() {
                ring.definitions.clear();
            }
            let held_for = ring.stretches.front().map_or(Duration::ZERO, |next| next.1.elapsed());
            self.shortest = Some(self.shortest.map_or(held_for, |shortest| shortest.min(held_for)));
            self.left_out += ring.drop_first(most_definitions);
            thinned.push(number as u32);
        }
        thinned.dedup();
        thinned
    }

    /// The position of the first slot that is held of a ring.
    pub(super) fn from(&self, ring: usize) -> u64 {
        let BufferedRing { from, definitions, .. } = &self.rings[ring];
        from - definitions.len() as u64
    }

    /// All that is held, ring by ring in pieces: which ring, from which position on.
    pub(super) fn hand_out(&mut self, most: usize, mut tell: impl FnMut(u32, u64, Vec<Slot>)) {
        for (number, ring) in self.rings.iter_mut().enumerate() {
            let mut from = ring.from - ring.definitions.len() as u64;
            let mut slots = ring.definitions.drain(..).chain(ring.slots.drain(..)).peekable();
            while slots.peek().is_some() {
                let piece: Vec<Slot> = slots.by_ref().take(most).collect();
                let next = from + piece.len() as u64;
                tell(number as u32, from, piece);
                from = next;
            }
            drop(slots);
            ring.from = from;
        }
    }
}

/// The slots that may be held of each process when there are that many processes.
pub(super) fn most_slots(processes: usize) -> usize {
    MOST_BYTES / SLOT_BYTES / processes.max(1)
}
