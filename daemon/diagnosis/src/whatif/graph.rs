//! The graph of a run, in columns: one entry a call, threads one after the other, each in its order.

pub(crate) mod blocked_calls;
pub(crate) mod cpu_sharing;
pub(crate) mod delays;
pub(crate) mod flights;
pub(crate) mod groups;
pub(crate) mod marks;
pub(crate) mod on_links;
pub(crate) mod quiet_group;
pub(crate) mod requests;
pub(crate) mod work;

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::{CallRow, NONE};
use crate::whatif::reference::Reference;
use crate::whatif::rule::{Rule, Rules};
use blocked_calls::BlockedCalls;
use cpu_sharing::CpuSharing;
use delays::Delays;
use flights::Flights;
use groups::Groups;
use marks::Marks;
use mpiscope_model::{Function, Node, Rank};
use on_links::{Link, OnLinks};
use quiet_group::QuietGroup;
use requests::Requests;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::OnceLock;
use work::Work;

/// A thread of a rank: its calls in the columns.
#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub(crate) rank: Rank,
    pub(crate) number: u16,
    pub(crate) calls: Range<u32>,
}

/// A message between two calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    /// The sender's call.
    pub(crate) from: u32,
    /// The receiver's call that completed it.
    pub(crate) to: u32,
    pub(crate) bytes: u32,
    /// It goes between nodes.
    pub(crate) is_inter: bool,
    /// It decided when its call ended: its flight is known, not only a bound for it.
    pub(crate) is_felt: bool,
    /// What its flight likely took.
    pub(crate) likely_ns: f32,
}

/// Who came back had been away this many times as long as it was back, and as many times more as others might have come: nobody
/// comes just before something ends again and again by chance.
const AWAY: u64 = 32;
/// Who is back makes at most this many calls until what it came for ends.
const MOST_SINCE_RETURN: u32 = 8;

/// How well the graph explains the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Messages whose calls were not found.
    pub unlinked: u64,
    /// Calls that waited for a peer to enter MPI, without a message or collective that says so.
    pub blocked: u64,
    /// Time in calls that took far longer than usual and for which nothing was found that they waited for, in nanoseconds of
    /// threads.
    pub unexplained_ns: u64,
    /// Calls whose dependencies contradict each other and were dropped.
    pub contradictions: u64,
}

/// The graph of a run.
#[derive(Debug, Default)]
pub struct Graph {
    pub(crate) rules: Rules,
    pub(crate) kinds: Vec<CallKind>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) starts: Vec<u64>,
    pub(crate) ends: Vec<u64>,
    pub(crate) functions: Vec<Function>,
    /// By call, a number of its call site.
    pub(crate) places: Vec<u16>,
    /// By rank, its threads.
    pub(crate) threads_of: Vec<Range<u32>>,
    pub(crate) nodes: Vec<Node>,
    /// Messages by the call that received them.
    pub(crate) edges: Vec<Edge>,
    /// By call, where its messages begin; one more at the end.
    pub(crate) received: Vec<u32>,
    pub(crate) groups: Groups,
    pub(crate) flights: Flights,
    /// What flights take where no rank waits for a CPU; none where no rank ever did.
    pub(crate) flights_with_cpus: Option<Flights>,
    /// By message, what its flight likely takes then. Empty where no rank ever waited.
    pub(crate) likely_with_cpus: Vec<f32>,
    pub(crate) reference: Reference,
    pub(crate) blocked: BlockedCalls,
    /// By send or exchange that ended when what it sent had left, that message.
    pub(crate) drained: FxHashMap<u32, u32>,
    /// On these, messages come late: most calls that took far longer than usual to receive them waited for nothing else.
    pub(crate) late_links: FxHashSet<Link>,
    /// By rank, the class of ranks that do the same.
    pub(crate) classes: Vec<u32>,
    pub(crate) delays: Delays,
    /// How ranks wait for CPUs that they share; none where they do not.
    pub(crate) cpu_sharing: Option<CpuSharing>,
    /// Requests that are taken in the order in which they come.
    pub(crate) requests: Requests,
    /// Calls in an order in which every dependency comes first.
    pub(crate) sequence: Vec<u32>,
    /// Calls whose dependencies were dropped.
    pub(crate) dropped: Vec<u32>,
    pub(crate) quality: Quality,
    /// By call, its rank.
    pub(crate) ranks: Vec<Rank>,
    pub(crate) work: OnceLock<Work>,
    /// By call, the computing before it if ranks that do the same have the same work in each step; no number where it is of no
    /// step. Empty where work does not differ from step to step.
    pub(crate) even_steps_ns: Vec<f32>,
    /// Whether balance within steps saves more than balance of each rank's share.
    pub(crate) differs_by_step: bool,
    pub(crate) marks: OnceLock<Marks>,
    pub(crate) quiet: OnceLock<(Vec<f32>, Vec<QuietGroup>)>,
    pub(crate) on_links: OnceLock<OnLinks>,
    /// By message, how many times as long as elsewhere it takes on its link. Empty where no link is slow throughout.
    pub(crate) slowness: Vec<f32>,
}

