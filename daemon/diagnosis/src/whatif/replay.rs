//! The replay: every call ends when the last thing that it waits for has come.

use crate::whatif::call_row::NONE;
use crate::whatif::change::{Applied, Change, UnfeltFlights};
use crate::whatif::decisive::waited_for_collective;
use crate::whatif::graph::blocked_calls::BlockedCall;
use crate::whatif::graph::cpu_sharing::{CpuSharing, Times};
use crate::whatif::graph::flights::{Figure, Flights, SMALL_BYTES};
use crate::whatif::graph::marks::Mark;
use crate::whatif::graph::requests::Requests;
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::rule::Rule;
use crate::whatif::waiting_requests::WaitingRequests;
use mpiscope_model::{Nanoseconds, Node, Rank};
use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// An unchanged replay may differ from the recorded run by this share.
const TOLERANCE: f64 = 0.005;
/// The share of waiting for a CPU that is left is found in this many passes at most, to this accuracy.
const MOST_PASSES: usize = 8;
const STABLE: f64 = 0.02;

/// Where an unchanged replay stops following the recorded run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    /// Whose call.
    pub rank: Rank,
    /// When it ended in the recorded run.
    pub at_ns: Nanoseconds,
    /// By how much later, or earlier, it ends in the replay.
    pub by_ns: i64,
}

/// What a replay led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// When the last call ended.
    pub run_ns: f64,
    /// Where a call first ended too far from when it did; means something only where nothing was changed.
    pub departure: Option<Departure>,
}

/// The state of a replay.
struct Run<'a> {
    graph: &'a Graph,
    applied: Applied<'a>,
    /// Whether it should follow the recorded run, from which it then departs by more than this.
    tolerance_ns: Option<f64>,
    outcome: Outcome,
    /// By call, when it was entered.
    entries: Vec<f64>,
    /// By collective, when the last of those entered whom others wait for.
    last: Vec<f64>,
    dropped: FxHashSet<u32>,
    /// Requests, where they may come in another order than in the recorded run.
    waiting: Option<WaitingRequests>,
    /// When the request comes that is taken in the call that is replayed now, if it comes in another order.
    first_ns: Option<f64>,
    waits: Option<Waits<'a>>,
}

/// How ranks wait for the CPUs that they share in a replay.
struct Waits<'a> {
    sharing: &'a CpuSharing,
    /// By slice and node, the share of the recorded waiting that is left.
    left: &'a [f64],
    /// Likewise the times of ranks in the replay.
    times: Vec<Times>,
}

impl Graph {
    /// Replays the run with a change.
    #[must_use]
    pub fn replay(&self, change: &Change) -> Outcome {
        let takes_first = change.changes_the_run() && !self.requests.is_empty();
        match &self.cpu_sharing {
            Some(sharing) if change.changes_the_run() && !change.own_cores => {
                self.replay_sharing(change, takes_first, sharing)
            }
            _ => self.replay_with(change, takes_first, None).0,
        }
    }

    /// Replays the run until ranks wait no longer for CPUs than they would with the times of that replay.
    fn replay_sharing(&self, change: &Change, takes_first: bool, sharing: &CpuSharing) -> Outcome {
        let mut left = vec![1.0; sharing.count()];
        for _ in 1..MOST_PASSES {
            let (outcome, times) = self.replay_with(change, takes_first, Some((sharing, &left)));
            let now = sharing.left(&times);
            if left.iter().zip(&now).all(|(left, now)| left - now < STABLE) {
                return outcome;
            }
            left.iter_mut().zip(&now).for_each(|(left, now)| *left = left.min(*now));
        }
        self.replay_with(change, takes_first, Some((sharing, &left))).0
    }

    /// Forgets all requests if taking them as they come does not even lead to the recorded run: they were not.
    pub(crate) fn check_requests(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let run_ns = self.replay_with(&Change::default(), true, None).0.run_ns;
        let by_ns = (run_ns - self.recorded_ns() as f64).abs();
        if !self.dropped.is_empty() || by_ns > TOLERANCE * (self.recorded_ns() - self.began_ns()) as f64 {
            self.requests = Requests::default();
        }
        // Who does the same is decided again, and what is looked up.
        (self.work, self.marks) = (OnceLock::new(), OnceLock::new());
    }

