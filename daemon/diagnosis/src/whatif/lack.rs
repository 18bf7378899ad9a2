//! How a rank lacked a CPU during a call, by what the scheduler says of it.

use crate::whatif::graph::Graph;
use mpiscope_model::Rank;

/// Who got a CPU this often during a call, and did not leave it, waited for something else than a CPU.
const TURNS: u64 = 8;

/// The time in which a rank had no CPU during a call.
pub(crate) struct Lack<'a> {
    graph: &'a Graph,
    rank: Rank,
    span: (u64, u64),
    /// On average over the time between two figures of the scheduler.
    pub(crate) missing_ns: u64,
}

impl<'a> Lack<'a> {
    pub(crate) fn during(graph: &'a Graph, rank: Rank, span: (u64, u64)) -> Self {
        Self { graph, rank, span, missing_ns: graph.delays.between(rank, span.0, span.1) }
    }

    fn is_most_of_call(&self, ns: u64) -> bool {
        ns.saturating_mul(2) > self.span.1 - self.span.0
    }

    /// For most of the call: whatever the rank waited for, it comes late.
    pub(crate) fn is_most(&self) -> bool {
        self.is_most_of_call(self.missing_ns)
    }

    /// How long the rank waited for a CPU at a time, on average, if that is known.
    pub(crate) fn wait_ns(&self) -> Option<u64> {
        self.graph.delays.wait_at(self.rank, self.span.1)
    }

    /// How long it was stopped, if it got a CPU by turns for the rest of the time in which it had none.
    pub(crate) fn stopped_beside_turns_ns(&self) -> Option<u64> {
        let wait_ns = self.wait_ns().filter(|wait_ns| *wait_ns > 0 && self.missing_ns > 0)?;
        let stopped_ns = self.graph.delays.stopped_between(self.rank, self.span);
        // A rank that is stopped gets no CPU by turns.
        let turns_ns = self.missing_ns.saturating_sub(stopped_ns);
        let has_turns = !self.is_most_of_call(stopped_ns) && turns_ns >= TURNS.saturating_mul(wait_ns);
        has_turns.then_some(stopped_ns)
    }

    /// Nothing else need be why the call was long.
    pub(crate) fn explains(&self) -> bool {
        self.is_most() && self.stopped_beside_turns_ns().is_none()
    }
}