impl Graph {
    /// Whether a rule is followed.
    pub(crate) fn follows(&self, rule: Rule) -> bool {
        self.rules.has(rule)
    }

    /// How many times as long as elsewhere a message takes on its link.
    pub(crate) fn slowness_of(&self, edge: usize) -> f64 {
        self.slowness.get(edge).copied().map_or(1.0, f64::from)
    }

    /// By call, its thread.
    pub(crate) fn thread_of_calls(&self) -> Vec<u32> {
        let mut thread_of = vec![0_u32; self.starts.len()];
        for (at, thread) in self.threads.iter().enumerate() {
            thread_of[thread.calls.start as usize..thread.calls.end as usize].fill(at as u32);
        }
        thread_of
    }

    /// How many ranks are on the node with the most.
    pub(crate) fn fullest_node(&self) -> u32 {
        let mut counts: FxHashMap<Node, u32> = FxHashMap::default();
        self.nodes.iter().for_each(|node| *counts.entry(*node).or_default() += 1);
        counts.into_values().max().unwrap_or(0)
    }

    pub(crate) fn rank_of(&self, call: u32) -> Rank {
        self.ranks[call as usize]
    }

    /// The nodes that a message goes between; none within a node.
    pub(crate) fn link_of(&self, edge: &Edge) -> Option<Link> {
        self.link_among(&self.nodes, edge)
    }

    /// Likewise if ranks were on these nodes.
    pub(crate) fn link_among(&self, nodes: &[Node], edge: &Edge) -> Option<Link> {
        let node = |call: u32| nodes.get(self.rank_of(call).index()).copied();
        node(edge.from).zip(node(edge.to)).filter(|(from, to)| from != to)
    }

    /// Whether it is known that what a call waits for does not come from another node.
    pub(crate) fn is_within_node(&self, call: usize, has_one_node: bool) -> bool {
        let (received, group) = (self.received_by(call), self.groups.left[call]);
        let is_inter = group != NONE && self.groups.is_inter[group as usize];
        let is_known = has_one_node || group != NONE || !received.is_empty();
        is_known && !is_inter && received.iter().all(|edge| !edge.is_inter)
    }

    pub(crate) fn has_one_node(&self) -> bool {
        self.nodes.iter().all(|node| Some(node) == self.nodes.first())
    }

    pub(crate) fn is_on_late_link(&self, edge: &Edge) -> bool {
        edge.is_inter
            && !self.late_links.is_empty()
            && self.link_of(edge).is_some_and(|link| self.late_links.contains(&link))
    }

    pub(crate) fn reserve(&mut self, calls: usize) {
        self.starts.reserve_exact(calls);
        self.ends.reserve_exact(calls);
        self.functions.reserve_exact(calls);
    }

    pub(crate) fn push_thread(&mut self, (rank, number): (Rank, u16), rows: &[CallRow]) {
        let first = self.starts.len() as u32;
        self.starts.extend(rows.iter().map(|row| row.start_ns));
        self.ends.extend(rows.iter().map(|row| row.end_ns));
        self.functions.extend(rows.iter().map(|row| row.function));
        let at = rank.index();
        let thread = self.threads.len() as u32;
        if self.threads_of.len() <= at {
            self.threads_of.resize(at + 1, thread..thread);
        }
        let of_rank = &mut self.threads_of[at];
        if of_rank.start == of_rank.end {
            *of_rank = thread..thread;
        }
        of_rank.end = thread + 1;
        self.threads.push(Thread { rank, number, calls: first..self.starts.len() as u32 });
    }

