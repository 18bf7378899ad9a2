//! Collects rows in any order of ranks and turns them into a graph.

use crate::criteria::{CollectiveCriterion, Scope, Version, bin_sizes};
use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::{CallRow, NO_COMM, NONE};
use crate::whatif::flight_times::Messages;
use crate::whatif::graph::Graph;
use crate::whatif::graph::delays::Delays;
use crate::whatif::message_calls::{MessageRow, link};
use crate::whatif::partners::Partners;
use crate::whatif::reference::Reference;
use crate::whatif::rule::{Rule, Rules};
use crate::whatif::windows::Windows;
use crate::whatif::{
    classes, cpu_sharing, dealers, delay, drained, explain, flights, groups, poll_loops, starved, steps, work,
};
use mpiscope_model::{
    Call, CallId, Collected, Flow, Function, Message, Nanoseconds, Node, Rank, Scheduling, Site,
};
use rustc_hash::FxHashMap;

/// The run has more calls than a graph may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// The limit.
    pub most_calls: usize,
}

/// No run is longer. Times are signed where replays count.
const MOST_NS: Nanoseconds = i64::MAX.cast_unsigned();

/// Collects the rows of a run.
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    kinds: Vec<CallKind>,
    rules: Rules,
    threads: FxHashMap<(Rank, u16), Vec<CallRow>>,
    messages: Vec<MessageRow>,
    scheduling: Vec<Scheduling>,
    /// Collectives that calls completed: rank, thread, number of the call, communicator, instance.
    collected: Vec<Collected>,
    nodes: Vec<Node>,
    /// By node, the CPUs that its ranks may use together.
    cpus: FxHashMap<Node, f64>,
    reference: Reference,
    /// The CPU time of those who recorded the run, on the ranks' CPUs.
    recorder_ns: u64,
    /// By thread, the number that its first call has in the run.
    first_numbers: FxHashMap<(Rank, u16), u64>,
    calls: usize,
    most_calls: usize,
}

