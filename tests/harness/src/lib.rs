//! What the end-to-end tests stand on: MPI families, test programs, commands under a time limit, truth and recording.
//!
//! What it is: the means to run the built product on real MPI programs and to get what it recorded in a form that can
//! be compared with what the programs say they did. What it is not: tests of the product; those are in `tests/e2e`.
//! Who uses it: tests alone. What must hold: nothing that a test started outlives it, and nothing here looks away from a
//! fault: what cannot be tested on a machine is written down as skipped.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "whoever runs the tests reads it")]

mod apps;
mod broken;
mod chance;
mod counted;
mod failing;
mod lab;
mod languages;
mod mpi;
mod patience;
pub mod processes;
mod product;
mod recorded;
mod running;
mod schedule;
mod skip;
mod truth;

pub use apps::{compile, source_folder};
pub use broken::{Broken, BrokenDescriptor};
pub use chance::Chance;
pub use counted::{Counted, Language, counted, record_counted};
pub use failing::{FailedCall, FailingCall};
pub use lab::{Lab, LabOptions, Placement, Start};
pub use languages::{Missing, python, rust_app};
pub use mpi::{Family, Mpi};
pub use patience::{Patience, others_take_cpus};
pub use product::{
    OTHERS_RUN, check, collector, daemon_of, full_run, log_bytes, mpiscope, others_run, part_of, record,
    repair, report, until_log_has,
};
pub use recorded::{Recorded, SENDS_AND_RECEIVES};
pub use running::{Ended, LIMIT, Running, all_of, run, run_with_input};
pub use rustix::process::Signal;
pub use schedule::{Lists, Schedule, Turn};
pub use skip::skip;
pub use truth::{TRUTH_FUNCTIONS, Truth};

use anyhow::{Context as _, Result};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
pub use tempfile::TempDir;

/// The folder of all sources.
#[must_use]
pub fn root() -> PathBuf {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own).to_path_buf()
}

/// The folder that everything is built into.
#[must_use]
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |given| root().join(given))
}

/// A folder of one test, gone when dropped.
///
/// # Errors
/// When it cannot be made.
pub fn folder() -> Result<TempDir> {
    folder_in(&std::env::temp_dir())
}

/// A folder of one test in memory, gone when dropped: for rings, and for thousands of small files. A file system on a disk
/// may look for a long time for a place that was not freed just now.
///
/// # Errors
/// When it cannot be made.
pub fn folder_in_memory() -> Result<TempDir> {
    folder_in(Path::new("/dev/shm"))
}

/// A folder of one test in another folder, gone when dropped.
///
/// # Errors
/// When it cannot be made.
pub fn folder_in(parent: &Path) -> Result<TempDir> {
    // Whatever the umask here: ranks refuse folders into which others may write.
    let private = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new()
        .prefix("mpiscope-test-")
        .permissions(private)
        .tempdir_in(parent)
        .context("make a folder for a test")
}
