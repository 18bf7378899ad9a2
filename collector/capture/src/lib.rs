//! What an MPI call means: how many bytes, to whom, on which communicator, which request completed.
//!
//! In: plain values from the shim. Out: slots, and the partners of a rank in a calibration. Safe code without MPI,
//! clocks or shared memory; only the shim uses it. Once warm, the path of a message allocates nothing. Nothing grows
//! with the length of the run, and sizes have 64 bits.
#![forbid(unsafe_code)]

mod call_paths;
pub mod collective;
mod comms;
mod family;
mod polls;
mod requests;
mod rounds;
mod sites;
mod thread;

pub use call_paths::{Caller, Frame, MOST_FRAMES};
pub use comms::{About, Comm, CommCache, Comms, Dimension, Members, Origin, Peer};
pub use family::{Family, MPICH, OPEN_MPI, StatusLayout, StatusWords};
pub use requests::{Posted, Requests, Template, started_number};
pub use rounds::{Pair, partner, rounds};
pub use sites::{Located, MOST_SITES, Sites};
pub use thread::{Interval, Process, Received, Sink, Thread};

/// The bytes of `count` elements of `size`.
#[inline]
#[must_use]
pub fn bytes(count: i64, size: u64) -> u64 {
    u64::try_from(count).unwrap_or_default().saturating_mul(size)
}
