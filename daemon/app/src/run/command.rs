//! The command itself: its environment, its process, its end.

use super::folders::RunFolders;
use super::signals::Signals;
use crate::site::{Limits, Site};
use anyhow::{Context as _, Result, bail};
use mpiscope_launch::{Launch, Needs};
use mpiscope_process::local_host::own_program;
use mpiscope_process::{os, output};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

const COLLECTOR: &str = "libmpiscope_shim.so";
const RING_SLOTS: &str = "MPISCOPE_RING_SLOTS";
/// What ranks have in their environment whose calls get their whole path.
pub(super) const CALL_PATHS: &str = "MPISCOPE_CALL_PATHS";
const OTHER_RING_SLOTS: &str = "MPISCOPE_RING_OTHER_SLOTS";

/// The library to preload: where a build with its own profile puts it, where a package does, or beside this program.
pub(crate) fn find_collector() -> Result<PathBuf> {
    let program = own_program()?;
    let folder = program.parent().context("find this program's folder")?;
    let places = ["../shim", "../lib/mpiscope", "."].map(|place| folder.join(place).join(COLLECTOR));
    match places.iter().find(|place| place.is_file()) {
        Some(found) => Ok(found.canonicalize()?),
        None => bail!(
            "{COLLECTOR} is not beside {}: build it with `cargo build -p mpiscope-shim --profile shim`",
            program.display()
        ),
    }
}

/// The dynamic linker splits its list at spaces and colons, launchers split theirs at semicolons and commas; a path that
/// has one gets another name among the rings.
fn plain_path(collector: &Path, folders: &RunFolders) -> Result<PathBuf> {
    let splits = |byte: &u8| matches!(byte, b' ' | b':' | b';' | b',');
    if !collector.as_os_str().as_encoded_bytes().iter().any(splits) {
        return Ok(collector.to_path_buf());
    }
    let link = folders.rings.join(COLLECTOR);
    std::os::unix::fs::symlink(collector, &link).with_context(|| format!("make {}", link.display()))?;
    Ok(link)
}

/// What the ranks of a recorded run have to get.
pub(crate) fn needs(folders: &RunFolders, collector: &Path, site: &Site) -> Result<Needs> {
    let mut variables: Vec<(String, OsString)> = vec![
        ("MPISCOPE_RINGS".to_owned(), folders.rings.clone().into()),
        ("MPISCOPE_SPOOL".to_owned(), folders.spool.clone().into()),
    ];
    // What the user says in the environment counts more than the site's word, and has to reach other hosts as well.
    let from_environment = |name: &str| std::env::var_os(name).map(|value| (name.to_owned(), value));
    let slots = site.limits.ring_slots;
    let by_site =
        || (slots != Limits::default().ring_slots).then(|| (RING_SLOTS.to_owned(), slots.to_string().into()));
    variables.extend(from_environment(RING_SLOTS).or_else(by_site));
    variables.extend(from_environment(OTHER_RING_SLOTS));
    Ok(Needs { collector: plain_path(collector, folders)?, variables })
}

/// Runs the command to its end, passing signals on to it.
pub(crate) fn run(launch: &Launch, signals: &Signals) -> Result<ExitStatus> {
    let (program, arguments) = launch.words.split_first().context("no command was given")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(launch.set.iter().map(|(name, value)| (name, value)));
    launch.removed.iter().for_each(|name| {
        command.env_remove(name);
    });
    os::pass_on_sigpipe(&mut command);
    // What was said until now stands before the program's own words.
    output::settle();
    let mut child =
        command.spawn().with_context(|| format!("{} cannot be run", program.to_string_lossy()))?;
    signals.pass_on_to(child.id());
    let status = child.wait().with_context(|| format!("wait for {}", program.to_string_lossy()));
    signals.stop();
    status
}
