//! What a process that reads the calls of some ranks tells the one that has the whole run, and how it finds that out.

use crate::clocks::{ClockSums, Clocks};
use crate::owners::Owners;
use mpiscope_diagnosis::{HangDetector, Moved, Movement};
use mpiscope_feed::{CallCounts, CallSums};
use mpiscope_ingest::Ingest;
use mpiscope_matching::{
    Counts, Matched, Matcher, MessageSizes, OpenPost, UnreceivedSend, WaitingSend, receivers,
};
use mpiscope_model::{Batch, Call, Event, Fault, Message, Rank, Totals};
use mpiscope_topology::Traffic;
use mpiscope_wire as wire;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// How often the daemon learns which receives are open and which sends wait, if that has changed.
const OPEN_EVERY: Duration = Duration::from_secs(1);
/// Receives, and likewise sends, that it learns of then.
const MOST_OPEN: usize = 1 << 20;
/// Likewise sends without a receive.
const MOST_UNRECEIVED: usize = 1 << 16;

/// What batches added. Each rank is read by one process, and each message is matched by one: the sums of several can be added in any
/// order.
#[derive(Debug)]
pub struct Counted {
    pub(crate) counts: Counts,
    pub(crate) totals: Totals,
    pub(crate) sums: RowSums,
    pub(crate) movement: Movement,
    pub(crate) clocks: ClockSums,
    pub(crate) faults: Vec<Fault>,
    /// What recording them cost the ranks.
    pub(crate) cost_ns: f64,
    pub(crate) unreadable_slots: u64,
    pub(crate) calls_beyond_sites: u64,
    /// Until now.
    pub(crate) unmatched_sends: u64,
    pub(crate) unmatched_receives: u64,
    /// When it is time to say it.
    pub(crate) open: Option<Open>,
}

impl Counted {
    /// Nothing yet; windows are that long.
    fn new(window_ns: u64) -> Self {
        Self {
            counts: Counts::new(window_ns),
            totals: Totals::default(),
            sums: RowSums::default(),
            movement: Movement::default(),
            clocks: ClockSums::default(),
            faults: Vec::new(),
            cost_ns: 0.0,
            unreadable_slots: 0,
            calls_beyond_sites: 0,
            unmatched_sends: 0,
            unmatched_receives: 0,
            open: None,
        }
    }
}

mpiscope_model::numbers! {
    Counted {
        counts, totals, sums, movement, clocks, faults, cost_ns, unreadable_slots, calls_beyond_sites,
        unmatched_sends, unmatched_receives, open
    }
}

/// What calls and messages came to that somebody else has the rows of.
#[derive(Debug, Default)]
pub struct RowSums {
    pub(crate) calls: CallSums,
    pub(crate) traffic: Traffic,
    pub(crate) sizes: MessageSizes,
}

mpiscope_model::numbers! { RowSums { calls, traffic, sizes } }

/// What has no other side so far.
#[derive(Debug, Default)]
pub(crate) struct Open {
    pub(crate) posts: Vec<OpenPost>,
    pub(crate) waiting: Vec<WaitingSend>,
    pub(crate) unreceived: Vec<UnreceivedSend>,
}

mpiscope_model::numbers! { Open { posts, waiting, unreceived } }

/// Reads the calls of some ranks of a run. It is fed all messages of the run, but from the slots of other ranks only those that
/// define something: so it numbers communicators and call sites as everybody else does.
pub struct Counter {
    ingest: Ingest,
    owners: Owners,
    window_ns: u64,
    matcher: Matcher,
    clocks: Clocks,
    hang_detector: HangDetector,
    /// What batches have added since the daemon last asked.
    added: Counted,
    calls: CallCounts,
    moved: Moved,
    cost_per_call_ns: FxHashMap<Rank, f64>,
    unreadable_slots: u64,
    calls_beyond_sites: u64,
    /// When the daemon last learned what is open, and whether that has changed since.
    told_open: Option<Instant>,
    is_open_new: bool,
}

impl Counter {
    /// Nothing yet, as one of this number of readers; windows are that long. Its ingest knows nothing yet, either.
    #[must_use]
    pub fn new(readers: usize, window_ns: u64, ingest: Ingest) -> Self {
        Self {
            ingest,
            owners: Owners::new(readers),
            window_ns,
            matcher: Matcher::default(),
            clocks: Clocks::default(),
            hang_detector: HangDetector::default(),
            added: Counted::new(window_ns),
            calls: CallCounts::default(),
            moved: Moved::default(),
            cost_per_call_ns: FxHashMap::default(),
            unreadable_slots: 0,
            calls_beyond_sites: 0,
            told_open: None,
            is_open_new: false,
        }
    }

