//! The operator of the delay budget: what it keeps, what goes in and what can be read off it.

use super::causes::Causes;
use super::course::Course;
use super::knowledge::Knowledge;
use super::learning::Learning;
use super::ledger::Ledger;
use super::options::BudgetOptions;
use super::owners::Owners;
use super::quiet::Stretch;
use super::shard::Shard;
use super::waits::{SiteWaits, WaitKey, WaitTotals};
use super::window_end::{Furthest, later};
use crate::criteria::{Reference, Version};
use crate::evolution::{Evolution, RegionOfRank};
use mpiscope_matching::Matched;
use mpiscope_model::{Activity, Collected, CommInfo, Nanoseconds, Node, Rank, Scheduling};
use mpiscope_topology::{Advice, CollectiveTraffic, PairLateness, Traffic, advise, capacities};
use std::sync::Arc;

/// A placement is followed that spares this share of the messages between nodes.
const WORTH_FOLLOWING: f64 = 0.05;

/// The operator.
#[derive(Debug)]
pub struct Budgeter {
    pub(super) shard: Shard,
    pub(super) learning: Learning,
    /// The furthest thread of other shards, and where all of their threads are once there is no more input.
    pub(super) furthest: Option<Furthest>,
    far_paths: Vec<ThreadPath>,
}

/// Where a thread is, and along which path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadPath {
    rank: Rank,
    thread: u16,
    at_ns: Nanoseconds,
    path: Causes,
}

mpiscope_model::numbers! { ThreadPath { rank, thread, at_ns, path } }

impl Budgeter {
    /// An operator that learns its criteria.
    #[must_use]
    pub fn new(options: BudgetOptions) -> Self {
        Self {
            shard: Shard::new(options, Owners::ONE, 0),
            learning: Learning::new(options.window_ns),
            furthest: None,
            far_paths: Vec::new(),
        }
    }

    /// Uses these criteria throughout. It still learns its own.
    #[must_use]
    pub fn with_criteria(mut self, version: Version) -> Self {
        self.learning.fix(version, &mut self.shard.knowledge);
        self
    }

    /// Merges its own criteria with these, from now on.
    pub fn hold_against(&mut self, reference: Reference) {
        self.learning.refer_to(reference, self.shard.settled_ns, &mut self.shard.knowledge);
    }

    /// Uses this advice throughout, if it is worth following.
    #[must_use]
    pub fn with_advice(mut self, advice: Advice) -> Self {
        self.follow(advice);
        self
    }

    /// Uses this advice from here on, if it is worth following.
    pub fn follow(&mut self, advice: Advice) {
        let spared = advice.inter_messages_before.saturating_sub(advice.inter_messages_after);
        let is_worth_it =
            spared > 0 && spared as f64 >= WORTH_FOLLOWING * advice.inter_messages_before as f64;
        self.shard.knowledge.advised = is_worth_it.then(|| advice.node_of_rank.into());
    }

    /// Assesses each moment by the time before and after it, as an earlier pass saw them.
    #[must_use]
    pub fn with_course(mut self, course: Course) -> Self {
        self.learning.follow_course(course, &mut self.shard.knowledge);
        self
    }

    /// From the next window on, these are the regions. Before the first division, each node's ranks are one.
    pub fn divide(&mut self, partition: RegionOfRank) {
        let from_ns = self.shard.settled_ns;
        self.shard.knowledge.regions = Some((from_ns, Arc::new(partition.clone())));
        self.shard.sums.evolution.divide(partition, from_ns);
    }

    /// How latency went within regions and between them.
    #[must_use]
    pub fn evolution(&self) -> &Evolution {
        &self.shard.sums.evolution
    }

    /// The course of the run, for a later pass with these criteria.
    #[must_use]
    pub fn course(&self, criteria: &Version) -> Course {
        self.learning.course.clone().over(&self.learnt(), criteria, &self.shard.sums.work)
    }

    /// Whether there was network contention only part of the time.
    #[must_use]
    pub fn saw_disturbance(&self) -> bool {
        self.learning.course.is_varied()
    }

    /// When the network was quiet and when it was disturbed, in order; nothing where too little was seen.
    #[must_use]
    pub fn network(&self) -> Vec<Stretch> {
        self.learning.course.network()
    }

    /// The node of each rank in the advised placement.
    #[must_use]
    pub fn advised(&self) -> Option<&[Node]> {
        self.shard.knowledge.advised.as_deref()
    }

    /// Where each rank runs.
    #[must_use]
    pub fn node_of_rank(&self) -> &[Node] {
        self.shard.threads.nodes()
    }

