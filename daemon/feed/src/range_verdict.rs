//! The verdict on a part of a run, as pages receive it.

use serde::{Deserialize, Serialize};

/// What a part of a run suffers from most.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RangeVerdict {
    /// The cause: `mapping`, `pattern`, `background`, `cpu` or `none`.
    pub cause: String,
    /// By how much the part would be shorter, in seconds.
    pub avoidable_wall_s: f64,
    /// The same as a share of the part.
    pub share: f64,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The ranks that the cause comes from; none where it lies with no ranks, or with most of them.
    pub ranks: Vec<u32>,
    /// All of it in a sentence.
    pub sentence: String,
    /// What shows it, a sentence each.
    pub details: Vec<String>,
    /// What to do, a sentence each.
    pub actions: Vec<String>,
}

/// Which ranks a cause comes from in a part of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SourcePart {
    /// The cause: `pattern` or `cpu`.
    pub cause: String,
    /// Where the part begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// What all ranks did too much, or had no CPU, in seconds.
    pub total_s: f64,
    /// The ranks with the most of it, the first of them.
    pub ranks: Vec<(u32, f64)>,
}