    /// Replays the run. Where CPUs are shared: with a share of the waiting for one by slice and node; and the times of ranks then.
    fn replay_with(
        &self,
        change: &Change,
        takes_first: bool,
        sharing: Option<(&CpuSharing, &[f64])>,
    ) -> (Outcome, Vec<Times>) {
        let mut run = Run::new(self, change, takes_first, sharing);
        run.go();
        (run.outcome, run.waits.map(|waits| waits.times).unwrap_or_default())
    }
}

/// Times are below the limit of signed numbers (`GraphBuilder::call`), which take one instruction.
#[inline]
fn float(ns: u64) -> f64 {
    ns.cast_signed() as f64
}

impl<'a> Run<'a> {
    fn new(
        graph: &'a Graph,
        change: &'a Change,
        takes_first: bool,
        sharing: Option<(&'a CpuSharing, &'a [f64])>,
    ) -> Self {
        let tolerance_ns = || TOLERANCE * (graph.recorded_ns() - graph.began_ns()) as f64;
        Run {
            graph,
            applied: Applied::new(graph, change),
            tolerance_ns: (!change.changes_the_run()).then(tolerance_ns),
            outcome: Outcome { run_ns: 0.0, departure: None },
            entries: vec![0.0; graph.starts.len()],
            last: vec![0.0; graph.groups.flows.len()],
            dropped: graph.dropped.iter().copied().collect(),
            waiting: takes_first.then(|| WaitingRequests::new(&graph.requests)),
            first_ns: None,
            waits: sharing.map(|(sharing, left)| Waits {
                sharing,
                left,
                times: vec![Times::default(); sharing.count()],
            }),
        }
    }
}

