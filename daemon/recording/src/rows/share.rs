//! `summary/shares.parquet`: what each rank's time was spent on, by window.

use crate::row::{Column, Row, column};
use mpiscope_model::{Nanoseconds, Rank};

/// What some ranks spent a window on, in nanoseconds of ranks. Waiting by cause is a difference: parts may be negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShareRow {
    /// When the window begins.
    pub from_ns: Nanoseconds,
    /// How long it is.
    pub width_ns: u64,
    /// The first of the ranks.
    pub rank: Rank,
    /// How many ranks, from that one on, were added up.
    pub ranks: u32,
    /// Between calls, with a CPU.
    pub compute_ns: u64,
    /// Waiting for a CPU.
    pub cpu_wait_ns: u64,
    /// Messages on their way.
    pub transfer_ns: u64,
    /// The rest of the time in MPI.
    pub library_ns: u64,
    /// Waiting for ranks that compute longer.
    pub waiting_work_ns: u64,
    /// Waiting for ranks that wait for a CPU.
    pub waiting_cpu_ns: u64,
    /// Waiting for what the network delays.
    pub waiting_network_ns: u64,
    /// Waiting for the inter-node cost.
    pub waiting_distance_ns: u64,
    /// Waiting for what every job has.
    pub waiting_rest_ns: u64,
}

impl Row for ShareRow {
    const TABLE: &'static str = "shares";
    const RANKS: &'static [&'static str] = &["rank"];
    const RANK_COUNTS: &'static [&'static str] = &["ranks"];
    const TIMES: &'static [&'static str] = &["from_ns", "width_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(from_ns: U64, Rising),
        column!(width_ns: U64, Repeating),
        column!(rank: U32 of Rank, Rising),
        column!(ranks: U32, Repeating),
        column!(compute_ns: U64, Rising),
        column!(cpu_wait_ns: U64, MostlyZero),
        column!(transfer_ns: U64, Rising),
        column!(library_ns: U64, Rising),
        column!(waiting_work_ns: U64, Rising),
        column!(waiting_cpu_ns: U64, MostlyZero),
        column!(waiting_network_ns: U64, MostlyZero),
        column!(waiting_distance_ns: U64, MostlyZero),
        column!(waiting_rest_ns: U64, MostlyZero),
    ];

    fn blank() -> Self {
        Self::default()
    }
}
