//! A job that says how far it is and that a test ends: no test has to wait for time to pass.

use mpiscope_harness::{LIMIT, processes};
use std::fs;
use std::path::{Path, PathBuf};

/// How long the job goes on, where no test ends it.
const MOST_SECONDS: &str = "60";

/// The file of the program `paced`: how far it is, and how a test ends it.
pub(crate) struct Turns(PathBuf);

impl Turns {
    pub(crate) fn new(folder: &Path) -> Self {
        let file = folder.join("turns");
        fs::write(&file, "").unwrap();
        Self(file)
    }

    pub(crate) fn arguments(&self) -> [&str; 2] {
        [MOST_SECONDS, self.0.to_str().unwrap()]
    }

    /// Waits for this number of further turns; there are about 200 in a second.
    pub(crate) fn wait_for(&self, count: u64) {
        let made = || fs::metadata(&self.0).unwrap().len();
        let before = made();
        let has_made = || (made() >= before + count).then_some(());
        processes::until(LIMIT, has_made).unwrap_or_else(|| panic!("only {} turns since {before}", made()));
    }

    pub(crate) fn end(&self) {
        fs::remove_file(&self.0).unwrap();
    }
}
