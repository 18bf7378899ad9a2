//! Open MPI: options `-x`, or the list of variables that its parameter `mca_base_env_list` holds.
//!
//! What 4.1.4 does: neither a value of `-x` nor the list comes onto an orted's command line (other `OMPI_MCA_*` variables
//! do, with their values). An option holds for one program of the line, the list for all. A list and an option, wherever
//! they were given, are an error that ends the job, so a list that the user has is extended. Of two lists the command
//! line's counts, then the environment's, then that of the parameter files. A list in the environment would also meet
//! the options of an `mpirun` that a rank calls, which is why there is none where the user has none.
//!
//! Open MPI 5 documents `-x` as its way, and keeps the list for compatibility.

use super::line::Line;
use super::needs::{Needs, PRELOAD};
use super::options::{Context, contexts};
use super::surroundings::Surroundings;
use super::words::{assignment, join, split, split_assignment};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub(super) const LIST: &str = "OMPI_MCA_mca_base_env_list";
const LIST_PARAMETER: &str = "mca_base_env_list";

/// How the ranks are given what they need.
enum Way {
    /// Options `-x`.
    Options,
    /// The variable that holds the list, which was this before.
    Variable(OsString),
    /// The user's lists on the command line: the places of their values.
    OnLine(Vec<usize>),
    /// The launcher's own environment, which reaches the ranks of this host.
    Inherited,
}

pub(super) fn plan(line: &mut Line<'_, impl Surroundings>, at: usize, needs: &Needs) {
    let contexts = contexts(&line.words, at, arity);
    match way(line, &contexts, at) {
        Way::Options => add_options(line, &contexts, needs),
        Way::Variable(list) => {
            let list = extended(line, &list, needs);
            line.set(LIST, list);
        }
        Way::OnLine(places) => {
            for place in places {
                let list = line.words[place].clone();
                line.words[place] = extended(line, &list, needs);
            }
        }
        Way::Inherited => {
            let preload = needs.preload(line.preloaded().as_deref());
            line.set(PRELOAD, preload);
        }
    }
}

fn way(line: &Line<'_, impl Surroundings>, contexts: &[Context], at: usize) -> Way {
    let options = || contexts.iter().flat_map(|context| &context.options);
    let valued = |name: &'static str| {
        let found = options().filter(move |option| option.name == name && !option.values.is_empty());
        found.map(|option| line.words[option.values.start].clone())
    };
    // Options in files that these name meet neither ours nor a list of ours.
    let sets = valued("tune").chain(valued("am")).chain(line.variable(TUNE));
    let has_list = |text: String| text.contains(LIST_PARAMETER);
    if sets.filter_map(|file| line.surroundings.read(Path::new(&file))).any(has_list) {
        return Way::Inherited;
    }
    let lists: Vec<usize> = options()
        .filter(|option| matches!(option.name.as_str(), "mca" | "gmca") && option.values.len() == 2)
        .filter(|option| line.words[option.values.start] == LIST_PARAMETER)
        .map(|option| option.values.start + 1)
        .collect();
    let list = || line.variable(LIST).or_else(|| list_of_files(line, at));
    // An appfile makes the launcher ignore the line's options, and may have some of its own.
    let mut appfiles = valued("app").peekable();
    if appfiles.peek().is_some() {
        let plain = |text: String| !text.split_whitespace().any(|word| word == "-x");
        return if appfiles.all(|file| line.surroundings.read(Path::new(&file)).is_some_and(plain)) {
            Way::Variable(list().unwrap_or_default())
        } else {
            Way::Inherited
        };
    }
    if lists.is_empty() { list().map_or(Way::Options, Way::Variable) } else { Way::OnLine(lists) }
}

/// What names the files of `--tune` in the environment.
const TUNE: &str = "OMPI_MCA_mca_base_envar_file_prefix";

/// The list with ours in it. What it preloads comes behind the collector.
fn extended(line: &mut Line<'_, impl Surroundings>, list: &OsStr, needs: &Needs) -> OsString {
    let mut entries = split(list, b';');
    let mut before = line.preloaded();
    entries.retain(|entry| {
        let preloaded = split_assignment(entry).filter(|(name, _)| *name == PRELOAD);
        if let Some((_, value)) = preloaded {
            before = Some(value.to_owned());
        }
        preloaded.is_none() && entry != PRELOAD
    });
    entries.extend(needs.names().map(OsString::from));
    let preload = needs.preload(before.as_deref());
    if preload.as_encoded_bytes().contains(&b';') {
        // It would be taken apart: the launcher itself has to have it.
        line.set(PRELOAD, preload);
        entries.push(PRELOAD.into());
    } else {
        entries.push(assignment(PRELOAD, &preload));
    }
    join(&entries, ";")
}

