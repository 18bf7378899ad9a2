//! `mpiscope repair`: a sound recording of what is left of a damaged one, or of one whose recorder was killed.
//!
//! The damaged one stays as it is: what is made of it goes into a folder of its own.

mod from_log;
mod from_segments;
mod parts;
mod tables;

use crate::check::check_all;
use crate::command_line::RepairOptions;
use crate::interrupt::Interrupt;
use crate::output_folder::refuse_occupied;
use crate::run::remove_rings_of;
use anyhow::{Context as _, Result, bail};
use mpiscope_engine::load::is_in_log;
use mpiscope_engine::{Live, Records};
use mpiscope_model::words::{plural, printable};
use mpiscope_recording::{Manifest, Recording, RecordingError, State};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is behind the name of a recording in that of the repaired one.
const REPAIRED: &str = ".repaired";

pub(crate) fn repair(options: &RepairOptions) -> Result<ExitCode> {
    let dir = std::path::absolute(&options.dir).context("find the current folder")?;
    if let Records::Somebody(process) = Live::read(&dir) {
        let who = process.map_or_else(String::new, |process| format!(" by process {process}"));
        bail!("{} is being recorded{who}; repair it when that is over", options.dir.display());
    }
    let recording = match Recording::open(&dir) {
        Err(RecordingError::Manifest { .. } | RecordingError::ManifestGone { .. }) => {
            Recording::without_manifest(&dir)?
        }
        opened => opened?,
    };
    if recording.damage().is_none() && check_all(&dir).is_ok_and(|found| found.is_whole()) {
        say!("{} is whole: there is nothing to repair", options.dir.display());
        return Ok(ExitCode::SUCCESS);
    }
    let named = options.output.clone().unwrap_or_else(|| beside(&options.dir));
    let out = std::path::absolute(&named).context("find the current folder")?;
    refuse_occupied(&out, "-o")?;
    let interrupt = Interrupt::catch("nothing was repaired");
    interrupt.outcome(repair_into(&out, &recording, (&options.dir, &named), &interrupt))
}

/// Writes the repaired recording into `out`. The names are those that the user knows both by.
fn repair_into(
    out: &Path,
    recording: &Recording,
    (dir, named): (&Path, &Path),
    interrupt: &Interrupt,
) -> Result<()> {
    let is_in_log = is_in_log(recording) && from_log::has_more(recording)?;
    interrupt.check()?;
    interrupt.begin_folder(out);
    let (manifest, read_rings) = if is_in_log {
        from_log::repair(recording, out, interrupt)?
    } else {
        (from_segments::repair(recording, out, interrupt)?, None)
    };
    interrupt.keep()?;
    // Until now what is in the rings was nowhere else for sure.
    if let Some(rings) = read_rings.as_ref().and_then(remove_rings_of) {
        say!("what lay in {} is saved as well, and was removed there", rings.display());
    }
    say(&manifest, dir, named);
    Ok(())
}

/// The folder beside a recording that its repaired copy goes to.
fn beside(dir: &Path) -> PathBuf {
    // Also of one that is named with a slash at its end, or as the current folder.
    let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let plain: PathBuf = whole.components().collect();
    let mut name = plain.file_name().map_or_else(OsString::new, OsString::from);
    name.push(REPAIRED);
    plain.with_file_name(name)
}

fn say(manifest: &Manifest, dir: &Path, out: &Path) {
    let totals = manifest.totals;
    say!(
        "{} and {} saved from {}, which stays as it is",
        plural(totals.calls, "call"),
        plural(totals.messages, "message"),
        dir.display()
    );
    for sentence in &manifest.missing {
        say!("missing: {}", printable(sentence));
    }
    let state =
        if manifest.state == State::Complete { "complete" } else { "sound, and incomplete as it says" };
    say!("recording in {}: {state}", out.display());
}

#[cfg(test)]
mod tests {
    use super::beside;
    use std::path::Path;

    #[test]
    fn a_repaired_recording_lies_beside_the_damaged_one() {
        assert_eq!(beside(Path::new("/tmp/a.scope/")), Path::new("/tmp/a.scope.repaired"));
        assert_eq!(beside(Path::new("/tmp/./a")), Path::new("/tmp/a.repaired"));
        let folder = std::env::current_dir().unwrap();
        assert_eq!(beside(Path::new("a")), folder.join("a.repaired"));
    }
}
