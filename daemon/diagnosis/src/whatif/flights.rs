//! How long messages are under way: which flights are known, and what a flight of a size takes where the network is quiet.

use crate::whatif::graph::{Edge, Graph};
use crate::whatif::reference::at_size;
use crate::whatif::slow_links;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher as _;

/// The run is looked at in this many stretches; the quietest quarter of them says what flights take.
pub(crate) const STRETCHES: usize = 12;
const QUIET_SHARE: usize = 4;
/// A receive that waited for this share of a flight felt it.
const FELT_SHARE: f64 = 0.25;
/// Two messages of a queue are apart by less than this number of usual flights.
const QUEUED: f64 = 8.0;

/// The shares of flights for which it is known what they do not exceed. Far out they are close together: of many messages
/// that a call waits for, a slow one decides.
const SHARES: [f64; 10] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.995, 1.0];

/// What flights of one scope and of sizes near each other take.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    bytes: f64,
    /// By share, what they do not exceed.
    ns: [f64; SHARES.len()],
}

impl Point {
    fn median_ns(&self) -> f64 {
        self.ns[Figure::Median as usize]
    }

    /// What a share of them does not exceed.
    fn quantile_ns(&self, share: f64) -> f64 {
        let above = SHARES.iter().position(|of| *of >= share).unwrap_or(SHARES.len() - 1).max(1);
        let (from, to) = (SHARES[above - 1], SHARES[above]);
        let (low_ns, high_ns) = (self.ns[above - 1], self.ns[above]);
        low_ns + (high_ns - low_ns) * (share - from) / (to - from)
    }
}

/// What flights take: within a node, and between nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights {
    scopes: [Vec<Point>; 2],
    /// The least time that a receiving call takes.
    pub(crate) least_ns: u64,
}

/// Which figure of a distribution is meant, by its place in `SHARES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Low = 1,
    Median = 3,
    High = 5,
    /// Up to this, a flight takes no longer than is normal.
    Normal = 6,
}

/// Sizes are gathered by quarters of an octave.
pub(crate) fn size_bin(bytes: u32) -> u32 {
    (4.0 * (f64::from(bytes) + 1.0).log2()) as u32
}

impl Flights {
    /// What a flight takes in a quiet network; none where nothing of the scope was seen.
    pub(crate) fn ns(&self, is_inter: bool, bytes: u32, figure: Figure) -> Option<f64> {
        let points = &self.scopes[usize::from(is_inter)];
        at_size(points, |point| (point.bytes, point.ns[figure as usize]), bytes)
    }

    /// What a flight likely took that took no longer than a bound: one of those that were felt, drawn by the number of the
    /// message. It is the same in each replay; none where nothing of the scope was seen.
    fn drawn_ns(&self, is_inter: bool, bytes: u32, (number, most_ns): (usize, f64)) -> Option<f64> {
        let points = &self.scopes[usize::from(is_inter)];
        for draw in 0..DRAWS {
            let share = unit(FxBuildHasher.hash_one((number, draw)));
            let ns = at_size(points, |point| (point.bytes, point.quantile_ns(share)), bytes)?;
            if ns <= most_ns {
                return Some(ns);
            }
        }
        self.ns(is_inter, bytes, Figure::Low).map(|ns| ns.min(most_ns))
    }

    /// The parts of a flight that latency and bandwidth decide, in a quiet network.
    pub(crate) fn parts_ns(&self, is_inter: bool, bytes: u32) -> (f64, f64) {
        let points = &self.scopes[usize::from(is_inter)];
        let whole_ns = self.ns(is_inter, bytes, Figure::Median).unwrap_or(0.0);
        let slope = match (points.first(), points.last()) {
            (Some(first), Some(last)) if last.bytes > first.bytes => {
                ((last.median_ns() - first.median_ns()) / (last.bytes - first.bytes)).max(0.0)
            }
            // One size says nothing of the slope: small messages are latency, large ones bandwidth.
            _ if bytes > SMALL_BYTES => return (0.0, whole_ns),
            _ => return (whole_ns, 0.0),
        };
        let of_bandwidth_ns = (slope * f64::from(bytes)).min(whole_ns);
        (whole_ns - of_bandwidth_ns, of_bandwidth_ns)
    }
}

/// A flight is drawn at most this often.
const DRAWS: u32 = 8;

/// A number from 0 to 1.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

const SMALL_BYTES: u32 = 8 << 10;
/// A receive of a small message that waits for nothing takes less than this, also where all of a run waited.
const MOST_OWN_NS: u64 = 20_000;

/// Messages of one call are rivals if neither is this many times less plausible.
const MOST_APART: f64 = 2.0;

/// The flight of a message, or a bound for it.
pub(crate) fn span_ns(graph: &Graph, edge: &Edge) -> u64 {
    graph.ends[edge.to as usize].saturating_sub(graph.starts[edge.from as usize])
}

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
        flights = Flights { least_ns, ..of_felt(graph, &inter) };
    }
    for (at, is_inter) in inter.into_iter().enumerate() {
        let edge = graph.edges[at];
        let most_ns = span_ns(graph, &edge) as f64;
        let drawn_ns = || {
            let slower = graph.slowness_of(at);
            Some(slower * flights.drawn_ns(is_inter, edge.bytes, (at, most_ns / slower))?)
        };
        let likely_ns = if edge.is_felt() { None } else { drawn_ns() };
        graph.edges[at].likely_ns = likely_ns.unwrap_or(most_ns) as f32;
    }
    graph.flights = flights;
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
    if graph.blocked.contains_key(&edge.to) || graph.drained.contains_key(&edge.to) {
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
fn gather(graph: &Graph, inter: &[bool]) -> Samples {
    let mut samples: Samples = FxHashMap::default();
    for (at, (edge, is_inter)) in graph.edges.iter().zip(inter).enumerate() {
        if edge.is_felt() && graph.slowness_of(at) == 1.0 {
            let (ns, bytes) = (span_ns(graph, edge), edge.bytes);
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
        let bound = (span_ns(graph, edge), edge.bytes);
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

impl Flights {
    fn sorted(mut self) -> Self {
        for points in &mut self.scopes {
            points.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
        }
        self
    }
}

/// What flights take in the quietest quarter of the run; where none was felt, the least bound.
fn of_felt(graph: &Graph, inter: &[bool]) -> Flights {
    let mut flights = Flights::default();
    let mut felt = gather(graph, inter);
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

/// The samples of the quietest stretches, from all in the order of time.
pub(crate) fn quiet_samples<S: Copy>(samples: &[S], value: impl Fn(&S) -> u64) -> Vec<S> {
    let length = (samples.len() / STRETCHES).max(1);
    let median = |stretch: &[S]| {
        let mut values: Vec<u64> = stretch.iter().map(&value).collect();
        let middle = values.len() / 2;
        *values.select_nth_unstable(middle).1
    };
    let mut stretches: Vec<(u64, &[S])> =
        samples.chunks(length).map(|stretch| (median(stretch), stretch)).collect();
    stretches.sort_by_key(|(median, _)| *median);
    let quarter = (stretches.len() / QUIET_SHARE).max(1);
    stretches.truncate(quarter);
    stretches.into_iter().flat_map(|(_, stretch)| stretch).copied().collect()
}