    pub(crate) fn place(&mut self, mut nodes: Vec<Node>) {
        nodes.resize(self.threads_of.len().max(nodes.len()), Node::default());
        self.nodes = nodes;
    }

    /// Calls of one thread follow each other: what overlaps its predecessor begins where that ends.
    pub(crate) fn straighten(&mut self) {
        for thread in &self.threads {
            let mut before_ns = 0;
            for call in thread.calls.start as usize..thread.calls.end as usize {
                self.starts[call] = self.starts[call].max(before_ns);
                self.ends[call] = self.ends[call].max(self.starts[call]);
                before_ns = self.ends[call];
            }
        }
    }

    pub(crate) fn kind(&self, call: usize) -> CallKind {
        self.kinds.get(usize::from(self.functions[call])).copied().unwrap_or_default()
    }

    pub(crate) fn received_by(&self, call: usize) -> &[Edge] {
        &self.edges[self.received[call] as usize..self.received[call + 1] as usize]
    }

    /// The messages of calls that waited for one of their messages.
    pub(crate) fn waited_for(&self) -> impl Iterator<Item = usize> {
        let of_call = |call: usize| self.received[call] as usize..self.received[call + 1] as usize;
        let waited = |messages: &Range<usize>| self.edges[messages.clone()].iter().any(|edge| edge.is_felt);
        (0..self.starts.len()).map(of_call).filter(waited).flatten()
    }

    pub(crate) fn threads_of(&self, rank: Rank) -> &[Thread] {
        let range = self.threads_of.get(rank.index()).cloned().unwrap_or_default();
        &self.threads[range.start as usize..range.end as usize]
    }

    fn starts_of(&self, thread: &Thread) -> &[u64] {
        &self.starts[thread.calls.start as usize..thread.calls.end as usize]
    }

    /// The last call of a rank that began before a time.
    pub(crate) fn last_entry_before(&self, rank: Rank, before_ns: u64) -> Option<u32> {
        let last = self.threads_of(rank).iter().filter_map(|thread| {
            let after = self.starts_of(thread).partition_point(|start| *start < before_ns);
            after.checked_sub(1).map(|at| thread.calls.start + at as u32)
        });
        last.max_by_key(|call| self.starts[*call as usize])
    }

    /// The first call of a rank that began after a time.
    pub(crate) fn first_entry_after(&self, rank: Rank, after_ns: u64) -> Option<u32> {
        let first = self.threads_of(rank).iter().filter_map(|thread| {
            let at = self.starts_of(thread).partition_point(|start| *start <= after_ns);
            Some(thread.calls.start + at as u32).filter(|call| *call < thread.calls.end)
        });
        first.min_by_key(|call| self.starts[*call as usize])
    }

    /// The first call of a rank after a time at which it was not in MPI.
    pub(crate) fn first_entry_if_away(&self, rank: Rank, at_ns: u64) -> Option<u32> {
        let is_away = self.threads_of(rank).iter().all(|thread| {
            let before = self.starts_of(thread).partition_point(|start| *start < at_ns).checked_sub(1);
            before.is_none_or(|before| self.ends[thread.calls.start as usize + before] <= at_ns)
        });
        is_away.then(|| self.first_entry_after(rank, at_ns)).flatten()
    }

    /// The call with which a rank, of several, came back to MPI within a time, just before its end: it had been away many times as
    /// long as it was back then.
    pub(crate) fn return_within(
        &self,
        rank: Rank,
        (since_ns, before_ns): (u64, u64),
        of_ranks: usize,
    ) -> Option<u32> {
        let is_within = |call: u32| self.starts[call as usize] > since_ns;
        let last = self.last_entry_before(rank, before_ns).filter(|last| is_within(*last))?;
        let threads = self.threads_of(rank);
        let of_last = threads.iter().find(|thread| thread.calls.contains(&last))?;
        // Several calls may have followed since, and only one of them looked for what had come.
        let first = of_last.calls.start.max(last.saturating_sub(MOST_SINCE_RETURN));
        (first..=last).rev().take_while(|call| is_within(*call)).find(|call| {
            let entered_ns = self.starts[*call as usize];
            let away_ns = (before_ns - entered_ns).saturating_mul(AWAY * of_ranks as u64);
            let left_ns = entered_ns.saturating_sub(away_ns);
            threads.iter().all(|thread| {
                let earlier = self.starts_of(thread).partition_point(|start| *start < entered_ns);
                earlier == 0 || self.ends[thread.calls.start as usize + earlier - 1] <= left_ns
            })
        })
    }

