//! Why a run takes as long as it does.
//!
//! In: calls, matched messages and scheduler figures. Out: criteria (how long a message normally takes), the delay budget (what
//! the time of each call was spent on), the evolution of latency by region, the critical path, hangs, what a run would have
//! taken with one thing changed (`whatif`), and the verdict. It does no I/O, has no threads and reads no clock. Any split
//! of the input into batches gives the same result, and state is bounded.

mod budget;
mod courses;
mod criteria;
mod critical;
mod evolution;
mod hang;
mod verdict;
pub mod whatif;
mod windowed;

pub use budget::{
    Budget, BudgetOptions, Budgeter, CAUSES, Cause, Causes, Course, ExactMessages, Knowledge, Latency,
    Ledger, Neighbours, Overdue, Owners, Pushes, RankBudget, RankShares, Report, SHARE_KINDS, Shard,
    ShardResult, ShareCell, ShareKind, ShareRow, ShareTable, SiteWaiting, SiteWaits, Spared, Stretch,
    ThreadPath, WaitKey, WaitState, WaitTotals, WindowBudget, WindowEnd,
};
pub use courses::{BinBalance, BinTraffic, MOST_CLASSES, MessageCourses, SizeClass};
pub use criteria::{
    CollectiveCriterion, CollectiveKey, Criteria, MessageCriterion, Reference, Scope, Version, bin_sizes,
    size_bin,
};
pub use critical::{CriticalPath, PathKind, PathPart, PathStep};
pub use evolution::{
    Band, Bands, Evolution, EvolutionOptions, Kind, Pending, Point, Provisional, Ratios, RegionOfRank,
    Segment, Series, Tally, Window, pending,
};
pub use hang::{
    Clash, Doing, HangAnalysis, HangDetector, LastCall, Moment, Moved, Movement, Need, Root, Waiting,
};
pub use verdict::{Assessment, Basis, NEGLIGIBLE, Remark, ReplaySavings, Verdict};
pub use windowed::Windowed;
