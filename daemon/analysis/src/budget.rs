//! Where time went: every call is cut into consecutive pieces, and waiting is charged to what kept those who were
//! waited for.
//!
//! Every thread carries its path: what the way that led to this moment was made of. A receive that waited goes on with
//! its sender's path, a sender that was blocked with its receiver's, a member of a collective with that of the one it
//! waited for. The difference to a thread's own path is the waiting, by cause.
//!
//! Windows are settled one after the other when all calls that ended in them are in, so that the result depends
//! neither on batches nor on the order in which ranks arrive. A call whose other side is not known yet holds its
//! thread up; after a patience it goes on with what nobody knows.

mod by_rank;
mod causes;
mod collect;
mod collectives;
mod course;
mod cut;
mod inbox;
mod kept;
mod ledger;
mod measure;
mod meet;
mod path;
mod quiet;
mod receive;
mod send;
mod settle;
mod steal;
mod thread;
mod thresholds;
mod waits;
mod work;

pub use causes::{Budget, CAUSES, Cause, Causes};
pub use course::Course;
pub use ledger::{Judged, Ledger, RankBudget, Spared, WindowBudget};
pub use quiet::Stretch;
pub use waits::{SiteWaiting, SiteWaits, WaitKey, WaitState, WaitTotals};

use crate::criteria::{Criteria, Reference, Version};
use crate::evolution::{Evolution, EvolutionOptions, RegionOfRank};
use crate::placement::{Advice, Traffic, advise, capacities};
use crate::regions::{CollectiveTraffic, PairLateness};
use crate::{Link, Matched};
use collectives::Collectives;
use mpiscope_model::{Activity, Collected, CommInfo, Message, Nanoseconds, Node, Rank, Scheduling};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use steal::Steal;
use thread::{Incoming, Outgoing, Row, Thread, ThreadId};
use waits::Waits;

/// What a message takes, for criteria and for how late messages are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Latency {
    /// The time in which its receiver waited for it.
    #[default]
    Felt,
    /// From the beginning of the call that sent it to the end of the one that received it, however long it lay there
    /// because its receiver was busy.
    Span,
}

/// How the operator works.
#[derive(Debug, Clone, Copy)]
pub struct BudgetOptions {
    /// How long a window is.
    pub window_ns: u64,
    /// What a message takes.
    pub latency: Latency,
    /// How long a call may wait for its other side to become known.
    pub patience_ns: u64,
    /// Calls that may wait; beyond it patience is over.
    pub pending: usize,
    /// Paths that may be kept for calls whose other side is not known.
    pub kept: usize,
}

impl Default for BudgetOptions {
    fn default() -> Self {
        Self {
            window_ns: 100_000_000,
            latency: Latency::default(),
            patience_ns: 10_000_000_000,
            pending: 4 << 20,
            kept: 2 << 20,
        }
    }
}

/// A placement is followed that spares this share of the messages between nodes.
const WORTH_FOLLOWING: f64 = 0.05;

/// The operator.
#[derive(Debug)]
pub struct Budgeter {
    options: BudgetOptions,
    nodes: Vec<Node>,
    /// By rank, its first thread and its others.
    first_threads: Vec<Option<ThreadId>>,
    other_threads: FxHashMap<(Rank, u16), ThreadId>,
    threads: Vec<Thread>,
    collectives: Collectives,
    learning: Criteria,
    /// Criteria by the time from which calls are judged by them.
    versions: VecDeque<(Nanoseconds, Arc<Version>)>,
    is_fixed: bool,
    /// What its own criteria are held against.
    reference: Reference,
    /// Who exchanged how many messages with whom.
    traffic: Traffic,
    collective_traffic: CollectiveTraffic,
    /// How late exact messages were.
    lateness: PairLateness,
    /// A better placement.
    advised: Option<Vec<Node>>,
    course: Course,
    steal: Steal,
    ledger: Ledger,
    waits: Waits,
    site_waits: SiteWaits,
    evolution: Evolution,
    thresholds: thresholds::Thresholds,
    settled_ns: Nanoseconds,
    /// The end of the next window in which a call may be settled, if nothing more becomes known.
    due_ns: Option<Nanoseconds>,
    /// Something became known since the last window.
    has_news: bool,
    list: Vec<ThreadId>,
    /// Room for what a call received, and for what it is cut into.
    received: Vec<Incoming>,
    rows: (Vec<Row>, Vec<Row>),
    wake: Vec<ThreadId>,
    queued: usize,
    given_up: u64,
}

