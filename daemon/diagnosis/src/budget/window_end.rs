//! The end of a window over several shards: what each reports, what is decided for all, and what each shares.

use super::causes::Causes;
use super::knowledge::Knowledge;
use super::observation::Observed;
use super::shard::Shard;
use super::sums::Sums;
use crate::evolution::RegionOfRank;
use mpiscope_model::{Nanoseconds, Rank};
use std::sync::Arc;

/// How far a shard is in a window, or how far all are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Calls that are not settled, when the window began and now.
    pub(super) queued_before: usize,
    pub(super) queued: usize,
    /// Paths that are kept.
    pub(super) kept: usize,
    /// Before this time every call is settled: none waits for its other side.
    pub(super) waited_for_ns: Nanoseconds,
}

mpiscope_model::numbers! { Report { queued_before, queued, kept, waited_for_ns } }

impl Report {
    /// The same of several shards.
    #[must_use]
    pub fn with(self, other: &Self) -> Self {
        Self {
            queued_before: self.queued_before + other.queued_before,
            queued: self.queued + other.queued,
            kept: self.kept + other.kept,
            waited_for_ns: self.waited_for_ns.min(other.waited_for_ns),
        }
    }

    /// Whether any call was settled.
    pub(super) fn has_settled(&self) -> bool {
        self.queued < self.queued_before
    }
}

/// What is decided at the end of a window, for all shards.
#[derive(Debug, Clone, Copy)]
pub struct WindowEnd {
    pub(super) until_ns: Nanoseconds,
    pub(super) has_settled: bool,
    /// There are too many paths: the older half is given up.
    pub(super) gives_up: bool,
}

mpiscope_model::numbers! { WindowEnd { until_ns, has_settled, gives_up } }

/// How far the thread that is furthest is: its rank, and along which path.
pub(super) type Furthest = (Nanoseconds, Rank, Causes);

/// The later of two; of two that are as far, that of the greater rank.
pub(super) fn later(one: Option<Furthest>, other: Option<Furthest>) -> Option<Furthest> {
    one.into_iter().chain(other).max_by_key(|&(at_ns, rank, _)| (at_ns, rank))
}

/// What the calls that a shard settled in a window showed, and what they add up to.
#[derive(Debug)]
pub struct ShardResult {
    pub(super) observed: Vec<Observed>,
    pub(super) sums: Sums,
    pub(super) furthest: Option<Furthest>,
}

mpiscope_model::numbers! { ShardResult { observed, sums, furthest } }

impl Shard {
    /// How far it is in the window that ends then. `queued_before` calls were not settled when it began.
    #[must_use]
    pub fn report(&self, until_ns: Nanoseconds, queued_before: usize) -> Report {
        let (mut kept, mut waited_for_ns) = (0, until_ns);
        for thread in self.threads.iter() {
            kept += thread.kept();
            waited_for_ns = thread.queue.front().map_or(waited_for_ns, |call| waited_for_ns.min(call.end_ns));
        }
        Report { queued_before, queued: self.queued, kept, waited_for_ns }
    }

    /// The same once more, in the same window.
    #[must_use]
    pub fn report_again(&self, before: &Report, until_ns: Nanoseconds) -> Report {
        self.report(until_ns, before.queued_before)
    }

    /// Calls that are not settled.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// The window has ended.
    pub fn end(&mut self, end: &WindowEnd) {
        if end.gives_up {
            self.give_up_half();
        }
        self.due_ns = self.first_due_ns(end.until_ns);
        // What was settled may have taught what settles a call that waits: the next window tries again.
        self.has_news = end.has_settled;
        self.settled_ns = end.until_ns;
    }

    /// What it settled since this was asked last.
    pub fn take_result(&mut self) -> ShardResult {
        ShardResult { observed: self.share_observed(), sums: self.sums.take(), furthest: self.furthest() }
    }

    pub(super) fn share_observed(&mut self) -> Vec<Observed> {
        let mut all = Vec::new();
        self.take_observed(|of| {
            if !of.all.is_empty() {
                all.push(Observed { rank: of.rank, thread: of.thread, all: std::mem::take(&mut of.all) });
            }
        });
        all
    }

    /// What all earlier windows taught, for the next one.
    pub fn adopt(&mut self, knowledge: &Knowledge) {
        let is_same = |one: &Arc<RegionOfRank>| {
            self.knowledge.regions.as_ref().is_some_and(|(_, other)| Arc::ptr_eq(one, other) || one == other)
        };
        if let Some((from_ns, regions)) = knowledge.regions.as_ref().filter(|(_, regions)| !is_same(regions))
        {
            self.sums.evolution.divide(RegionOfRank::clone(regions), *from_ns);
        }
        self.sums.evolution.follow(knowledge.final_ns);
        self.sums.follow(&knowledge.limits);
        self.knowledge = knowledge.clone();
    }

    pub(super) fn furthest(&self) -> Option<Furthest> {
        let own = self.threads.iter().filter(|thread| !thread.is_remote());
        own.map(|thread| (thread.at_ns, thread.rank, thread.path))
            .max_by_key(|&(at_ns, rank, _)| (at_ns, rank))
    }
}
