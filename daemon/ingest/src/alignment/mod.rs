//! The clocks of several nodes as one.
//!
//! Each node has a monotonic clock of its own; one node's defines the time of the run. Two things tell how they relate,
//! and each is a bound that is certain, not a measure with an error: a round trip (the reply was written between the
//! question and its arrival) and a message of the job (it did not arrive before it was sent).
//!
//! * [`NodeClock`] maps the clock of a node while the run goes on, from round trips alone. What it told stays told.
//! * [`Bounds`] keeps of the job's messages what bounds the clocks, in memory that does not grow with the run.
//! * [`ClockMaps::solve`] takes both together and says by how much the times that were told are to be corrected.
//! * [`Violations`] counts the messages that still end before they begin.
//!
//! What must hold: time never runs backward on a node, and the true time lies within the uncertainty that is told, as
//! long as rates wander no more than `corridor` allows for.

mod bounds;
mod constraints;
mod corridor;
mod interval;
mod known;
mod maps;
mod node_clock;
mod violations;

pub use bounds::Bounds;
pub use interval::RoundTrip;
pub use maps::{ClockMaps, NodeMap};
pub use node_clock::NodeClock;
pub use violations::Violations;
