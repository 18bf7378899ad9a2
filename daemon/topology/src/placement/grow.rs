//! Beginnings that need no library: ranks in their order, and groups that grow from a rank.

use super::graph::Graph;
use std::collections::BinaryHeap;

/// The ranks in their order, a node after the other.
pub(super) fn in_order(sizes: &[usize]) -> Vec<u32> {
    sizes.iter().enumerate().flat_map(|(part, &size)| std::iter::repeat_n(part as u32, size)).collect()
}

/// No part yet.
const NONE: u32 = u32::MAX;

/// The ranks that a group talks with, by how well they fit into it.
type Border = BinaryHeap<(i64, std::cmp::Reverse<usize>)>;

/// How well a rank fits: what it sends to the group, less what it sends to those without a part.
fn value(towards: i64, open: i64) -> i64 {
    2 * towards - open
}

/// The rank that fits best into the group, of those that it talks with.
fn next_on_border(border: &mut Border, part_of: &[u32], towards: &[i64], open: &[i64]) -> Option<usize> {
    // Whoever has a part already, or was seen with other figures, is in it once more.
    while let Some((seen, std::cmp::Reverse(rank))) = border.pop() {
        if part_of[rank] == NONE && seen == value(towards[rank], open[rank]) {
            return Some(rank);
        }
    }
    None
}

/// Groups that grow from a rank by the rank that talks most with them and least with the others; the largest first.
pub(super) fn grown(graph: &Graph, sizes: &[usize]) -> Vec<u32> {
    let ranks = graph.ranks();
    let mut part_of = vec![NONE; ranks];
    // What a rank sends to those that have no part yet.
    let sum = |rank| graph.edges_of(rank).iter().map(|edge| edge.weight).sum::<i64>();
    let mut open: Vec<i64> = (0..ranks).map(sum).collect();
    let mut towards = vec![0_i64; ranks];
    let mut starts: BinaryHeap<_> = (0..ranks).map(|rank| std::cmp::Reverse((open[rank], rank))).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&part| std::cmp::Reverse(sizes[part]));
    for part in order {
        let mut border = Border::new();
        let mut touched = Vec::new();
        for _ in 0..sizes[part] {
            let next = next_on_border(&mut border, &part_of, &towards, &open);
            let Some(rank) = next.or_else(|| start(&mut starts, &part_of, &open)) else { break };
            part_of[rank] = part as u32;
            for edge in graph.edges_of(rank) {
                let to = edge.to as usize;
                open[to] -= edge.weight;
                if part_of[to] == NONE {
                    towards[to] += edge.weight;
                    touched.push(to);
                    border.push((value(towards[to], open[to]), std::cmp::Reverse(to)));
                    starts.push(std::cmp::Reverse((open[to], to)));
                }
            }
        }
        touched.into_iter().for_each(|rank| towards[rank] = 0);
    }
    part_of
}

/// Whoever talks least with those that have no part yet: groups begin at corners, and none is left over there.
fn start(
    starts: &mut BinaryHeap<std::cmp::Reverse<(i64, usize)>>,
    part_of: &[u32],
    open: &[i64],
) -> Option<usize> {
    while let Some(std::cmp::Reverse((seen, rank))) = starts.pop() {
        if part_of[rank] == NONE && seen == open[rank] {
            return Some(rank);
        }
    }
    None
}
