//! A cache of a run's calls or messages. Sealed segments are on disk, and the row groups that were read last are in memory;
//! so are rows that wait to be sealed.

mod cache;
mod nearest;
mod site_sums;
mod sum_cache;

pub use cache::SegmentCache;