fn add_options(line: &mut Line<'_, impl Surroundings>, contexts: &[Context], needs: &Needs) {
    let before = line.preloaded();
    let mut places = Vec::new();
    for context in contexts {
        let mut words: Vec<OsString> =
            needs.names().flat_map(|name| ["-x".into(), OsString::from(name)]).collect();
        let mut has_own_preload = false;
        for option in context.options.iter().filter(|option| option.name == "x" && !option.values.is_empty())
        {
            let word = &mut line.words[option.values.start];
            let value = match split_assignment(word) {
                Some((PRELOAD, value)) => Some(value.to_owned()),
                None if *word == PRELOAD => before.clone(),
                _ => continue,
            };
            *word = assignment(PRELOAD, &needs.preload(value.as_deref()));
            has_own_preload = true;
        }
        if !has_own_preload {
            words.extend(["-x".into(), assignment(PRELOAD, &needs.preload(before.as_deref()))]);
        }
        places.push((context.begin, words));
    }
    line.insert(places);
}

/// The parameter files that are read without being named: the user's, then the installation's.
pub(super) fn parameter_files(line: &Line<'_, impl Surroundings>, at: usize) -> Vec<PathBuf> {
    if let Some(files) = line.variable("OMPI_MCA_mca_base_param_files") {
        let files = files.to_string_lossy().into_owned();
        return files.split([':', ',']).map(PathBuf::from).collect();
    }
    let home = line.variable("HOME").map(|home| Path::new(&home).join(".openmpi/mca-params.conf"));
    home.into_iter().chain(installed(line, at, "openmpi-mca-params.conf")).collect()
}

/// A file of the installation's configuration: beside the launcher's folder, or where distributions have it.
pub(super) fn installed(line: &Line<'_, impl Surroundings>, at: usize, name: &str) -> Vec<PathBuf> {
    let prefix = line.words.get(at).and_then(|word| Path::new(word).parent()?.parent());
    let own = prefix.filter(|prefix| prefix.is_absolute()).map(|prefix| prefix.join("etc").join(name));
    own.into_iter().chain([Path::new("/etc/openmpi").join(name)]).collect()
}

fn list_of_files(line: &Line<'_, impl Surroundings>, at: usize) -> Option<OsString> {
    let texts = parameter_files(line, at).into_iter().filter_map(|file| line.surroundings.read(&file));
    texts.filter_map(|text| parameter(&text, LIST_PARAMETER)).next().map(OsString::from)
}

/// The value of a parameter in a parameter file.
fn parameter(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.filter(|(found, _)| found.trim() == name).map(|(_, value)| value.trim().to_owned()).next_back()
}

/// How many words the values of an option take.
pub(super) fn arity(name: &str, _: Option<&OsStr>) -> usize {
    match name {
        "mca" | "gmca" | "omca" | "gomca" | "prtemca" | "gprtemca" | "pmixmca" | "gpmixmca"
        | "prepend-env" | "append-env" => 2,
        "x" | "n" | "np" | "c" | "N" | "H" | "host" | "am" | "app" | "bind-to" | "cf" | "cartofile"
        | "cpu-list" | "cpu-set" | "cpus-per-proc" | "cpus-per-rank" | "debugger" | "default-hostfile"
        | "hnp" | "hostfile" | "launch-agent" | "machinefile" | "map-by" | "max-restarts" | "max-vm-size"
        | "npernode" | "npersocket" | "ompi-server" | "output-filename" | "path" | "personality" | "ppr"
        | "prefix" | "preload-files" | "rank-by" | "report-events" | "report-pid" | "report-uri" | "rf"
        | "rankfile" | "stdin" | "timeout" | "tune" | "wd" | "wdir" | "xml-file" | "xterm" | "output"
        | "output-directory" | "display" | "runtime-options" | "pset" | "set-env" | "unset-env"
        | "forward-signals" | "tmpdir" | "spawn-timeout" | "stream-buffering" | "dvm" | "dvm-uri"
        | "singleton" | "keepalive" | "gpu-support" | "pmix-prefix" | "app-pmix-prefix"
        | "memory-alloc-kinds" | "initial-errhandler" | "with-ft" => 1,
        _ => 0,
    }
}