    /// The flight of a message, or a bound for it.
    pub(crate) fn span_ns(&self, edge: &Edge) -> u64 {
        self.ends[edge.to as usize].saturating_sub(self.starts[edge.from as usize])
    }

    pub(crate) fn delay_before(&self, call: usize) -> u64 {
        self.delays.before.get(call).copied().unwrap_or(0)
    }

    /// The computing before a call that is not the first of its thread, and the time without a CPU meanwhile.
    pub(crate) fn computing_before(&self, call: usize) -> [u64; 2] {
        let gap_ns = self.starts[call] - self.ends[call - 1];
        let delay_ns = self.delay_before(call).min(gap_ns);
        [gap_ns - delay_ns, delay_ns]
    }

    pub(crate) fn delay_within(&self, call: usize) -> u64 {
        self.delays.within.get(call).copied().unwrap_or(0)
    }

    /// The time in which a call waited for a CPU, its own rank's or another's.
    pub(crate) fn delay_of(&self, call: usize) -> u64 {
        self.delays.of_calls.get(call).copied().unwrap_or(0)
    }

    pub(crate) fn is_setup(&self, call: usize) -> bool {
        self.kind(call) == CallKind::Setup
    }

    /// When the last of those entered a collective for whom a member waits.
    pub(crate) fn last_entry_ns(&self, group: u32, rank: Rank) -> Option<u64> {
        let last_ns = self.groups.last_ns[group as usize];
        self.groups.last_entry(group, rank, (last_ns, |call| self.starts[call]), u64::max)
    }

    /// By call, how long it took after the last thing that it waited for was on its way; 0 where MPI starts or ends.
    pub(crate) fn own_parts(&self) -> Vec<u64> {
        let mut since: Vec<u64> = self.starts.clone();
        for edge in self.edges.iter().filter(|edge| edge.is_felt) {
            let since_ns = &mut since[edge.to as usize];
            *since_ns = (*since_ns).max(self.starts[edge.from as usize]);
        }
        for (call, since_ns) in since.iter_mut().enumerate() {
            let entered_ns = self.blocked.get(call).map(|blocked| self.starts[blocked.entry as usize]);
            *since_ns = (*since_ns).max(entered_ns.unwrap_or(0));
        }
        for (call, group) in self.groups.left.iter().enumerate().filter(|(_, group)| **group != NONE) {
            let last_ns = self.last_entry_ns(*group, self.ranks[call]);
            since[call] = since[call].max(last_ns.unwrap_or(0));
        }
        let part_ns = |(call, since_ns): (usize, u64)| {
            if self.is_setup(call) { 0 } else { self.ends[call].saturating_sub(since_ns) }
        };
        since.into_iter().enumerate().map(part_ns).collect()
    }

    /// The ranks.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.threads_of.iter().filter(|threads| !threads.is_empty()).count()
    }

    /// The calls.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.starts.len()
    }

    /// When the last call of the recorded run ended, in nanoseconds.
    #[must_use]
    pub fn recorded_ns(&self) -> u64 {
        self.ends.iter().copied().max().unwrap_or(0)
    }

    /// When the first call of the recorded run began, in nanoseconds.
    #[must_use]
    pub fn began_ns(&self) -> u64 {
        self.threads.iter().map(|thread| self.starts[thread.calls.start as usize]).min().unwrap_or(0)
    }

    /// How well the graph explains the run.
    #[must_use]
    pub fn quality(&self) -> Quality {
        self.quality
    }

    /// Whether the ranks with more work than others mostly change from step to step.
    #[must_use]
    pub fn differs_by_step(&self) -> bool {
        self.differs_by_step
    }

    /// By rank, its node.
    #[must_use]
    pub fn node_of_rank(&self) -> &[Node] {
        &self.nodes
    }
}
