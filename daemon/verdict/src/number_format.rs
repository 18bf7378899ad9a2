//! How figures are written in sentences.

use mpiscope_model::words::nanoseconds;

pub(super) fn time(seconds: f64) -> String {
    nanoseconds((seconds.max(0.0) * 1e9) as u64)
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
