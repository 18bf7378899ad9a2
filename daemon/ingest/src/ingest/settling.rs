//! Gives slots their times once the clocks of their nodes are known, and finds until when everything is in.

use super::state::Ingest;
use crate::origin::{Origin, waiting_bytes};
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
        let rows = self.batch.calls.iter().map(|call| call.end_ns);
        let ends = rows.chain(self.batch.activities.iter().map(|activity| activity.end_ns));
        self.batch.until_ns = ends.fold(self.batch.until_ns, Nanoseconds::max);
    }

    pub(super) fn settle(&mut self) {
        let newest_ns = self.origins.iter().filter_map(Origin::newest_ns).max();
        self.written_until_ns = newest_ns.map_or(Nanoseconds::MAX, |ns| ns.saturating_add(MOST_AFTER_NS));
        for agent in 0..self.origins.len() as u32 {
            let origin = &self.origins[agent as usize];
            if !origin.clock.is_known() && !origin.waiting.is_empty() {
                let text = format!(
                    "the clock of {} was never compared with that of the run: its calls have no times",
                    origin.node
                );
                self.fault(None, text);
            }
            self.settle_waiting(agent);
        }
        self.lose_dropped();
    }

    /// A clock sample arrived. Slots of a node wait on while its clock was not compared, or has only one sample.
    pub(super) fn settle_origin(&mut self, agent: u32) {
        let origin = &self.origins[agent as usize];
        if origin.clock.is_reference() || origin.clock.is_known() && origin.has_slope() {
            // A later end of a call is false.
            self.written_until_ns = origin.newest_ns().unwrap_or_default().min(self.latest_ns());
            self.settle_waiting(agent);
            self.origins[agent as usize].fix();
        }
    }

    pub(super) fn settle_waiting(&mut self, agent: u32) {
        let waiting = std::mem::take(&mut self.origins[agent as usize].waiting);
        // Most slots are calls; growing step by step copies them all again.
        let most_calls = waiting.iter().map(|slots| slots.slots.len()).sum();
        if self.wanted.rows {
            self.batch.calls.reserve(most_calls);
        }
        if self.wanted.effects {
            self.batch.activities.reserve(most_calls);
        }
        let mut touched = Vec::new();
        for slots in waiting {
            if agent != 0 {
                self.waiting.give(waiting_bytes(&slots));
            }
            let index = self.processes.index((agent, slots.process));
            self.slots(index, &slots);
            if let Some(index) = index
                && let Some(process) = self.processes.by_index(index)
                && !std::mem::replace(&mut process.is_touched, true)
            {
                touched.push(index);
            }
        }
        for index in touched {
            if let Some(process) = self.processes.by_index(index) {
                process.is_touched = false;
                let ends_ns = self.wanted.effects.then_some(&mut self.batch.events_end_ns);
                process.take_events(&mut self.batch.events, ends_ns);
            }
        }
    }

    /// Looks at all agents: once for a batch, not for each clock sample in it.
    pub(super) fn update_until(&mut self) {
        if std::mem::take(&mut self.is_until_old) {
            self.batch.until_ns = self.until_ns();
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
