//! How the shared clock stands, as pages receive it.

use crate::exchange::incoming::Selection;
use serde::{Deserialize, Serialize};

/// How the shared clock stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Now, as far as calls are known.
    #[default]
    Live,
    /// It stands.
    Paused,
    /// It runs.
    Playing,
}

/// How the shared clock stands, for pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PerspectiveMessage {
    /// Always `perspective`.
    pub kind: PerspectiveKind,
    /// Grows with every move.
    pub version: u64,
    /// Whether it runs.
    pub mode: Mode,
    /// Where it is.
    pub time_ns: f64,
    /// Seconds of the run a second, while it plays.
    pub rate: f64,
    /// What is selected.
    #[serde(flatten)]
    pub selection: Selection,
    /// Open pages.
    pub pages: u32,
    /// Those that follow.
    pub followers: u32,
}

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum PerspectiveKind {
    Perspective,
}
