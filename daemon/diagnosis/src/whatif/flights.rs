//! How long messages are under way: which flights are known, and what a flight of a size takes where the network is quiet.

use crate::whatif::graph::flights::{Figure, Flights, Point, SHARES, SMALL_BYTES, size_bin};
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::quiet_samples::quiet_samples;
use crate::whatif::reference::at_size;
use crate::whatif::slow_links;
use rustc_hash::FxHashMap;

/// A receive that waited for this share of a flight felt it.
const FELT_SHARE: f64 = 0.25;
/// Two messages of a queue are apart by less than this number of usual flights.
const QUEUED: f64 = 8.0;

/// A receive of a small message that waits for nothing takes less than this, also where all of a run waited.
const MOST_OWN_NS: u64 = 20_000;

/// Messages of one call are rivals if neither is this many times less plausible.
const MOST_APART: f64 = 2.0;

/// Learns what flights take, and which of them are known.
pub(crate) fn learn(graph: &mut Graph) {
    let inter: Vec<bool> = graph.edges.iter().map(|edge| graph.link_of(edge).is_some()).collect();
    let took = graph.edges.iter().map(|edge| graph.ends[edge.to as usize] - graph.starts[edge.to as usize]);
    let has_small = graph.edges.iter().any(|edge| edge.bytes <= SMALL_BYTES);
    let least_ns = took.min().unwrap_or(0).min(if has_small { MOST_OWN_NS } else { u64::MAX });
    let mut flights = Flights { least_ns, ..of_bounds(graph, &inter) };
    let mut factors: Vec<f64> = Vec::new();
    graph.slowness.clear();
    // What decided among several messages depends on what flights take, and the other way round. Which links are slow comes out
    // of the first round, and what decided there of the third.
    for round in 0..3 {
        if round == 2 && graph.slowness.is_empty() {
            break;
        }
        graph.edges.iter_mut().for_each(|edge| edge.rivals = 0);
        for call in 0..graph.starts.len() {
            let messages = graph.received[call] as usize..graph.received[call + 1] as usize;
            let (decisive, close) = match messages.len() {
                0 => continue,
                1 => (messages.start, 1),
                _ => {
                    factors.clear();
                    let factor = |at: usize| implausibility(graph, &flights, inter[at], at);
                    factors.extend(messages.clone().map(factor));
                    most_plausible(messages.start, &factors)
                }
            };
            if was_felt(graph, &flights, &graph.edges[decisive]) {
                graph.edges[decisive].rivals = close;
            }
        }
        graph.slowness = slowness(graph);
        flights = Flights { least_ns, ..of_felt(graph, &inter, |edge| graph.span_ns(edge)) };
    }
    let likely: Vec<f32> =
        (0..graph.edges.len()).map(|at| likely_ns(graph, &flights, inter[at], at)).collect();
    graph.edges.iter_mut().zip(likely).for_each(|(edge, likely_ns)| edge.likely_ns = likely_ns);
    graph.flights = flights;
}

/// What the flight of a message likely took, if flights take such times: one that was not felt is drawn from them.
fn likely_ns(graph: &Graph, flights: &Flights, is_inter: bool, at: usize) -> f32 {
    let edge = &graph.edges[at];
    let most_ns = graph.span_ns(edge) as f64;
    let slower = graph.slowness_of(at);
    let drawn_ns = || flights.drawn_ns(is_inter, edge.bytes, (at, most_ns / slower));
    let likely_ns = if edge.is_felt() { None } else { drawn_ns() };
    likely_ns.map_or(most_ns, |ns| slower * ns) as f32
}

