//! The operator of the delay budget: what it keeps, what goes in and what can be read off it.

use super::causes::Causes;
use super::collectives::Collectives;
use super::course::Course;
use super::criteria_history::CriteriaHistory;
use super::ledger::Ledger;
use super::options::BudgetOptions;
use super::quiet::Stretch;
use super::steal::Steal;
use super::thread::{Incoming, Outgoing, Row, ThreadId};
use super::thread_table::ThreadTable;
use super::thresholds::Thresholds;
use super::waits::{SiteWaits, WaitKey, WaitTotals, Waits};
use crate::criteria::{Reference, Version};
use crate::evolution::{Evolution, EvolutionOptions, RegionOfRank};
use mpiscope_matching::{Link, Matched};
use mpiscope_model::{Activity, Collected, CommInfo, Message, Nanoseconds, Node, Rank, Scheduling};
use mpiscope_topology::{Advice, CollectiveTraffic, PairLateness, Traffic, advise, capacities};

/// A placement is followed that spares this share of the messages between nodes.
const WORTH_FOLLOWING: f64 = 0.05;

/// Memory that calls use by turns.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) due: Vec<ThreadId>,
    pub(super) woken: Vec<ThreadId>,
    /// What a call received.
    pub(super) received: Vec<Incoming>,
    /// The rows of a call, and those before the end of its waiting.
    pub(super) rows: (Vec<Row>, Vec<Row>),
}

/// Who exchanged how much with whom.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    pub(super) messages: Traffic,
    pub(super) collectives: CollectiveTraffic,
    /// How late exact messages were.
    pub(super) lateness: PairLateness,
}

/// The operator.
#[derive(Debug)]
pub struct Budgeter {
    pub(super) options: BudgetOptions,
    pub(super) threads: ThreadTable,
    pub(super) collectives: Collectives,
    pub(super) criteria: CriteriaHistory,
    pub(super) exchanged: Exchanged,
    /// A better placement.
    pub(super) advised: Option<Vec<Node>>,
    pub(super) course: Course,
    pub(super) steal: Steal,
    pub(super) ledger: Ledger,
    pub(super) waits: Waits,
    pub(super) site_waits: SiteWaits,
    pub(super) evolution: Evolution,
    pub(super) thresholds: Thresholds,
    pub(super) settled_ns: Nanoseconds,
    /// The end of the next window in which a call may be settled, if nothing more becomes known.
    pub(super) due_ns: Option<Nanoseconds>,
    /// Something became known since the last window.
    pub(super) has_news: bool,
    pub(super) queued: usize,
    pub(super) given_up: u64,
    pub(super) scratch: Scratch,
}

impl Budgeter {
    /// An operator that learns its criteria.
    #[must_use]
    pub fn new(options: BudgetOptions) -> Self {
        Self {
            options,
            threads: ThreadTable::default(),
            collectives: Collectives::default(),
            criteria: CriteriaHistory::new(),
            exchanged: Exchanged::default(),
            advised: None,
            course: Course::new(options.window_ns),
            steal: Steal::default(),
            ledger: Ledger::new(options.window_ns),
            waits: Waits::default(),
            site_waits: SiteWaits::default(),
            evolution: Evolution::new(options.window_ns, EvolutionOptions::default()),
            thresholds: Thresholds::default(),
            settled_ns: 0,
            due_ns: None,
            has_news: false,
            queued: 0,
            given_up: 0,
            scratch: Scratch::default(),
        }
    }

    /// Uses these criteria throughout. It still learns its own.
    #[must_use]
    pub fn with_criteria(mut self, version: Version) -> Self {
        self.criteria.fix(version);
        self
    }

    /// Merges its own criteria with these, from now on.
    pub fn hold_against(&mut self, reference: Reference) {
        self.criteria.refer_to(reference, self.settled_ns);
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
        self.advised = is_worth_it.then_some(advice.node_of_rank);
    }

    /// Assesses each moment by the time before and after it, as an earlier pass saw them.
    #[must_use]
    pub fn with_course(mut self, course: Course) -> Self {
        self.course = course;
        self
    }

    /// From the next window on, these are the regions. Before the first division, each node's ranks are one.
    pub fn divide(&mut self, partition: RegionOfRank) {
        self.evolution.divide(partition);
    }

    /// How latency went within regions and between them.
    #[must_use]
    pub fn evolution(&self) -> &Evolution {
        &self.evolution
    }

    /// The course of the run, for a later pass with these criteria.
    #[must_use]
    pub fn course(&self, criteria: &Version) -> Course {
        self.course.clone().over(&self.learnt(), criteria)
    }

    /// Whether there was network contention only part of the time.
    #[must_use]
    pub fn saw_disturbance(&self) -> bool {
        self.course.is_varied()
    }

    /// When the network was quiet and when it was disturbed, in order; nothing where too little was seen.
    #[must_use]
    pub fn network(&self) -> Vec<Stretch> {
        self.course.network()
    }

    /// The node of each rank in the advised placement.
    #[must_use]
    pub fn advised(&self) -> Option<&[Node]> {
        self.advised.as_deref()
    }

