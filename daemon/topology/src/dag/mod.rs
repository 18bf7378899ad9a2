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
mod graph;
mod layout;
mod scope;
#[cfg(test)]
mod tests;

pub use glyph::Bar;
pub use graph::{Dag, DagEdge, DagNode};
pub use scope::DagScope;

use mpiscope_model::Message;

impl Dag {
    /// The graph of these messages, as far as they lie in a scope, laid out.
    #[must_use]
    pub fn build(messages: &[Message], scope: &DagScope) -> Self {
        let mut dag = build::build(messages, scope);
        layout::layer(&mut dag);
        layout::order(&mut dag);
        dag
    }

    /// How many nodes follow each one: what folding it hides.
    #[must_use]
    pub fn following(&self) -> Vec<u32> {
        layout::following(self)
    }
}
