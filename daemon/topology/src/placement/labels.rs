//! Which node each part goes to: as few ranks as possible move.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Nodes of one size up to which the best assignment is found; among more a good one is.
const MOST_ASSIGNED: usize = 256;

/// Gives parts the names of nodes of the same size with which they share most ranks.
pub(super) fn label(parts: &[u32], today: &[u32], sizes: &[usize]) -> Vec<u32> {
    let mut shared: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (&part, &node) in parts.iter().zip(today) {
        if sizes[part as usize] == sizes[node as usize] {
            *shared.entry((part, node)).or_default() += 1;
        }
    }
    let mut by_size: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (part, &size) in sizes.iter().enumerate() {
        by_size.entry(size).or_default().push(part as u32);
    }
    let mut name = vec![0; sizes.len()];
    for group in by_size.values() {
        let nodes = if group.len() <= MOST_ASSIGNED { best(group, &shared) } else { good(group, &shared) };
        for (&part, node) in group.iter().zip(nodes) {
            name[part as usize] = node;
        }
    }
    parts.iter().map(|&part| name[part as usize]).collect()
}

/// For each part of the group a node of the group, those with most in common first.
fn good(group: &[u32], shared: &BTreeMap<(u32, u32), usize>) -> Vec<u32> {
    let position: BTreeMap<u32, usize> = group.iter().enumerate().map(|(at, &part)| (part, at)).collect();
    let mut order: Vec<_> = shared
        .iter()
        .filter(|((part, _), _)| position.contains_key(part))
        .map(|(&(part, node), &ranks)| (Reverse(ranks), part, node))
        .collect();
    order.sort_unstable();
    let mut nodes = vec![None; group.len()];
    let mut is_taken = vec![false; group.len()];
    for (_, part, node) in order {
        let (part, at) = (position[&part], position[&node]);
        if nodes[part].is_none() && !is_taken[at] {
            nodes[part] = Some(node);
            is_taken[at] = true;
        }
    }
    let mut left = (0..group.len()).filter(|&at| !is_taken[at]).map(|at| group[at]);
    nodes.into_iter().map(|node| node.or_else(|| left.next()).unwrap_or_default()).collect()
}

/// For each part of the group a node of the group, with most in common in all: the Hungarian method, by shortest
/// augmenting paths.
fn best(group: &[u32], shared: &BTreeMap<(u32, u32), usize>) -> Vec<u32> {
    let count = group.len();
    let mut cost = vec![0_i64; count * count];
    let position: BTreeMap<u32, usize> = group.iter().enumerate().map(|(at, &part)| (part, at)).collect();
    for (&(part, node), &ranks) in shared {
        if let (Some(part), Some(node)) = (position.get(&part), position.get(&node)) {
            cost[part * count + node] = -(ranks as i64);
        }
    }
    let mut assignment = Assignment::new(count, cost);
    (1..=count).for_each(|row| assignment.add_row(row));
    let mut nodes = vec![0; count];
    for column in 1..=count {
        nodes[assignment.row_of[column] - 1] = group[column - 1];
    }
    nodes
}

/// Rows that are assigned to columns, with the least cost. Row and column 0 are the beginning of every path.
struct Assignment {
    count: usize,
    cost: Vec<i64>,
    /// The potentials of rows and columns.
    of_row: Vec<i64>,
    of_column: Vec<i64>,
    /// The row of each column; 0 for none.
    row_of: Vec<usize>,
}

impl Assignment {
    fn new(count: usize, cost: Vec<i64>) -> Self {
        let (of_row, of_column) = (vec![0; count + 1], vec![0; count + 1]);
        Self { count, cost, of_row, of_column, row_of: vec![0; count + 1] }
    }

    /// Assigns one more row, by the shortest augmenting path.
    fn add_row(&mut self, row: usize) {
        let Self { count, ref cost, ref mut of_row, ref mut of_column, ref mut row_of } = *self;
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![i64::MAX; count + 1];
        let mut came_from = vec![0_usize; count + 1];
        let mut is_done = vec![false; count + 1];
        while row_of[column] != 0 {
            is_done[column] = true;
            let assigned = row_of[column];
            let (mut step, mut next) = (i64::MAX, 0);
            for other in (1..=count).filter(|&other| !is_done[other]) {
                let reduced = cost[(assigned - 1) * count + other - 1] - of_row[assigned] - of_column[other];
                if reduced < least[other] {
                    (least[other], came_from[other]) = (reduced, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=count {
                if is_done[other] {
                    of_row[row_of[other]] += step;
                    of_column[other] -= step;
                } else if other > 0 {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[came_from[column]];
            column = came_from[column];
        }
    }
}
