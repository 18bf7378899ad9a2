//! Where nodes stand: layers, and their order within a layer.

use super::build;
use super::graph::{Dag, DagNode};

/// How often nodes are moved to the middle of their neighbours, at the most.
const SWEEPS: usize = 8;

/// The neighbours of all nodes on one side, and where those of each begin.
struct Neighbours {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Neighbours {
    fn build(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; count + 1];
        pairs.clone().for_each(|(node, _)| starts[node as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut nodes) = (starts.clone(), vec![0; pairs.clone().count()]);
        for (node, other) in pairs {
            nodes[next[node as usize] as usize] = other;
            next[node as usize] += 1;
        }
        Self { starts, nodes }
    }

    fn following(dag: &Dag) -> Self {
        Self::build(dag.nodes.len(), dag.edges.iter().map(|edge| (edge.from, edge.to)))
    }

    fn leading(dag: &Dag) -> Self {
        Self::build(dag.nodes.len(), dag.edges.iter().map(|edge| (edge.to, edge.from)))
    }

    fn neighbours(&self, node: u32) -> &[u32] {
        &self.nodes[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}

/// Orders nodes with edges leading forward, and gives the layer of each; edges that would not are removed.
pub(super) fn layer(dag: &mut Dag) {
    let following = Neighbours::following(dag);
    let mut missing = vec![0_u32; dag.nodes.len()];
    dag.edges.iter().for_each(|edge| missing[edge.to as usize] += 1);
    let mut is_done = vec![false; dag.nodes.len()];
    let mut ready: Vec<u32> =
        (0..).zip(&missing).filter(|&(_, &missing)| missing == 0).map(|(node, _)| node).collect();
    let mut by_time: Option<std::vec::IntoIter<u32>> = None;
    let mut is_contradictory = false;
    loop {
        while let Some(node) = ready.pop() {
            is_done[node as usize] = true;
            for &other in following.neighbours(node) {
                if is_done[other as usize] {
                    continue;
                }
                let next = dag.nodes[node as usize].layer + 1;
                let layer = &mut dag.nodes[other as usize].layer;
                *layer = next.max(*layer);
                missing[other as usize] -= 1;
                if missing[other as usize] == 0 {
                    ready.push(other);
                }
            }
        }
        // Whoever is left leads to itself by clocks that are wrong: the earliest begins all the same.
        let mut left = by_time.take().unwrap_or_else(|| earliest_first(&dag.nodes, &is_done).into_iter());
        let Some(node) = left.find(|&node| !is_done[node as usize]) else { break };
        by_time = Some(left);
        is_contradictory = true;
        ready.push(node);
    }
    if is_contradictory {
        take_out_backward(dag);
    }
    dag.layers = dag.nodes.iter().map(|node| node.layer + 1).max().unwrap_or_default();
}

fn earliest_first(nodes: &[DagNode], is_done: &[bool]) -> Vec<u32> {
    let mut left: Vec<u32> = (0..nodes.len() as u32).filter(|&node| !is_done[node as usize]).collect();
    left.sort_unstable_by_key(|&node| (nodes[node as usize].begin_ns, node));
    left
}

/// A node keeps its layer once it had to begin; edges from its own layer or a later one then contradict.
fn take_out_backward(dag: &mut Dag) {
    let layer = |node: u32| dag.nodes[node as usize].layer;
    let is_backward = |from: u32, to: u32| layer(from) >= layer(to);
    let mut contradicted = 0;
    for (from, to) in &mut dag.ends {
        if *from != Dag::OUTSIDE && *to != Dag::OUTSIDE && is_backward(*from, *to) {
            contradicted += 1;
            (*from, *to) = (*from, Dag::OUTSIDE);
        }
    }
    dag.contradicted = contradicted;
    dag.edges = build::edges(&dag.messages, &dag.ends);
}

/// Orders the nodes of each layer by where their neighbours are: forward by those that lead to them, then backward by
/// those that follow, a few times.
pub(super) fn order(dag: &mut Dag) {
    let (leading, following) = (Neighbours::leading(dag), Neighbours::following(dag));
    let mut layers: Vec<Vec<u32>> = vec![Vec::new(); dag.layers as usize];
    // Nodes are in the order of ranks, which is where everybody begins.
    for (node, number) in dag.nodes.iter().zip(0..) {
        layers[node.layer as usize].push(number);
    }
    // Where a node stands, as a share of its layer.
    let mut middle = vec![0.0_f64; dag.nodes.len()];
    layers.iter().for_each(|layer| place(layer, &mut middle));
    for sweep in 0..SWEEPS {
        let is_forward = sweep % 2 == 0;
        let mut has_moved = false;
        let mut sweep_layer = |layer: &mut Vec<u32>| {
            has_moved |= by_neighbours(layer, if is_forward { &leading } else { &following }, &mut middle);
        };
        if is_forward {
            layers.iter_mut().for_each(&mut sweep_layer);
        } else {
            layers.iter_mut().rev().for_each(&mut sweep_layer);
        }
        if !has_moved && sweep > 0 {
            break;
        }
    }
    for layer in &layers {
        layer.iter().zip(0..).for_each(|(&node, at)| dag.nodes[node as usize].place = at);
    }
}

fn place(layer: &[u32], middle: &mut [f64]) {
    for (at, &node) in layer.iter().enumerate() {
        middle[node as usize] = (at as f64 + 0.5) / layer.len() as f64;
    }
}

/// Orders a layer by the means of its neighbours; returns whether anything moved. Nodes without any stay where they
/// are among the others.
fn by_neighbours(layer: &mut [u32], neighbours: &Neighbours, middle: &mut [f64]) -> bool {
    let mean = |&node: &u32| {
        let others = neighbours.neighbours(node);
        if others.is_empty() {
            return middle[node as usize];
        }
        others.iter().map(|&other| middle[other as usize]).sum::<f64>() / others.len() as f64
    };
    let mut keyed: Vec<(f64, u32)> = layer.iter().map(|node| (mean(node), *node)).collect();
    // Stable: equals stay as they were.
    keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
    let has_moved = keyed.iter().zip(layer.iter()).any(|((_, one), other)| one != other);
    layer.iter_mut().zip(keyed).for_each(|(place, (_, node))| *place = node);
    place(layer, middle);
    has_moved
}

/// How many nodes follow each: those of the last layer first, as sets of bits, a few thousand nodes at a time.
pub(super) fn following(dag: &Dag) -> Vec<u32> {
    /// Nodes whose followers are counted at once; each takes this number of bits.
    const AT_ONCE: usize = 4_096;
    let following = Neighbours::following(dag);
    let mut last_first: Vec<u32> = (0..dag.nodes.len() as u32).collect();
    last_first.sort_by_key(|&node| std::cmp::Reverse(dag.nodes[node as usize].layer));
    let mut counts = vec![0; dag.nodes.len()];
    for first in (0..dag.nodes.len()).step_by(AT_ONCE) {
        let words = AT_ONCE.min(dag.nodes.len() - first).div_ceil(64);
        let mut sets = vec![0_u64; words * dag.nodes.len()];
        for &node in &last_first {
            for &other in following.neighbours(node) {
                let (own, others) = two(&mut sets, words, node as usize, other as usize);
                own.iter_mut().zip(others).for_each(|(own, other)| *own |= *other);
                let at = (other as usize).wrapping_sub(first);
                if at < words * 64 {
                    own[at / 64] |= 1 << (at % 64);
                }
            }
            let own = &sets[node as usize * words..(node as usize + 1) * words];
            counts[node as usize] += own.iter().map(|word| word.count_ones()).sum::<u32>();
        }
    }
    counts
}

/// The sets of two nodes, the first to be changed.
fn two(sets: &mut [u64], words: usize, own: usize, other: usize) -> (&mut [u64], &[u64]) {
    let (low, high) = sets.split_at_mut(own.max(other) * words);
    if own < other {
        (&mut low[own * words..(own + 1) * words], &high[..words])
    } else {
        (&mut high[..words], &low[other * words..(other + 1) * words])
    }
}
