//! From frames to the model: ticks become nanoseconds of the run, slots become calls and events, faults become values.
//!
//! In: messages of agents, in any batches. Out: batches of rows and events. It does no I/O and reads no clock. Where its owner
//! allows threads, they read slots of many processes at once; what becomes known is the same. Nothing that a job writes makes it panic or grow without bound.
//!
//! The daemon uses it live, and every reader of a write-ahead log: the same bytes give the same calls and messages.

mod clock;
mod closed_call;
mod decoded;
mod decoding;
mod effect;
pub mod host_clocks;
mod ingest;
mod memory_budget;
mod origin;
mod process;
mod ring;
mod settled;
mod site;
mod timed_event;

pub use ingest::{Ingest, KnownAgent};

/// Who waits for whom in a collective; none for those that return before they are done, and for all other functions.
#[must_use]
pub fn flow(function: mpiscope_model::Function) -> Option<mpiscope_model::Flow> {
    effect::flow(function)
}
