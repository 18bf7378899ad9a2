//! Which send belongs to which receive, and what can be summed up or found call by call.
//!
//! In: calls and messages, in batches. Out: matched messages, and counts, sizes, timelines, densities, samples and thinned
//! messages for views; the turns of the main loop, and the clock that two runs share. It does no I/O, has no threads and reads no
//! clock. Any split of the input into batches gives the same result, state is bounded, counts can be merged.

mod alignment;
mod by_site;
mod counts;
mod density;
mod main_loop;
mod matching;
mod message_sizes;
mod pair;
mod sample;
mod thinned;
mod timeline;
mod window_events;

pub use alignment::{Alignment, Anchor, TimeMap};
pub use by_site::BySite;
pub use counts::{Counts, FunctionTotals, RankTotals, SiteTotals, WindowTotals};
pub use density::{BINS_PER_OCTAVE, Density, DensityHistory, DensityKey, duration_bin};
pub use main_loop::{LEAST_TURNS, LoopFinder, LoopMarker, MainLoop};
pub use matching::{
    Link, Matched, Matcher, MatchingLimits, OpenPost, UnreceivedSend, WaitingSend, receivers,
};
pub use message_sizes::{MessageSizes, SizeTotals};
pub use sample::{Durations, Sample};
pub use thinned::Thinned;
pub use timeline::{Bins, Timeline, TimelineCell};
pub use window_events::{WindowEvents, by_window};
