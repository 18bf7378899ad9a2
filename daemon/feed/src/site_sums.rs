//! Calls added up by call site and function.

use crate::overlap::inside_ns;
use mpiscope_model::{Call, Function, Nanoseconds, Site};
use std::collections::BTreeMap;
use std::ops::Range;

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
            self.sums.entry((Site::number_or_max(site), function)).or_default().add(sum);
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
