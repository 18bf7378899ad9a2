//! What flights between nodes would have taken in a quiet network.
//!
//! Each stretch of the run has a distribution of flights. A flight keeps its place in that of its stretch and takes the length
//! that this place has in the quietest quarter: noise that is always there stays.

use crate::builder::NONE;
use crate::flights::{Figure, STRETCHES, quiet_values, size_bin, span_ns};
use crate::graph::Graph;
use rustc_hash::FxHashMap;

/// By message, its flight in a quiet network as a share of the recorded one.
pub(crate) fn shares(graph: &Graph) -> Vec<f32> {
    let mut shares = vec![1.0; graph.edges.len()];
    let ranks = &graph.ranks;
    let node = |call: u32| graph.nodes.get(ranks[call as usize] as usize);
    let mut bins: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (at, edge) in graph.edges.iter().enumerate() {
        if edge.is_felt && node(edge.from) != node(edge.to) {
            bins.entry(size_bin(edge.bytes)).or_default().push(at as u32);
        }
    }
    // Sizes of one bin differ, so flights count as multiples of what their size takes.
    let slowness = |at: u32| {
        let edge = &graph.edges[at as usize];
        let usual_ns = graph.flights.ns(true, edge.bytes, Figure::Median).unwrap_or(1.0);
        span_ns(graph, edge) as f64 / usual_ns.max(1.0)
    };
    for of_bin in bins.values_mut() {
        of_bin.sort_unstable_by_key(|at| graph.ends[graph.edges[*at as usize].to as usize]);
        even_out(of_bin, slowness, &mut shares);
    }
    for (share, edge) in shares.iter_mut().zip(&graph.edges) {
        if let Some(own_ns) = graph.flights.ns(true, edge.bytes, Figure::Median) {
            *share *= graph.reference.share_of_message(edge.bytes, own_ns) as f32;
        }
    }
    shares
}

/// Gives values of one kind, in the order of time, the lengths of the quietest quarter.
fn even_out(of_kind: &[u32], value: impl Fn(u32) -> f64, shares: &mut [f32]) {
    let length = of_kind.len().div_ceil(STRETCHES).max(1);
    let mut stretches: Vec<Vec<(f64, u32)>> = of_kind
        .chunks(length)
        .map(|stretch| {
            let mut of: Vec<(f64, u32)> = stretch.iter().map(|at| (value(*at), *at)).collect();
            of.sort_by(|one, other| one.0.total_cmp(&other.0));
            of
        })
        .collect();
    stretches.sort_by(|one, other| one[one.len() / 2].0.total_cmp(&other[other.len() / 2].0));
    let quarter = (stretches.len() / 4).max(1);
    let mut quiet: Vec<f64> = stretches[..quarter].iter().flatten().map(|(value, _)| *value).collect();
    quiet.sort_by(f64::total_cmp);
    for stretch in &stretches[quarter..] {
        for (place, (value, at)) in stretch.iter().enumerate() {
            let quantile = (place as f64 + 0.5) / stretch.len() as f64;
            let of_quiet = quiet[(quantile * quiet.len() as f64) as usize];
            shares[*at as usize] = (of_quiet / value.max(1e-12)).min(1.0) as f32;
        }
    }
}

/// By collective, what it takes after its last entry in a quiet network as a share of what it took.
pub(crate) fn group_shares(graph: &Graph) -> Vec<f32> {
    let groups = &graph.groups;
    // The longest part in each, and the sum of all.
    let mut took_ns = vec![(0_u64, 0_u64); groups.flows.len()];
    for (call, group) in groups.left.iter().enumerate().filter(|(_, group)| **group != NONE) {
        let since_ns = groups.last_ns[*group as usize].max(graph.starts[call]);
        let part_ns = graph.ends[call].saturating_sub(since_ns);
        let (longest_ns, sum_ns) = &mut took_ns[*group as usize];
        (*longest_ns, *sum_ns) = ((*longest_ns).max(part_ns), *sum_ns + part_ns);
    }
    let mut shares = vec![1.0; took_ns.len()];
    let mut kinds: FxHashMap<(u16, u32, u32), Vec<u32>> = FxHashMap::default();
    for group in (0..took_ns.len()).filter(|group| groups.is_inter[*group] && took_ns[*group].0 > 0) {
        let members = groups.members(group as u32);
        let call = members[0].call as usize;
        if !graph.is_setup(call) {
            let kind = (graph.functions[call], members.len() as u32, size_bin(groups.bytes[group]));
            kinds.entry(kind).or_default().push(group as u32);
        }
    }
    for ((function, ranks, _), mut of_kind) in kinds {
        of_kind.sort_unstable_by_key(|group| groups.last_ns[*group as usize]);
        even_out(&of_kind, |group| took_ns[group as usize].0 as f64, &mut shares);
        if graph.reference.knows_collective(function, ranks) {
            // A part of a member, on average; that is what was measured, too.
            let mean_ns = |group: &u32| took_ns[*group as usize].1 / u64::from(ranks.max(1));
            let samples: Vec<(u64, u64, u32)> =
                of_kind.iter().map(|group| (groups.last_ns[*group as usize], mean_ns(group), 0)).collect();
            let mut quiet = quiet_values(&samples);
            let middle = quiet.len() / 2;
            let own_ns = *quiet.select_nth_unstable(middle).1 as f64;
            for group in of_kind {
                let kind = (function, ranks, groups.bytes[group as usize]);
                shares[group as usize] *= graph.reference.share_of_collective(kind, own_ns) as f32;
            }
        }
    }
    shares
}
