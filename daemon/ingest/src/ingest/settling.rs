//! Gives slots their times once the clocks of their nodes are known, and finds until when everything is in.

use super::state::Ingest;
use crate::origin::Origin;
use crate::settled::Settled;
use mpiscope_model::Nanoseconds;

/// A node this far behind the others holds nothing up.
const MOST_BEHIND_NS: u64 = 2_000_000_000;

/// A node's times are no further ahead of the daemon's own clock, whatever it sends.
const MOST_AHEAD_NS: u64 = 60_000_000_000;

/// In a truncated log, entries after the last clock sample are at most this much later than it.
const MOST_AFTER_NS: u64 = 24 * 3_600_000_000_000;

impl Ingest {
    /// The log ended without a last clock sample: what waits is settled by the clocks as they are.
    pub fn settle_rest(&mut self) {
        self.update_until();
        self.settle();
        let batches = || std::iter::once(&self.decoded.batch).chain(&self.beside);
        let rows = batches().flat_map(|batch| batch.calls.iter().map(|call| call.end_ns));
        let activities = batches().flat_map(|batch| batch.activities.iter().map(|activity| activity.end_ns));
        let until_ns = rows.chain(activities).fold(self.decoded.batch.until_ns, Nanoseconds::max);
        self.decoded.batch.until_ns = until_ns;
    }

    pub(super) fn settle(&mut self) {
        self.read_settled();
        let newest_ns = self.origins.iter().filter_map(Origin::newest_ns).max();
        let written_until_ns = newest_ns.map_or(Nanoseconds::MAX, |ns| ns.saturating_add(MOST_AFTER_NS));
        for agent in 0..self.origins.len() as u32 {
            let origin = &self.origins[agent as usize];
            if !origin.clock.is_known() && !origin.waiting.is_empty() {
                let text = format!(
                    "the clock of {} was never compared with that of the run: its calls have no times",
                    origin.node
                );
                self.fault(None, text);
            }
            self.settle_waiting(agent, written_until_ns);
        }
        self.read_settled();
        self.lose_dropped();
    }

    /// A clock sample arrived. Slots of a node wait on while its clock was not compared, or has only one sample.
    pub(super) fn settle_origin(&mut self, agent: u32) {
        let origin = &self.origins[agent as usize];
        if origin.clock.is_reference() || origin.clock.is_known() && origin.has_slope() {
            // A later end of a call is false.
            let written_until_ns = origin.newest_ns().unwrap_or_default().min(self.latest_ns());
            self.settle_waiting(agent, written_until_ns);
            self.origins[agent as usize].fix();
        }
    }

    /// The times of what waits are those by the clocks as they are now.
    fn settle_waiting(&mut self, agent: u32, written_until_ns: Nanoseconds) {
        let slots = std::mem::take(&mut self.origins[agent as usize].waiting);
        if !slots.is_empty() {
            self.settled.push(Settled { agent, slots, written_until_ns });
        }
    }

    /// The clock of an agent is about to change: what was settled is read by the clock as it is.
    pub(super) fn before_clock_changes(&mut self, agent: u32) {
        if self.settled.iter().any(|settled| settled.agent == agent) {
            self.read_settled();
        }
    }

    /// Looks at all agents: once for a batch, not for each clock sample in it.
    pub(super) fn update_until(&mut self) {
        if std::mem::take(&mut self.is_until_old) {
            self.decoded.batch.until_ns = self.until_ns();
        }
    }

    /// The time until which everything is in, but for nodes that are far behind.
    pub(super) fn until_ns(&self) -> Nanoseconds {
        let latest_ns = self.latest_ns();
        let untils = || self.origins.iter().map(|origin| origin.until_ns.min(latest_ns));
        let near = untils().max().unwrap_or_default().saturating_sub(MOST_BEHIND_NS);
        untils().filter(|&until_ns| until_ns >= near).min().unwrap_or_default()
    }

    /// No node can have come further than this.
    pub(super) fn latest_ns(&self) -> Nanoseconds {
        self.origins[0]
            .newest_ns()
            .map_or(Nanoseconds::MAX, |newest_ns| newest_ns.saturating_add(MOST_AHEAD_NS))
    }
}
