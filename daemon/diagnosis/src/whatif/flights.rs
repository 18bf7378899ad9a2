//! How long messages are under way: which of them decided when calls ended follows from what flights take, and the other way
//! round. Flights that are not known are drawn.

use crate::whatif::decisive::{Draws, decisive, was_felt};
use crate::whatif::flight_times::{Messages, of_felt};
use crate::whatif::graph::flights::{Figure, Flights, MOST_OWN_NS, SMALL_BYTES};
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::rule::Rule;
use crate::whatif::slow_links;
use mpiscope_model::drawn;

/// Learns roughly what flights take, and which of them are known: nothing is drawn.
pub(crate) fn learn_roughly(graph: &mut Graph, messages: &Messages) {
    graph.flights = learn_in_rounds(graph, messages, false);
}

/// Learns what flights take, and which of them are known.
pub(crate) fn learn(graph: &mut Graph, messages: &Messages) {
    let flights = learn_in_rounds(graph, messages, graph.follows(Rule::LastDrawn));
    let likely: Vec<f32> = (0..graph.edges.len()).map(|at| likely_ns(graph, &flights, at)).collect();
    graph.edges.iter_mut().zip(likely).for_each(|(edge, likely_ns)| edge.likely_ns = likely_ns);
    graph.flights = flights;
}

const ROUNDS: usize = 3;

/// What decided among several messages depends on what flights take, and the other way round. First it is the nearest to the least
/// bounds, then to the usual. Which links are slow comes out of the first round, and what decided there of the third. There it may be
/// drawn.
fn learn_in_rounds(graph: &mut Graph, messages: &Messages, is_drawn: bool) -> Flights {
    let took = graph.edges.iter().map(|edge| graph.ends[edge.to as usize] - graph.starts[edge.to as usize]);
    let has_small = graph.edges.iter().any(|edge| edge.bytes <= SMALL_BYTES);
    let least_ns = took.min().unwrap_or(0).min(if has_small { MOST_OWN_NS } else { u64::MAX });
    let mut flights = Flights { least_ns, ..messages.bounds.clone() };
    graph.slowness.clear();
    let is_drawn = is_drawn && graph.received.windows(2).any(|range| range[1] - range[0] > 1);
    for round in 1..=ROUNDS {
        if round == ROUNDS && !is_drawn && graph.slowness.is_empty() {
            break;
        }
        let mut draws = (round == ROUNDS && is_drawn).then(|| Draws::new(graph, &flights));
        graph.edges.iter_mut().for_each(|edge| edge.is_felt = false);
        for call in 0..graph.starts.len() {
            let of_call = graph.received[call] as usize..graph.received[call + 1] as usize;
            let nearest = match of_call.len() {
                0 => continue,
                1 => of_call.start,
                _ => decisive(graph, &flights, of_call.clone()),
            };
            if was_felt(graph, &flights, &graph.edges[nearest]) {
                let chosen = draws.as_mut().and_then(|draws| draws.decisive(graph, of_call, nearest));
                graph.edges[chosen.unwrap_or(nearest)].is_felt = true;
            }
        }
        graph.slowness = slowness(graph);
        flights = Flights { least_ns, ..of_felt(graph, messages, |edge| graph.span_ns(edge)) };
    }
    flights
}

/// What the flight of a message likely took, if flights take such times: one that was not felt is drawn from them.
fn likely_ns(graph: &Graph, flights: &Flights, at: usize) -> f32 {
    let edge = &graph.edges[at];
    let is_inter = edge.is_inter;
    let most_ns = graph.span_ns(edge) as f64;
    let slower = graph.slowness_of(at);
    let drawn_ns = || flights.within_ns(is_inter, edge.bytes, (drawn(at as u64 + 1), most_ns / slower));
    let median_ns = || flights.ns(is_inter, edge.bytes, Figure::Median).map(|ns| ns.min(most_ns / slower));
    let likely_ns = match edge.is_felt {
        true => None,
        false if graph.follows(Rule::UnknownDrawn) => drawn_ns(),
        false => median_ns(),
    };
    likely_ns.map_or(most_ns, |ns| slower * ns) as f32
}

/// Learns what flights take where no rank waits for a CPU: those that were felt, without the waiting in the calls that received
/// them.
pub(crate) fn learn_with_cpus(graph: &mut Graph, messages: &Messages) {
    let without_waiting_ns = |edge: &Edge| {
        let span_ns = graph.span_ns(edge);
        let delay_ns = graph.delays.of_others(graph.delay_of(edge.to as usize));
        let quickest_ns = graph.flights.ns(edge.is_inter, edge.bytes, Figure::Least);
        let least_ns = quickest_ns.map_or(span_ns, |ns| span_ns.min(ns as u64));
        span_ns.saturating_sub(delay_ns).max(least_ns)
    };
    let flights =
        Flights { least_ns: graph.flights.least_ns, ..of_felt(graph, messages, without_waiting_ns) };
    let likely_ns = |at: usize| likely_ns(graph, &flights, at).min(graph.edges[at].likely_ns);
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
    let between_nodes = graph.edges.iter().filter(|edge| edge.is_inter).count();
    let slow = slowness.iter().filter(|slower| **slower > 1.0).count();
    if 2 * slow > between_nodes { Vec::new() } else { slowness }
}
