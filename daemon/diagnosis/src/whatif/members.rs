//! Members of a collective that left it long after the last entry that they are known to wait for: they are taken to have waited
//! until somebody else entered.
//!
//! Data goes from rank to rank. Who passes on what others send waits for those below it, though only the root needs the result, and
//! who gets what the root sent may get it from a rank that comes late. What was started gets on only while its members are in MPI.

use crate::whatif::call_row::NONE;
use crate::whatif::decisive::was_underway;

use crate::whatif::graph::Graph;
use crate::whatif::graph::blocked_calls::{BlockedCall, BlockedCalls};
use crate::whatif::graph::flights::{Figure, size_bin};
use crate::whatif::lack::Lack;
use crate::whatif::soon::{since_soon_before, soon_ns};
use mpiscope_model::{Flow, Function, Rank};
use rustc_hash::FxHashMap;

/// Among more members, where nothing says for which each waits or their data goes over a network, one enters just before any end by
/// chance. In a larger scan, to look at all that each waits for takes too long.
const MOST_MEMBERS: usize = 256;

/// Likewise where it may have entered for any reason.
const FEW_MEMBERS: usize = 64;

/// Since when a member of a collective has waited for nobody who is known, and for how long.
struct Rest {
    since_ns: u64,
    ns: u64,
}

impl Rest {
    fn after(graph: &Graph, call: usize, group: u32) -> Self {
        let sent_ns = graph.received_by(call).iter().map(|edge| graph.starts[edge.from as usize]);
        let last_ns = sent_ns.chain(graph.last_entry_ns(group, graph.ranks[call])).max().unwrap_or(0);
        let since_ns = last_ns.clamp(graph.starts[call], graph.ends[call]);
        Self { since_ns, ns: graph.ends[call] - since_ns }
    }
}

/// Function and size of what a call completes.
type Key = (Function, u32);

fn key(graph: &Graph, call: usize, group: u32) -> Key {
    let first = graph.groups.members(group)[0].call as usize;
    let own = if graph.groups.entered[call] == group { call } else { first };
    (graph.functions[own], size_bin(graph.groups.bytes[group as usize]))
}

/// Calls that leave a collective.
fn leaving(graph: &Graph) -> impl Iterator<Item = (usize, u32)> {
    let is_compared = |group: u32| {
        let at = group as usize;
        let is_by_chance = graph.groups.flows[at].is_none_or(|flow| flow == Flow::FromLower);
        graph.groups.members(group).len() <= MOST_MEMBERS || !is_by_chance && !graph.groups.is_inter[at]
    };
    let left = graph.groups.left.iter().copied().enumerate();
    left.filter(move |(call, group)| *group != NONE && !graph.is_setup(*call) && is_compared(*group))
}

/// What members do after the last entry that they wait for, if they wait for nobody else: nearly the least that was seen.
fn usual(graph: &Graph) -> FxHashMap<Key, u64> {
    let mut of_keys: FxHashMap<Key, Vec<u64>> = FxHashMap::default();
    for (call, group) in leaving(graph) {
        of_keys.entry(key(graph, call, group)).or_default().push(Rest::after(graph, call, group).ns);
    }
    let least = |(key, mut of): (Key, Vec<u64>)| {
        let at = of.len() / 100;
        (key, *of.select_nth_unstable(at).1)
    };
    of_keys.into_iter().map(least).collect()
}

/// When members entered MPI for a collective: to take part in it, or to complete it. In the order of time.
struct Entries<'a> {
    graph: &'a Graph,
    /// By collective, where its calls begin; one more at the end.
    first: Vec<u32>,
    calls: Vec<u32>,
}

