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
mod launch;
mod line;
mod needs;
mod open_mpi;
mod options;
mod prefix;
mod slurm;
mod surroundings;
mod system;
mod unknown;
mod words;

pub use launch::Launch;
pub use needs::Needs;
pub use surroundings::Surroundings;
pub use system::System;

use family::Family;
use line::Line;
use std::ffi::OsString;

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
