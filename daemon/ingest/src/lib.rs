//! From frames to the model: ticks become nanoseconds of the run, slots become calls and events, faults become values.
//!
//! What it is: a state machine that is fed messages and hands out batches. What it is not: I/O, threads, clocks.
//! Who uses it: the daemon, live, and every reader of a write-ahead log: the same bytes give the same batches. What
//! must hold: nothing a job writes can make it panic or grow without bound.

mod clock;
mod closed_call;
mod effect;
pub mod host_clocks;
mod ingest;
mod memory_budget;
mod origin;
mod process;
mod ring;
mod site;
mod timed_event;

pub use ingest::{Ingest, KnownAgent};

/// Who waits for whom in a collective; none for those that return before they are done, and for all other functions.
#[must_use]
pub fn flow(function: mpiscope_model::Function) -> Option<mpiscope_model::Flow> {
    effect::flow(function)
}
