//! What settled calls add up to. Those of several shards merge, in any order, to what one would have.

use super::ledger::Ledger;
use super::waits::{SiteWaiting, SiteWaits, Waits};
use super::work::Work;
use crate::evolution::{Evolution, EvolutionOptions};
use mpiscope_model::Nanoseconds;
use mpiscope_topology::{CollectiveTraffic, PairLateness, Traffic};

/// Who exchanged how much with whom.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    pub(super) messages: Traffic,
    pub(super) collectives: CollectiveTraffic,
    /// How late exact messages were.
    pub(super) lateness: PairLateness,
}

mpiscope_model::numbers! { Exchanged { messages, collectives, lateness } }

/// How much memory sums may take in the next window, the same for all shards.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    /// Cells of the ledger by rank.
    cells: usize,
    /// How long windows of work are, and how many there may be.
    work: (u64, u64),
}

mpiscope_model::numbers! { Limits { cells, work } }

/// All of it.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) ledger: Ledger,
    pub(super) waits: Waits,
    pub(super) site_waits: SiteWaits,
    pub(super) exchanged: Exchanged,
    pub(super) evolution: Evolution,
    /// How much ranks computed.
    pub(super) work: Work,
    /// Calls whose other side was given up.
    pub(super) given_up: u64,
}

mpiscope_model::numbers! { Sums { ledger, waits, site_waits, exchanged, evolution, work, given_up } }

impl Sums {
    pub(super) fn new(window_ns: u64) -> Self {
        Self {
            ledger: Ledger::new(window_ns),
            waits: Waits::default(),
            site_waits: SiteWaits::default(),
            exchanged: Exchanged::default(),
            evolution: Evolution::new(window_ns, EvolutionOptions::default()),
            work: Work::new(window_ns),
            given_up: 0,
        }
    }

    /// Calls of this number of ranks that end before a time will be settled. What has windows gets its room here and not
    /// while calls are settled: in another order, parts would be rounded otherwise.
    pub(super) fn reach(&mut self, until_ns: Nanoseconds, ranks: usize) {
        self.ledger.reach(until_ns, ranks);
        self.work.reach(until_ns);
    }

    /// A window is over. Returns how much memory the next one may take.
    pub(super) fn close(&mut self) -> Limits {
        self.work.close();
        Limits { cells: self.ledger.close(), work: self.work.limits() }
    }

    /// What holds for the sums of all shards.
    pub(super) fn follow(&mut self, limits: &Limits) {
        self.ledger.allow_cells(limits.cells);
        self.work.follow(limits.work);
    }

    /// What came in since this was asked last.
    pub(super) fn take(&mut self) -> Self {
        let (ledger, work) = (self.ledger.emptied(), self.work.emptied());
        Self {
            ledger: std::mem::replace(&mut self.ledger, ledger),
            waits: std::mem::take(&mut self.waits),
            site_waits: std::mem::take(&mut self.site_waits),
            exchanged: std::mem::take(&mut self.exchanged),
            evolution: self.evolution.take(),
            work: std::mem::replace(&mut self.work, work),
            given_up: std::mem::take(&mut self.given_up),
        }
    }

    /// Takes in those of another shard.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.ledger.merge(&other.ledger);
        self.waits.merge(&other.waits);
        self.site_waits.merge(&other.site_waits, SiteWaiting::add);
        self.exchanged.messages.merge(&other.exchanged.messages);
        self.exchanged.collectives.merge(&other.exchanged.collectives);
        self.exchanged.lateness.merge(&other.exchanged.lateness);
        self.evolution.merge(&mut other.evolution);
        self.work.merge(&other.work);
        self.given_up += other.given_up;
    }
}
