//! Which of the messages that a call received decided when it ended, and whether the call waited for it.
//!
//! The one whose flight is nearest to the usual is the best guess for each call. But where one rank is late and a few of many
//! messages are slow, it is always the late one's message, and slow ones are never found. Where it is known what flights take, one
//! is drawn by how likely each came last.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::NONE;
use crate::whatif::graph::flights::{Figure, Flights, SMALL_BYTES};
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::pace::Pace;
use crate::whatif::soon::FAR_LONGER_NS;
use mpiscope_model::drawn;
use std::ops::Range;

/// A receive that waited for this share of a flight felt it.
const FELT_SHARE: f64 = 0.25;
/// Two messages of a queue are apart by less than this number of usual flights.
const QUEUED: f64 = 8.0;

/// A message that was sent this many times as long before as its receiver waited for it was there when the receiver came: nobody
/// comes again and again just before a message does.
pub(crate) const LONG_BEFORE: u64 = 32;

/// Of messages that one call received, the one whose flight is the nearest to the usual.
pub(crate) fn decisive(graph: &Graph, flights: &Flights, messages: Range<usize>) -> usize {
    let first = messages.start;
    let implausible = messages.map(|at| (implausibility(graph, flights, at), at));
    implausible.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(first, |(_, at)| at)
}

/// Where flights take more than this many times as long as in the quiet of the run, it is not known what they take.
const MOST_KNOWN_PACE: f64 = 1.15;

/// Draws the messages that decided.
pub(crate) struct Draws<'a> {
    flights: &'a Flights,
    pace: Pace,
    /// By message of a call, how likely it came last, in relation to the others.
    chances: Vec<f64>,
}

impl<'a> Draws<'a> {
    /// From what flights take.
    pub(crate) fn new(graph: &Graph, flights: &'a Flights) -> Self {
        Self { flights, pace: Pace::measure(graph, flights), chances: Vec::new() }
    }

    /// Of small messages that one call received and waited for, one that decided when it ended: each as often as it likely did,
    /// among those of the scope of the nearest to the usual. None where it is not known what flights take.
    pub(crate) fn decisive(
        &mut self,
        graph: &Graph,
        messages: Range<usize>,
        nearest: usize,
    ) -> Option<usize> {
        let (is_inter, call) = (graph.edges[nearest].is_inter, graph.edges[nearest].to as usize);
        let is_small = |at: usize| graph.edges[at].bytes <= SMALL_BYTES;
        if messages.len() < 2 || !messages.clone().all(is_small) {
            return None;
        }
        if self.pace.measured(is_inter, graph.ends[call])? > MOST_KNOWN_PACE {
            return None;
        }
        let chance = |at: usize| {
            let edge = &graph.edges[at];
            if edge.is_inter != is_inter || !was_felt(graph, self.flights, edge) {
                return 0.0;
            }
            let slower = graph.slowness_of(at);
            let ns = graph.span_ns(edge) as f64 / slower;
            self.flights.ends_now(is_inter, edge.bytes, ns).map_or(0.0, |likely| likely / slower)
        };
        self.chances.clear();
        self.chances.extend(messages.clone().map(chance));
        // Another number than those by which flights are drawn.
        let mut left = drawn(!(messages.start as u64)) * self.chances.iter().sum::<f64>();
        let is_drawn = |chance: &f64| {
            left -= chance;
            left < 0.0
        };
        Some(messages.start + self.chances.iter().position(is_drawn)?)
    }
}

/// How unlikely it is that a message decided when its call returned: how far it is from what such flights take, as a factor.
/// A small message is under way when it is sent; a large one may wait until its receiver comes.
fn implausibility(graph: &Graph, flights: &Flights, at: usize) -> f64 {
    let edge = &graph.edges[at];
    let Some(elsewhere_ns) = flights.ns(edge.is_inter, edge.bytes, Figure::Median) else { return 1.0 };
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

/// Whether a receiver waited for a flight. On a link that queues messages, those that were sent long ago are still under way, unless
/// that is so long ago that they must have been there.
pub(crate) fn was_felt(graph: &Graph, flights: &Flights, edge: &Edge) -> bool {
    if graph.blocked.get(edge.to as usize).is_some() || graph.drained.contains_key(&edge.to) {
        return false;
    }
    let (came_ns, sent_ns) = (graph.starts[edge.to as usize], graph.starts[edge.from as usize]);
    let end_ns = graph.ends[edge.to as usize];
    let group = graph.groups.left.get(edge.to as usize).copied().filter(|group| *group != NONE);
    let last_ns = group.and_then(|group| graph.last_entry_ns(group, graph.rank_of(edge.to)));
    // It also waited for a collective, and the last of that came later.
    if last_ns.is_some_and(|last_ns| last_ns > sent_ns) {
        return false;
    }
    let waited_ns = end_ns.saturating_sub(came_ns) as f64;
    let mut flight_ns = end_ns.saturating_sub(sent_ns) as f64;
    if graph.is_on_late_link(edge) && flight_ns <= LONG_BEFORE as f64 * waited_ns {
        let usual_ns = flights.ns(true, edge.bytes, Figure::Median).unwrap_or(flight_ns);
        flight_ns = flight_ns.min(QUEUED * usual_ns);
    }
    sent_ns > came_ns || is_wait(waited_ns, flight_ns, flights.least_ns)
}

/// How long after the last awaited entry a member left a collective, if it waited for that. One that came later and was soon done
/// did not.
pub(crate) fn waited_for_collective(graph: &Graph, call: usize, last_ns: u64) -> Option<u64> {
    let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
    let (took_ns, after_ns) = (end_ns - start_ns, end_ns.saturating_sub(last_ns));
    let has_waited =
        start_ns <= last_ns || is_wait(took_ns as f64, after_ns as f64, graph.flights.least_of_small_ns());
    has_waited.then_some(after_ns)
}

/// Whether a call that took so long, after what it needed was on its way for longer, waited for that. Its own cost is the rest.
fn is_wait(took_ns: f64, under_way_ns: f64, least_ns: u64) -> bool {
    took_ns > FELT_SHARE * under_way_ns + 1.05 * least_ns as f64
}

/// Whether something that a call received explains how long it took. A receive waited for its message; what took long after its
/// message must have come waited for its own sending, if it sends or completes what was sent. Over a network, where nobody knows
/// when it must have come, that holds for exchanges alone.
pub(crate) fn was_underway(graph: &Graph, (call, sends): (usize, bool), figure: Figure) -> bool {
    let received = graph.received_by(call);
    let is_exchange = match graph.kind(call) {
        CallKind::Send => true,
        _ => sends && received.iter().all(|edge| !edge.is_inter),
    };
    received.iter().any(|edge| {
        let usual_ns = graph.flights.ns(edge.is_inter, edge.bytes, figure).unwrap_or(0.0) as u64;
        let since_ns = graph.ends[call].saturating_sub(graph.starts[edge.from as usize]);
        !is_exchange || since_ns < 3 * usual_ns + FAR_LONGER_NS
    })
}
