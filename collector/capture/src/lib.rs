//! What an MPI call means: how many bytes, to whom, on which communicator, which request completed.
//!
//! What it is: safe code over plain values that turns calls into slots, and says who talks to whom in a calibration. What
//! it is not: MPI, clocks, shared memory; the shim passes in what those say. Who uses it: the shim alone. What must hold:
//! no allocation on the path of a message once warm, nothing that grows with the length of the run, sizes in 64 bits.
#![forbid(unsafe_code)]

pub mod collective;
mod comms;
mod family;
mod polls;
mod requests;
mod rounds;
mod sites;
mod thread;

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
