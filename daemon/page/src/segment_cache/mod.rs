//! The calls or messages of a run for those who ask: those in sealed segments on disk, of which the last row groups asked
//! for stay in memory, and those that wait to be sealed.

mod cache;
mod nearest;
mod site_sums;
mod sum_cache;

pub use cache::SegmentCache;
