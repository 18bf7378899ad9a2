//! Calls that took long because a rank that they needed had no CPU or was stopped.
//!
//! MPI libraries move data and take part in collectives only while the process runs: whoever exchanges with a process that does
//! not run waits for it inside a call, although nobody computes.

use crate::builder::NONE;
use crate::graph::Graph;
use crate::partners::Partners;
use mpiscope_model::Rank;
use rustc_hash::FxHashMap;

/// Shorter calls say nothing: the scheduler's figures come some ten times a second.
const SHORTEST_NS: u64 = 100_000;

/// By call, the time in which somebody whom it needed had no CPU: of its own part, and if that is most of it.
pub(crate) fn starved(graph: &Graph, parts: &[u64]) -> FxHashMap<u32, u64> {
    let partners = Partners::new(graph);
    let of_groups = missing_in_groups(graph);
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
            let peers = partners.of(graph, thread, at);
            let missing_ns = missing_ns(&peers, from_ns, to_ns).max(of_group_ns).min(part_ns);
            if 2 * missing_ns > part_ns {
                starved.insert(call, missing_ns);
            }
        }
    }
    starved
}

/// By collective, the longest time in which one of its members had no CPU after all had entered.
fn missing_in_groups(graph: &Graph) -> Vec<u64> {
    let groups = &graph.groups;
    let mut ends = vec![0_u64; groups.flows.len()];
    for (group, end_ns) in groups.left.iter().zip(&graph.ends).filter(|(group, _)| **group != NONE) {
        let latest = &mut ends[*group as usize];
        *latest = (*latest).max(*end_ns);
    }
    let missing_ns = |(group, end_ns): (usize, u64)| {
        let since_ns = groups.last_ns[group];
        if end_ns.saturating_sub(since_ns) < SHORTEST_NS {
            return 0;
        }
        let members = groups.members(group as u32).iter();
        members.map(|member| graph.delays.between(member.rank, since_ns, end_ns)).max().unwrap_or(0)
    };
    ends.into_iter().enumerate().map(missing_ns).collect()
}
