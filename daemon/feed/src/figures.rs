//! A figure of two recordings, A and B, and how it changed.

use serde::{Deserialize, Serialize};

/// How a figure changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Change {
    /// B less A.
    pub difference: f64,
    /// B for A; null where A is nothing.
    pub ratio: Option<f64>,
    /// More than chance and more than a little: see [`crate::Noise`].
    pub is_change: bool,
}

/// A measured figure; null is what is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Figure {
    /// Of A.
    pub a: Option<f64>,
    /// Of B.
    pub b: Option<f64>,
    /// Null where one of them is not known.
    pub change: Option<Change>,
}

/// A count; null is what is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Count {
    /// Of A.
    pub a: Option<u64>,
    /// Of B.
    pub b: Option<u64>,
    /// Null where one of them is not known.
    pub change: Option<CountChange>,
}

/// How a count changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CountChange {
    /// B less A.
    pub difference: i64,
    /// B for A; null where A is nothing.
    pub ratio: Option<f64>,
    /// As of a figure.
    pub is_change: bool,
}

/// Something in words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Words {
    /// Of A.
    pub a: String,
    /// Of B.
    pub b: String,
    /// Whether they are others.
    pub change: WordsChange,
}

/// Whether words are others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WordsChange {
    /// They are.
    pub is_change: bool,
}