impl Run<'_> {
    /// Goes through all calls.
    fn go(&mut self) {
        let (graph, marks) = (self.graph, self.graph.marks());
        for thread in graph.threads.iter().filter(|thread| !thread.calls.is_empty()) {
            let first = thread.calls.start as usize;
            self.enter(first, marks.calls[first], float(graph.starts[first]));
        }
        for &call in &graph.sequence {
            let at = call as usize;
            let number = marks.threads[at];
            let thread = &graph.threads[number as usize];
            let next = Some(at + 1).filter(|next| *next < thread.calls.end as usize);
            let next = next.map(|next| (next, marks.calls[next]));
            let is_first = graph.threads_of[thread.rank.index()].start == number;
            self.step((at, marks.calls[at]), next, thread.rank, is_first);
        }
    }

    /// Replays a call, and what its thread computes until the next one. The times of the first thread of a rank are counted.
    #[inline]
    fn step(&mut self, (at, mark): (usize, Mark), next: Option<(usize, Mark)>, rank: Rank, is_first: bool) {
        if self.waiting.is_some() {
            self.take(at);
        }
        let end_ns = self.end_of(at, mark, rank);
        self.outcome.run_ns = self.outcome.run_ns.max(end_ns);
        if let Some(tolerance_ns) = self.tolerance_ns {
            self.compare(at, rank, end_ns, tolerance_ns);
        }
        let is_counted = self.waits.is_some() && is_first;
        if is_counted {
            self.count(at, Times { calls_ns: end_ns - self.entries[at], ..Times::default() });
        }
        if let Some((next, mark)) = next {
            let [computing_ns, delays_ns] = self.computing_ns(next, rank);
            if is_counted {
                self.count(next, Times { computing_ns, delays_ns, ..Times::default() });
            }
            self.enter(next, mark, end_ns + computing_ns + delays_ns);
        }
    }

    /// Compares the end of a call with the recorded one.
    fn compare(&mut self, at: usize, rank: Rank, end_ns: f64, tolerance_ns: f64) {
        let at_ns = self.graph.ends[at];
        let by_ns = end_ns - float(at_ns);
        let is_earlier = |before: Departure| at_ns < before.at_ns;
        if by_ns.abs() > tolerance_ns && self.outcome.departure.is_none_or(is_earlier) {
            self.outcome.departure = Some(Departure { rank, at_ns, by_ns: by_ns as i64 });
        }
    }

    /// The computing before a call, and the waiting for a CPU meanwhile.
    fn computing_ns(&self, call: usize, rank: Rank) -> [f64; 2] {
        let [pure_ns, delay_ns] = self.graph.computing_before(call).map(float);
        let left = self.applied.delays(rank, call) * (1.0 - self.spared(call));
        [self.applied.computing_ns(rank, call, pure_ns), delay_ns * left]
    }

    /// Counts times at a call among those of ranks that share CPUs.
    #[inline]
    fn count(&mut self, call: usize, times: Times) {
        if let Some(waits) = &mut self.waits {
            waits.times[waits.sharing.slice_of(call)].add(times);
        }
    }

    /// The share of what a call, or the computing before it, waits for a CPU that is none after the change.
    #[inline]
    fn spared(&self, call: usize) -> f64 {
        if self.applied.change.own_cores {
            return 1.0 - self.graph.delays.of_recorder;
        }
        self.waits.as_ref().map_or(0.0, |waits| 1.0 - waits.left[waits.sharing.slice_of(call)])
    }

    #[inline]
    fn enter(&mut self, call: usize, mark: Mark, entry_ns: f64) {
        self.entries[call] = entry_ns;
        if mark.is_awaited {
            let last = &mut self.last[self.graph.groups.entered[call] as usize];
            *last = last.max(entry_ns);
        }
        if mark.waits_for_answer {
            self.ask(call, entry_ns);
        }
    }

    /// If a rank waits for an answer in this call, its request is on its way.
    fn ask(&mut self, call: usize, entry_ns: f64) {
        let graph = self.graph;
        let asked = graph.requests.answered_in(call).filter(|_| self.waiting.is_some());
        let Some(number) = asked else { return };
        let request = graph.requests.all[number];
        let edge = &graph.edges[request.message as usize];
        let arrival_ns = self.entries[edge.from as usize] + self.flight_ns(request.message as usize, edge);
        if let Some(waiting) = &mut self.waiting {
            waiting.push(number, request.dealer, [arrival_ns, entry_ns]);
        }
    }

    /// If a request is taken in this call, it is the one that comes first.
    #[inline]
    fn take(&mut self, call: usize) {
        let requests = &self.graph.requests;
        let taken = requests.taken_in(call).zip(self.waiting.as_mut()).and_then(|(number, waiting)| {
            let request = requests.all[number];
            Some((request.answered_in, waiting.take(number, request.dealer)?))
        });
        self.first_ns = taken.map(|(answered_in, [arrival_ns, entry_ns])| {
            self.entries[answered_in as usize] = entry_ns;
            arrival_ns
        });
    }

    /// How long a call lacked a CPU that it has after the change.
    #[inline]
    fn spared_delay_ns(&self, call: usize) -> u64 {
        let spared = self.spared(call);
        if spared > 0.0 { (self.graph.delay_of(call) as f64 * spared) as u64 } else { 0 }
    }

    /// When a call ends.
    #[inline]
    fn end_of(&self, call: usize, mark: Mark, rank: Rank) -> f64 {
        let graph = self.graph;
        let (entry_ns, received) = (self.entries[call], graph.received_by(call));
        if mark.ends_otherwise {
            if let Some(end_ns) = self.special_end_of(call, received, rank) {
                return end_ns;
            }
        } else if self.applied.is_needless(rank, graph.places[call], call) {
            return self.needs_ns(received, entry_ns);
        }
        let took_ns = graph.ends[call] - graph.starts[call];
        let is_felt = received.iter().any(|edge| edge.is_felt);
        let own_ns = if is_felt {
            took_ns.min(graph.flights.least_ns)
        } else {
            took_ns - self.spared_delay_ns(call).min(took_ns)
        };
        self.arrivals(received, entry_ns + float(own_ns) * self.applied.own(graph.functions[call]))
    }

    /// When all is there that work needs: of a call that is not made any more, nothing is sent.
    fn needs_ns(&self, received: &[Edge], entry_ns: f64) -> f64 {
        received.iter().map(|edge| self.entries[edge.from as usize]).fold(entry_ns, f64::max)
    }

    /// When a call ends that does not only wait for messages, or waits for none of them; none where it does after all.
    fn special_end_of(&self, call: usize, received: &[Edge], rank: Rank) -> Option<f64> {
        let graph = self.graph;
        let entry_ns = self.entries[call];
        let (start_ns, recorded_end_ns) = (graph.starts[call], graph.ends[call]);
        let took_ns = recorded_end_ns - start_ns;
        let own = self.applied.own(graph.functions[call]);
        let delay_ns = self.spared_delay_ns(call);
        if !self.dropped.is_empty() && self.dropped.contains(&(call as u32)) {
            return Some(entry_ns + took_ns as f64 * own);
        }
        let group = graph.groups.left[call];
        if group == NONE && self.applied.is_needless(rank, graph.places[call], call) {
            return Some(self.needs_ns(received, entry_ns));
        }
        let awaited = (group != NONE).then(|| self.awaited(group, rank)).flatten();
        if let Some(BlockedCall { entry, usual_ns }) = graph.blocked.get(call) {
            let after_ns = recorded_end_ns.saturating_sub(graph.starts[entry as usize]);
            let after_ns = after_ns.saturating_sub(delay_ns) as f64;
            let own_ns = usual_ns.min(took_ns) as f64 * own;
            let since_ns = awaited.map_or(entry_ns, |(_, last_ns)| entry_ns.max(last_ns));
            let end_ns = (since_ns + own_ns).max(self.entries[entry as usize] + after_ns);
            return Some(self.arrivals(received, end_ns));
        }
        if let Some(awaited) = awaited {
            return Some(self.arrivals(received, self.leaves_ns(call, group, awaited)));
        }
        let sent = *graph.drained.get(&(call as u32))?;
        let quiet = self.applied.quiet.get(sent as usize).map_or(1.0, |share| f64::from(share.min(1.0)));
        let own_ns = (took_ns - delay_ns.min(took_ns)) as f64 * own;
        Some(self.arrivals(received, entry_ns + own_ns.min(took_ns as f64 * quiet)))
    }

    /// When a member leaves a collective, from when the last of those entered for whom it waits, as recorded and as replayed. What
    /// moves little is on its way without the member: it leaves at once if it comes when all is there.
    fn leaves_ns(&self, call: usize, group: u32, (recorded_ns, last_ns): (u64, f64)) -> f64 {
        let (graph, entry_ns) = (self.graph, self.entries[call]);
        let own = self.applied.own(graph.functions[call]);
        let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
        let (took_ns, delay_ns) = (end_ns - start_ns, self.spared_delay_ns(call));
        let operation_ns = |ns: u64| self.operation_ns(group, ns as f64) * own;
        let is_small = graph.groups.bytes[group as usize] <= SMALL_BYTES;
        let moves_alone = graph.groups.entered[call] == group && is_small && graph.follows(Rule::Arrivals);
        let waited_ns = waited_for_collective(graph, call, recorded_ns);
        match (waited_ns, graph.groups.there_ns[group as usize]) {
            (Some(after_ns), _) if moves_alone => {
                // What a member does itself fits into the time after the last entry.
                let own_ns = took_ns.min(after_ns).min(graph.flights.least_of_small_ns()) as f64 * own;
                (entry_ns + own_ns).max(last_ns + operation_ns(after_ns.saturating_sub(delay_ns)))
            }
            (None, Some(there_ns)) if moves_alone => {
                let own_ns = took_ns.saturating_sub(delay_ns) as f64 * own;
                let there_ns = there_ns.min(end_ns.saturating_sub(recorded_ns));
                (entry_ns + own_ns).max(last_ns + operation_ns(there_ns))
            }
            _ => {
                // A wait for several things may have waited for a message at last.
                let felt = graph.received_by(call).iter().filter(|edge| edge.is_felt);
                let sent_ns = felt.map(|edge| graph.starts[edge.from as usize]).max().unwrap_or(0);
                let since_ns = recorded_ns.max(start_ns).max(sent_ns);
                let rest_ns = end_ns.saturating_sub(since_ns).saturating_sub(delay_ns);
                entry_ns.max(last_ns) + operation_ns(rest_ns)
            }
        }
    }

    /// For whom a member of a collective waits: when the last of them entered as recorded, and as replayed.
    fn awaited(&self, group: u32, rank: Rank) -> Option<(u64, f64)> {
        let (graph, at) = (self.graph, group as usize);
        let of_all = (graph.groups.last_ns[at], self.last[at]);
        let of = |call: usize| (graph.starts[call], self.entries[call]);
        let later = |one: (u64, f64), other: (u64, f64)| (one.0.max(other.0), one.1.max(other.1));
        graph.groups.last_entry(group, rank, (of_all, of), later)
    }

    /// What a collective takes after the last entry.
    fn operation_ns(&self, group: u32, recorded_ns: f64) -> f64 {
        let at = group as usize;
        let quiet_ns = self.applied.quiet_groups.get(at).map_or(recorded_ns, |quiet| quiet.ns(recorded_ns));
        let groups = &self.graph.groups;
        self.of_network_ns(groups.is_inter[at], groups.bytes[at], quiet_ns)
    }

    /// A time on the network with other latency and bandwidth.
    fn of_network_ns(&self, is_inter: bool, bytes: u32, ns: f64) -> f64 {
        let change = self.applied.change;
        if change.latency.is_none() && change.bandwidth.is_none() {
            return ns;
        }
        let (latency_ns, bandwidth_ns) = self.graph.flights.parts_ns(is_inter, bytes);
        let whole_ns = latency_ns + bandwidth_ns;
        if whole_ns <= 0.0 {
            return ns * change.latency.unwrap_or(1.0);
        }
        let changed_ns = latency_ns * change.latency.unwrap_or(1.0).max(0.0)
            + bandwidth_ns / change.bandwidth.unwrap_or(1.0).max(1e-12);
        ns * changed_ns / whole_ns
    }

    /// The latest of a time and the arrivals of messages.
    fn arrivals(&self, received: &[Edge], end_ns: f64) -> f64 {
        let mut end_ns = end_ns;
        for (number, edge) in received.iter().enumerate() {
            let at = self.graph.received[edge.to as usize] as usize + number;
            let sent_ns = self.entries[edge.from as usize];
            let arrival_ns = self.first_ns.unwrap_or_else(|| sent_ns + self.flight_ns(at, edge));
            end_ns = end_ns.max(arrival_ns);
        }
        end_ns
    }

    /// The flights without waiting for a CPU.
    fn flights_with_cpus(&self) -> &Flights {
        self.graph.flights_with_cpus.as_ref().unwrap_or(&self.graph.flights)
    }

    /// What is left of a time of a flight, where it is another one without waiting for a CPU.
    #[inline]
    fn after_waits(&self, edge: &Edge, ns: f64, without_ns: impl FnOnce() -> Option<f64>) -> f64 {
        let spared = if self.applied.change.own_cores { 1.0 } else { self.spared(edge.to as usize) };
        let without_ns = if spared > 0.0 { without_ns() } else { None };
        without_ns.map_or(ns, |without_ns| ns + (without_ns - ns) * spared)
    }

    /// What such flights take after the change.
    fn usual_ns(&self, edge: &Edge, is_inter: bool, figure: Figure) -> Option<f64> {
        let of = |flights: &Flights| flights.ns(is_inter, edge.bytes, figure);
        let ns = of(&self.graph.flights)?;
        Some(self.after_waits(edge, ns, || of(self.flights_with_cpus())))
    }

    /// What an unfelt flight likely takes after the change.
    fn likely_ns(&self, at: usize, edge: &Edge) -> f64 {
        let with_cpus_ns = || self.graph.likely_with_cpus.get(at).copied().map(f64::from);
        self.after_waits(edge, f64::from(edge.likely_ns), with_cpus_ns)
    }

    /// What a flight takes that its receiver did not wait for, if its nodes stay.
    #[inline]
    fn unfelt_ns(&self, at: usize, edge: &Edge) -> f64 {
        let span_ns = float(self.graph.span_ns(edge));
        // In a quiet network it may have taken less.
        let is_quiet = edge.is_inter && self.applied.change.quiet_network;
        let least_ns = if is_quiet { 0 } else { self.graph.requests.least_flight_ns(edge.to) } as f64;
        let at_most = |figure| {
            let usual_ns = self.usual_ns(edge, edge.is_inter, figure);
            let flight_ns = span_ns.min(usual_ns.unwrap_or(span_ns)).max(least_ns);
            (flight_ns, flight_ns)
        };
        let (flight_ns, recorded_ns) = match self.applied.change.unfelt {
            UnfeltFlights::Drawn => {
                (self.likely_ns(at, edge).max(least_ns), f64::from(edge.likely_ns).max(least_ns))
            }
            UnfeltFlights::Low => at_most(Figure::Low),
            UnfeltFlights::High => at_most(Figure::High),
        };
        self.quieted_ns(at, edge, flight_ns, recorded_ns)
    }

    /// What a flight takes that its receiver waited for, if its nodes stay.
    #[inline]
    fn felt_ns(&self, at: usize, edge: &Edge) -> f64 {
        let span_ns = float(self.graph.span_ns(edge));
        let mut flight_ns = span_ns;
        let delay_ns = self.spared_delay_ns(edge.to as usize) as f64;
        if delay_ns > 0.0 {
            let median_ns = self.flights_with_cpus().ns(edge.is_inter, edge.bytes, Figure::Median);
            let least_ns = flight_ns.min(median_ns.unwrap_or(flight_ns));
            flight_ns = (flight_ns - delay_ns).max(least_ns);
        }
        self.quieted_ns(at, edge, flight_ns, span_ns)
    }

    /// A flight without the noise of the network, if that goes.
    #[inline]
    fn quieted_ns(&self, at: usize, edge: &Edge, flight_ns: f64, recorded_ns: f64) -> f64 {
        if self.applied.quiet.is_empty() || !edge.is_inter {
            return flight_ns;
        }
        let quiet = f64::from(self.applied.quiet[at]);
        // A flight that lost its wait for a CPU may be shorter already. One that was quick gets the noise of others.
        flight_ns.min(recorded_ns * quiet.min(1.0)) * quiet.max(1.0)
    }

    fn flight_ns(&self, at: usize, edge: &Edge) -> f64 {
        let flight_ns = if edge.is_felt { self.felt_ns(at, edge) } else { self.unfelt_ns(at, edge) };
        match &self.applied.change.placement {
            None => self.of_network_ns(edge.is_inter, edge.bytes, flight_ns),
            Some(nodes) => self.placed_ns(at, edge, flight_ns, nodes),
        }
    }

    /// What a flight takes if ranks are on other nodes, from what it takes where they are.
    fn placed_ns(&self, at: usize, edge: &Edge, mut flight_ns: f64, nodes: &[Node]) -> f64 {
        let graph = self.graph;
        let (link, link_now) = (graph.link_of(edge), graph.link_among(nodes, edge));
        let (is_inter, is_inter_now) = (link.is_some(), link_now.is_some());
        // Where the run has no message of a scope, it may have been measured before.
        let known = |is_inter| {
            self.usual_ns(edge, is_inter, Figure::Median)
                .or_else(|| graph.reference.message_ns(is_inter, edge.bytes))
        };
        if is_inter_now != is_inter
            && let (Some(before_ns), Some(after_ns)) = (known(is_inter), known(is_inter_now))
        {
            flight_ns *= after_ns / before_ns.max(1.0);
        }
        // Slow links stay where they are; a quiet network has none.
        if link_now != link && !self.applied.change.quiet_network {
            flight_ns *= graph.slowness_on(link_now, edge.bytes) / graph.slowness_of(at);
        }
        self.of_network_ns(is_inter_now, edge.bytes, flight_ns)
    }
}
