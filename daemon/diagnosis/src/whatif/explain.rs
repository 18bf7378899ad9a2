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
use crate::whatif::soon::{FAR_LONGER_NS, since_soon_before, soon_ns, usual, waits_ns};
use crate::whatif::windows::Windows;
use mpiscope_model::{Function, Rank};
use rustc_hash::{FxHashMap, FxHashSet};

/// What calls of a function and size take that wait for nobody.
fn usual_of(graph: &Graph, sizes: &[u32], took_ns: impl Fn(usize) -> u64) -> FxHashMap<(Function, u32), u64> {
    let calls = (0..sizes.len()).filter(|call| may_block(graph.kind(*call)));
    usual(calls.map(|call| ((graph.functions[call], sizes[call]), took_ns(call))))
}

fn may_block(kind: CallKind) -> bool {
    matches!(kind, CallKind::Send | CallKind::Wait | CallKind::Poll)
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
        for call in thread.calls.clone().map(|call| call as usize) {
            if !may_wait(graph, call) || graph.groups.left[call] != NONE {
                continue;
            }
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

/// Calls that may wait for something that is not known yet. One that completes a collective may complete what was sent, too.
fn may_wait(graph: &Graph, call: usize) -> bool {
    may_block(graph.kind(call)) && !graph.drained.contains_key(&(call as u32))
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

/// Of a wait that completes something else, too, the last entry of a receiver of what was sent before: that with which it came back,
/// or its first since then, if the wait was long. The wait goes on soon after what had left.
fn last_return(graph: &Graph, peers: &Peers, call: usize, (since_ns, is_long): (u64, bool)) -> Option<u32> {
    let end_ns = graph.ends[call];
    // Over a network it is no sign that somebody came back: messages are late for other reasons.
    let is_within_node = !graph.received_by(call).iter().any(|edge| edge.is_inter);
    let node = |rank: Rank| graph.nodes.get(rank.index());
    let is_near = |rank: &&Rank| is_within_node && node(**rank) == node(graph.ranks[call]);
    let receivers = &peers.receivers;
    let back = receivers
        .iter()
        .filter(is_near)
        .filter_map(|rank| graph.return_within(*rank, (since_ns, end_ns), receivers.len()));
    let posted = if is_long { &*peers.posted } else { &[] };
    let first = posted.iter().filter_map(|(rank, sent_ns)| graph.first_entry_if_away(*rank, *sent_ns));
    let entries = back.chain(first);
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
            let group = Some(graph.groups.left[call]).filter(|group| *group != NONE);
            let known_ns = group.and_then(|group| graph.last_entry_ns(group, thread.rank));
            let end_ns = graph.ends[call];
            let start_ns = known_ns.unwrap_or(0).clamp(graph.starts[call], end_ns);
            let took_ns = end_ns - start_ns;
            let usual_ns = usual.get(&(graph.functions[call], sizes[call]));
            let soon_ns = soon_ns(usual_ns);
            let usual_ns = usual_ns.copied().unwrap_or(0);
            let is_long = took_ns > soon_ns;
            let receives = !graph.received_by(call).is_empty();
            let only_sends = match graph.kind(call) {
                CallKind::Wait => !receives && group.is_none(),
                kind => kind == CallKind::Send,
            };
            // Where all waits for several things are long, none is longer than usual.
            if took_ns <= FAR_LONGER_NS || only_sends && !is_long {
                continue;
            }
            // Where most sends wait for their receivers, that is in the median of flights, too.
            if was_underway(graph, (call, true), Figure::Low) {
                continue;
            }
            let peers = partners.peers(graph, thread, call);
            let sends = !peers.receivers.is_empty();
            if !sends && was_underway(graph, (call, false), Figure::Low) {
                continue;
            }
            let lack = Lack::during(graph, thread.rank, (start_ns, end_ns));
            let found = if only_sends {
                let since_ns = blamed_since_ns(graph, call, &lack, soon_ns);
                last_entry(graph, &peers, call, soon_ns, (since_ns, end_ns))
            } else {
                let since_ns = since_soon_before(graph, call, &lack).max(start_ns);
                last_return(graph, &peers, call, (since_ns, is_long))
            };
            match found {
                Some(entry) if graph.follows(Rule::Blocked) => {
                    // Whichever came last of those for whom a collective waited and those who received.
                    let before = blocked.get(call).map_or(0, |before| graph.starts[before.entry as usize]);
                    let entered_ns = graph.starts[entry as usize];
                    if entered_ns > before {
                        // All such calls may have waited.
                        let usual_ns = usual_ns.min(end_ns - entered_ns.min(end_ns));
                        blocked.add(call, BlockedCall { entry, usual_ns });
                    }
                }
                _ if !is_long => {}
                _ if lack.is_most() || was_underway(graph, (call, sends), Figure::Median) => {}
                // A collective that takes long is found elsewhere, and who polls may have had nothing to wait for.
                _ if group.is_some() || !receives && graph.kind(call) == CallKind::Poll => {}
                _ => unexplained_ns += took_ns - usual_ns,
            }
        }
    }
    graph.quality.blocked = blocked.count() as u64;
    graph.quality.unexplained_ns = unexplained_ns;
    graph.blocked = blocked;
}
