//! The operators of a judged run on timely dataflow: batches in, where time went out.
//!
//! What it is: the wiring of matching, counting and budget over the workers of one process, and the threads they run
//! in. What it is not: operators (those are in `mpiscope-analysis`), I/O, a network. Who uses it: the daemon, whose own
//! thread feeds it and asks it. What must hold: the outcome is to the nanosecond that of `mpiscope_analysis::Windowed`
//! fed with the same batches, however many workers there are; what goes from worker to worker is plain values that
//! could as well go as bytes; what waits is bounded; a worker that panics ends the flow with an error, and nothing else.
#![forbid(unsafe_code)]

mod counting;
mod dataflow;
mod error;
mod flow;
mod gate;
mod judging;
mod matching;
mod options;
mod parcel;
mod plain;
mod split;
mod worker;

pub use error::{FlowError, TryFeedError};
pub use flow::{Flow, Outcome};
pub use options::FlowOptions;