fn saturated(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl GraphBuilder {
    /// A builder for functions of these kinds, by number.
    #[must_use]
    pub fn new(kinds: Vec<CallKind>) -> Self {
        Self {
            kinds,
            rules: Rules::default(),
            threads: FxHashMap::default(),
            messages: Vec::new(),
            scheduling: Vec::new(),
            collected: Vec::new(),
            nodes: Vec::new(),
            cpus: FxHashMap::default(),
            reference: Reference::default(),
            recorder_ns: 0,
            first_numbers: FxHashMap::default(),
            calls: 0,
            most_calls: 1 << 25,
        }
    }

    /// Takes at most this many calls.
    #[must_use]
    pub fn with_limit(mut self, most_calls: usize) -> Self {
        self.most_calls = most_calls.min(NONE as usize - 1);
        self
    }

    /// One with the same rows that follows all rules but this.
    #[must_use]
    pub fn without(&self, rule: Rule) -> Self {
        let mut builder = self.clone();
        builder.rules.leave_out(rule);
        builder
    }

    /// A rank runs on a node.
    pub fn place(&mut self, rank: Rank, node: Node) {
        let at = rank.index();
        if self.nodes.len() <= at {
            self.nodes.resize(at + 1, Node::default());
        }
        self.nodes[at] = node;
    }

    /// Sets how many CPUs the ranks of each node may use together, where that is known.
    pub fn share_cpus(&mut self, of_nodes: impl IntoIterator<Item = (Node, f64)>) {
        self.cpus = of_nodes.into_iter().collect();
    }

    /// Adds a call. Calls of one thread come in their order, or nearly so.
    pub fn call(&mut self, call: &Call) {
        self.calls += 1;
        if self.is_too_large() {
            // Keeps no more than the limit; `finish` refuses.
            self.threads.clear();
            self.messages = Vec::new();
            return;
        }
        let row = CallRow {
            start_ns: call.start_ns.min(MOST_NS),
            end_ns: call.end_ns.max(call.start_ns).min(MOST_NS),
            bytes: saturated(call.bytes),
            peer: call.peer.unwrap_or(Rank::NONE),
            comm: call.comm.unwrap_or(NO_COMM),
            instance: call.instance.unwrap_or(NONE),
            site: call.site.unwrap_or(Site(NONE)),
            function: call.function,
        };
        self.threads.entry((call.rank, call.thread)).or_default().push(row);
    }

    /// Adds a message.
    pub fn message(&mut self, message: &Message) {
        if !self.is_too_large() {
            self.messages.push(MessageRow::from(message));
        }
    }

    /// A call completed a collective that an earlier one had started. Without these, waits complete collectives in the order
    /// in which they were started.
    pub fn collected(&mut self, of: Collected) {
        self.collected.push(of);
    }

    /// What the scheduler did to a rank until a moment.
    pub fn scheduling(&mut self, of: Scheduling) {
        self.scheduling.push(of);
    }

    /// What messages and collectives take in an undisturbed network, as it was measured.
    pub fn refer_to(&mut self, version: &Version) {
        let mut between_nodes = false;
        for criterion in version.messages() {
            let (from, to) = criterion.sizes();
            let is_inter = criterion.scope == Scope::Inter;
            between_nodes |= is_inter;
            let bytes = from.midpoint(to.saturating_sub(1));
            let normal_ns = version.normal_ns(criterion.scope, bytes).unwrap_or_default();
            self.refer(is_inter, bytes, [criterion.median_ns, normal_ns]);
        }
        // Collectives that were measured within one node tell nothing of a network. Of those with a root, it waits, or all others do.
        for CollectiveCriterion { key, median_ns, .. } in version.collectives() {
            if !between_nodes || key.is_root != self.only_root_waits(key.function) {
                continue;
            }
            let (from, to) = bin_sizes(key.bin);
            self.refer_collective(key.function, key.ranks, from.midpoint(to - 1), median_ns);
        }
    }

    fn only_root_waits(&self, function: Function) -> bool {
        match self.kinds.get(usize::from(function)) {
            Some(CallKind::Collective { flow, .. } | CallKind::Start { flow, .. }) => {
                *flow == Some(Flow::ToRoot)
            }
            _ => false,
        }
    }

    /// What messages of a size within nodes, or between them, take in an undisturbed network: the median, and up to how long is
    /// normal. Without it, the quietest quarter of the run says so.
    pub fn refer(&mut self, is_inter: bool, bytes: u64, [median_ns, normal_ns]: [Nanoseconds; 2]) {
        self.reference.message(is_inter, bytes, [median_ns, normal_ns]);
    }

    /// Likewise what collectives of this number of ranks take after the last of them has entered.
    pub fn refer_collective(&mut self, function: Function, ranks: u32, bytes: u64, median_ns: Nanoseconds) {
        self.reference.collective(function, ranks, bytes, median_ns);
    }

    /// Sets the id of the first call of a thread, where earlier calls were skipped. Collectives refer to calls by id.
    pub fn begin_with(&mut self, rank: Rank, call: CallId) {
        self.first_numbers.entry((rank, call.thread())).or_insert(call.number());
    }

    /// Recording took so much CPU time until now, on CPUs that ranks could have used. As much of what ranks waited for a CPU is
    /// not what other programs cost.
    pub fn recorded_in(&mut self, cpu_ns: u64) {
        self.recorder_ns = cpu_ns;
    }

    /// The calls so far.
    #[must_use]
    pub fn call_count(&self) -> usize {
        self.calls
    }

    /// Whether there were more calls than the limit, and [`Self::finish`] refuses.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.calls > self.most_calls
    }

    /// A builder for what comes after this in the same run.
    #[must_use]
    pub fn next_stretch(&self) -> Self {
        Self {
            rules: self.rules,
            nodes: self.nodes.clone(),
            cpus: self.cpus.clone(),
            reference: self.reference.clone(),
            recorder_ns: self.recorder_ns,
            // The scheduler's figures are sums since the start of the process.
            scheduling: delay::baselines(self.scheduling.clone()),
            ..Self::new(self.kinds.clone()).with_limit(self.most_calls)
        }
    }

    /// The scheduler's figures while calls are skipped: later ones are compared with the last of them.
    pub fn skip(&mut self, scheduling: &[Scheduling]) {
        if !scheduling.is_empty() {
            self.scheduling.extend_from_slice(scheduling);
            self.scheduling = delay::baselines(std::mem::take(&mut self.scheduling));
        }
    }

    /// Builds the graph.
    ///
    /// # Errors
    /// When there were more calls than the limit.
    pub fn finish(self) -> Result<Graph, TooLarge> {
        if self.is_too_large() {
            return Err(TooLarge { most_calls: self.most_calls });
        }
        let Self {
            kinds,
            rules,
            threads,
            messages,
            scheduling,
            collected,
            nodes,
            cpus,
            reference,
            recorder_ns,
            first_numbers,
            calls,
            most_calls: _,
        } = self;
        let mut graph = Graph { kinds, rules, ..Graph::default() };
        graph.reserve(calls);
        let rows = push_threads(&mut graph, threads, calls);
        graph.place(nodes);
        link(&mut graph, messages, &rows);
        let memberships = groups::Memberships::new(&rows, &collected, &first_numbers);
        let sites: Vec<Site> = rows.iter().map(|row| row.site).collect();
        graph.straighten();
        let windows = Windows::new(&graph, &rows);
        drop(rows);
        groups::group(&mut graph, memberships);
        poll_loops::join_others(&mut graph);
        graph.classes = classes::classes(&graph, &sites);
        graph.places = work::places(&graph, &sites);
        drop(sites);
        graph.delays = Delays::from_figures(&graph, scheduling, recorder_ns);
        graph.reference = reference;
        find_waits(&mut graph, &windows);
        groups::find_arrivals(&mut graph);
        graph.cpu_sharing = cpu_sharing::measure(&graph, &cpus);
        graph.requests = dealers::requests(&graph);
        graph.order();
        graph.check_requests();
        dealers::set_apart(&mut graph);
        steps::find(&mut graph);
        Ok(graph)
    }
}

