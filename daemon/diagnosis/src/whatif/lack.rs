//! How a rank lacked a CPU during a call, by what the scheduler says of it.

use crate::whatif::graph::Graph;
use mpiscope_model::Rank;

/// Who had a CPU this often during a call, and did not leave it, waited for something else than a CPU.
const TURNS: u64 = 8;

/// The time in which a rank had no CPU during a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lack {
    /// On average over the time between two figures of the scheduler.
    pub(crate) missing_ns: u64,
    /// How long it waited for one at a time, on average; 0 where that is not known.
    pub(crate) wait_ns: u64,
    /// For most of the call: whatever it waited for, it comes late.
    pub(crate) is_most: bool,
    /// It had one again and again.
    pub(crate) has_turns: bool,
}

impl Lack {
    pub(crate) fn during(graph: &Graph, rank: Rank, (start_ns, end_ns): (u64, u64)) -> Self {
        let missing_ns = graph.delays.between(rank, start_ns, end_ns);
        if missing_ns == 0 {
            return Self::default();
        }
        let stopped_ns =
            graph.delays.sum_between(rank, (start_ns, end_ns), |figure| figure.stopped_ns) as u64;
        let wait_ns = graph.delays.wait_at(rank, end_ns);
        let is_known = wait_ns > 0 && wait_ns < u64::MAX;
        let wait_ns = if is_known { wait_ns } else { 0 };
        let is_most = |ns: u64| ns.saturating_mul(2) > end_ns - start_ns;
        // A rank that is stopped gets no CPU by turns.
        let turns_ns = missing_ns.saturating_sub(stopped_ns);
        let has_turns = is_known && !is_most(stopped_ns) && turns_ns >= TURNS.saturating_mul(wait_ns);
        Self { missing_ns, wait_ns, is_most: is_most(missing_ns), has_turns }
    }

    /// Nothing else need be why the call was long.
    pub(crate) fn explains(&self) -> bool {
        self.is_most && !self.has_turns
    }
}
