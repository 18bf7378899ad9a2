//! Who talks with whom, and in what order: regions of ranks, their placement on nodes, logical time and the dependency graph.
//!
//! In: traffic between ranks, collectives, and events of a range. Out: regions (groups of ranks that talk most with each
//! other) and how late messages between them were, a better placement, vector clocks, and the graph of states and messages.
//! It does no I/O, has no threads and reads no clock.

mod balance;
mod dag;
mod logical;
mod placement;
mod regions;
#[cfg(test)]
mod test_messages;

pub use balance::{Balance, RankBalance, flatness};
pub use dag::{Bar, Dag, DagEdge, DagNode, DagScope};
pub use logical::{Cone, EventId, LogicalEvent, LogicalEventKind, LogicalTime, Meeting, Member};
pub use placement::{Advice, Flow, Traffic, advise, capacities};
pub use regions::{
    Clustering, CollectiveTraffic, Cut, Exchange, Follower, Lateness, MOST_EXACT, Method, PairLateness,
    Region, TalkGraph, Tracker, exchanges, modularity, regions, talk_graph,
};
