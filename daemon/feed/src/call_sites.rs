//! Call sites, the paths to them, and what is called from where.

use crate::dependencies::wanted;
use crate::exchange::SelectedQuestion;
use crate::rank_sums::inside_ns;
use crate::{F64Column, Library, U32Column};
use mpiscope_model::{Call, Function, Nanoseconds, Site};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

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

/// Calls from one call site to one function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteSum {
    /// Rows of calls.
    pub calls: u64,
    /// What they sent, or received where they sent nothing.
    pub bytes: u64,
    /// Their time.
    pub time_ns: u64,
}

impl SiteSum {
    /// One call, as far as it counts in a range.
    #[must_use]
    pub fn of_call(call: &Call, range_ns: &Range<Nanoseconds>) -> Self {
        let begins = range_ns.contains(&call.start_ns);
        Self {
            calls: begins.into(),
            bytes: if begins { call.bytes } else { 0 },
            time_ns: inside_ns(range_ns, call.start_ns, call.end_ns),
        }
    }

    /// Adds other calls.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
    }
}

/// The sums of calls by call site and function, while they are added up.
#[derive(Debug, Default)]
pub struct SiteSums {
    hidden: Vec<u32>,
    sums: BTreeMap<(u32, Function), SiteSum>,
    rows_counted: u64,
    rows_left_out: u64,
}

impl SiteSums {
    /// No calls yet; those to `hidden` functions are not added.
    #[must_use]
    pub fn without(hidden: &[u32]) -> Self {
        Self { hidden: hidden.to_vec(), ..Self::default() }
    }

    /// Adds calls from a call site to a function.
    pub fn add(&mut self, site: Option<Site>, function: Function, sum: SiteSum) {
        // Calls that only touch a range do not count in it.
        if sum != SiteSum::default() && !self.hidden.contains(&function.into()) {
            self.sums.entry((site.unwrap_or(NO_SITE), function)).or_default().add(sum);
        }
    }

    /// Notes how many rows were looked at to get here, now or earlier, and how many are left out for now.
    pub fn note_rows(&mut self, counted: u64, left_out: u64) {
        self.rows_counted = self.rows_counted.saturating_add(counted);
        self.rows_left_out = self.rows_left_out.saturating_add(left_out);
    }

    /// The sums of all calls that were added.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Function, SiteSum)> {
        self.sums.iter().map(|(&(site, function), &sum)| (site, function, sum))
    }

    /// The share of the rows that is counted.
    #[must_use]
    pub fn counted_share(&self) -> f64 {
        if self.rows_left_out == 0 {
            return 1.0;
        }
        self.rows_counted as f64 / self.rows_counted.saturating_add(self.rows_left_out) as f64
    }
}

impl Library {
    /// The places that are known.
    pub(crate) fn site_table(&self) -> Result<Sites, String> {
        Ok(self.sites.as_ref().ok_or("where calls are made is not known here")?.sites())
    }

    /// The source text around one of them.
    pub(crate) fn source_text(&self, site: Site) -> Result<SourceText, String> {
        self.sites.as_ref().ok_or("where calls are made is not known here")?.source_text(site)
    }

    /// What is called from where.
    pub(crate) fn site_times(
        &self,
        question: &SelectedQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<SiteTimes, String> {
        let (_, until_ns, _) = self.ranks.known()?.job();
        let SelectedQuestion { range_ns, ranks, hidden } = question;
        let mut sums = SiteSums::without(hidden);
        self.source.sum_by_site(range_ns, ranks, &mut sums, is_wanted)?;
        wanted(is_wanted)?;
        Ok(SiteTimes {
            from_ns: range_ns.start.min(until_ns),
            to_ns: range_ns.end.min(until_ns),
            counted_share: sums.counted_share(),
            site: sums.iter().map(|(site, ..)| site).collect(),
            function: sums.iter().map(|(_, function, _)| u32::from(function)).collect(),
            calls: sums.iter().map(|(.., sum)| sum.calls).collect(),
            bytes: sums.iter().map(|(.., sum)| sum.bytes).collect(),
            time_ns: sums.iter().map(|(.., sum)| sum.time_ns).collect(),
        })
    }
}
