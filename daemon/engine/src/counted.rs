//! What a process that reads the calls of some ranks tells the one that has the whole run, and how it finds that out.

use mpiscope_diagnosis::{HangDetector, Movement};
use mpiscope_feed::CallSums;
use mpiscope_ingest::Ingest;
use mpiscope_matching::Counts;
use mpiscope_model::{Batch, Call, Fault, Rank, Totals};
use mpiscope_wire as wire;
use rustc_hash::FxHashMap;

/// What a batch added. Ranks belong to one process each, so the sums of several can be added in any order.
#[derive(Debug)]
pub struct Counted {
    pub(crate) counts: Counts,
    pub(crate) calls: u64,
    pub(crate) polls: u64,
    pub(crate) overview: CallSums,
    pub(crate) movement: Movement,
    pub(crate) faults: Vec<Fault>,
    /// What recording them cost the ranks.
    pub(crate) cost_ns: f64,
    pub(crate) unreadable_slots: u64,
    pub(crate) calls_beyond_sites: u64,
}

mpiscope_model::numbers! {
    Counted {
        counts, calls, polls, overview, movement, faults, cost_ns, unreadable_slots, calls_beyond_sites
    }
}

/// Reads the calls of some ranks of a run. It is fed all messages of the run but the slots of other ranks, of which it gets those
/// that define something: so it numbers communicators and call sites as everybody else does.
pub struct Counter {
    ingest: Ingest,
    window_ns: u64,
    hang_detector: HangDetector,
    cost_per_call_ns: FxHashMap<Rank, f64>,
    unreadable_slots: u64,
    calls_beyond_sites: u64,
}

impl Counter {
    /// Nothing yet; windows are that long, and up to this number of threads read.
    #[must_use]
    pub fn new(window_ns: u64, threads: usize) -> Self {
        Self {
            ingest: Ingest::for_diagnosis().with_threads(threads),
            window_ns,
            hang_detector: HangDetector::default(),
            cost_per_call_ns: FxHashMap::default(),
            unreadable_slots: 0,
            calls_beyond_sites: 0,
        }
    }

    /// Takes in a message.
    pub fn feed(&mut self, message: wire::Message) {
        self.ingest.feed(message);
    }

    /// What became known since this was last asked: as sums, and as it is.
    pub fn take(&mut self) -> (Counted, Batch) {
        let batch = joined(&mut self.ingest);
        (self.count(&batch), batch)
    }

    /// The input is over.
    pub fn finish(&mut self) -> (Counted, Batch) {
        self.ingest.settle_rest();
        self.take()
    }

    fn count(&mut self, batch: &Batch) -> Counted {
        let costs = batch.ranks.iter().map(|info| (info.rank, info.cost_per_call_ns));
        self.cost_per_call_ns.extend(costs);
        let calls = &batch.calls;
        self.hang_detector.feed(calls, &batch.lone_polls, &batch.comms, &batch.members);
        let mut counts = Counts::new(self.window_ns);
        counts.calls(calls);
        let mut totals = Totals::default();
        totals.add_calls(calls);
        let (unreadable, beyond) = (self.ingest.unreadable_slots(), self.ingest.calls_beyond_sites());
        Counted {
            counts,
            calls: totals.calls,
            polls: totals.polls,
            overview: CallSums::of_calls(calls),
            movement: self.hang_detector.movement_of(calls),
            faults: batch.faults.clone(),
            cost_ns: cost_ns(calls, |rank| self.cost_per_call_ns.get(&rank).copied().unwrap_or_default()),
            unreadable_slots: unreadable - std::mem::replace(&mut self.unreadable_slots, unreadable),
            calls_beyond_sites: beyond - std::mem::replace(&mut self.calls_beyond_sites, beyond),
        }
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
