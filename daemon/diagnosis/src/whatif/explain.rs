//! Calls that took far longer than such calls do, although what they received was there: they waited until a peer entered MPI.
//!
//! Buffers were full, a rendezvous needed the other side, or a library moves data only while its owner is in a call.

use crate::whatif::call_kind::CallKind;
use crate::whatif::call_row::NONE;
use crate::whatif::decisive::{LONG_BEFORE, was_underway};
use crate::whatif::graph::Graph;
use crate::whatif::graph::blocked_calls::{BlockedCall, BlockedCalls};
use crate::whatif::graph::flights::{Figure, size_bin};
use crate::whatif::graph::on_links::Link;
use crate::whatif::lack::Lack;
use crate::whatif::members;
use crate::whatif::partners::{Partners, Peers};
use crate::whatif::rule::Rule;
use crate::whatif::soon::{since_soon_before, soon_ns, usual, waits_ns};
use crate::whatif::windows::Windows;
use mpiscope_model::{Function, Rank};
use rustc_hash::{FxHashMap, FxHashSet};

/// What calls of a function and size take that wait for nobody.
fn usual_of(graph: &Graph, sizes: &[u32], took_ns: impl Fn(usize) -> u64) -> FxHashMap<(Function, u32), u64> {
    let calls = (0..sizes.len()).filter(|call| may_block(graph.kind(*call)));
    usual(calls.map(|call| ((graph.functions[call], sizes[call]), took_ns(call))))
}

fn may_block(kind: CallKind) -> bool {
    matches!(kind, CallKind::Send | CallKind::Wait)
}

/// How often calls that received something on a link waited for a peer's entry, and how often for none that is known.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    for_entries: usize,
    for_others: usize,
}

/// Fewer calls do not say what those that receive on a link wait for.
const LEAST_WAITS: usize = 30;

/// The links on which messages come late: most calls that took far longer than usual after their messages were sent waited for
/// nobody's entry, and entries just before they ended are chance.
fn late_links(graph: &Graph, partners: &Partners, sizes: &[u32]) -> FxHashSet<Link> {
    if !graph.follows(Rule::LateLinks) {
        return FxHashSet::default();
    }
    let sent_ns = |call: usize| {
        let senders = graph.received_by(call).iter().map(|edge| graph.starts[edge.from as usize]);
        senders.max().unwrap_or(0).min(graph.ends[call])
    };
    let own_ns = |call: usize| graph.ends[call] - sent_ns(call).max(graph.starts[call]);
    let usual = usual_of(graph, sizes, own_ns);
    let mut of_links: FxHashMap<Link, Waits> = FxHashMap::default();
    for thread in &graph.threads {
        for call in thread.calls.clone().map(|call| call as usize).filter(|call| may_wait(graph, *call)) {
            let Some(link) = graph.received_by(call).iter().find_map(|edge| graph.link_of(edge)) else {
                continue;
            };
            let soon_ns = soon_ns(usual.get(&(graph.functions[call], sizes[call])));
            let (end_ns, own_ns) = (graph.ends[call], own_ns(call));
            let was_there = || end_ns - sent_ns(call) > LONG_BEFORE.saturating_mul(own_ns);
            // Waiting for a CPU is no sign of a link that is late.
            let has_waited = || {
                let lack = Lack::during(graph, thread.rank, (graph.starts[call], end_ns));
                own_ns <= soon_ns.saturating_add(waits_ns(&lack).max(lack.missing_ns))
            };
            if own_ns <= soon_ns
                || was_there()
                || has_waited()
                || was_underway(graph, (call, false), Figure::Low)
            {
                continue;
            }
            let since_ns = end_ns.saturating_sub(soon_ns).max(graph.starts[call]);
            let waits = of_links.entry(link).or_default();
            match last_entry(graph, &partners.peers(graph, thread, call), call, soon_ns, (since_ns, end_ns)) {
                Some(_) => waits.for_entries += 1,
                None => waits.for_others += 1,
            }
        }
    }
    of_links.retain(|_, waits| waits.for_others > waits.for_entries.max(LEAST_WAITS));
    of_links.into_keys().collect()
}

/// Calls that may wait for something that is not known yet.
fn may_wait(graph: &Graph, call: usize) -> bool {
    let is_known = graph.groups.left[call] != NONE || graph.drained.contains_key(&(call as u32));
    may_block(graph.kind(call)) && !is_known
}

/// The last entry of a peer of a call between two moments. A message may come when its sender enters MPI for the first time after
/// it was sent and the call began, and not later: until then the library could have moved it.
fn last_entry(
    graph: &Graph,
    peers: &Peers,
    call: usize,
    soon_ns: u64,
    (since_ns, end_ns): (u64, u64),
) -> Option<u32> {
    let of_sender = |(rank, sent_ns): &(Rank, u64)| {
        let first = graph.first_entry_after(*rank, graph.starts[call].max(*sent_ns))?;
        let last_ns = graph.starts[first as usize].saturating_add(soon_ns);
        graph.last_entry_before(*rank, end_ns.min(last_ns))
    };
    let of_receivers = peers.receivers.iter().filter_map(|rank| graph.last_entry_before(*rank, end_ns));
    let entries = of_receivers.chain(peers.senders.iter().filter_map(of_sender));
    let last = entries.filter(|entry| graph.starts[*entry as usize] > since_ns);
    last.max_by_key(|entry| graph.starts[*entry as usize])
}