    /// Where each rank runs.
    #[must_use]
    pub fn node_of_rank(&self) -> &[Node] {
        self.threads.nodes()
    }

    /// Who exchanged how many messages with whom.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.exchanged.messages
    }

    /// Who took part in collectives that moved data.
    #[must_use]
    pub fn collective_traffic(&self) -> &CollectiveTraffic {
        &self.exchanged.collectives
    }

    /// How late exact messages were, by pair of ranks.
    #[must_use]
    pub fn lateness(&self) -> &PairLateness {
        &self.exchanged.lateness
    }

    /// The best known placement for the traffic so far.
    #[must_use]
    pub fn advice(&self) -> Advice {
        let nodes = self.threads.nodes();
        let count = nodes.iter().map(|node| node.index() + 1).max().unwrap_or_default();
        advise(&self.exchanged.messages, nodes, &capacities(nodes, count))
    }

    /// Says where a rank runs.
    pub fn place(&mut self, rank: Rank, node: Node) {
        self.threads.place(rank, node);
        self.ledger.expect(rank);
        self.evolution.moved();
    }

    /// Says how many ranks a communicator has.
    pub fn comm(&mut self, comm: &CommInfo) {
        self.collectives.comm(comm);
        self.has_news = true;
    }

    /// Takes in calls, each thread's in order, and messages of windows before the next that is settled.
    pub fn feed(&mut self, activities: &[Activity], matched: &Matched, scheduling: &[Scheduling]) {
        for activity in activities {
            let thread = self.threads.find_or_add(activity);
            self.exchanged.collectives.feed(activity);
            self.threads[thread as usize].push(*activity);
        }
        self.queued += activities.len();
        self.has_news |= !activities.is_empty() || !matched.messages.is_empty();
        self.exchanged.messages.feed(&matched.messages);
        for (message, link) in matched.messages.iter().zip(&matched.links) {
            self.tell(message, link);
        }
        self.steal.feed(scheduling);
    }

    /// Takes in which collectives calls completed that were taken in just before.
    pub fn collect(&mut self, collected: &[Collected]) {
        self.has_news |= !collected.is_empty();
        for of in collected {
            if let Some(thread) = self.threads.find(of.rank, of.call.thread()) {
                self.threads[thread as usize].collects(*of);
            }
        }
    }

    /// A message becomes known to its two calls.
    fn tell(&mut self, message: &Message, link: &Link) {
        let from = self.threads.find(message.src, link.send.thread());
        let to = self.threads.find(message.dst, link.receive.thread());
        let (Some(from), Some(to)) = (from, to) else { return };
        let send = link.send.number();
        let incoming = Incoming {
            from,
            number: send,
            send_ns: message.send_ns,
            posted_ns: link.posted_ns,
            bytes: message.bytes,
            inter: message.inter,
            certain: link.certain && message.src != message.dst,
        };
        let post_thread = self.threads.find(message.dst, link.post.thread()).unwrap_or(to);
        let outgoing = Outgoing { to: post_thread, post: link.post.number(), posted_ns: link.posted_ns };
        // Its own receive comes first; see `settle`.
        if !self.threads[from as usize].waits_for(send, outgoing) {
            self.threads[post_thread as usize].unpin(outgoing.post);
        }
        if !self.threads[to as usize].receive(link.receive.number(), incoming) {
            // It was given up.
            self.threads[from as usize].unpin(send);
        }
    }

    /// Everything before this is settled.
    #[must_use]
    pub fn settled_ns(&self) -> Nanoseconds {
        self.settled_ns
    }

    /// Where time went.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The criteria as they are known now.
    #[must_use]
    pub fn criteria(&self) -> &Version {
        self.criteria.newest()
    }

    /// The criteria learnt from this run, whichever it uses.
    #[must_use]
    pub fn learnt(&self) -> Version {
        self.criteria.learning.version()
    }

    /// Who waited for whom, by the known names of waiting.
    pub fn waits(&self) -> impl Iterator<Item = (&WaitKey, &WaitTotals)> {
        self.waits.all()
    }

    /// The waiting by call site; it sums to the waiting of the ledger.
    #[must_use]
    pub fn site_waits(&self) -> &SiteWaits {
        &self.site_waits
    }

    /// Calls whose other side was given up.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// From how many bytes on a blocking send was seen to wait for its receive.
    #[must_use]
    pub fn blocking_from_bytes(&self) -> Option<u64> {
        self.thresholds.least_bytes()
    }

    /// The path that led to the moment at which the last thread stands: what the run's length was made of.
    #[must_use]
    pub fn critical_path(&self) -> (Nanoseconds, Causes) {
        let last = self.threads.iter().max_by_key(|thread| (thread.at_ns, thread.rank));
        last.map_or_else(Default::default, |thread| (thread.at_ns, thread.path))
    }

    /// All threads: whose, when they stand, and along which path.
    pub fn paths(&self) -> impl Iterator<Item = (Rank, Nanoseconds, Causes)> {
        self.threads.iter().map(|thread| (thread.rank, thread.at_ns, thread.path))
    }
}