impl Budgeter {
    /// An operator that learns its criteria.
    #[must_use]
    pub fn new(options: BudgetOptions) -> Self {
        Self {
            options,
            nodes: Vec::new(),
            first_threads: Vec::new(),
            other_threads: FxHashMap::default(),
            threads: Vec::new(),
            collectives: Collectives::default(),
            learning: Criteria::default(),
            versions: VecDeque::from([(0, Arc::default())]),
            is_fixed: false,
            reference: Reference::None,
            traffic: Traffic::default(),
            collective_traffic: CollectiveTraffic::default(),
            lateness: PairLateness::default(),
            advised: None,
            course: Course::new(options.window_ns),
            steal: Steal::default(),
            ledger: Ledger::new(options.window_ns),
            waits: Waits::default(),
            site_waits: SiteWaits::default(),
            evolution: Evolution::new(options.window_ns, EvolutionOptions::default()),
            thresholds: thresholds::Thresholds::default(),
            settled_ns: 0,
            due_ns: None,
            has_news: false,
            list: Vec::new(),
            received: Vec::new(),
            rows: Default::default(),
            wake: Vec::new(),
            queued: 0,
            given_up: 0,
        }
    }

    /// Judges everything by these criteria. It still learns its own.
    #[must_use]
    pub fn with_criteria(mut self, version: Version) -> Self {
        self.versions = VecDeque::from([(0, Arc::new(version))]);
        self.is_fixed = true;
        self
    }

    /// From now on its own criteria are held against these.
    pub fn hold_against(&mut self, reference: Reference) {
        self.reference = reference;
        if !self.is_fixed {
            self.renew(self.settled_ns);
        }
    }

    /// What is learnt until now holds from a time on.
    fn renew(&mut self, from_ns: Nanoseconds) {
        self.versions.push_back((from_ns, Arc::new(self.reference.with(self.learning.version()))));
    }

    /// Judges everything by this advice, if it is worth following.
    #[must_use]
    pub fn with_advice(mut self, advice: Advice) -> Self {
        self.follow(advice);
        self
    }

    /// Judges what comes by this advice, if it is worth following.
    pub fn follow(&mut self, advice: Advice) {
        let spared = advice.inter_messages_before.saturating_sub(advice.inter_messages_after);
        let is_worth_it =
            spared > 0 && spared as f64 >= WORTH_FOLLOWING * advice.inter_messages_before as f64;
        self.advised = is_worth_it.then_some(advice.node_of_rank);
    }

    /// Judges each moment by how the run went before and after it, as an earlier pass saw.
    #[must_use]
    pub fn with_course(mut self, course: Course) -> Self {
        self.course = course;
        self
    }

    /// From the next window on, these are the regions. Until somebody says so, each node's ranks are one.
    pub fn divide(&mut self, partition: RegionOfRank) {
        self.evolution.divide(partition);
    }

    /// How latency went within regions and between them.
    #[must_use]
    pub fn evolution(&self) -> &Evolution {
        &self.evolution
    }

    /// How the run went, for a later pass that judges by these criteria.
    #[must_use]
    pub fn course(&self, criteria: &Version) -> Course {
        self.course.clone().over(&self.learnt(), criteria)
    }

    /// Whether the network was disturbed at some times and not at others.
    #[must_use]
    pub fn saw_disturbance(&self) -> bool {
        self.course.is_varied()
    }

    /// When the network was quiet and when it was disturbed, in order; nothing where too little was seen.
    #[must_use]
    pub fn network(&self) -> Vec<Stretch> {
        self.course.network()
    }

    /// Where the placement that is judged by puts each rank.
    #[must_use]
    pub fn advised(&self) -> Option<&[Node]> {
        self.advised.as_deref()
    }

    /// Where each rank runs.
    #[must_use]
    pub fn node_of_rank(&self) -> &[Node] {
        &self.nodes
    }

    /// Who exchanged how many messages with whom.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Who took part in collectives that moved data.
    #[must_use]
    pub fn collective_traffic(&self) -> &CollectiveTraffic {
        &self.collective_traffic
    }

    /// How late exact messages were, by pair of ranks.
    #[must_use]
    pub fn lateness(&self) -> &PairLateness {
        &self.lateness
    }

    /// The best placement that is known for what was exchanged until now.
    #[must_use]
    pub fn advice(&self) -> Advice {
        let nodes = self.nodes.iter().map(|node| *node as usize + 1).max().unwrap_or_default();
        advise(&self.traffic, &self.nodes, &capacities(&self.nodes, nodes))
    }

    /// Says where a rank runs.
    pub fn place(&mut self, rank: Rank, node: Node) {
        let at = rank as usize;
        if self.nodes.len() <= at {
            self.nodes.resize(at + 1, 0);
        }
        self.nodes[at] = node;
        self.evolution.moved();
        let own = self.first_threads.get(at).copied().flatten();
        for thread in own
            .into_iter()
            .chain(self.other_threads.iter().filter(|((of, _), _)| *of == rank).map(|(_, thread)| *thread))
        {
            self.threads[thread as usize].node = node;
        }
    }

