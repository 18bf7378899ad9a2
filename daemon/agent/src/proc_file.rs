//! Short files of the system about processes: they come in one read, and their length need not be asked for.

use std::fs::File;
use std::io::{self, Read as _};

/// Longer than any of them that says one line.
const MOST_BYTES: usize = 2048;

/// What is in it.
pub(super) fn read(path: &str) -> io::Result<String> {
    let mut bytes = [0; MOST_BYTES];
    let count = File::open(path)?.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}
