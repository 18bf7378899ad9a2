//! Sends and exchanges that ended when what they sent had left: on a link that queues messages, that is when those before it had.

use crate::whatif::call_kind::CallKind;
use crate::whatif::graph::flights::Figure;
use crate::whatif::graph::on_links::OnLink;
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::rule::Rule;
use crate::whatif::slow_links::measure;
use rustc_hash::FxHashMap;

/// Finds them, each with the message that it sent.
pub(crate) fn find(graph: &mut Graph) {
    let links = measure(graph);
    if !links.has_slow() || !graph.follows(Rule::Drained) {
        return;
    }
    let of_link = |edge: &Edge| links.of_message(graph, edge).filter(OnLink::is_slow);
    let usual_ns = |edge: &Edge| {
        let of_all = || graph.flights.ns(edge.is_inter, edge.bytes, Figure::Median);
        of_link(edge).map(|link| link.own_ns).or_else(of_all)
    };
    // How far a time is from what is usual, as a factor.
    let off = |ns: u64, usual_ns: f64| (ns.max(1) as f64 / usual_ns.max(1.0)).ln().abs();
    let mut drained = FxHashMap::default();
    for (number, edge) in graph.edges.iter().enumerate() {
        let call = edge.from as usize;
        let Some(link) = of_link(edge).filter(|_| graph.kind(call) == CallKind::Send) else { continue };
        let took_ns = graph.ends[call] - graph.starts[call];
        // What it sent is in the queue for longer than that if there is room for several messages.
        let is_as_long = (FAR_LONGER * link.quiet_ns()..FAR_LONGER * link.own_ns).contains(&(took_ns as f64));
        let received = graph.received_by(call);
        let is_other = |received: &Edge| {
            let usual_ns = usual_ns(received);
            usual_ns
                .is_some_and(|usual_ns| off(graph.span_ns(received), usual_ns) > off(took_ns, link.own_ns))
        };
        if is_as_long && received.iter().all(is_other) {
            drained.insert(edge.from, number as u32);
        }
    }
    graph.drained = drained;
}

/// A time is far longer than another one if it is this many times as long.
const FAR_LONGER: f64 = 2.0;
