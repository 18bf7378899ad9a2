//! Numbers of things, and times.

/// A world rank.
pub type Rank = u32;
/// A dense index into the run's communicator table; 0 is the world communicator.
pub type Comm = u32;
/// A dense index into the run's node table.
pub type Node = u32;
/// A dense index into the run's table of call sites.
pub type Site = u32;
/// A stable, never reused number of an MPI function.
pub type Function = u16;
/// Nanoseconds since the start of the run.
pub type Nanoseconds = u64;
