//! Who waits for whom, as a graph: a node for each rank, and one for each list of ranks or call that several share.

use super::moment::{Moment, is_gone};
use super::waits::{Need, Waiting};
use mpiscope_model::Rank;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Longer lists have a node of their own: the graph does not grow with the square of the ranks.
const SHORT: usize = 4;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) need: Need,
    pub(super) on: Vec<u32>,
    /// It does not wait: it may go on, or it has ended.
    pub(super) ends: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    MayGoOn,
    Gone,
}

/// The nodes of ranks.
fn numbers<'a>(ranks: impl Iterator<Item = &'a Rank>) -> Vec<u32> {
    ranks.map(|rank| rank.0).collect()
}

#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// How many of them are ranks; those come first, by their numbers.
    ranks: usize,
    /// Which nodes others wait for.
    asked_for: Vec<bool>,
}

impl Graph {
    pub(super) fn build(moment: &Moment<'_>, waiting: &[Waiting]) -> Self {
        let ranks = moment.world_size as usize;
        let end = |rank| match moment.ranks.get(&rank) {
            Some(&state) if is_gone(state) => End::Gone,
            _ => End::MayGoOn,
        };
        let node = |rank| Node { need: Need::Unknown, on: Vec::new(), ends: Some(end(rank)) };
        let mut graph =
            Self { nodes: Rank::all(moment.world_size).map(node).collect(), ranks, asked_for: Vec::new() };
        let mut lists = FxHashMap::default();
        for of_rank in waiting.chunk_by(|one, other| one.call.rank == other.call.rank) {
            let rank = of_rank[0].call.rank.index();
            if rank >= ranks {
                continue;
            }
            let calls: Vec<Node> =
                of_rank.iter().map(|waiting| graph.waits_of(waiting, &mut lists)).collect();
            graph.nodes[rank] = match <[Node; 1]>::try_from(calls) {
                Ok([call]) => call,
                // Any of its threads may go on and help the others.
                Err(calls) => {
                    let on = calls.into_iter().map(|call| graph.add(call)).collect();
                    Node { need: Need::Any, on, ends: None }
                }
            };
        }
        graph.see_who_is_asked_for();
        graph
    }

    /// One of ranks alone.
    #[cfg(test)]
    pub(super) fn of_ranks(nodes: Vec<Node>) -> Self {
        let mut graph = Self { ranks: nodes.len(), nodes, asked_for: Vec::new() };
        graph.see_who_is_asked_for();
        graph
    }

    fn see_who_is_asked_for(&mut self) {
        self.asked_for = vec![false; self.nodes.len()];
        for at in self.nodes.iter().flat_map(|node| &node.on) {
            self.asked_for[*at as usize] = true;
        }
    }

    fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn waits_of(&mut self, waiting: &Waiting, lists: &mut FxHashMap<(*const Rank, bool), u32>) -> Node {
        let need = waiting.need;
        if need == Need::Unknown
            || waiting.is_satisfied
            || waiting.on.iter().any(|rank| rank.index() >= self.ranks)
        {
            return Node { need: Need::Unknown, on: Vec::new(), ends: Some(End::MayGoOn) };
        }
        if waiting.on.len() <= SHORT {
            // Of many it is not the one that can come.
            let others = |rank: &&Rank| need == Need::All || **rank != waiting.call.rank;
            return Node { need, on: numbers(waiting.on.iter().filter(others)), ends: None };
        }
        let key = (Arc::as_ptr(&waiting.on).cast::<Rank>(), need == Need::All);
        let known = lists.get(&key).copied();
        let list =
            known.unwrap_or_else(|| self.add(Node { need, on: numbers(waiting.on.iter()), ends: None }));
        lists.insert(key, list);
        Node { need: Need::All, on: vec![list], ends: None }
    }

    pub(super) fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        Rank::all(self.ranks as u32)
    }

    pub(super) fn is_rank(&self, node: u32) -> bool {
        (node as usize) < self.ranks
    }

    /// Whether a rank waits for another.
    pub(super) fn waits(&self, rank: Rank) -> bool {
        self.nodes[rank.index()].ends.is_none()
    }

    /// Whether it does so for another than itself.
    pub(super) fn waits_for_others(&self, rank: Rank) -> bool {
        self.nodes[rank.index()].on.iter().any(|&on| on != rank.0)
    }

    /// Ranks that others wait for.
    pub(super) fn asked_for(&self) -> impl Iterator<Item = Rank> + '_ {
        self.ranks().filter(|&rank| self.asked_for[rank.index()])
    }

    /// For each node, who waits for it.
    pub(super) fn askers(&self) -> Vec<Vec<u32>> {
        let mut askers = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            node.on.iter().for_each(|&on| askers[on as usize].push(at as u32));
        }
        askers
    }
}
