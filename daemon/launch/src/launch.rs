//! How a command is run in the end.

use std::ffi::OsString;

/// What to run, and the variables to set and to remove for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Launch {
    /// The command line.
    pub words: Vec<OsString>,
    /// Variables to set, names and values.
    pub set: Vec<(String, OsString)>,
    /// Variables to remove.
    pub removed: Vec<String>,
}

impl Launch {
    /// A command as it was typed.
    pub fn untouched(words: &[OsString]) -> Self {
        Self { words: words.to_vec(), set: Vec::new(), removed: Vec::new() }
    }
}
