//! How a rank lacked a CPU during a call, by what the scheduler says of it.

use crate::whatif::graph::Graph;
use mpiscope_model::Rank;

/// Who got a CPU this often during a call, and did not leave it, waited for something else than a CPU.
const TURNS: u64 = 8;

/// The time in which a rank had no CPU during a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lack {
    /// On average over the time between two figures of the scheduler.
    pub(crate) missing_ns: u64,
    /// The part of it in which the rank was stopped; 0 where it cannot have had turns.
    pub(crate) stopped_ns: u64,
    /// How long it waited for a CPU at a time, on average, if that is known.
    pub(crate) wait_ns: Option<u64>,
    /// For most of the call: whatever it waited for, it comes late.
    pub(crate) is_most: bool,
    /// It got a CPU at least `TURNS` times.
    pub(crate) has_turns: bool,
}

impl Lack {
    pub(crate) fn during(graph: &Graph, rank: Rank, (start_ns, end_ns): (u64, u64)) -> Self {
        let missing_ns = graph.delays.between(rank, start_ns, end_ns);
        let wait_ns = Some(graph.delays.wait_at(rank, end_ns)).filter(|wait_ns| *wait_ns < u64::MAX);
        let may_have_turns = missing_ns > 0 && wait_ns.is_some_and(|wait_ns| wait_ns > 0);
        let stopped = || graph.delays.sum_between(rank, (start_ns, end_ns), |figure| figure.stopped_ns);
        let stopped_ns = if may_have_turns { stopped() as u64 } else { 0 };
        let is_most = |ns: u64| ns.saturating_mul(2) > end_ns - start_ns;
        // A rank that is stopped gets no CPU by turns.
        let turns_ns = missing_ns.saturating_sub(stopped_ns);
        let is_enough = |wait_ns: u64| turns_ns >= TURNS.saturating_mul(wait_ns);
        let has_turns = may_have_turns && !is_most(stopped_ns) && wait_ns.is_some_and(is_enough);
        Self { missing_ns, stopped_ns, wait_ns, is_most: is_most(missing_ns), has_turns }
    }

    /// Nothing else need be why the call was long.
    pub(crate) fn explains(&self) -> bool {
        self.is_most && !self.has_turns
    }
}
