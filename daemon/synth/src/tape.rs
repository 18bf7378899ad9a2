//! The ring of a rank: its calls as slots, in the order and with the words that a collector would write.

use crate::compute::block;
use crate::disturbance::Disturbance;
use crate::spec::Spec;
use mpiscope_wire::{
    Call, CallFlags, CommDefinition, CommKind, Entry, Family, ModuleDefinition, NO_COMM, PEER_NONE, Part,
    PathPart, SiteDefinition, Slot, Sync, by_id,
};
use std::collections::HashMap;

/// The world's number in every process.
pub(crate) const WORLD: u32 = 0;

/// Enough bits for all functions.
const FUNCTION_WORDS: usize = 8;

/// When calls are lost.
#[derive(Debug, Clone, Copy)]
struct Fullness {
    period_ns: u64,
    lost_ns: u64,
}

/// What a rank whose calls get lost keeps count of.
#[derive(Debug)]
struct Losses {
    fullness: Fullness,
    /// Whether the group at hand gets lost.
    now: bool,
    calls: u64,
    told_calls: u64,
    epoch: u32,
    /// By peer: sent, received, and the epoch of the last report of these numbers.
    numbers: HashMap<u32, (u64, u64, u32)>,
}

/// A ring.
#[derive(Debug)]
pub(crate) struct Tape {
    rank: u32,
    ranks: u32,
    slots: Vec<Slot>,
    /// The position of the first of them in the ring's life.
    from: u64,
    /// Where the newest group begins, and when its calls end: that may be after the current time of reading.
    group: usize,
    end_ns: u64,
    defined: bool,
    /// By function, whether its call site was defined.
    placed: [u64; FUNCTION_WORDS],
    /// The name of the simulated program.
    program: &'static str,
    losses: Option<Box<Losses>>,
}

impl Tape {
    pub(crate) fn new(spec: &Spec, rank: u32) -> Self {
        let fullness = spec.disturb.iter().find_map(|disturbance| match *disturbance {
            Disturbance::LostRecords { share, period_ns, lost } => {
                let (first, count) = block(spec.ranks, spec.ranks / 4, share);
                let lost_ns = (lost * period_ns as f64) as u64;
                (first..first + count).contains(&rank).then_some(Fullness { period_ns, lost_ns })
            }
            _ => None,
        });
        let losses = fullness.map(|fullness| {
            let numbers = HashMap::new();
            Box::new(Losses { fullness, now: false, calls: 0, told_calls: 0, epoch: 0, numbers })
        });
        let slots = vec![identity(rank)];
        Self {
            rank,
            ranks: spec.ranks,
            slots,
            from: 0,
            group: 0,
            end_ns: 0,
            defined: false,
            placed: [0; FUNCTION_WORDS],
            program: spec.pattern.name(),
            losses,
        }
    }

    /// Calls lost so far.
    pub(crate) fn lost_calls(&self) -> u64 {
        self.losses.as_ref().map_or(0, |losses| losses.calls)
    }

    /// What belongs to calls that end at a moment follows.
    #[inline]
    pub(crate) fn open(&mut self, end_ns: u64) {
        // The first group has the name of the thread before it.
        if self.from > 0 || self.slots.len() > 1 {
            self.group = self.slots.len();
        }
        self.end_ns = end_ns;
        if self.losses.is_some() {
            self.open_slowly(end_ns);
        }
    }

    #[inline(never)]
    fn open_slowly(&mut self, end_ns: u64) {
        let Some(losses) = &mut self.losses else { return };
        let Fullness { period_ns, lost_ns } = losses.fullness;
        // Late in each period, to have something before the first loss.
        losses.now = end_ns % period_ns >= period_ns - lost_ns;
        if !losses.now && losses.told_calls != losses.calls {
            losses.told_calls = losses.calls;
            self.defined = false;
            self.placed = [0; FUNCTION_WORDS];
            self.slots.push(Entry::encode_lost(losses.calls));
            self.slots.push(identity(self.rank));
        }
    }

    #[inline]
    fn define(&mut self) {
        if !self.defined {
            self.defined = true;
            let (size, own_rank) = (self.ranks, self.rank);
            let world = CommDefinition {
                index: WORLD,
                kind: CommKind::Communicator,
                id: 0,
                size,
                own_rank,
                leader: 0,
                parent: NO_COMM,
                other: None,
            };
            self.slots.push(world.encode());
        }
    }

