//! A command that is no launcher known here: the program itself, or a script that may call one.
//!
//! It carries the collector in its environment, and so do the launchers and helpers that it starts, where it does
//! nothing. That reaches the ranks of this host, and whatever hydra or srun start elsewhere; limits that a script sets
//! itself (`-genvnone`, `--export`) are not seen. Open MPI hands nothing of the kind to other hosts unless told to, and
//! a list of variables makes it refuse the `-x` of a script. So the list is set only where other hosts are likely and
//! the script is seen to have a launcher and no such option.

use super::family::names_launcher;
use super::hosts::may_span_hosts;
use super::line::Line;
use super::needs::{Needs, PRELOAD};
use super::surroundings::Surroundings;
use super::words::{join, split};
use super::{open_mpi, slurm};
use std::ffi::OsString;

pub(super) fn plan(line: &mut Line<'_, impl Surroundings>, needs: &Needs) {
    let preload = needs.preload(line.preloaded().as_deref());
    line.set(PRELOAD, preload);
    if let Some(list) = line.variable(slurm::EXPORT) {
        let list = slurm::extended(line, &list, needs);
        line.set(slurm::EXPORT, list);
    }
    let list = line.variable(open_mpi::LIST);
    if list.is_some() || (may_span_hosts(line) && wants_list(&line.text())) {
        let mut entries = split(&list.unwrap_or_default(), b';');
        entries.retain(|entry| entry != PRELOAD);
        entries.extend(needs.names().map(OsString::from));
        entries.push(PRELOAD.into());
        line.set(open_mpi::LIST, join(&entries, ";"));
    }
}

fn wants_list(text: &str) -> bool {
    // Also what only looks like such an option: where it is overlooked, the job ends.
    let conflicts = ["-x", "-tune", "env_list", "-app"];
    names_launcher(text) && !conflicts.iter().any(|conflict| text.contains(conflict))
}
