//! What the ranks of a job need to be recorded.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

pub(crate) const PRELOAD: &str = "LD_PRELOAD";

/// What every rank has to get.
#[derive(Debug)]
pub struct Needs {
    /// What is preloaded. Launchers split their lists at spaces and at `:`, `;` and `,`: it has none of them.
    pub collector: PathBuf,
    /// Names and values. No value of theirs comes onto a command line.
    pub variables: Vec<(String, OsString)>,
}

impl Needs {
    /// The preloaded libraries: ours, then what was there.
    pub(crate) fn preload(&self, before: Option<&OsStr>) -> OsString {
        let mut all = self.collector.as_os_str().to_owned();
        let separators = |byte: &u8| matches!(byte, b':' | b' ');
        let ours = self.collector.as_os_str().as_encoded_bytes();
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            let bytes = before.as_encoded_bytes();
            // One run within another: once is enough.
            if bytes.split(separators).any(|library| library == ours) {
                return before.to_owned();
            }
            all.push(":");
            all.push(before);
        }
        all
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }
}
