//! The operators of a live diagnosis on timely dataflow: batches in, where time went out.
//!
//! In: batches from the daemon's own thread, and its questions. Out: counts, messages and the budget. It wires the
//! operators of `mpiscope-matching` and `mpiscope-diagnosis` over workers, and owns their threads; it has no operators. Other
//! processes with workers are streams that others opened ([`Cluster`]). The outcome is to the nanosecond that of `mpiscope_diagnosis::Windowed` with the same batches, for any
//! number of workers. Queues of input are bounded, workers take turns within a window, and a worker that panics ends the
//! flow with an error.
#![forbid(unsafe_code)]

mod budgeting;
mod cluster;
mod counting;
mod crew;
mod dataflow;
mod error;
mod flow;
mod frames;
mod gate;
mod matching;
mod options;
mod packet;
mod parcel;
mod peers;
mod remote;
mod sent;
mod settling;
mod share;
mod split;
mod worker;
mod worker_figures;

pub use cluster::Cluster;
pub use error::{FlowError, TryFeedError};
pub use flow::{Feeder, Flow, Outcome, work_on_share};
pub use frames::{frame_head, from_bytes, read_frame, to_bytes};
pub use options::FlowOptions;
pub use sent::Rows;
