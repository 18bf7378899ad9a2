//! Regions: groups of ranks that talk mostly among themselves, found from their traffic.
//!
//! Two methods measure how far apart two ranks are. Groups are merged by average linkage, the nearest first, until the
//! cut. Ranks that do not reach each other are never in one region. The same graph gives the same regions, bit by bit;
//! among equals the lowest rank decides.

mod clustering;
mod coarsen;
mod collectives;
mod cut;
mod distance;
mod graph;
mod inverse;
mod latencies;
mod linkage;
mod method;
mod region;
#[cfg(test)]
mod tests;
mod tracker;

pub use clustering::{Clustering, MOST_EXACT, modularity, regions};
pub use collectives::{CollectiveTraffic, talk_graph};
pub use cut::Cut;
pub use graph::TalkGraph;
pub use latencies::{Exchange, Lateness, PairLateness, exchanges};
pub use method::Method;
pub use region::Region;
pub use tracker::{Follower, Tracker};
