//! Whether the job is there to be measured (`mpiscope calibrate`), and when that begins.

use std::sync::atomic::{AtomicBool, Ordering};

/// For how long to measure; set by the command in the environment of the ranks.
const VARIABLE: &str = "MPISCOPE_CALIBRATE";
static BEGAN_LATE: AtomicBool = AtomicBool::new(false);

/// For how long to measure, where that is what the job is for.
pub(crate) fn seconds() -> Option<f64> {
    let seconds: f64 = std::env::var(VARIABLE).ok()?.parse().ok()?;
    let recorded = std::env::var_os("MPISCOPE_RINGS").is_some();
    (recorded && seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

/// Recording began at another call than `MPI_Init`, and nothing can be done yet.
pub(crate) fn began_late() {
    BEGAN_LATE.store(true, Ordering::Relaxed);
}

/// Whether recording began so and nothing was done since. Only the first to ask gets a yes.
pub(crate) fn take_late() -> bool {
    BEGAN_LATE.swap(false, Ordering::Relaxed)
}
