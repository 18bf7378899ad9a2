//! How the collector reaches the ranks, whatever starts them. Launchers and their helpers stay without it where the launcher
//! is known.
//!
//! In: the words that the user typed, what every rank needs, and the surroundings. Out: the words to run, and the
//! variables to set and to remove. It starts nothing but `--version` of launchers, and changes nothing.
//!
//! Of what the ranks need, only the path of the collector ever stands on a command line, where every user of the machine
//! can read it. Variables go into the launcher's environment, and its command line has only their names: they may hold secrets.

mod family;
mod hosts;
mod hydra;
mod launch;
mod line;
mod needs;
mod open_mpi;
mod options;
mod plan;
mod prefix;
mod slurm;
mod surroundings;
mod system;
mod unknown;
mod words;

pub use launch::Launch;
pub use needs::Needs;
pub use plan::{may_span_hosts, plan};
pub use surroundings::Surroundings;
pub use system::System;

#[cfg(test)]
mod tests;
