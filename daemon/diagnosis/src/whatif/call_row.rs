//! A call, as it waits to become part of the graph.

use mpiscope_model::{Comm, Nanoseconds, Rank, Site};

/// No rank, communicator or other index.
pub(crate) const NONE: u32 = u32::MAX;
/// Stands for no communicator in a row.
pub(crate) const NO_COMM: Comm = Comm(NONE);
/// Stands in a row for all ranks together where they start and end MPI, which is done on no communicator.
pub(crate) const STARTUP_COMM: Comm = Comm(NONE - 1);

/// A call, as it waits to become part of the graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallRow {
    pub(crate) start_ns: Nanoseconds,
    pub(crate) end_ns: Nanoseconds,
    pub(crate) bytes: u32,
    pub(crate) peer: Rank,
    pub(crate) comm: Comm,
    pub(crate) instance: u32,
    pub(crate) site: Site,
    pub(crate) function: u16,
}
