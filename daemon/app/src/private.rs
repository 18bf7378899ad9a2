//! Secrets, and files that their owner alone can read.

use anyhow::Result;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens such a file to write to, or makes it.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Makes such a file, or empties the one that is there.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes such a file where there is none.
pub(crate) fn new_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// 128 random bits.
pub(crate) fn random() -> Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("no random numbers from the system: {error}"))?;
    Ok(u128::from_le_bytes(bytes))
}
