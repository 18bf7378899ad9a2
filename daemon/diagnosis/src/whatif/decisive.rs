//! Which of the messages that a call received decided when it ended, and whether the call waited for it.

use crate::whatif::graph::flights::{Figure, Flights, SMALL_BYTES};
use crate::whatif::graph::{Edge, Graph};
use std::ops::Range;

/// A receive that waited for this share of a flight felt it.
const FELT_SHARE: f64 = 0.25;
/// Two messages of a queue are apart by less than this number of usual flights.
const QUEUED: f64 = 8.0;

/// Of messages that one call received, the one that most likely decided when it ended.
pub(crate) fn decisive(graph: &Graph, flights: &Flights, inter: &[bool], messages: Range<usize>) -> usize {
    let first = messages.start;
    let implausible = messages.map(|at| (implausibility(graph, flights, inter[at], at), at));
    implausible.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(first, |(_, at)| at)
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
pub(crate) fn was_felt(graph: &Graph, flights: &Flights, edge: &Edge) -> bool {
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