impl<'a> Entries<'a> {
    fn new(graph: &'a Graph) -> Self {
        let groups = &graph.groups;
        let completing = || {
            let left = groups.left.iter().enumerate().filter(|(_, group)| **group != NONE);
            left.filter(|(call, group)| groups.entered[*call] != **group)
        };
        let mut first = vec![0_u32; groups.flows.len() + 1];
        for group in 0..groups.flows.len() {
            first[group + 1] = groups.members(group as u32).len() as u32;
        }
        completing().for_each(|(_, group)| first[*group as usize + 1] += 1);
        (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        let mut next = first.clone();
        let mut calls = vec![NONE; first.last().map_or(0, |count| *count as usize)];
        let mut add = |group: usize, call: u32| {
            calls[next[group] as usize] = call;
            next[group] += 1;
        };
        for group in 0..groups.flows.len() {
            groups.members(group as u32).iter().for_each(|member| add(group, member.call));
        }
        completing().for_each(|(call, group)| add(*group as usize, call as u32));
        for group in first.windows(2) {
            calls[group[0] as usize..group[1] as usize]
                .sort_unstable_by_key(|call| graph.starts[*call as usize]);
        }
        Self { graph, first, calls }
    }

    /// The last entry of another rank between two moments.
    fn last(&self, group: u32, rank: Rank, (since_ns, end_ns): (u64, u64)) -> Option<u32> {
        let Self { graph, first, calls } = self;
        let of_group = &calls[first[group as usize] as usize..first[group as usize + 1] as usize];
        let before = of_group.partition_point(|call| graph.starts[*call as usize] < end_ns);
        let entries =
            of_group[..before].iter().rev().take_while(|call| graph.starts[**call as usize] > since_ns);
        entries.copied().find(|call| graph.ranks[*call as usize] != rank)
    }
}

/// The last entry into MPI, between two moments, of one of few members that did not get to the collective until then. Who sends far
/// ahead of such a one waits when buffers are full, until it takes what it was sent before.
fn last_of_few(graph: &Graph, group: u32, rank: Rank, (since_ns, end_ns): (u64, u64)) -> Option<u32> {
    let members = graph.groups.members(group);
    let few = if members.len() <= FEW_MEMBERS { members } else { &[] };
    let others =
        few.iter().filter(|member| member.rank != rank && graph.starts[member.call as usize] >= end_ns);
    let last = others.filter_map(|member| graph.last_entry_before(member.rank, end_ns));
    let within = last.filter(|entry| graph.starts[*entry as usize] > since_ns);
    within.max_by_key(|entry| graph.starts[*entry as usize])
}

/// Finds what such members waited for.
pub(crate) fn explain(graph: &Graph, blocked: &mut BlockedCalls) {
    let usual = usual(graph);
    let entries = Entries::new(graph);
    for (call, group) in leaving(graph) {
        let rest = Rest::after(graph, call, group);
        let usual_ns = usual.get(&key(graph, call, group));
        let soon_ns = soon_ns(usual_ns);
        let receives = !graph.received_by(call).is_empty();
        if rest.ns <= soon_ns || receives && was_underway(graph, (call, true), Figure::Low) {
            continue;
        }
        let rank = graph.ranks[call];
        // Where a network or the lack of a CPU may be why it was long, only entries soon before its end are to blame.
        let end_ns = graph.ends[call];
        let lack = Lack::during(graph, rank, (rest.since_ns, end_ns));
        let only_soon = graph.groups.is_inter[group as usize] || lack.explains();
        let last = |since_ns: u64| entries.last(group, rank, (since_ns.max(rest.since_ns), end_ns));
        let of_few = || {
            let since_ns = since_soon_before(graph, call, &lack).max(rest.since_ns);
            last_of_few(graph, group, rank, (since_ns, end_ns))
        };
        let at_all = || if only_soon { None } else { last(rest.since_ns) };
        if let Some(entry) = last(end_ns.saturating_sub(soon_ns)).or_else(of_few).or_else(at_all) {
            blocked.add(call, BlockedCall { entry, usual_ns: usual_ns.copied().unwrap_or(0) });
        }
    }
}
