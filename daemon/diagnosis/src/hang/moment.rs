//! What is known of a job that may hang.

use mpiscope_matching::{OpenPost, WaitingSend};
use mpiscope_model::{Function, InFlight, Nanoseconds, ProcessState, Rank};
use std::collections::BTreeMap;

/// What is known of the job at the moment.
#[derive(Debug)]
pub struct Moment<'a> {
    /// When this is.
    pub now_ns: Nanoseconds,
    /// The calls that have not returned.
    pub in_flight: &'a [InFlight],
    /// How each rank that was seen stands.
    pub ranks: &'a BTreeMap<Rank, ProcessState>,
    /// How many ranks there are.
    pub world_size: u32,
    /// Receives that are open.
    pub posts: Vec<OpenPost>,
    /// Messages that nobody received.
    pub sends: Vec<WaitingSend>,
    /// The function that ends MPI, in which everybody waits for everybody.
    pub finalize: Function,
    /// Functions that wait for one of their requests and not for all.
    pub any_of: &'a [Function],
}

/// Whether a process makes no more calls.
pub(super) fn is_gone(state: ProcessState) -> bool {
    matches!(state, ProcessState::Finalized | ProcessState::Aborted | ProcessState::Vanished)
}