/// Of a wait that received something, the last entry of a receiver of what was sent before: its first since then, as the wait goes
/// on soon after what had left.
fn last_first_entry(graph: &Graph, peers: &Peers, call: usize, lack: &Lack<'_>) -> Option<u32> {
    let (since_ns, end_ns) = (since_soon_before(graph, call, lack), graph.ends[call]);
    let entries =
        peers.posted.iter().filter_map(|(rank, sent_ns)| graph.first_entry_if_away(*rank, *sent_ns));
    let within = entries.filter(|entry| (since_ns + 1..end_ns).contains(&graph.starts[*entry as usize]));
    within.max_by_key(|entry| graph.starts[*entry as usize])
}

fn receives_on_late_link(graph: &Graph, call: usize) -> bool {
    graph.received_by(call).iter().any(|edge| graph.is_on_late_link(edge))
}

/// By call, the size class of its largest message.
fn sizes(graph: &Graph, partners: &Partners) -> Vec<u32> {
    let size = |call| {
        let bytes = partners.sent_by(call).iter().map(|(_, bytes)| *bytes);
        size_bin(bytes.chain(graph.received_by(call).iter().map(|edge| edge.bytes)).max().unwrap_or(0))
    };
    (0..graph.starts.len()).map(size).collect()
}

/// From when on a peer's entry is to blame for a call. If the lack of a CPU or a message on a network may be why it was long, only
/// entries soon before its end are. Whoever shares a CPU goes on only when it has one again. Where it is not known which ranks are
/// on which node, all of them are on one.
fn blamed_since_ns(graph: &Graph, call: usize, lack: &Lack<'_>, soon_ns: u64) -> u64 {
    let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
    let is_of_network = graph.received_by(call).iter().any(|edge| edge.is_inter);
    if !lack.is_most() && !is_of_network {
        return start_ns;
    }
    let waits_ns = if lack.explains() { 0 } else { waits_ns(lack) };
    end_ns.saturating_sub(soon_ns.saturating_add(waits_ns)).max(start_ns)
}

/// Finds what such calls waited for.
pub(crate) fn explain(graph: &mut Graph, partners: &Partners, windows: &Windows) {
    let sizes = sizes(graph, partners);
    graph.late_links = late_links(graph, partners, &sizes);
    let usual = usual_of(graph, &sizes, |call| graph.ends[call] - graph.starts[call]);
    let mut blocked = BlockedCalls::none_of(graph.starts.len());
    if graph.follows(Rule::Members) {
        members::explain(graph, &mut blocked);
    }
    if graph.follows(Rule::Windows) {
        windows.explain(graph, &mut blocked);
    }
    let mut unexplained_ns = 0;
    for thread in &graph.threads {
        for call in thread.calls.clone().map(|call| call as usize) {
            if !may_wait(graph, call) || receives_on_late_link(graph, call) {
                continue;
            }
            let (start_ns, end_ns) = (graph.starts[call], graph.ends[call]);
            let took_ns = end_ns - start_ns;
            let usual_ns = usual.get(&(graph.functions[call], sizes[call]));
            let soon_ns = soon_ns(usual_ns);
            let usual_ns = usual_ns.copied().unwrap_or(0);
            // Where most sends wait for their receivers, that is in the median of flights, too.
            if took_ns <= soon_ns || was_underway(graph, (call, true), Figure::Low) {
                continue;
            }
            let peers = partners.peers(graph, thread, call);
            let sends = !peers.receivers.is_empty();
            let receives = !graph.received_by(call).is_empty();
            if !sends && was_underway(graph, (call, false), Figure::Low) {
                continue;
            }
            let lack = Lack::during(graph, thread.rank, (start_ns, end_ns));
            let since_ns = blamed_since_ns(graph, call, &lack, soon_ns);
            let found = match graph.kind(call) {
                CallKind::Wait if receives => last_first_entry(graph, &peers, call, &lack),
                _ => last_entry(graph, &peers, call, soon_ns, (since_ns, end_ns)),
            };
            match found {
                Some(entry) if graph.follows(Rule::Blocked) => {
                    blocked.add(call, BlockedCall { entry, usual_ns });
                }
                _ if lack.is_most() || was_underway(graph, (call, sends), Figure::Median) => {}
                _ => unexplained_ns += took_ns - usual_ns,
            }
        }
    }
    graph.quality.blocked = blocked.count() as u64;
    graph.quality.unexplained_ns = unexplained_ns;
    graph.blocked = blocked;
}
