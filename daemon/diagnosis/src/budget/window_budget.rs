//! Where the time of a window, or of a rank, went.

use super::causes::Budget;
use mpiscope_model::Nanoseconds;

/// One window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowBudget {
    /// Where time in MPI went, over all threads.
    pub budget: Budget,
    /// Time between calls.
    pub compute_ns: u64,
    /// Time between calls that was spent waiting for a CPU.
    pub cpu_wait_ns: u64,
    /// Exact messages between nodes that ended in it.
    pub inter: ExactMessages,
    /// Likewise within nodes.
    pub intra: ExactMessages,
    /// What its own calls and computing lose to each cause.
    pub spared: Spared,
}

mpiscope_model::numbers! { WindowBudget { budget, compute_ns, cpu_wait_ns, inter, intra, spared } }

/// What would be spared, without regard to who waits for whom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spared {
    /// With ranks placed as advised.
    pub placed_ns: u64,
    /// With a quiet network.
    pub quiet_ns: u64,
    /// With a core for every rank.
    pub cored_ns: u64,
    /// With balanced work, for the ranks that have more to compute.
    pub balanced_ns: u64,
}

mpiscope_model::numbers! { Spared { placed_ns, quiet_ns, cored_ns, balanced_ns } }

impl Spared {
    pub(super) fn add(&mut self, other: &Self) {
        self.placed_ns += other.placed_ns;
        self.quiet_ns += other.quiet_ns;
        self.cored_ns += other.cored_ns;
        self.balanced_ns += other.balanced_ns;
    }
}

/// Exact messages, compared with their criteria.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExactMessages {
    /// How many.
    pub messages: u64,
    /// Of them, those that took longer than their criterion.
    pub delayed: u64,
    /// What they took.
    pub took_ns: u64,
    /// Their expected transfer times.
    pub criterion_ns: u64,
}

mpiscope_model::numbers! { ExactMessages { messages, delayed, took_ns, criterion_ns } }

impl ExactMessages {
    pub(super) fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.delayed += other.delayed;
        self.took_ns += other.took_ns;
        self.criterion_ns += other.criterion_ns;
    }
}

impl WindowBudget {
    pub(super) fn add(&mut self, other: &Self) {
        self.budget += other.budget;
        self.compute_ns += other.compute_ns;
        self.cpu_wait_ns += other.cpu_wait_ns;
        self.inter.add(&other.inter);
        self.intra.add(&other.intra);
        self.spared.add(&other.spared);
    }
}

/// One rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankBudget {
    /// Where its time in MPI went.
    pub budget: Budget,
    /// Its time between calls, including the wait for a CPU.
    pub compute_ns: u64,
    /// Its time between calls that was spent waiting for a CPU.
    pub cpu_wait_ns: u64,
    /// When its last call that is settled returned.
    pub until_ns: Nanoseconds,
}

mpiscope_model::numbers! { RankBudget { budget, compute_ns, cpu_wait_ns, until_ns } }

impl RankBudget {
    pub(super) fn add(&mut self, other: &Self) {
        self.budget += other.budget;
        self.compute_ns += other.compute_ns;
        self.cpu_wait_ns += other.cpu_wait_ns;
        self.until_ns = self.until_ns.max(other.until_ns);
    }
}
