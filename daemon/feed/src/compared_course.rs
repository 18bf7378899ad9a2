//! The course of one of two recordings that are compared.

use crate::column::{F64Column, U32Column};
use serde::{Deserialize, Serialize};

/// The course of a recording, in slots of time that are the same for both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedCourse {
    /// How long the run took, or lasted until it was cut off.
    pub duration_ns: u64,
    /// How long each slot is.
    pub width_ns: u64,
    /// How many there are.
    pub slots: u32,
    /// The functions, by number.
    pub function: U32Column,
    /// Calls that began, function by function, slot by slot.
    pub calls: F64Column,
    /// Seconds of threads: waiting, base, distance, excess, operation, other, unknown, slot by slot each; empty
    /// without a diagnosis.
    pub parts: F64Column,
    /// Seconds of ranks that could be avoided: placement, pattern, network contention, CPU contention; likewise.
    pub avoidable: F64Column,
}
