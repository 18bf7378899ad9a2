//! Hangs of a job, and the calls that ranks were in when it ended, as pages receive them and as recordings keep
//! them.

use serde::{Deserialize, Serialize};

/// What pages receive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hangs {
    /// How often the job hung.
    pub count: u64,
    /// The newest of these stretches, oldest first.
    #[serde(rename = "stills")]
    pub newest: Vec<Hang>,
    /// The calls that ranks were in when their processes ended, by rank.
    pub ended_in: Vec<HangCall>,
    /// How many there were; not all may be listed.
    pub ended_in_count: u64,
}

impl Hangs {
    /// Whether the job ended in a hang.
    #[must_use]
    pub fn hangs_at_end(&self) -> bool {
        self.newest.last().is_some_and(|hang| hang.until_s.is_none())
    }
}

/// The kind of a hang.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum HangKind {
    /// Ranks wait for each other for ever.
    Deadlock,
    /// Ranks wait for a process that is gone.
    Gone,
    /// Ranks wait for others that may go on.
    #[default]
    Waits,
}

/// A stretch in which no call began or returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hang {
    /// What it comes to.
    pub kind: HangKind,
    /// Since when.
    pub since_s: f64,
    /// When something moved again; none where nothing did.
    pub until_s: Option<f64>,
    /// When it was looked at.
    pub seen_s: f64,
    /// What it comes to, a sentence each.
    pub sentences: Vec<HangSentence>,
    /// Ranks that wait for ever, as far as is known.
    pub stuck: Vec<u32>,
    /// Of them those that wait in a circle, each for the next and the last for the first.
    #[serde(rename = "circles")]
    pub cycles: Vec<Vec<u32>>,
    /// Those who wait for nobody and are waited for, the one whom most wait for first.
    pub roots: Vec<HangRoot>,
    /// The calls that wait, by rank.
    pub calls: Vec<HangCall>,
    /// How many there are; not all may be listed.
    pub call_count: u64,
}

/// A sentence, and of whom it speaks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HangSentence {
    /// The sentence.
    pub text: String,
    /// Ranks, some of them where there are many.
    pub ranks: Vec<u32>,
}

/// A rank that others wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HangRoot {
    /// Which.
    pub rank: u32,
    /// How many wait for it, directly or through others.
    pub waiting: u64,
}

/// A call that had not returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HangCall {
    /// Whose.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u32,
    /// The function, and whom its arguments ask for.
    pub call: String,
    /// The call site; empty where that is not known.
    pub place: String,
    /// When it was entered.
    pub since_s: f64,
    /// For whom it waits, some of them where there are many.
    pub on: Vec<u32>,
    /// Whether one of them is enough.
    pub any: bool,
}
