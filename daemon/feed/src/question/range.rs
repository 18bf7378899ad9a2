//! Questions about a range of time and some ranks.

use crate::question::pending::Grouping;
use crate::question::ranks::Ranks;
use mpiscope_model::{Function, Nanoseconds, Rank};
use std::ops::Range;

/// Which calls or messages are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// Whose calls; messages from or to them.
    pub ranks: Ranks,
    /// The most of them.
    pub most: u64,
}

/// Which messages are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoursesQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// Messages from or to these ranks.
    pub ranks: Ranks,
    /// The most bins.
    pub bins: u32,
}

/// Which call is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuestion {
    /// The first that begins after this time.
    pub at_ns: Nanoseconds,
    /// Or the last that begins before it.
    pub is_back: bool,
    /// By one of these ranks.
    pub ranks: Ranks,
    /// Of none of these functions.
    pub hidden: Vec<u32>,
}

/// Which graph of groups is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupGraphQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks that are shown.
    pub ranks: Ranks,
    /// What ranks are grouped by.
    pub by: Grouping,
}

/// Of what it is asked on what time was spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharesQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// From the first to the last of these ranks.
    pub ranks: Ranks,
    /// Consecutive ranks that may be added up.
    pub ranks_per_row: u32,
    /// The most windows.
    pub windows: u32,
}

/// A selection whose figures are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks.
    pub ranks: Ranks,
    /// Functions that are not selected.
    pub hidden: Vec<u32>,
}

/// The calls whose durations are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationsQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks.
    pub ranks: Ranks,
    /// The function; of all where none is given.
    pub function: Option<Function>,
    /// Calls that took so long are listed.
    pub listed_ns: Range<Nanoseconds>,
    /// The most of them.
    pub most: u32,
}

/// Which dependency graph is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DagQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks.
    pub ranks: Ranks,
    /// The most nodes.
    pub most: u32,
}

/// Which past or future is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConeQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// Whose event.
    pub rank: Rank,
    /// Of a past, the last event until then; of a future, the first from then on.
    pub at_ns: Nanoseconds,
    /// Whether it is the future.
    pub is_future: bool,
    /// The most messages.
    pub most: u32,
}
