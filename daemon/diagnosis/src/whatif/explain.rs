//! Calls that took far longer than such calls do, although what they received was there: they waited until a peer entered MPI.
//!
//! Buffers were full, a rendezvous needed the other side, or a library moves data only while its owner is in a call.

use crate::whatif::call_kind::CallKind;
use crate::whatif::flights::{Figure, size_bin};
use crate::whatif::graph::Graph;
use crate::whatif::partners::Partners;
use mpiscope_model::{Function, Rank};
use rustc_hash::FxHashMap;

/// A call took far longer than usual when it took this many times as long, and this much.
const FAR_LONGER: u64 = 10;
const FAR_LONGER_NS: u64 = 20_000;

/// What calls of a function and size take that wait for nobody: nearly the least that was seen.
fn usual(graph: &Graph, sizes: &[u32]) -> FxHashMap<(Function, u32), u64> {
    let mut taken: FxHashMap<(Function, u32), Vec<u64>> = FxHashMap::default();
    for (call, size) in sizes.iter().enumerate() {
        if may_block(graph.kind(call)) {
            let key = (graph.functions[call], *size);
            taken.entry(key).or_default().push(graph.ends[call] - graph.starts[call]);
        }
    }
    let least = |(key, mut of): ((Function, u32), Vec<u64>)| {
        let at = of.len() / 100;
        (key, *of.select_nth_unstable(at).1)
    };
    taken.into_iter().map(least).collect()
}

fn may_block(kind: CallKind) -> bool {
    matches!(kind, CallKind::Send | CallKind::Wait)
}

/// Finds what such calls waited for.
pub(crate) fn explain(graph: &mut Graph, partners: &Partners) {
    let ranks = &graph.ranks;
    let sizes: Vec<u32> = (0..graph.starts.len())
        .map(|call| {
            let bytes = partners.sent_by(call).iter().map(|(_, bytes)| *bytes);
            size_bin(bytes.chain(graph.received_by(call).iter().map(|edge| edge.bytes)).max().unwrap_or(0))
        })
        .collect();
    let usual = usual(graph, &sizes);
    let mut usual_of_blocked = FxHashMap::default();
    let mut blocked = FxHashMap::default();
    let mut unexplained_ns = 0;
    for thread in &graph.threads {
        for at in thread.calls.clone() {
            let call = at as usize;
            let kind = graph.kind(call);
            if !may_block(kind) || graph.groups.left[call] != crate::whatif::builder::NONE {
                continue;
            }
            let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
            let took_ns = end_ns - start_ns;
            let usual_ns = usual.get(&(graph.functions[call], sizes[call])).copied().unwrap_or(0);
            let soon_ns = FAR_LONGER * usual_ns + FAR_LONGER_NS;
            // Where most sends wait for their receivers, that is in the median of flights, too.
            if took_ns <= soon_ns || was_underway(graph, ranks, call, Figure::Low) {
                continue;
            }
            let peers = partners.ranks(graph, thread, call);
            let entries = peers.iter().filter_map(|peer| graph.last_entry_before(*peer, end_ns));
            // Those who lack a CPU come late whatever they wait for.
            let lacks_cpu = 2 * graph.delays.between(thread.rank, start_ns, end_ns) > took_ns;
            // That, or a slow message that it received, may be why: a peer's entry is to blame only if the call ended soon after.
            let is_open = lacks_cpu || !graph.received_by(call).is_empty();
            let since_ns = if is_open { end_ns.saturating_sub(soon_ns).max(start_ns) } else { start_ns };
            let last = entries.filter(|entry| graph.starts[*entry as usize] > since_ns);
            match last.max_by_key(|entry| graph.starts[*entry as usize]) {
                Some(entry) => {
                    blocked.insert(at, entry);
                    usual_of_blocked.insert(at, usual_ns);
                }
                None if lacks_cpu || was_underway(graph, ranks, call, Figure::Median) => {}
                None => unexplained_ns += took_ns - usual_ns,
            }
        }
    }
    graph.quality.blocked = blocked.len() as u64;
    graph.quality.unexplained_ns = unexplained_ns;
    (graph.blocked, graph.usual_of_blocked) = (blocked, usual_of_blocked);
}

/// Whether something that a call received explains how long it took. A receive waited for its message; an exchange that took long
/// after its message must have come waited for its own sending.
fn was_underway(graph: &Graph, ranks: &[Rank], call: usize, figure: Figure) -> bool {
    let node = |call: u32| graph.nodes.get(ranks[call as usize] as usize);
    let is_exchange = graph.kind(call) == CallKind::Send;
    graph.received_by(call).iter().any(|edge| {
        let is_inter = node(edge.from) != node(edge.to);
        let usual_ns = graph.flights.ns(is_inter, edge.bytes, figure).unwrap_or(0.0) as u64;
        let since_ns = graph.ends[call].saturating_sub(graph.starts[edge.from as usize]);
        !is_exchange || since_ns < 3 * usual_ns + FAR_LONGER_NS
    })
}
