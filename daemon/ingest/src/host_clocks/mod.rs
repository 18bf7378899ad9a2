//! The clocks of several nodes as one.
//!
//! Each node has a monotonic clock of its own; one node's defines the time of the run. Two things tell how they relate,
//! and each is a bound that is certain, not a measure with an error: a round trip (the reply was written between the
//! question and its arrival) and a message of the job (it did not arrive before it was sent).
//!
//! * [`NodeClock`] maps the clock of a node while the run goes on, from round trips alone. Published times never
//!   change.
//! * [`Bounds`] keeps the bounds that the job's messages give for the clocks, in memory that does not grow with the
//!   run.
//! * [`ClockMaps::solve`] combines both into a correction of the published times.
//! * [`Violations`] counts the messages that still end before they begin.
//!
//! What must hold: time never runs backward on a node, and the true time lies within the reported uncertainty, as long
//! as rates wander no more than `corridor` allows for.

mod bounds;
mod clock_bounds;
mod constraints;
mod corridor;
mod interval;
mod maps;
mod node_clock;
mod node_map;
mod violations;

pub use bounds::Bounds;
pub use interval::RoundTrip;
pub use maps::ClockMaps;
pub use node_clock::NodeClock;
pub use node_map::NodeMap;
pub use violations::Violations;
