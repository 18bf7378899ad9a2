//! Calls that took long because a rank that they needed had no CPU or was stopped.
//!
//! MPI libraries move data and take part in collectives only while the process runs: whoever exchanges with a process that does
//! not run waits for it inside a call, although nobody computes.

use crate::whatif::call_row::NONE;
use crate::whatif::delay::usual;
use crate::whatif::graph::Graph;
use crate::whatif::lack::Lack;
use crate::whatif::partners::Partners;
use crate::whatif::rule::Rule;
use mpiscope_model::Rank;
use std::cell::LazyCell;

/// Shorter calls say nothing: the scheduler's figures come some ten times a second.
const SHORTEST_NS: u64 = 100_000;

/// By call, the time in which its own rank had no CPU, or somebody whom it needed: of its own part, and if that is most of it.
pub(crate) fn with_starved(graph: &Graph, partners: &Partners, parts: &[u64]) -> Vec<u64> {
    if !graph.follows(Rule::Starved) {
        return graph.delays.within.clone();
    }
    let of_groups = missing_in_groups(graph, parts);
    let has_one_node = graph.has_one_node();
    let mut delays_ns = graph.delays.within.clone();
    for thread in &graph.threads {
        let usual = LazyCell::new(|| usual(graph, thread, parts));
        for at in thread.calls.clone().map(|call| call as usize) {
            let part_ns = parts[at];
            if part_ns < SHORTEST_NS {
                continue;
            }
            let (from_ns, to_ns) = (graph.ends[at] - part_ns, graph.ends[at]);
            let of_group = graph.groups.left[at];
            // Where nothing says for which of the others a member waits, it does not need all of them.
            let needs_all = of_group != NONE && graph.groups.flows[of_group as usize].is_some();
            let of_group = if needs_all { of_groups[of_group as usize] } else { Missing::default() };
            let peers = partners.peers(graph, thread, at);
            let is_within_node = graph.is_within_node(at, has_one_node);
            let of_peers =
                peers.ranks().map(|peer| Missing::during(graph, peer, (from_ns, to_ns), is_within_node));
            let missing = of_peers.fold(of_group, Missing::or);
            let excess_ns = part_ns.saturating_sub(usual[&graph.places[at]].call_ns[0]);
            delays_ns[at] = delays_ns[at].max(missing.in_call(part_ns, excess_ns));
        }
    }
    delays_ns
}

/// How long somebody had no CPU during a call. If what is waited for comes over a network, who had one by turns does not count: it
/// took part in between, and the network is slower than a turn.
#[derive(Debug, Clone, Copy, Default)]
struct Missing {
    ns: u64,
    /// How long it then waited at a time.
    wait_ns: u64,
}

impl Missing {
    fn during(graph: &Graph, rank: Rank, span: (u64, u64), is_within_node: bool) -> Self {
        let lack = Lack::during(graph, rank, span);
        if lack.missing_ns == 0 {
            return Self::default();
        }
        let beside_turns_ns = if is_within_node { None } else { lack.stopped_beside_turns_ns() };
        match beside_turns_ns {
            Some(ns) => Self { ns, wait_ns: 0 },
            None => Self { ns: lack.missing_ns, wait_ns: lack.wait_ns().unwrap_or(u64::MAX) },
        }
    }

    fn or(self, other: Self) -> Self {
        Self { ns: self.ns.max(other.ns), wait_ns: self.wait_ns.max(other.wait_ns) }
    }

    /// How much of a call that is: where it had none for most of the time, all of that; where it had one for most of it, one
    /// turn of waiting if the call is longer than usual by that.
    fn in_call(self, part_ns: u64, excess_ns: u64) -> u64 {
        let ns = self.ns.min(part_ns);
        if ns > part_ns / 2 {
            ns
        } else if ns > part_ns / 4 {
            ns.max(self.wait_ns).min(excess_ns)
        } else {
            0
        }
    }
}

/// By collective, the longest time in which one of its members had no CPU while it waited for nothing but the collective.
fn missing_in_groups(graph: &Graph, parts: &[u64]) -> Vec<Missing> {
    let groups = &graph.groups;
    let mut missing = vec![Missing::default(); groups.flows.len()];
    for (call, group) in groups.left.iter().enumerate().filter(|(_, group)| **group != NONE) {
        if parts[call] >= SHORTEST_NS {
            let from_ns = graph.ends[call] - parts[call];
            let of_group = &mut missing[*group as usize];
            let (rank, span) = (graph.ranks[call], (from_ns, graph.ends[call]));
            *of_group = of_group.or(Missing::during(graph, rank, span, !groups.is_inter[*group as usize]));
        }
    }
    missing
}
