//! Incremental operators: batches in, deltas out.
//!
//! What it is: matching of sends with receives, and counts. What it is not: I/O, threads, a clock. Who uses it: the
//! daemon, live and in replay. What must hold: any split of the input into batches gives the same result, state is
//! bounded, counts can be merged.

mod counts;
mod matching;
mod pair;

pub use counts::{Counts, FunctionTotals, RankTotals, WindowTotals};
pub use matching::{Matched, Matcher, MatchingLimits};
