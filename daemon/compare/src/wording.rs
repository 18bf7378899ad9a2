//! Amounts and ranks in words.

use mpiscope_model::words::{nanoseconds, ranges};

/// More ranges of ranks are not listed.
const MOST_RANGES: usize = 3;

/// A span of time.
pub(crate) fn time(seconds: f64) -> String {
    nanoseconds((seconds.max(0.0) * 1e9).round() as u64)
}

/// A time or a share of a rank's time, which may be less than nothing.
pub(crate) fn amount(value: f64, is_share: bool) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    if is_share { format!("{:.1} %", 100.0 * value) } else { format!("{sign}{}", time(value.abs())) }
}

/// Ranks in words, where they are few words.
pub(crate) fn on(ranks: &[(u32, u32)]) -> String {
    let each: Vec<u32> = ranks.iter().flat_map(|&(first, last)| first..=last).collect();
    if each.is_empty() || ranks.len() > MOST_RANGES {
        String::new()
    } else {
        format!(" on {}", ranges(&each))
    }
}
