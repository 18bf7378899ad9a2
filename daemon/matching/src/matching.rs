//! Matching: sends and receives of one (communicator, source, destination, tag) pair up in the order of posting.
//!
//! A receive that completed waits for its turn: every receive that its rank posted before and that could have taken
//! the same message must be resolved first. Those of the same channel stand before it in the channel; those with
//! wildcards stand in a list of their own.

mod doubt;
mod limits;
mod matched;
mod matcher;
mod open;
mod receive_order;
mod sharding;

pub use limits::MatchingLimits;
pub use matched::{Link, Matched};
pub use matcher::Matcher;
pub use open::{OpenPost, UnreceivedSend, WaitingSend};
pub use sharding::receivers;