    /// Takes in a message.
    pub fn feed(&mut self, message: wire::Message) {
        if let wire::Message::Process(process) = &message {
            self.owners.hear(process);
        }
        self.ingest.feed(message);
    }

    /// What became known since this was last asked.
    pub fn take(&mut self) -> Batch {
        joined(&mut self.ingest)
    }

    /// Likewise, when the input is over.
    pub fn take_rest(&mut self) -> Batch {
        self.ingest.settle_rest();
        self.take()
    }

    /// What each reader has to know of these events: those about what its ranks receive.
    #[must_use]
    pub fn events_for_each(&self, events: &[Event]) -> Vec<Vec<Event>> {
        let mut of_each = vec![Vec::new(); self.owners.readers()];
        for event in events {
            let (one, other) = receivers(event);
            let owner = self.owners.owner(one);
            of_each[owner].push(*event);
            let other = other.map(|other| self.owners.owner(other)).filter(|other| *other != owner);
            other.into_iter().for_each(|other| of_each[other].push(*event));
        }
        of_each
    }

    /// Counts a batch, with the events that this reader has to know of, its own and those of others. Returns the messages.
    pub fn count(&mut self, batch: &Batch, events: &[Event], is_last: bool) -> Vec<Message> {
        for info in &batch.ranks {
            self.matcher.place(info.rank, info.node);
            self.clocks.place(info.rank, info.node);
            self.cost_per_call_ns.insert(info.rank, info.cost_per_call_ns);
        }
        let mut matched = self.matcher.feed(events);
        if is_last {
            matched.append(self.matcher.finish());
        }
        let Matched { messages, uncertain, .. } = matched;
        self.is_open_new |= !events.is_empty() || is_last;
        let calls = &batch.calls;
        self.hang_detector.feed(calls, &batch.lone_polls, &batch.comms, &batch.members);
        self.moved.see(calls);
        let Counted { counts, totals, sums, clocks, faults, cost_ns, .. } = &mut self.added;
        counts.calls(calls);
        counts.messages(&messages);
        totals.uncertain_messages += uncertain;
        totals.add_calls(calls);
        totals.add_messages(&messages);
        self.calls.add(calls);
        sums.traffic.feed(&messages);
        sums.sizes.feed(&messages);
        self.clocks.sum(&messages, clocks);
        faults.extend(batch.faults.iter().cloned());
        let of_rank = |rank| self.cost_per_call_ns.get(&rank).copied().unwrap_or_default();
        *cost_ns += self::cost_ns(calls, of_rank);
        messages
    }

    /// What was counted since this was last asked.
    pub fn counted(&mut self, is_last: bool) -> Counted {
        let (unreadable, beyond) = (self.ingest.unreadable_slots(), self.ingest.calls_beyond_sites());
        self.added.sums.calls = self.calls.take();
        Counted {
            movement: self.hang_detector.movement_of(std::mem::take(&mut self.moved)),
            unreadable_slots: unreadable - std::mem::replace(&mut self.unreadable_slots, unreadable),
            calls_beyond_sites: beyond - std::mem::replace(&mut self.calls_beyond_sites, beyond),
            unmatched_sends: self.matcher.unmatched_sends(),
            unmatched_receives: self.matcher.unmatched_receives(),
            open: self.open(is_last),
            ..std::mem::replace(&mut self.added, Counted::new(self.window_ns))
        }
    }

    /// What is open, when it is time to say it.
    fn open(&mut self, is_last: bool) -> Option<Open> {
        let is_due = is_last || self.told_open.is_none_or(|since| since.elapsed() >= OPEN_EVERY);
        if !is_due || !std::mem::take(&mut self.is_open_new) {
            return None;
        }
        self.told_open = Some(Instant::now());
        Some(Open {
            posts: self.matcher.open_posts().take(MOST_OPEN).collect(),
            waiting: self.matcher.waiting_sends().take(MOST_OPEN).collect(),
            unreceived: self.matcher.unreceived_sends().take(MOST_UNRECEIVED).collect(),
        })
    }
}

/// What became known, as one batch.
pub(crate) fn joined(ingest: &mut Ingest) -> Batch {
    let mut batch = ingest.take();
    while let Some(behind) = ingest.more() {
        batch.append(behind);
    }
    batch
}

/// What recording these calls cost, where each costs its rank so much.
pub(crate) fn cost_ns(calls: &[Call], of_rank: impl Fn(Rank) -> f64) -> f64 {
    let alike = calls.chunk_by(|one, other| one.rank == other.rank);
    alike.map(|calls| calls.iter().map(|call| call.count as f64).sum::<f64>() * of_rank(calls[0].rank)).sum()
}
