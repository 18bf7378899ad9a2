//! The launcher of MPICH, Intel MPI and their kin: `-genv`.
//!
//! It hands its own environment to all ranks, through a socket and on no command line, unless the user limits that; then
//! ours is named in the limit. A variable that `-genv` or `-env` gives a value gets it in spite of all limits; a second
//! limit is an error, so the user's own is widened. A limit inside a `-configfile` is not seen: there ranks on other
//! hosts get the collector and not the variables.

use super::line::Line;
use super::needs::{Needs, PRELOAD};
use super::options::contexts;
use super::surroundings::Surroundings;
use super::words::{assignment, split_assignment};
use std::ffi::OsStr;

pub(super) fn plan(line: &mut Line<'_, impl Surroundings>, at: usize, needs: &Needs) {
    let before = line.preloaded();
    let mut places = Vec::new();
    let mut has_genv_preload = false;
    for option in contexts(&line.words, at, arity).iter().flat_map(|context| &context.options) {
        let values = option.values.clone();
        match option.name.as_str() {
            name @ ("genv" | "env") if preload(line, values.clone(), needs) => {
                has_genv_preload |= name == "genv";
            }
            "genvlist" | "envlist" if values.len() == 1 => {
                let list = &mut line.words[values.start];
                for name in needs.names() {
                    if !list.is_empty() {
                        list.push(",");
                    }
                    list.push(name);
                }
            }
            name @ ("genvnone" | "envnone") if needs.names().next().is_some() => {
                line.words[option.at] = format!("-{}list", name.trim_end_matches("none")).into();
                places.push((values.start, vec![needs.names().collect::<Vec<_>>().join(",").into()]));
            }
            _ => {}
        }
    }
    if !has_genv_preload {
        let words = vec!["-genv".into(), PRELOAD.into(), needs.preload(before.as_deref())];
        places.push((at + 1, words));
    }
    line.insert(places);
}

/// Puts the collector before what the values of a `-genv` preload, if they do.
fn preload(line: &mut Line<'_, impl Surroundings>, values: std::ops::Range<usize>, needs: &Needs) -> bool {
    let Some(first) = line.words.get(values.start) else { return false };
    if let Some((name, value)) = split_assignment(first) {
        let ours = name == PRELOAD;
        if ours {
            line.words[values.start] = assignment(PRELOAD, &needs.preload(Some(value)));
        }
        return ours;
    }
    let ours = first == PRELOAD && values.len() == 2;
    if ours {
        let value = &mut line.words[values.start + 1];
        *value = needs.preload(Some(value));
    }
    ours
}

/// How many words the values of an option take.
fn arity(name: &str, next: Option<&OsStr>) -> usize {
    match name {
        // Either a name and a value, or both in one word.
        "genv" | "env" => 2 - usize::from(next.is_some_and(|next| split_assignment(next).is_some())),
        "n" | "np" | "genvlist" | "envlist" | "f" | "hosts" | "host" | "wdir" | "configfile" | "launcher"
        | "launcher-exec" | "bootstrap" | "bootstrap-exec" | "rmk" | "topolib" | "bind-to" | "map-by"
        | "membind" | "ckpoint-interval" | "ckpoint-prefix" | "ckpoint-num" | "ckpointlib" | "demux"
        | "iface" | "ppn" | "perhost" | "prepend-pattern" | "errfile-pattern" | "outfile-pattern"
        | "nameserver" | "hostlist-async" | "machinefile" | "machine" | "path" | "umask" | "arch"
        | "usize" | "gpus-per-proc" | "gtool" | "gtoolfile" | "order-nodes" | "genvexcl" | "envexcl"
        | "s" | "tune" | "port-range" => usize::from(!matches!(name, "rr" | "profile" | "pmi-port")),
        _ => 0,
    }
}