    /// The coming call sends to a rank, or completed a receive from it.
    #[inline]
    pub(crate) fn moves(&mut self, peer: u32, sends: bool) {
        self.define();
        if self.losses.is_some() {
            self.count(peer, sends);
        }
    }

    #[inline(never)]
    fn count(&mut self, peer: u32, sends: bool) {
        let Some(losses) = &mut self.losses else { return };
        let (sent, received, epoch) = losses.numbers.entry(peer).or_default();
        if *epoch != losses.epoch {
            *epoch = losses.epoch;
            let numbers = Sync { peer: peer as i32, comm: WORLD, sent: *sent, received: *received };
            self.slots.push(numbers.encode());
        }
        *if sends { sent } else { received } += 1;
    }

    #[inline]
    pub(crate) fn part(&mut self, part: &Part) {
        self.define();
        self.slots.push(part.encode());
    }

    /// Writes a call; `false` when it gets lost.
    #[inline]
    pub(crate) fn row(&mut self, call: &Call) -> bool {
        if call.comm == WORLD {
            self.define();
        }
        if let Some(losses) = self.losses.as_mut().filter(|losses| losses.now) {
            losses.calls += call.calls();
            losses.epoch += 1;
            self.defined = false;
            self.placed = [0; FUNCTION_WORDS];
            self.slots.truncate(self.group);
            return false;
        }
        self.place(call.function);
        if call.needs_wide() {
            self.slots.push(call.encode_wide());
        }
        // Each function has one call site in the simulated program.
        let is_in_setup = by_id(call.function).is_none_or(|entry| entry.family == Family::Setup);
        let site = if is_in_setup { 0 } else { u32::from(call.function) + 1 };
        self.slots.push(Call { site, ..*call }.encode());
        true
    }

    /// Defines the call site of a function in the simulated program.
    #[inline]
    fn place(&mut self, function: u16) {
        let (word, bit) = (usize::from(function) / 64 % FUNCTION_WORDS, 1 << (function % 64));
        if self.placed[word] & bit == 0 {
            self.placed[word] |= bit;
            self.place_slowly(function);
        }
    }

    #[inline(never)]
    fn place_slowly(&mut self, function: u16) {
        let Some(entry) = by_id(function) else { return };
        let role = match entry.family {
            Family::Setup => return,
            Family::Send => "send".into(),
            Family::Receive => "receive".into(),
            Family::Complete => "wait".into(),
            Family::Probe => "probe".into(),
            _ => entry.name.trim_start_matches("MPI_").to_lowercase(),
        };
        // No file of a model can be looked at: what would be the name of one is that of the place.
        let path = format!("{}: {role}", self.program);
        let number = u32::from(function);
        self.slots.push(ModuleDefinition::new(number, path.as_bytes(), &[]).encode());
        self.slots.extend(PathPart::all(number, path.as_bytes()).map(|part| part.encode()));
        self.slots.push(SiteDefinition { number: number + 1, module: number, offset: 0, parent: 0 }.encode());
    }

    /// Hands out the slots of calls that ended before a moment, with their position.
    pub(crate) fn take(&mut self, until_ns: u64) -> Option<(u64, Vec<Slot>)> {
        let until = if self.end_ns < until_ns { self.slots.len() } else { self.group };
        if until == 0 {
            return None;
        }
        let rest = self.slots.split_off(until);
        let taken = std::mem::replace(&mut self.slots, rest);
        let from = self.from;
        self.from += until as u64;
        self.group = 0;
        Some((from, taken))
    }
}

fn identity(rank: u32) -> Slot {
    Entry::encode_thread(0, u64::from(process_id(rank)))
}

/// The process id of a rank.
pub(crate) fn process_id(rank: u32) -> u32 {
    1000 + rank
}

/// A call that moves nothing and belongs to no communicator.
#[inline]
pub(crate) fn plain(function: u16, start: u64, end: u64) -> Call {
    Call {
        flags: CallFlags::NONE,
        function,
        duration: end - start,
        start,
        peer: PEER_NONE,
        comm: NO_COMM,
        site: 0,
        tag: 0,
        bytes: 0,
    }
}