/// Learns what flights take where no rank waits for a CPU: those that were felt, without the waiting in the calls that received
/// them.
pub(crate) fn learn_with_cpus(graph: &mut Graph) {
    let inter: Vec<bool> = graph.edges.iter().map(|edge| graph.link_of(edge).is_some()).collect();
    let without_waiting_ns = |edge: &Edge| {
        let span_ns = graph.span_ns(edge);
        let delay_ns = graph.delays.of_others(graph.delay_of(edge.to as usize));
        let quickest_ns = graph.flights.ns(graph.link_of(edge).is_some(), edge.bytes, Figure::Least);
        let least_ns = quickest_ns.map_or(span_ns, |ns| span_ns.min(ns as u64));
        span_ns.saturating_sub(delay_ns).max(least_ns)
    };
    let flights = Flights { least_ns: graph.flights.least_ns, ..of_felt(graph, &inter, without_waiting_ns) };
    let likely_ns = |at: usize| likely_ns(graph, &flights, inter[at], at).min(graph.edges[at].likely_ns);
    graph.likely_with_cpus = (0..graph.edges.len()).map(likely_ns).collect();
    graph.flights_with_cpus = Some(flights);
}

/// By message, how many times as long as elsewhere it takes on its link; empty where no link is slow throughout. Where most
/// messages are on slow links, it is the whole network that is slow.
fn slowness(graph: &Graph) -> Vec<f32> {
    let links = slow_links::measure(graph);
    if !links.has_slow() {
        return Vec::new();
    }
    let slower = |edge| links.of_message(graph, edge).map_or(1.0, |link| 1.0 / link.share);
    let slowness: Vec<f32> = graph.edges.iter().map(|edge| slower(edge) as f32).collect();
    let between_nodes = graph.edges.iter().filter(|edge| graph.link_of(edge).is_some()).count();
    let slow = slowness.iter().filter(|slower| **slower > 1.0).count();
    if 2 * slow > between_nodes { Vec::new() } else { slowness }
}

/// Of messages that one call received, the one that most likely decided when it ended, and how many are about as likely.
fn most_plausible(first: usize, factors: &[f64]) -> (usize, u8) {
    let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let at = factors.iter().position(|factor| *factor == least).unwrap_or(0);
    let close = factors.iter().filter(|factor| **factor <= MOST_APART * least).count();
    (first + at, close.clamp(1, usize::from(u8::MAX)) as u8)
}

/// How unlikely it is that a message decided when its call returned: how far it is from what such flights take, as a factor.
/// A small message is under way when it is sent; a large one may wait until its receiver comes.
fn implausibility(graph: &Graph, flights: &Flights, is_inter: bool, at: usize) -> f64 {
    let edge = &graph.edges[at];
    let Some(elsewhere_ns) = flights.ns(is_inter, edge.bytes, Figure::Median) else { return 1.0 };
    let usual_ns = elsewhere_ns * graph.slowness_of(at);
    let factor = |since_ns: u64| {
        let took_ns = graph.ends[edge.to as usize].saturating_sub(since_ns) as f64;
        let ratio = took_ns.max(1.0) / usual_ns.max(1.0);
        ratio.max(1.0 / ratio)
    };
    let (sent_ns, came_ns) = (graph.starts[edge.from as usize], graph.starts[edge.to as usize]);
    let of_sent = factor(sent_ns);
    if edge.bytes > SMALL_BYTES { of_sent.min(factor(sent_ns.max(came_ns))) } else { of_sent }
}

/// Whether a receiver waited for a flight. On a link that queues messages, those that were sent long ago are still under way.
fn was_felt(graph: &Graph, flights: &Flights, edge: &Edge) -> bool {
    if graph.blocked.get(edge.to as usize).is_some() || graph.drained.contains_key(&edge.to) {
        return false;
    }
    let (came_ns, sent_ns) = (graph.starts[edge.to as usize], graph.starts[edge.from as usize]);
    let end_ns = graph.ends[edge.to as usize];
    let waited_ns = end_ns.saturating_sub(came_ns) as f64;
    let mut flight_ns = end_ns.saturating_sub(sent_ns) as f64;
    if graph.is_on_late_link(edge) {
        let usual_ns = flights.ns(true, edge.bytes, Figure::Median).unwrap_or(flight_ns);
        flight_ns = flight_ns.min(QUEUED * usual_ns);
    }
    sent_ns > came_ns || waited_ns > FELT_SHARE * flight_ns + 1.05 * flights.least_ns as f64
}

/// A flight that was felt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sample {
    at_ns: u64,
    ns: u64,
    bytes: u32,
    /// It is the longest of this many.
    rivals: u8,
}

/// By scope and size, the flights that were felt.
type Samples = FxHashMap<(bool, u32), Vec<Sample>>;