/// Adds all calls to the graph, thread by thread; returns their rows in its order.
fn push_threads(
    graph: &mut Graph,
    mut threads: FxHashMap<(Rank, u16), Vec<CallRow>>,
    calls: usize,
) -> Vec<CallRow> {
    let mut keys: Vec<(Rank, u16)> = threads.keys().copied().collect();
    keys.sort_unstable();
    let mut rows = Vec::with_capacity(calls);
    for key in keys {
        let mut of_thread = threads.remove(&key).unwrap_or_default();
        if !of_thread.is_sorted_by_key(|row| (row.start_ns, row.end_ns)) {
            of_thread.sort_by_key(|row| (row.start_ns, row.end_ns));
        }
        graph.push_thread(key, &of_thread);
        graph.ranks.resize(graph.call_count(), key.0);
        rows.append(&mut of_thread);
    }
    rows
}

/// Learns what flights take, and finds what calls waited for: messages, entries of others, a CPU.
fn find_waits(graph: &mut Graph, windows: &Windows) {
    let messages = Messages::new(graph);
    flights::learn_roughly(graph, &messages);
    drained::find(graph);
    if !graph.drained.is_empty() {
        // What ended for another reason does not say what flights take.
        flights::learn_roughly(graph, &messages);
    }
    let partners = Partners::new(graph);
    explain::explain(graph, &partners, windows);
    // What else a call waited for shows which flights it felt.
    flights::learn(graph, &messages);
    let parts = graph.own_parts();
    let mut delays = std::mem::take(&mut graph.delays);
    delays.spread(graph, &parts);
    graph.delays = delays;
    if graph.delays.is_known() {
        graph.delays.of_calls = starved::with_starved(graph, &partners, &parts);
        flights::learn_with_cpus(graph, &messages);
    }
}
