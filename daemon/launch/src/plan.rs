//! How to run a command and have its ranks recorded, whatever launches them.

use crate::family::Family;
use crate::launch::Launch;
use crate::line::Line;
use crate::needs::Needs;
use crate::surroundings::Surroundings;
use crate::{hosts, hydra, open_mpi, slurm, unknown};
use std::ffi::OsString;

/// How to run a command, with what its ranks need.
pub fn plan(words: &[OsString], needs: &Needs, surroundings: &impl Surroundings) -> Launch {
    let mut line = Line::new(words, surroundings);
    for (name, value) in &needs.variables {
        line.set(name, value.clone());
    }
    match Family::detect(&line) {
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
