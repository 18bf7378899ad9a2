//! Call sites, the paths to them, and what is called from where.

use crate::dependencies::wanted;
use crate::exchange::SelectedQuestion;
use crate::rank_sums::inside_ns;
use crate::selected::slices;
use crate::{CallSource, F64Column, Library, U32Column};
use mpiscope_model::{Function, Nanoseconds, Site};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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

#[derive(Default)]
struct Sums {
    calls: u64,
    bytes: u64,
    time_ns: u64,
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
        let (_, until_ns, calls) = self.ranks.known()?.job();
        site_times(question, (until_ns, calls), self.source.as_ref(), is_wanted)
    }
}

fn site_times(
    question: &SelectedQuestion,
    (until_ns, call_count): (Nanoseconds, u64),
    calls: &dyn CallSource,
    is_wanted: &dyn Fn() -> bool,
) -> Result<SiteTimes, String> {
    let SelectedQuestion { range_ns, ranks, hidden } = question;
    let mut sums: BTreeMap<(u32, Function), Sums> = BTreeMap::new();
    for slice_ns in slices(range_ns, call_count, until_ns) {
        wanted(is_wanted)?;
        calls.visit_of(&slice_ns, ranks, &mut |call| {
            if hidden.contains(&call.function.into()) {
                return;
            }
            let of = sums.entry((call.site.unwrap_or(NO_SITE), call.function)).or_default();
            let inside = inside_ns(&slice_ns, call.start_ns, call.end_ns);
            of.time_ns = of.time_ns.saturating_add(inside);
            if slice_ns.contains(&call.start_ns) {
                of.calls += 1;
                of.bytes = of.bytes.saturating_add(call.bytes);
            }
        })?;
    }
    Ok(SiteTimes {
        from_ns: range_ns.start.min(until_ns),
        to_ns: range_ns.end.min(until_ns),
        site: sums.keys().map(|(site, _)| *site).collect(),
        function: sums.keys().map(|(_, function)| u32::from(*function)).collect(),
        calls: sums.values().map(|of| of.calls).collect(),
        bytes: sums.values().map(|of| of.bytes).collect(),
        time_ns: sums.values().map(|of| of.time_ns).collect(),
    })
}
