//! The dependency graph of a stretch of time: whose messages led to whose.
//!
//! A node is a rank for a while: it receives messages, then sends some; the next receive begins a new node. An edge
//! runs from the sending node to the receiving one, with the number of messages. Within a node all receives come
//! before all sends: a path through the graph is a path that one message after another took, and never leads back.
//!
//! Nodes follow from the order of each rank alone. Any order of events that agrees with logical time therefore makes
//! the same graph.

mod build;
mod glyph;
mod layout;
#[cfg(test)]
mod tests;

pub use glyph::Bar;

use crate::Balance;
use mpiscope_model::{Message, Nanoseconds, Rank};
use std::ops::Range;

/// What a graph is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DagScope {
    /// Events in this stretch.
    pub range_ns: Range<Nanoseconds>,
    /// On these ranks, ranges with both ends included; on all where none is given.
    pub ranks: Option<Vec<(Rank, Rank)>>,
    /// The most nodes. Where there would be more the stretch ends before the first that has no room.
    pub most_nodes: usize,
}

impl DagScope {
    /// Whether a rank is meant.
    #[must_use]
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.iter().any(|&(from, to)| (from..=to).contains(&rank)))
    }

    /// The first moment within the stretch at which a message does something on a rank that is meant.
    #[must_use]
    pub fn first_ns(&self, message: &Message) -> Option<Nanoseconds> {
        let event = |rank, at_ns| (self.range_ns.contains(&at_ns) && self.has(rank)).then_some(at_ns);
        let [send, receive] = [event(message.src, message.send_ns), event(message.dst, message.recv_ns)];
        send.into_iter().chain(receive).min()
    }
}

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

    /// The graph of these messages, as far as they lie in a scope, laid out.
    #[must_use]
    pub fn build(messages: &[Message], scope: &DagScope) -> Self {
        let mut dag = build::build(messages, scope);
        layout::layer(&mut dag);
        layout::order(&mut dag);
        dag
    }

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

    /// How many nodes follow each one: what folding it hides.
    #[must_use]
    pub fn following(&self) -> Vec<u32> {
        layout::following(self)
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
