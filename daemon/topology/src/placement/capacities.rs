//! Brings parts to exactly their sizes, by moving single ranks.

use super::graph::Graph;
use std::cmp::Reverse;

/// Moves ranks out of parts that have too many into such that have too few, the cheapest moves first.
pub(super) fn repair(graph: &Graph, part_of: &mut [u32], sizes: &[usize]) {
    // How many ranks each part has too many.
    let mut over: Vec<i64> = sizes.iter().map(|&size| -(size as i64)).collect();
    for &part in part_of.iter() {
        over[part as usize] += 1;
    }
    let mut towards = vec![0_i64; sizes.len()];
    while over.iter().any(|&over| over > 0) {
        let Some(anywhere) = over.iter().position(|&over| over < 0) else { return };
        let mut moves: Vec<(Reverse<i64>, usize, u32)> = Vec::new();
        for rank in (0..part_of.len()).filter(|&rank| over[part_of[rank] as usize] > 0) {
            let edges = graph.edges_of(rank);
            for edge in edges {
                towards[part_of[edge.to as usize] as usize] += edge.weight;
            }
            let stays = towards[part_of[rank] as usize];
            let near = edges.iter().map(|edge| part_of[edge.to as usize]);
            let there = near.filter(|&part| over[part as usize] < 0);
            let there = there.max_by_key(|&part| (towards[part as usize], Reverse(part)));
            let there = there.unwrap_or(anywhere as u32);
            moves.push((Reverse(towards[there as usize] - stays), rank, there));
            for edge in edges {
                towards[part_of[edge.to as usize] as usize] = 0;
            }
        }
        moves.sort_unstable();
        // What a move gains changes with those before it; a tenth at once keeps that small.
        let some = moves.len().div_ceil(10);
        for (_, rank, there) in moves.into_iter().take(some) {
            let from_part = part_of[rank] as usize;
            if over[from_part] > 0 && over[there as usize] < 0 {
                over[from_part] -= 1;
                over[there as usize] += 1;
                part_of[rank] = there;
            }
        }
    }
}