    /// Who exchanged how many messages with whom.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.shard.sums.exchanged.messages
    }

    /// Who took part in collectives that moved data.
    #[must_use]
    pub fn collective_traffic(&self) -> &CollectiveTraffic {
        &self.shard.sums.exchanged.collectives
    }

    /// How late exact messages were, by pair of ranks.
    #[must_use]
    pub fn lateness(&self) -> &PairLateness {
        &self.shard.sums.exchanged.lateness
    }

    /// The best known placement for the traffic so far.
    #[must_use]
    pub fn advice(&self) -> Advice {
        let nodes = self.shard.threads.nodes();
        let count = nodes.iter().map(|node| node.index() + 1).max().unwrap_or_default();
        advise(&self.shard.sums.exchanged.messages, nodes, &capacities(nodes, count))
    }

    /// Says where a rank runs.
    pub fn place(&mut self, rank: Rank, node: Node) {
        self.shard.place(rank, node);
    }

    /// Says how many ranks a communicator has.
    pub fn comm(&mut self, comm: &CommInfo) {
        self.shard.comm(comm);
    }

    /// Takes in calls, each thread's in order, and messages of windows before the next that is settled.
    pub fn feed(&mut self, activities: &[Activity], matched: &Matched, scheduling: &[Scheduling]) {
        self.shard.feed(activities, matched, scheduling);
    }

    /// Takes in which collectives calls completed that were taken in just before.
    pub fn collect(&mut self, collected: &[Collected]) {
        self.shard.collect(collected);
    }

    /// Everything before this is settled.
    #[must_use]
    pub fn settled_ns(&self) -> Nanoseconds {
        self.shard.settled_ns
    }

    /// Where time went.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.shard.sums.ledger
    }

    /// The criteria as they are known now.
    #[must_use]
    pub fn criteria(&self) -> &Version {
        self.shard.knowledge.versions.newest()
    }

    /// The criteria learnt from this run, whichever it uses.
    #[must_use]
    pub fn learnt(&self) -> Version {
        self.learning.criteria.version()
    }

    /// Who waited for whom, by the known names of waiting.
    pub fn waits(&self) -> impl Iterator<Item = (&WaitKey, &WaitTotals)> {
        self.shard.sums.waits.all()
    }

    /// The waiting by call site; it sums to the waiting of the ledger.
    #[must_use]
    pub fn site_waits(&self) -> &SiteWaits {
        &self.shard.sums.site_waits
    }

    /// Calls whose other side was given up.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.shard.sums.given_up
    }

    /// From how many bytes on a blocking send was seen to wait for its receive.
    #[must_use]
    pub fn blocking_from_bytes(&self) -> Option<u64> {
        self.shard.knowledge.blocks_from_octave.map(|octave| 1 << octave)
    }

    /// The path that led to the moment at which the last thread stands: what the run's length was made of.
    #[must_use]
    pub fn critical_path(&self) -> (Nanoseconds, Causes) {
        let last = later(self.shard.furthest(), self.furthest);
        last.map_or_else(Default::default, |(at_ns, _, path)| (at_ns, path))
    }

    /// All threads by rank: whose, when they stand, and along which path. Those of other shards are among them once they
    /// have been taken in.
    pub fn paths(&self) -> impl Iterator<Item = (Rank, Nanoseconds, Causes)> {
        let mut all = self.shard.thread_paths();
        all.extend(&self.far_paths);
        all.sort_unstable_by_key(|of| (of.rank, of.thread));
        all.into_iter().map(|of| (of.rank, of.at_ns, of.path))
    }

    /// Takes in where the threads of another shard are at the end of the input.
    pub fn take_paths(&mut self, paths: Vec<ThreadPath>) {
        self.far_paths.extend(paths);
    }

    /// Shares the ranks out: it keeps those of the first shard. Nothing may have been fed.
    #[must_use]
    pub fn with_owners(mut self, owners: Owners) -> Self {
        let shard = Shard::new(self.shard.options, owners, 0);
        let before = std::mem::replace(&mut self.shard, shard);
        let Shard { knowledge, sums, .. } = before;
        (self.shard.knowledge, self.shard.sums) = (knowledge, sums);
        self
    }

    /// The shard of its own ranks.
    pub fn shard_mut(&mut self) -> &mut Shard {
        &mut self.shard
    }

    /// What all windows until now taught, for the other shards.
    #[must_use]
    pub fn knowledge(&self) -> Knowledge {
        Knowledge { final_ns: self.shard.sums.evolution.final_ns(), ..self.shard.knowledge.clone() }
    }
}

impl Shard {
    /// Where its threads are, and along which paths.
    #[must_use]
    pub fn thread_paths(&self) -> Vec<ThreadPath> {
        let own = self.threads.iter().filter(|thread| !thread.is_remote());
        own.map(|of| ThreadPath { rank: of.rank, thread: of.thread, at_ns: of.at_ns, path: of.path })
            .collect()
    }
}
