//! Call sites, the paths to them, and what is called from where, as pages receive it.

use crate::column::{F64Column, U32Column};
use mpiscope_model::Site;
use serde::{Deserialize, Serialize};
use std::fmt;

/// In columns of sites: there is none.
pub const NO_SITE: u32 = u32::MAX;

/// Where calls are made.
pub trait SiteSource: Send + Sync + fmt::Debug {
    /// Each place that is known; it may take a while to look them up.
    fn sites(&self) -> Sites;

    /// The source text around a place.
    ///
    /// # Errors
    /// One sentence when it cannot be read.
    fn source_text(&self, site: Site) -> Result<SourceText, String>;
}

/// Call sites, one a row in all columns. Where call paths are recorded, there are also those on the way to calls, from `main`
/// or the function of a thread on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Sites {
    /// As calls name it.
    pub id: U32Column,
    /// In words, as waits name it.
    pub place: Vec<String>,
    /// The place that called the function which this one is in; [`NO_SITE`] where that is not known.
    pub parent: U32Column,
    /// The names of functions, files and programs, each once.
    pub names: Vec<String>,
    /// The function that it is in, by the number of its name; [`NO_SITE`] where that is not known.
    pub function: U32Column,
    /// The source file, likewise.
    pub file: U32Column,
    /// The line; 0 where that is not known.
    pub line: U32Column,
    /// The program or library, by the number of its name.
    pub module: U32Column,
    /// Whether call paths are recorded.
    pub has_paths: bool,
}

/// A part of a source file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceText {
    /// The file.
    pub file: String,
    /// The number of the first line.
    pub from_line: u32,
    /// The lines.
    pub lines: Vec<String>,
    /// The file was written after the program was built: its lines may be others.
    pub is_newer: bool,
}

/// What is called from where in a selection: one row for each call site and function.
///
/// A call counts in the range in which it begins, and its time as far as it lies in the range.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SiteTimes {
    /// The range, as far as the run goes.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// The share of the calls that is counted; 1 when it is all of them. Of very many calls more are counted at each question.
    pub counted_share: f64,
    /// The call site; [`NO_SITE`] for calls whose site is not known.
    pub site: U32Column,
    /// What is called there.
    pub function: U32Column,
    /// Rows of calls.
    pub calls: F64Column,
    /// What they sent, or received where they sent nothing.
    pub bytes: F64Column,
    /// Their time in the range.
    pub time_ns: F64Column,
}
