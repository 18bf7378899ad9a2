//! Notes and series of other programs, as pages show it.

use crate::column::F64Column;
use serde::{Deserialize, Serialize};

/// All of it; sent again when it changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Annotations {
    /// Always `annotations`.
    pub kind: AnnotationsKind,
    /// Notes at times, in the order in which they were made.
    pub annotations: Vec<Annotation>,
    /// Values over time.
    pub series: Vec<ValueSeries>,
}

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum AnnotationsKind {
    Annotations,
}

/// A note at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Annotation {
    /// Its number.
    pub number: u64,
    /// The program that made it.
    pub author: String,
    /// Where it begins.
    pub time_ns: f64,
    /// Where it ends, if it is not of one moment.
    pub until_ns: Option<f64>,
    /// Whose; of all ranks where there is none.
    pub rank: Option<u32>,
    /// What it says.
    pub text: String,
    /// As `#rrggbb`.
    pub colour: Option<String>,
    /// An `http` or `https` address.
    pub link: Option<String>,
}

/// Values over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ValueSeries {
    /// Its name.
    pub name: String,
    /// The program that made it.
    pub author: String,
    /// What values are in.
    pub unit: String,
    /// How many points there are; not all may be here.
    pub points: u64,
    /// When.
    pub time_ns: F64Column,
    /// How much.
    pub value: F64Column,
}
