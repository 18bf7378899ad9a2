//! This host and this program.

use anyhow::{Context as _, Result};
use std::path::PathBuf;

/// The host's name.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The file of this program.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("find this program's own file")
}
