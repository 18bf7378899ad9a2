//! Recording, switched off and on while the job runs: `mpiscope pause` and `mpiscope resume`, and the page.
//!
//! A file in the recording's folder says that it is off. The daemon looks whether it is there; so whoever may write into the
//! recording may switch, and a daemon that takes over finds it as it was.

use anyhow::{Context as _, Result};
use mpiscope_feed::Switch;
use mpiscope_process::private::create_private;
use mpiscope_recording::Pauses;
use std::path::Path;
use std::time::Duration;

/// The file in the folder of a recording that is written.
const FILE: &str = "paused";
/// What ranks have in their environment that are to begin without being recorded.
pub const PAUSED: &str = "MPISCOPE_PAUSED";
/// For how many seconds agents hold back what is called while recording is off.
pub const FLIGHT: &str = "MPISCOPE_FLIGHT";

/// Whether calls are to be recorded.
pub(crate) fn is_on(dir: &Path) -> bool {
    !dir.join(FILE).exists()
}

/// Switches recording on or off.
///
/// # Errors
/// When nothing can be written there.
pub fn set(dir: &Path, is_on: bool) -> Result<()> {
    let path = dir.join(FILE);
    let done = match is_on {
        true => std::fs::remove_file(&path),
        false => create_private(&path).map(drop),
    };
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && is_on => Ok(()),
        done => done.with_context(|| format!("switch recording by {}", path.display())),
    }
}

/// Its state, as pages show it.
#[must_use]
pub fn state(pauses: Option<&Pauses>, flight: Option<Duration>, is_live: bool) -> Switch {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let gaps = pauses.map(|pauses| &pauses.gaps[..]).unwrap_or_default();
    Switch {
        is_on: is_live && gaps.last().is_none_or(|gap| gap.until_ns.is_some()),
        held_s: flight.map(|span| span.as_secs_f64()),
        unrecorded_calls: pauses.map_or(0, |pauses| pauses.calls),
        gaps_s: gaps.iter().map(|gap| (seconds(gap.from_ns), gap.until_ns.map(seconds))).collect(),
    }
}

/// The run has ended.
pub(crate) fn forget(dir: &Path) {
    // One that stays is found to be of no run.
    let _ = std::fs::remove_file(dir.join(FILE));
}
