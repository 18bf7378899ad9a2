//! What settled calls add up to. Those of several shards merge, in any order, to what one would have.

use super::ledger::Ledger;
use super::waits::{SiteWaits, Waits};
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
}
