//! Incremental operators: batches in, deltas out.
//!
//! What it is: matching of sends with receives, counts, and the summaries that views of the whole run are drawn from
//! (timeline, density, samples), and a better placement of ranks. What it is not: I/O, threads, a clock. Who uses it: the
//! daemon, live and in replay. What must hold: any split of the input into batches gives the same result, state is
//! bounded, counts can be merged.

mod counts;
mod density;
mod matching;
mod pair;
mod placement;
mod sample;
mod timeline;

pub use counts::{Counts, FunctionTotals, RankTotals, WindowTotals};
pub use density::{BINS_PER_OCTAVE, Density, DensityHistory, DensityKey, duration_bin};
pub use matching::{Matched, Matcher, MatchingLimits};
pub use placement::{Advice, Flow, Traffic, advise, capacities};
pub use sample::{Durations, Sample};
pub use timeline::{Bins, Timeline, TimelineCell};
