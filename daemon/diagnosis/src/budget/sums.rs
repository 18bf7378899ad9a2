//! What settled calls add up to. Those of several shards merge, in any order, to what one would have.

use super::ledger::Ledger;
use super::waits::{SiteWaiting, SiteWaits, Waits};
use crate::evolution::{Evolution, EvolutionOptions};
use mpiscope_topology::{CollectiveTraffic, PairLateness, Traffic};

/// Who exchanged how much with whom.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    pub(super) messages: Traffic,
    pub(super) collectives: CollectiveTraffic,
    /// How late exact messages were.
    pub(super) lateness: PairLateness,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Sums {
    pub(super) ledger: Ledger,
    pub(super) waits: Waits,
    pub(super) site_waits: SiteWaits,
    pub(super) exchanged: Exchanged,
    pub(super) evolution: Evolution,
    /// Calls whose other side was given up.
    pub(super) given_up: u64,
}

impl Sums {
    pub(super) fn new(window_ns: u64) -> Self {
        Self {
            ledger: Ledger::new(window_ns),
            waits: Waits::default(),
            site_waits: SiteWaits::default(),
            exchanged: Exchanged::default(),
            evolution: Evolution::new(window_ns, EvolutionOptions::default()),
            given_up: 0,
        }
    }

    /// What came in since this was asked last.
    pub(super) fn take(&mut self) -> Self {
        let ledger = self.ledger.emptied();
        Self {
            ledger: std::mem::replace(&mut self.ledger, ledger),
            waits: std::mem::take(&mut self.waits),
            site_waits: std::mem::take(&mut self.site_waits),
            exchanged: std::mem::take(&mut self.exchanged),
            evolution: self.evolution.take(),
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
        self.given_up += other.given_up;
    }
}
