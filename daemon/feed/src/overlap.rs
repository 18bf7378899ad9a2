//! How much of a call lies in a range.

use mpiscope_model::Nanoseconds;
use std::ops::Range;

/// The nanoseconds of a call that lie in a range.
pub(crate) fn inside_ns(range_ns: &Range<Nanoseconds>, start_ns: Nanoseconds, end_ns: Nanoseconds) -> u64 {
    end_ns.min(range_ns.end).saturating_sub(start_ns.max(range_ns.start))
}

/// Likewise, in seconds.
pub(crate) fn inside_s(range_ns: &Range<Nanoseconds>, start_ns: Nanoseconds, end_ns: Nanoseconds) -> f64 {
    inside_ns(range_ns, start_ns, end_ns) as f64 / 1e9
}
