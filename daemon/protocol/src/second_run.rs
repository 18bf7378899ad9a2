//! A second recording on the clock of the first, as a client receives it.

use serde::{Deserialize, Serialize};

/// One of two recordings that are replayed together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// The first, whose clock all share.
    #[default]
    A,
    /// The second.
    B,
}

impl Recording {
    pub(crate) fn is_a(&self) -> bool {
        *self == Self::A
    }
}

/// When the rows of a batch were in the own time of recording B, one a place in both columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OwnTimes {
    /// When the call was entered, the message sent, or the window began.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub from_ns: Vec<f64>,
    /// When the call returned, the message was received, or the window ended.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub to_ns: Vec<f64>,
}

/// What a client learns about recording B.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SecondRun {
    /// The command that was run.
    pub command: String,
    /// Ranks of the job.
    pub ranks: u32,
    /// How long the run took, in its own time.
    pub run_ns: f64,
    /// By what it is on the clock of A: `start`, `phase` or `turn`.
    pub aligned_by: String,
    /// Why, and what was matched, in a sentence.
    pub reason: String,
    /// Turns or phases that both runs have, one a place in all columns.
    pub sections: Sections,
}

/// Turns or phases that both runs have, in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sections {
    /// The name of each phase; empty for a turn.
    pub name: Vec<String>,
    /// Which turn, or which phase of that name, from 1 on.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub number: Vec<u32>,
    /// Where it begins in A.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub a_from_ns: Vec<f64>,
    /// Where it ends in A.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub a_to_ns: Vec<f64>,
    /// Where it begins in B, in B's own time.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub b_from_ns: Vec<f64>,
    /// Where it ends in B, in B's own time.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub b_to_ns: Vec<f64>,
}
