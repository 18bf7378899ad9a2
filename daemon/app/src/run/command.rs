//! The command itself: its environment, its process, its end.

use super::Recorded;
use super::place::Place;
use super::signals::Signals;
use anyhow::{Context as _, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

const COLLECTOR: &str = "libmpiscope_shim.so";

/// The library to preload: where a build with its own profile puts it, where a package does, or beside this program.
pub(crate) fn find_collector() -> Result<PathBuf> {
    let program = std::env::current_exe().context("find this program's own file")?;
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

/// The dynamic linker splits its list at spaces and colons; a path that has one gets another name among the rings.
fn plain_path(collector: &Path, place: &Place) -> Result<PathBuf> {
    if !collector.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        return Ok(collector.to_path_buf());
    }
    let link = place.rings.join(COLLECTOR);
    std::os::unix::fs::symlink(collector, &link).with_context(|| format!("make {}", link.display()))?;
    Ok(link)
}

/// The preloaded libraries: ours, then what was there.
fn preload(collector: &Path, before: Option<&OsStr>) -> OsString {
    let mut all = collector.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        all.push(":");
        all.push(before);
    }
    all
}

/// Runs the command to its end, passing signals on to it.
pub(crate) fn run(words: &[OsString], recorded: Option<&Recorded>, signals: &Signals) -> Result<ExitStatus> {
    let (program, arguments) = words.split_first().context("no command was given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(Recorded { place, collector, variables, .. }) = recorded {
        let collector = &plain_path(collector, place)?;
        command.env("LD_PRELOAD", preload(collector, std::env::var_os("LD_PRELOAD").as_deref()));
        command.envs(variables.iter().map(|variable| (variable.name, &variable.value)));
    }
    let mut child =
        command.spawn().with_context(|| format!("{} cannot be run", program.to_string_lossy()))?;
    signals.pass_on_to(child.id());
    let status = child.wait().with_context(|| format!("wait for {}", program.to_string_lossy()));
    signals.stop();
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_preloaded_stays() {
        let ours = Path::new("/a/ours.so");
        assert_eq!(preload(ours, None), "/a/ours.so");
        assert_eq!(preload(ours, Some(OsStr::new(""))), "/a/ours.so");
        assert_eq!(preload(ours, Some(OsStr::new("/b.so:/c.so"))), "/a/ours.so:/b.so:/c.so");
    }
}
