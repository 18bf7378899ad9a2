//! How far apart ranks are that reach each other.

use super::graph::Graph;
use super::inverse::{Square, invert};
use super::method::Method;

/// A walk goes on with this probability at each step, as the logarithm of its inverse.
const COST_OF_STEP: f64 = 0.05;

/// The distances between the nodes of a graph in which each reaches each other.
pub(super) fn distances(graph: &Graph, method: Method) -> Square {
    match method {
        Method::Paper => by_hops(graph),
        Method::FreeEnergy => by_walks(graph),
    }
}

/// Of all walks that may end at any step, how likely they come from one node to another.
///
/// With `P` the weights by row, `G = (I - P e^-b)^-1` and `Z_pq = G_pq / G_qq`, the distance is the mean of `-ln Z` both
/// ways. `P` is the degrees' inverse times a symmetric matrix, so with `S` the inverse of the symmetric
/// `I - e^-b d^-1/2 A d^-1/2` one has `G_pq = S_pq (d_q / d_p)^1/2`: the degrees fall out of the mean, and
/// `D_pq = (ln S_pp + ln S_qq) / 2 - ln S_pq`.
fn by_walks(graph: &Graph) -> Square {
    let nodes = graph.nodes();
    let goes_on = (-COST_OF_STEP).exp();
    let by_root: Vec<f64> = (0..nodes).map(|node| graph.degree(node).sqrt().recip()).collect();
    let mut matrix = Square::zeros(nodes);
    for node in 0..nodes {
        let row = matrix.row_mut(node);
        for end in graph.ends_of(node) {
            row[end.to as usize] = -goes_on * end.weight * by_root[node] * by_root[end.to as usize];
        }
        row[node] = 1.0;
        if graph.within(node) > 0.0 {
            row[node] -= goes_on * graph.within(node) * by_root[node] * by_root[node];
        }
    }
    invert(&mut matrix);
    // Beyond this distance all are equally far.
    let logarithm = |value: f64| value.max(f64::MIN_POSITIVE).ln();
    let own: Vec<f64> = (0..nodes).map(|node| logarithm(matrix.get(node, node)) / 2.0).collect();
    for node in 0..nodes {
        let row = matrix.row_mut(node);
        for (other, entry) in row[..node].iter_mut().enumerate() {
            *entry = (own[node] + own[other] - logarithm(*entry)).max(0.0);
        }
        row[node] = 0.0;
    }
    matrix.mirror();
    matrix
}

/// `R = 1 / d^2` with the fewest hops `d`, as a share of all of a node's, and the mean of `-ln` both ways.
fn by_hops(graph: &Graph) -> Square {
    let nodes = graph.nodes();
    let mut matrix = hops(graph);
    let sums: Vec<f64> = (0..nodes)
        .map(|node| {
            matrix.row(node).iter().filter(|hops| **hops > 0.0).map(|hops| (hops * hops).recip()).sum()
        })
        .collect();
    for node in 0..nodes {
        for (other, entry) in matrix.row_mut(node).iter_mut().enumerate() {
            if other != node {
                *entry = 2.0 * entry.ln() + f64::midpoint(f64::ln(sums[node]), f64::ln(sums[other]));
            }
        }
    }
    matrix
}

/// The fewest hops between nodes. Sets of nodes are rows of bits, because in a coarse graph all may talk with all.
fn hops(graph: &Graph) -> Square {
    let nodes = graph.nodes();
    let words = nodes.div_ceil(64);
    let mut neighbours = vec![0_u64; nodes * words];
    for node in 0..nodes {
        for end in graph.ends_of(node) {
            neighbours[node * words + end.to as usize / 64] |= 1 << (end.to % 64);
        }
    }
    let mut matrix = Square::zeros(nodes);
    let mut frontier = Vec::new();
    for from in 0..nodes {
        let mut seen = vec![0_u64; words];
        seen[from / 64] = 1 << (from % 64);
        frontier.clear();
        frontier.push(from);
        let mut far = 0.0;
        while !frontier.is_empty() {
            let mut next = vec![0_u64; words];
            for &node in &frontier {
                let of = &neighbours[node * words..(node + 1) * words];
                next.iter_mut().zip(of).for_each(|(next, of)| *next |= of);
            }
            far += 1.0;
            frontier.clear();
            for (word, (next, seen)) in next.iter().zip(&mut seen).enumerate() {
                let mut new = next & !*seen;
                *seen |= new;
                while new != 0 {
                    frontier.push(word * 64 + new.trailing_zeros() as usize);
                    new &= new - 1;
                }
            }
            let row = matrix.row_mut(from);
            frontier.iter().for_each(|&node| row[node] = far);
        }
    }
    matrix
}
