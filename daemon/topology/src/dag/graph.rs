//! The graph: nodes, edges and messages.

use super::scope::DagScope;
use crate::balance::Balance;
use mpiscope_model::{Message, Nanoseconds, Rank};

/// A rank for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DagNode {
    /// Which rank.
    pub rank: Rank,
    /// Its first event.
    pub begin_ns: Nanoseconds,
    /// Its last.
    pub end_ns: Nanoseconds,
    /// Messages that it took in.
    pub received: u32,
    /// Messages that it sent.
    pub sent: u32,
    /// How long the longest way is that leads to it.
    pub layer: u32,
    /// Its place among the nodes of its layer.
    pub place: u32,
}

/// Messages from one node to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DagEdge {
    /// The node that sent.
    pub from: u32,
    /// The node that received.
    pub to: u32,
    /// How many there are.
    pub messages: u32,
    /// Their payload.
    pub bytes: u64,
}

/// The graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dag {
    /// Up to where the graph goes, outside: the end of the stretch, or where it got as many nodes as it may have.
    pub until_ns: Nanoseconds,
    /// By rank, those of one rank as they follow each other.
    pub nodes: Vec<DagNode>,
    /// By the node that sent, then by the one that received.
    pub edges: Vec<DagEdge>,
    /// The messages that do something in it, in the order of their sends.
    pub messages: Vec<Message>,
    /// Of each of them the node that sent it and the one that received it; [`Dag::OUTSIDE`] where that is not part of the graph.
    pub ends: Vec<(u32, u32)>,
    /// Layers.
    pub layers: u32,
    /// How evenly ranks talk.
    pub balance: Balance,
    /// Messages with only one side in the graph: they make no edge.
    pub open: u64,
    /// Messages that make no edge because by the clocks what led to them would have come from them.
    pub contradicted: u64,
    /// Messages of the stretch that are no part of the graph, since it has as many nodes as it may have.
    pub left_out: u64,
}

impl Dag {
    /// Stands for a node that is not part of the graph.
    pub const OUTSIDE: u32 = u32::MAX;

    /// The edges that leave a node.
    #[must_use]
    pub fn edges_from(&self, node: u32) -> &[DagEdge] {
        let from = self.edges.partition_point(|edge| edge.from < node);
        let to = self.edges.partition_point(|edge| edge.from <= node);
        &self.edges[from..to]
    }

    /// Which nodes are not shown while some are folded: all that follow one of them.
    #[must_use]
    pub fn hidden(&self, folded: &[u32]) -> Vec<bool> {
        let mut is_hidden = vec![false; self.nodes.len()];
        let mut stack = folded.to_vec();
        while let Some(node) = stack.pop() {
            for edge in self.edges_from(node) {
                if !std::mem::replace(&mut is_hidden[edge.to as usize], true) {
                    stack.push(edge.to);
                }
            }
        }
        is_hidden
    }

    /// Ranks that are meant, of those that there are, and have no node.
    pub fn isolated<'a>(
        &'a self,
        scope: &'a DagScope,
        ranks: impl Iterator<Item = Rank> + 'a,
    ) -> impl Iterator<Item = Rank> + 'a {
        let has_node = |rank: Rank| self.nodes.binary_search_by_key(&rank, |node| node.rank).is_ok();
        ranks.filter(move |&rank| scope.has(rank) && !has_node(rank))
    }
}