    /// Says how many ranks a communicator has.
    pub fn comm(&mut self, comm: &CommInfo) {
        self.collectives.comm(comm);
        self.has_news = true;
    }

    /// Takes in calls, each thread's in order, and messages of windows before the next that is settled.
    pub fn feed(&mut self, activities: &[Activity], matched: &Matched, scheduling: &[Scheduling]) {
        for activity in activities {
            let thread = self.thread(activity);
            self.collective_traffic.feed(activity);
            self.threads[thread as usize].push(*activity);
        }
        self.queued += activities.len();
        self.has_news |= !activities.is_empty() || !matched.messages.is_empty();
        self.traffic.feed(&matched.messages);
        for (message, link) in matched.messages.iter().zip(&matched.links) {
            self.tell(message, link);
        }
        self.steal.feed(scheduling);
    }

    /// Takes in which collectives calls completed that were taken in just before.
    pub fn collect(&mut self, collected: &[Collected]) {
        self.has_news |= !collected.is_empty();
        for of in collected {
            if let Some(thread) = self.known_thread(of.rank, of.call.thread()) {
                self.threads[thread as usize].collects(*of);
            }
        }
    }

    fn thread(&mut self, activity: &Activity) -> ThreadId {
        let (rank, call) = (activity.rank, activity.call);
        let at = rank as usize;
        if call.thread() == 0
            && let Some(&Some(thread)) = self.first_threads.get(at)
        {
            return thread;
        }
        let next = self.threads.len() as ThreadId;
        let node = self.nodes.get(at).copied().unwrap_or_default();
        let thread = if call.thread() == 0 {
            if self.first_threads.len() <= at {
                self.first_threads.resize(at + 1, None);
            }
            self.first_threads[at] = Some(next);
            next
        } else {
            *self.other_threads.entry((rank, call.thread())).or_insert(next)
        };
        if thread == next {
            self.threads.push(Thread::new(rank, node, call.number()));
        }
        thread
    }

    fn known_thread(&self, rank: Rank, thread: u16) -> Option<ThreadId> {
        if thread == 0 {
            self.first_threads.get(rank as usize).copied().flatten()
        } else {
            self.other_threads.get(&(rank, thread)).copied()
        }
    }

    /// The end of the next window that has to be settled, by what is known now; those before it may be skipped. None
    /// when no call waits.
    #[must_use]
    pub fn next_window_end_ns(&self) -> Option<Nanoseconds> {
        let next_ns = self.settled_ns.saturating_add(self.options.window_ns);
        let due_ns = if self.has_news { None } else { self.due_ns };
        (self.queued > 0).then(|| due_ns.map_or(next_ns, |due_ns| due_ns.max(next_ns)))
    }

    /// Everything that ended before a time is in, and nothing that ended later: settles the window that ends then.
    pub fn settle(&mut self, until_ns: Nanoseconds) {
        let queued = self.queued;
        self.window(until_ns);
        // What was settled may have taught what settles a call that waits: the next window tries again.
        self.has_news = self.queued < queued;
        self.settled_ns = until_ns;
    }

    /// No window before a time has to be settled: nothing ended in them, and no call that waits goes on there.
    pub fn skip(&mut self, until_ns: Nanoseconds) {
        let whole_ns = until_ns - until_ns % self.options.window_ns;
        if whole_ns > self.settled_ns {
            self.settled_ns = whole_ns;
            self.evolution.close(self.waited_for_ns(whole_ns));
        }
    }

    /// A message becomes known to its two calls.
    fn tell(&mut self, message: &Message, link: &Link) {
        let from = self.known_thread(message.src, link.send.thread());
        let to = self.known_thread(message.dst, link.receive.thread());
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
        let post_thread = self.known_thread(message.dst, link.post.thread()).unwrap_or(to);
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

    /// Everything up to which is settled.
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
        self.versions
            .back()
            .map(|(_, version)| &**version)
            .unwrap_or_else(|| unreachable!("one is always there"))
    }

    /// What it learnt itself, whatever it judges by.
    #[must_use]
    pub fn learnt(&self) -> Version {
        self.learning.version()
    }

    /// Who waited for whom, by the known names of waiting.
    pub fn waits(&self) -> impl Iterator<Item = (&WaitKey, &WaitTotals)> {
        self.waits.all()
    }

    /// The waiting by place in the program; it sums to the waiting of the ledger.
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

#[cfg(test)]
mod tests;
