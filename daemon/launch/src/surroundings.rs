//! What is asked about the machine before a command is run.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is around the command: asked, never changed.
pub trait Surroundings {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// What a program answers to `--version`.
    fn version(&self, program: &OsStr) -> Option<String>;
    /// A file's text, if it is text and not long.
    fn read(&self, file: &Path) -> Option<String>;
}