/// What messages take on links that are slow throughout is not what others take.
fn gather(graph: &Graph, inter: &[bool], flight_ns: impl Fn(&Edge) -> u64) -> Samples {
    let mut samples: Samples = FxHashMap::default();
    for (at, (edge, is_inter)) in graph.edges.iter().zip(inter).enumerate() {
        if edge.is_felt() && graph.slowness_of(at) == 1.0 {
            let (ns, bytes) = (flight_ns(edge), edge.bytes);
            let sample = Sample { at_ns: graph.ends[edge.to as usize], ns, bytes, rivals: edge.rivals };
            samples.entry((*is_inter, size_bin(bytes))).or_default().push(sample);
        }
    }
    samples
}

/// Of some values, how many are the greatest of how many.
#[derive(Debug, Default)]
pub(crate) struct RivalCounts(FxHashMap<u8, f64>);

impl RivalCounts {
    pub(crate) fn count(rivals: impl Iterator<Item = u8>) -> Self {
        let mut counts = Self::default();
        rivals.for_each(|rivals| *counts.0.entry(rivals).or_default() += 1.0);
        counts
    }

    /// The place, in the order of the values, of what a share of single ones does not exceed. The greatest of several stays below
    /// that only if all of them do.
    pub(crate) fn place(&self, share: f64) -> usize {
        let (mut below, mut all) = (0.0, 0.0);
        for (rivals, count) in &self.0 {
            below += count * share.powi(i32::from(*rivals));
            all += count;
        }
        (below as usize).min((all as usize).saturating_sub(1))
    }
}

/// What flights take at least, by what bounds them.
fn of_bounds(graph: &Graph, inter: &[bool]) -> Flights {
    let mut least: FxHashMap<(bool, u32), (u64, u32)> = FxHashMap::default();
    for (edge, is_inter) in graph.edges.iter().zip(inter) {
        let bound = (graph.span_ns(edge), edge.bytes);
        let of_size = least.entry((*is_inter, size_bin(edge.bytes))).or_insert(bound);
        *of_size = bound.min(*of_size);
    }
    let mut flights = Flights::default();
    for ((is_inter, _), (ns, bytes)) in least {
        let ns = ns as f64;
        let point = Point { bytes: f64::from(bytes), ns: [ns; SHARES.len()] };
        flights.scopes[usize::from(is_inter)].push(point);
    }
    flights.sorted()
}

/// What flights take in the quietest quarter of the run; where none was felt, the least bound.
fn of_felt(graph: &Graph, inter: &[bool], flight_ns: impl Fn(&Edge) -> u64) -> Flights {
    let mut flights = Flights::default();
    let mut felt = gather(graph, inter, flight_ns);
    for (&(is_inter, _), samples) in &mut felt {
        samples.sort_unstable();
        let mut sizes: Vec<u32> = samples.iter().map(|sample| sample.bytes).collect();
        let middle = sizes.len() / 2;
        let bytes = f64::from(*sizes.select_nth_unstable(middle).1);
        let mut quiet = quiet_samples(samples, |sample| sample.ns);
        quiet.sort_unstable_by_key(|sample| sample.ns);
        let rivals = RivalCounts::count(quiet.iter().map(|sample| sample.rivals));
        let point = Point { bytes, ns: SHARES.map(|share| quiet[rivals.place(share)].ns as f64) };
        flights.scopes[usize::from(is_inter)].push(point);
    }
    let known = flights.sorted();
    let mut flights = known.clone();
    let bounds = of_bounds(graph, inter);
    for (scope, points) in bounds.scopes.into_iter().enumerate() {
        for point in points {
            let bytes = point.bytes as u32;
            if !felt.contains_key(&(scope == 1, size_bin(bytes))) {
                // What sizes near it take is the better guess where the bound is far above it.
                let least = |at: usize| {
                    let near = at_size(&known.scopes[scope], |near| (near.bytes, near.ns[at]), bytes);
                    near.map_or(point.ns[at], |near| near.min(point.ns[at]))
                };
                flights.scopes[scope].push(Point { bytes: point.bytes, ns: std::array::from_fn(least) });
            }
        }
    }
    flights.sorted()
}
