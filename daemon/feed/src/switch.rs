//! Whether calls are recorded, and when they were not.

use serde::{Deserialize, Serialize};

/// What pages receive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Switch {
    /// Whether calls are recorded now.
    pub is_on: bool,
    /// Of how many seconds calls are held back while recording is off, to be recorded once it is on; none where they are not.
    pub held_s: Option<f64>,
    /// Calls that were made while they were not.
    pub unrecorded_calls: u64,
    /// Since when they were not, and until when, in seconds; none for to the end or until now.
    pub gaps_s: Vec<(f64, Option<f64>)>,
}
