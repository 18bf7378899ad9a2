//! Calls that took long because a rank that they needed had no CPU or was stopped.
//!
//! MPI libraries move data and take part in collectives only while the process runs: whoever exchanges with a process that does
//! not run waits for it inside a call, although nobody computes.

use crate::whatif::builder::NONE;
use crate::whatif::graph::Graph;
use crate::whatif::partners::Partners;
use mpiscope_model::Rank;
use rustc_hash::FxHashMap;

/// Shorter calls say nothing: the scheduler's figures come some ten times a second.
const SHORTEST_NS: u64 = 100_000;

/// By call, the time in which somebody whom it needed had no CPU: of its own part, and if that is most of it.
pub(crate) fn starved(graph: &Graph, partners: &Partners, parts: &[u64]) -> FxHashMap<u32, u64> {
    let of_groups = missing_in_groups(graph, parts);
    let missing_ns = |peers: &[Rank], from_ns, to_ns| {
        peers.iter().map(|peer| graph.delays.between(*peer, from_ns, to_ns)).max().unwrap_or(0)
    };
    let mut starved = FxHashMap::default();
    for thread in &graph.threads {
        for call in thread.calls.clone() {
            let at = call as usize;
            let part_ns = parts[at];
            if part_ns < SHORTEST_NS {
                continue;
            }
            let (from_ns, to_ns) = (graph.ends[at] - part_ns, graph.ends[at]);
            let of_group = graph.groups.left[at];
            let of_group_ns = if of_group == NONE { 0 } else { of_groups[of_group as usize] };
            let peers = partners.ranks(graph, thread, at);
            let missing_ns = missing_ns(&peers, from_ns, to_ns).max(of_group_ns).min(part_ns);
            if 2 * missing_ns > part_ns {
                starved.insert(call, missing_ns);
            }
        }
    }
    starved
}

/// By collective, the longest time in which one of its members had no CPU while it waited for nothing but the collective.
fn missing_in_groups(graph: &Graph, parts: &[u64]) -> Vec<u64> {
    let groups = &graph.groups;
    let mut missing_ns = vec![0_u64; groups.flows.len()];
    for (call, group) in groups.left.iter().enumerate().filter(|(_, group)| **group != NONE) {
        if parts[call] >= SHORTEST_NS {
            let from_ns = graph.ends[call] - parts[call];
            let of_member_ns = graph.delays.between(graph.ranks[call], from_ns, graph.ends[call]);
            let longest_ns = &mut missing_ns[*group as usize];
            *longest_ns = of_member_ns.max(*longest_ns);
        }
    }
    missing_ns
}
