//! Figures of all ranks, as pages receive them.

use crate::column::{F64Column, U32Column};
use crate::rank_phases::Phase;
use serde::{Deserialize, Serialize};

/// Figures of all ranks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RankMetrics {
    /// The range, as far as the run goes.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// The whole windows that figures of waiting and causes are of; both 0 where there are none.
    #[serde(rename = "judged_from_ns")]
    pub diagnosed_from_ns: u64,
    /// Their end.
    #[serde(rename = "judged_to_ns")]
    pub diagnosed_to_ns: u64,
    /// How many ranks there are.
    pub ranks: u32,
    /// The host of each rank.
    pub host: F64Column,
    /// The phases that the program named until now.
    pub phases: Vec<Phase>,
    /// The figures, in the order in which they were asked for.
    pub metrics: Vec<MetricColumn>,
}

/// A figure of all ranks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MetricColumn {
    /// Its name: seconds, counts, bytes, or a factor.
    pub metric: String,
    /// By rank; not a number where it is not known. Empty where it is known of no rank.
    pub values: F64Column,
    /// Why it is not known, in a sentence; empty where it is.
    pub missing: String,
}

/// Time by function and row of ranks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Landscape {
    /// The range, as far as the run goes.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Ranks of a row.
    pub ranks_per_row: u32,
    /// How many rows there are.
    pub rows: u32,
    /// The functions, the one with the most time first.
    pub function: U32Column,
    /// Mean seconds of a rank, all rows of the first function before those of the second.
    pub seconds: F64Column,
}
