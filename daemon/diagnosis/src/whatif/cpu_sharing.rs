//! How long ranks that share CPUs wait for one if they poll for a shorter time than in the recorded run.
//!
//! Most MPI libraries poll: a rank that waits for a message wants a CPU meanwhile. Where ranks wait less after a change, fewer of
//! them want a CPU at a time, and those that do get it sooner. In the recorded run the scheduler says how much of their computing
//! and of their calls ranks were ready to run; a replay says how long both are now. From how many ranks of a node are ready on
//! average follows how long they wait for each second on a CPU, if each is ready independently of the others.

use crate::whatif::gaps::{class_of, means_of_groups};
use crate::whatif::graph::cpu_sharing::{CpuSharing, Scheduled, Shared, Times};
use crate::whatif::graph::delays::SchedulerSample;
use crate::whatif::graph::{Graph, Thread};
use crate::whatif::rule::Rule;
use mpiscope_model::{Node, Rank};
use rustc_hash::FxHashMap;

/// A slice of the run is at least this long, since the scheduler's figures come some ten times a second; and there are this many
/// at most.
const LEAST_SLICE_NS: u64 = 500_000_000;
const MOST_SLICES: u64 = 64;
/// A rank that hardly waited says nothing of where it would wait longer: its waits get this many times as long at most.
const MOST_DELAYS: f64 = 4.0;

/// What the scheduler's figures say, and how many CPUs the ranks of each node may use together; nothing where no ranks share
/// CPUs.
pub(crate) fn measure(graph: &Graph, cpus: &FxHashMap<Node, f64>) -> Option<CpuSharing> {
    let (node_of, of_nodes) = ranks_and_cpus(graph, cpus);
    if !graph.follows(Rule::SharedCpus)
        || !graph.delays.is_known()
        || !of_nodes.iter().any(|(ranks, cpus)| *ranks as f64 > *cpus)
    {
        return None;
    }
    let began_ns = graph.began_ns();
    let length_ns = graph.recorded_ns() - began_ns;
    let count = (length_ns / LEAST_SLICE_NS).clamp(1, MOST_SLICES);
    let slice_ns = length_ns.div_ceil(count).max(1);
    let nodes = of_nodes.len();
    let slice_of = |(end_ns, rank): (&u64, &Rank)| {
        let slice = (end_ns.saturating_sub(began_ns) / slice_ns).min(count - 1) as usize;
        (slice * nodes + node_of[rank.index()]) as u32
    };
    let slice_of = graph.ends.iter().zip(&graph.ranks).map(slice_of).collect();
    let slices = vec![None; count as usize * nodes];
    let mut sharing = CpuSharing { slice_of, slices, node_of, nodes };
    for (at, (recorded, scheduled)) in recorded(&sharing, graph).into_iter().enumerate() {
        sharing.slices[at] = Shared::new(of_nodes[at % nodes], scheduled, recorded);
    }
    sharing.slices.iter().any(Option::is_some).then_some(sharing)
}

/// By slice and node, the times of the recorded run, and what the scheduler says of them.
fn recorded(sharing: &CpuSharing, graph: &Graph) -> Vec<(Times, Scheduled)> {
    let mut slices = vec![<(Times, Scheduled)>::default(); sharing.slices.len()];
    for thread in first_threads(graph) {
        let first = thread.calls.start as usize;
        let mut at = first;
        let mut from_ns = graph.starts[first];
        let slice_of = &sharing.slice_of[first..thread.calls.end as usize];
        for of_slice in slice_of.chunk_by(|one, other| one == other) {
            let (times, scheduled) = &mut slices[of_slice[0] as usize];
            for call in at..at + of_slice.len() {
                let [computing_ns, delays_ns] =
                    if call > first { graph.computing_before(call).map(|ns| ns as f64) } else { [0.0; 2] };
                let calls_ns = (graph.ends[call] - graph.starts[call]) as f64;
                times.add(Times { calls_ns, computing_ns, delays_ns });
            }
            at += of_slice.len();
            let span = (from_ns, graph.ends[at - 1]);
            let between =
                |sum_ns: fn(&SchedulerSample) -> u64| graph.delays.sum_between(thread.rank, span, sum_ns);
            scheduled.ready_ns += between(SchedulerSample::ready_ns);
            scheduled.stopped_ns += between(|figure| figure.stopped_ns);
            from_ns = span.1;
        }
    }
    slices
}

/// By rank and segment, the factor of waiting for a CPU while computing if ranks that do the same on a node wait equally: they
/// compute equally, side by side.
pub(crate) fn even_delays(
    sharing: &CpuSharing,
    graph: &Graph,
    segments: usize,
    segment_of: impl Fn(usize) -> usize,
) -> Vec<f32> {
    let mut own_ns = vec![0.0; graph.threads_of.len() * segments];
    for (call, delay_ns) in graph.delays.before.iter().enumerate() {
        own_ns[graph.ranks[call].index() * segments + segment_of(call)] += *delay_ns as f64;
    }
    let mut shares_cpus = vec![false; sharing.nodes];
    for (at, shared) in sharing.slices.iter().enumerate() {
        shares_cpus[at % sharing.nodes] |= shared.is_some();
    }
    let mut numbers: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let group_of = |(rank, node): (usize, &usize)| {
        let class =
            class_of(graph, rank).filter(|_| shares_cpus[*node] && graph.delays.is_only_delayed(rank))?;
        let next = numbers.len();
        Some(*numbers.entry((class, *node)).or_insert(next))
    };
    let groups: Vec<Option<usize>> =
        sharing.node_of[..graph.threads_of.len()].iter().enumerate().map(group_of).collect();
    let even_ns = means_of_groups(graph, &groups, &own_ns, segments);
    let factor = |(own_ns, even_ns): (f64, f64)| {
        if own_ns > 0.0 { (even_ns / own_ns).min(MOST_DELAYS) as f32 } else { 1.0 }
    };
    own_ns.into_iter().zip(even_ns).map(factor).collect()
}

/// By rank, the number of its node; and by this number, its ranks that make calls and the CPUs that they may use.
fn ranks_and_cpus(graph: &Graph, cpus: &FxHashMap<Node, f64>) -> (Vec<usize>, Vec<(usize, f64)>) {
    let mut numbers: FxHashMap<Node, usize> = FxHashMap::default();
    let mut of_nodes: Vec<(usize, f64)> = Vec::new();
    let mut node_of = Vec::with_capacity(graph.nodes.len());
    for (rank, node) in (0..).map(Rank).zip(&graph.nodes) {
        let number = *numbers.entry(*node).or_insert(of_nodes.len());
        if number == of_nodes.len() {
            of_nodes.push((0, cpus.get(node).copied().unwrap_or(f64::INFINITY)));
        }
        node_of.push(number);
        of_nodes[number].0 += usize::from(!graph.threads_of(rank).is_empty());
    }
    (node_of, of_nodes)
}

/// The first thread of each rank that makes calls.
fn first_threads(graph: &Graph) -> impl Iterator<Item = &Thread> {
    let of_ranks = graph.threads_of.iter().filter(|of_rank| !of_rank.is_empty());
    of_ranks.map(|of_rank| &graph.threads[of_rank.start as usize]).filter(|thread| !thread.calls.is_empty())
}
