//! What ranks did in a function, as reports and comparisons show it.

use mpiscope_matching::FunctionTotals;
use serde::Serialize;

/// The figures of one function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct FunctionFigures {
    /// Rows.
    pub calls: u64,
    /// Polls folded into them beyond the rows.
    pub polls: u64,
    /// What they sent, or received where they sent nothing.
    pub bytes: u64,
    /// Their time, over all ranks.
    pub seconds: f64,
    /// Half of them took at most this long.
    pub p50_ns: u64,
    /// 99 of 100 of them took at most this long.
    pub p99_ns: u64,
    /// The longest of them.
    pub max_ns: u64,
}

impl From<&FunctionTotals> for FunctionFigures {
    fn from(totals: &FunctionTotals) -> Self {
        Self {
            calls: totals.calls,
            polls: totals.polls,
            bytes: totals.bytes,
            seconds: totals.time_ns as f64 / 1e9,
            p50_ns: totals.quantile_ns(0.5),
            p99_ns: totals.quantile_ns(0.99),
            max_ns: totals.max_ns(),
        }
    }
}
