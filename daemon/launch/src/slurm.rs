//! Slurm's `srun`: what it exports. `--export` on the line counts for one program, the variable for all others.
//!
//! The tasks get it, slurmstepd does not. A list that Slurm splits at commas cannot hold a value that has one: when
//! something with a comma in its path was preloaded already, srun itself has the collector too, inert.

use super::line::Line;
use super::needs::{Needs, PRELOAD};
use super::options::contexts;
use super::surroundings::Surroundings;
use super::words::{assignment, join, split, split_assignment};
use std::ffi::{OsStr, OsString};

pub(super) const EXPORT: &str = "SLURM_EXPORT_ENV";

pub(super) fn plan(line: &mut Line<'_, impl Surroundings>, at: usize, needs: &Needs) {
    let mut by_variable = false;
    for context in contexts(&line.words, at, arity) {
        let mut is_exported = false;
        for option in context.options.iter().filter(|option| is_export(&option.name)) {
            let (place, list) = match split_assignment(&line.words[option.at]) {
                Some((name, list)) => (option.at, (Some(name.to_owned()), list.to_owned())),
                None if option.values.len() == 1 => {
                    (option.values.start, (None, line.words[option.values.start].clone()))
                }
                None => continue,
            };
            let longer = extended(line, &list.1, needs);
            line.words[place] = match list.0 {
                Some(name) => assignment(&name, &longer),
                None => longer,
            };
            is_exported = true;
        }
        by_variable |= !is_exported;
    }
    if by_variable {
        let list = line.variable(EXPORT).unwrap_or_else(|| "ALL".into());
        let list = extended(line, &list, needs);
        line.set(EXPORT, list);
    }
}

/// Options may be cut short as long as they are clear.
fn is_export(name: &str) -> bool {
    matches!(name, "exp" | "expo" | "expor" | "export")
}

/// What is exported, and ours.
pub(super) fn extended(line: &mut Line<'_, impl Surroundings>, list: &OsStr, needs: &Needs) -> OsString {
    let is =
        |entry: &OsString, word: &str| entry.to_str().is_some_and(|entry| entry.eq_ignore_ascii_case(word));
    let mut entries = split(list, b',');
    entries.retain(|entry| !is(entry, "NONE") && !is(entry, "NIL"));
    let all = entries.iter().any(|entry| is(entry, "ALL"));
    let own = line.preloaded();
    let mut before = own.clone().filter(|_| all);
    entries.retain(|entry| match split_assignment(entry) {
        Some((PRELOAD, value)) => {
            before = Some(value.to_owned());
            false
        }
        None if entry == PRELOAD => {
            before.clone_from(&own);
            false
        }
        _ => true,
    });
    if !all {
        entries.extend(needs.names().map(OsString::from));
    }
    let preload = needs.preload(before.as_deref());
    if preload.as_encoded_bytes().contains(&b',') {
        line.set(PRELOAD, preload);
        entries.push(PRELOAD.into());
    } else {
        entries.push(assignment(PRELOAD, &preload));
        // Where srun finds a variable in its environment, that counts and not the list.
        if all && own.is_some() {
            line.remove(PRELOAD);
        }
    }
    join(&entries, ",")
}

/// How many words the values of an option take.
fn arity(name: &str, _: Option<&OsStr>) -> usize {
    match name {
        "A" | "B" | "c" | "C" | "d" | "D" | "e" | "F" | "G" | "i" | "J" | "L" | "m" | "M" | "n" | "N"
        | "o" | "p" | "P" | "q" | "r" | "S" | "t" | "T" | "w" | "W" | "x" | "account" | "bb" | "bbf"
        | "begin" | "chdir" | "cluster-constraint" | "clusters" | "comment" | "constraint" | "container"
        | "core-spec" | "cores-per-socket" | "cpu-bind" | "cpu-freq" | "cpus-per-gpu" | "cpus-per-task"
        | "deadline" | "delay-boot" | "dependency" | "distribution" | "epilog" | "error" | "exclude"
        | "exp" | "expo" | "expor" | "export" | "export-file" | "extra-node-info" | "gid" | "gpu-bind"
        | "gpu-freq" | "gpus" | "gpus-per-node" | "gpus-per-socket" | "gpus-per-task" | "gres"
        | "gres-flags" | "het-group" | "hint" | "input" | "jobid" | "job-name" | "licenses" | "mail-type"
        | "mail-user" | "mcs-label" | "mem" | "mem-bind" | "mem-per-cpu" | "mem-per-gpu" | "mincpus"
        | "mpi" | "msg-timeout" | "network" | "nodefile" | "nodelist" | "nodes" | "ntasks"
        | "ntasks-per-core" | "ntasks-per-gpu" | "ntasks-per-node" | "ntasks-per-socket" | "open-mode"
        | "output" | "partition" | "power" | "priority" | "prolog" | "profile" | "qos" | "relative"
        | "reservation" | "signal" | "slurmd-debug" | "sockets-per-node" | "switches" | "task-epilog"
        | "task-prolog" | "thread-spec" | "threads" | "threads-per-core" | "time" | "time-min" | "tmp"
        | "tres-bind" | "tres-per-task" | "uid" | "wait" | "wckey" => 1,
        _ => 0,
    }
}
