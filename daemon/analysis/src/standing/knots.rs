//! Who may go on, and what holds the others.

use super::graph::{End, Graph};
use super::waits::Need;
use mpiscope_model::Rank;
use std::collections::VecDeque;

/// For each node whether it may go on: it waits for nobody, or all (or one) of those that it waits for may. Those that
/// are left wait for ever: for each other, or for somebody who is gone.
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

/// Circles of ranks that wait for each other for ever, one for each knot of which no wait leads out: the shortest through
/// its lowest rank, or all of its ranks, where these share a list and each way back leads through that.
pub(super) fn circles(graph: &Graph, free: &[bool], most: usize) -> Vec<Vec<Rank>> {
    let knot = knots(graph, free);
    let held = |at: u32| !free[at as usize] && graph.nodes[at as usize].ends.is_none();
    let mut leads_out = vec![false; graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate().filter(|(at, _)| held(*at as u32)) {
        let out = |&on: &u32| held(on) && knot[on as usize] != knot[at];
        if node.on.iter().any(out) {
            leads_out[knot[at] as usize] = true;
        }
    }
    let mut told = vec![false; graph.nodes.len()];
    let mut circles = Vec::new();
    for rank in graph.ranks().filter(|&rank| held(rank)) {
        let of = knot[rank as usize] as usize;
        if circles.len() < most
            && !leads_out[of]
            && !std::mem::replace(&mut told[of], true)
            && let Some(circle) = circle(graph, rank, |on| held(on) && knot[on as usize] as usize == of)
        {
            let all = || graph.ranks().filter(|&rank| held(rank) && knot[rank as usize] as usize == of);
            let is_alone = circle.len() == 1 && !graph.nodes[rank as usize].on.contains(&rank);
            circles.push(if is_alone { all().collect() } else { circle });
        }
    }
    circles
}

/// The shortest way from a rank back to itself, as the ranks on it.
fn circle(graph: &Graph, from: Rank, within: impl Fn(u32) -> bool) -> Option<Vec<Rank>> {
    let mut before = vec![u32::MAX; graph.nodes.len()];
    let mut next = VecDeque::from([from]);
    while let Some(at) = next.pop_front() {
        for &on in graph.nodes[at as usize].on.iter().filter(|&&on| within(on)) {
            if on == from {
                let mut way = vec![at];
                while way.last() != Some(&from) {
                    way.push(before[*way.last()? as usize]);
                }
                way.reverse();
                way.retain(|&node| graph.is_rank(node));
                return Some(way);
            }
            if before[on as usize] == u32::MAX {
                before[on as usize] = at;
                next.push_back(on);
            }
        }
    }
    None
}

/// For each node that is held the number of its knot: of those that can be reached from it and from which it can be.
/// Tarjan's way, without recursion: chains may be as long as there are ranks.
fn knots(graph: &Graph, free: &[bool]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.nodes.len();
    let (mut number, mut low, mut knot) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
    let (mut path, mut open, mut seen, mut knots) = (Vec::<(u32, usize)>::new(), Vec::new(), 0, 0);
    for start in 0..count as u32 {
        if free[start as usize] || number[start as usize] != UNSEEN {
            continue;
        }
        path.push((start, 0));
        while let Some(&mut (at, ref mut edge)) = path.last_mut() {
            let here = at as usize;
            if number[here] == UNSEEN {
                (number[here], low[here]) = (seen, seen);
                seen += 1;
                open.push(at);
            }
            let on = graph.nodes[here].on.get(*edge).copied();
            *edge += 1;
            match on {
                Some(on) if free[on as usize] => {}
                Some(on) if number[on as usize] == UNSEEN => path.push((on, 0)),
                Some(on) if knot[on as usize] == UNSEEN => low[here] = low[here].min(number[on as usize]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(before, _)) = path.last() {
                        low[before as usize] = low[before as usize].min(low[here]);
                    }
                    if low[here] == number[here] {
                        while let Some(node) = open.pop() {
                            knot[node as usize] = knots;
                            if node == at {
                                break;
                            }
                        }
                        knots += 1;
                    }
                }
            }
        }
    }
    knot
}

/// How many ranks wait for one, directly or through others.
pub(super) fn waiting_for(graph: &Graph, askers: &[Vec<u32>], rank: Rank) -> usize {
    let mut seen = vec![false; graph.nodes.len()];
    let mut next = vec![rank];
    let mut count = 0;
    while let Some(at) = next.pop() {
        for &asker in &askers[at as usize] {
            if asker != rank && !std::mem::replace(&mut seen[asker as usize], true) {
                count += usize::from(graph.is_rank(asker));
                next.push(asker);
            }
        }
    }
    count
}
