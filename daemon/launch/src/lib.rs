//! How the collector reaches the ranks, whatever starts them. Launchers and their helpers stay without it where the launcher
//! is known.
//!
//! In: the words that the user typed, what every rank needs, and the surroundings. Out: the words to run, and the
//! variables to set and to remove. It starts nothing but `--version` of launchers, and changes nothing.
//!
//! Of what the ranks need, only the path of the collector ever stands on a command line, where every user of the machine
//! can read it. All variables go into the launcher's environment and are named to it, so that secrets may be among them.

mod family;
mod hosts;
mod hydra;
mod line;
mod open_mpi;
mod options;
mod prefix;
mod slurm;
mod system;
mod unknown;

pub use system::System;

use family::Family;
use line::Line;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

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
    fn preload(&self, before: Option<&OsStr>) -> OsString {
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

    fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }
}

/// What is around the command: asked, never changed.
pub trait Surroundings {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// What a program answers to `--version`.
    fn version(&self, program: &OsStr) -> Option<String>;
    /// A file's text, if it is text and not long.
    fn read(&self, file: &Path) -> Option<String>;
}

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

/// How to run a command so that its ranks get what they need.
pub fn plan(words: &[OsString], needs: &Needs, surroundings: &impl Surroundings) -> Launch {
    let mut line = Line::new(words, surroundings);
    for (name, value) in &needs.variables {
        line.set(name, value.clone());
    }
    match Family::of(&line) {
        Some((at, Family::OpenMpi)) => open_mpi::plan(&mut line, at, needs),
        Some((at, Family::Hydra)) => hydra::plan(&mut line, at, needs),
        Some((at, Family::Slurm)) => slurm::plan(&mut line, at, needs),
        None => unknown::plan(&mut line, needs),
    }
    line.into_launch()
}

/// Whether ranks of this command may run on other hosts than this one; `false` only where that is certain.
pub fn may_span_hosts(words: &[OsString], surroundings: &impl Surroundings) -> bool {
    hosts::may_span_hosts(&Line::new(words, surroundings))
}

#[cfg(test)]
mod tests;
