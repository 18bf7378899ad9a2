//! The operators of a live diagnosis on timely dataflow: batches in, where time went out.
//!
//! In: batches from the daemon's own thread, and its questions. Out: counts, messages and the budget. It wires the
//! operators of `mpiscope-matching` and `mpiscope-diagnosis` over the workers of one process, and owns their threads; it has no operators, I/O
//! or network. The outcome is to the nanosecond that of `mpiscope_diagnosis::Windowed` with the same batches, for any
//! number of workers. Queues of input are bounded, workers take turns within a window, and a worker that panics ends the
//! flow with an error.
#![forbid(unsafe_code)]

mod budgeting;
mod counting;
mod dataflow;
mod error;
mod flow;
mod gate;
mod matching;
mod options;
mod parcel;
mod peers;
mod plain;
mod settling;
mod split;
mod worker;
mod worker_figures;

pub use error::{FlowError, TryFeedError};
pub use flow::{Flow, Outcome};
pub use options::FlowOptions;
