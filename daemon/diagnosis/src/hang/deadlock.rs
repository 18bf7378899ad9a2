//! Which ranks may go on, and what blocks the others.

use super::graph::{End, Graph};
use super::waits::Need;
use mpiscope_model::Rank;
use std::collections::VecDeque;

/// For each node whether it may go on: it does not wait, or all (or one) of those that it waits for may go on. The
/// others wait for ever: for each other, or for a process that has ended.
pub(super) fn free(graph: &Graph) -> Vec<bool> {
    let askers = graph.askers();
    let mut free = vec![false; graph.nodes.len()];
    let mut lacks: Vec<usize> = graph.nodes.iter().map(|node| node.on.len()).collect();
    let mut next: Vec<u32> = Vec::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        if node.ends == Some(End::MayGoOn) {
            free[at] = true;
            next.push(at as u32);
        }
    }
    while let Some(at) = next.pop() {
        for &asker in &askers[at as usize] {
            let node = &graph.nodes[asker as usize];
            let lacks = &mut lacks[asker as usize];
            *lacks = lacks.saturating_sub(1);
            if !free[asker as usize] && (node.need == Need::Any || *lacks == 0) {
                free[asker as usize] = true;
                next.push(asker);
            }
        }
    }
    free
}

/// Cycles of ranks that wait for each other for ever, one for each component without a wait that leads out: the
/// shortest through its lowest rank. All ranks of the component, where they share a list and each way back leads
/// through that.
pub(super) fn cycles(graph: &Graph, free: &[bool], most: usize) -> Vec<Vec<Rank>> {
    let component = components(graph, free);
    let stuck = |at: u32| !free[at as usize] && graph.nodes[at as usize].ends.is_none();
    let mut leads_out = vec![false; graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate().filter(|(at, _)| stuck(*at as u32)) {
        let out = |&on: &u32| stuck(on) && component[on as usize] != component[at];
        if node.on.iter().any(out) {
            leads_out[component[at] as usize] = true;
        }
    }
    let mut reported = vec![false; graph.nodes.len()];
    let mut cycles = Vec::new();
    for rank in graph.ranks().filter(|rank| stuck(rank.0)) {
        let of = component[rank.index()] as usize;
        if cycles.len() < most
            && !leads_out[of]
            && !std::mem::replace(&mut reported[of], true)
            && let Some(cycle) = cycle(graph, rank, |on| stuck(on) && component[on as usize] as usize == of)
        {
            let all = || graph.ranks().filter(|rank| stuck(rank.0) && component[rank.index()] as usize == of);
            let is_alone = cycle.len() == 1 && !graph.nodes[rank.index()].on.contains(&rank.0);
            cycles.push(if is_alone { all().collect() } else { cycle });
        }
    }
    cycles
}

/// The shortest way from a rank back to itself, as the ranks on it.
fn cycle(graph: &Graph, from: Rank, within: impl Fn(u32) -> bool) -> Option<Vec<Rank>> {
    let mut before = vec![u32::MAX; graph.nodes.len()];
    let mut next = VecDeque::from([from.0]);
    while let Some(at) = next.pop_front() {
        for &on in graph.nodes[at as usize].on.iter().filter(|&&on| within(on)) {
            if on == from.0 {
                let mut way = vec![at];
                while way.last() != Some(&from.0) {
                    way.push(before[*way.last()? as usize]);
                }
                way.reverse();
                way.retain(|&node| graph.is_rank(node));
                return Some(way.into_iter().map(Rank).collect());
            }
            if before[on as usize] == u32::MAX {
                before[on as usize] = at;
                next.push_back(on);
            }
        }
    }
    None
}

/// Has no number yet.
const UNSEEN: u32 = u32::MAX;

/// The open nodes down to the first one of a component get its number.
fn close_component(open: &mut Vec<u32>, first: u32, component: &mut [u32], number: u32) {
    while let Some(node) = open.pop() {
        component[node as usize] = number;
        if node == first {
            break;
        }
    }
}

/// The strongly connected component of each stuck node. Tarjan's algorithm, without recursion: chains may be as long
/// as there are ranks.
fn components(graph: &Graph, free: &[bool]) -> Vec<u32> {
    let count = graph.nodes.len();
    let (mut number, mut low, mut component) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
    let (mut path, mut open, mut seen, mut component_count) = (Vec::<(u32, usize)>::new(), Vec::new(), 0, 0);
    for start in 0..count as u32 {
        if free[start as usize] || number[start as usize] != UNSEEN {
            continue;
        }
        path.push((start, 0));
        while let Some(&mut (at, ref mut edge)) = path.last_mut() {
            let node_at = at as usize;
            if number[node_at] == UNSEEN {
                (number[node_at], low[node_at]) = (seen, seen);
                seen += 1;
                open.push(at);
            }
            let on = graph.nodes[node_at].on.get(*edge).copied();
            *edge += 1;
            match on {
                Some(on) if free[on as usize] => {}
                Some(on) if number[on as usize] == UNSEEN => path.push((on, 0)),
                Some(on) if component[on as usize] == UNSEEN => {
                    low[node_at] = low[node_at].min(number[on as usize]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(before, _)) = path.last() {
                        low[before as usize] = low[before as usize].min(low[node_at]);
                    }
                    if low[node_at] == number[node_at] {
                        close_component(&mut open, at, &mut component, component_count);
                        component_count += 1;
                    }
                }
            }
        }
    }
    component
}

/// How many ranks wait for one, directly or through others.
pub(super) fn waiting_for(graph: &Graph, askers: &[Vec<u32>], rank: Rank) -> usize {
    let mut seen = vec![false; graph.nodes.len()];
    let mut next = vec![rank.0];
    let mut count = 0;
    while let Some(at) = next.pop() {
        for &asker in &askers[at as usize] {
            if asker != rank.0 && !std::mem::replace(&mut seen[asker as usize], true) {
                count += usize::from(graph.is_rank(asker));
                next.push(asker);
            }
        }
    }
    count
}
