//! What was found about the run, as a client receives it.

use serde::{Deserialize, Serialize};

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// What a stretch of the run suffered from most, of the whole job or of a region.
    Cause,
    /// A stretch in which messages between nodes, or collectives, took longer than when the network was quiet.
    Disturbance,
    /// The latency of a region, or between two, that rises.
    Growth,
    /// Ranks that others wait for: that have more to do than others, or too few CPUs.
    Source,
    /// A stretch in which no call began or returned.
    Hang,
    /// Ranks that a signal or a debugger stopped.
    Stopped,
}

/// One finding. One that came again with the same `finding` replaces what came before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Names it, the same whenever it comes.
    pub finding: String,
    /// What it is.
    pub kind: FindingKind,
    /// Where it begins: its place in the order of time.
    pub from_ns: f64,
    /// Where it ends; none where it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<f64>,
    /// Ranges of the ranks it is about, both ends included; empty for all.
    #[serde(default)]
    pub ranks: Vec<(u32, u32)>,
    /// The region it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<u32>,
    /// The other region, where it is about what goes between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<u32>,
    /// `mapping`, `pattern`, `background` or `cpu`, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What it costs, in seconds of ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avoidable_s: Option<f64>,
    /// How sure it is, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What it says, in sentences.
    pub text: String,
    /// It was diagnosed with all that is known in the end.
    pub is_final: bool,
    /// It is not held any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_withdrawn: bool,
}
