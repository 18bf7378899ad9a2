use crate::{Function, Nanoseconds, Rank};

/// An MPI call that has not returned yet. What it moves is known only when it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Who called.
    pub rank: Rank,
    /// Which of the rank's threads, numbered as they first called MPI.
    pub thread: u16,
    /// What was called.
    pub function: Function,
    /// When the call was entered.
    pub since_ns: Nanoseconds,
}
