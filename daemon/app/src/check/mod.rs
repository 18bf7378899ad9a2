//! `mpiscope check`: what of a recording is whole, and what is missing or damaged. It reads every byte once, with bounded
//! memory, and changes nothing.

mod files;
mod report;
mod rows;
#[cfg(test)]
mod tests;
mod totals;

pub(crate) use rows::{RowLimits, Sane};

use crate::command_line::CheckOptions;
use anyhow::Result;
use mpiscope_engine::{Live, Records};
use mpiscope_model::Losses;
use mpiscope_model::words::printable;
use mpiscope_process::output::print;
use mpiscope_recording::{Manifest, Recording, State};
use report::{CheckReport, RecordingCondition};
use std::path::Path;
use std::process::ExitCode;

/// The exit status when something is missing or damaged.
const NOT_WHOLE: u8 = 1;

pub(crate) fn check(options: &CheckOptions) -> Result<ExitCode> {
    let found = check_all(&options.dir)?;
    let text = if options.json { found.json()? } else { printable(&found.text(&options.dir)) };
    print(&text)?;
    Ok(if found.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(NOT_WHOLE) })
}

/// Checks everything.
///
/// # Errors
/// When there is no recording, or none that can be understood.
pub(crate) fn check_all(dir: &Path) -> Result<CheckReport> {
    // Asked first: a run that ends meanwhile leaves more than was looked for, and not less.
    let records = Live::read(dir);
    let recording = Recording::open(dir)?;
    let manifest = recording.manifest();
    let mut found = CheckReport::new(condition(manifest, &records));
    files::manifest(&recording, &mut found);
    let known = RowLimits::read(&recording);
    let sums = rows::check(&recording, &known, &mut found);
    files::tables(&recording, &mut found);
    files::sums(&recording, &mut found);
    files::findings(&recording, &mut found);
    files::log(&recording, &records, &mut found)?;
    totals::check(manifest, &sums, &mut found);
    files::folder(&recording, &mut found);
    found.missing.clone_from(&manifest.missing);
    found.uncounted.clone_from(&manifest.uncounted);
    found.lost_calls = Losses::from(manifest.lost).total();
    found.missing.retain(|text| Some(text.as_str()) != recording.damage());
    Ok(found)
}

fn condition(manifest: &Manifest, records: &Records) -> RecordingCondition {
    match (records, manifest.state) {
        (Records::Somebody(process), _) => RecordingCondition::BeingWritten(*process),
        (_, State::Running) => RecordingCondition::BrokenOff,
        (_, State::Complete) => RecordingCondition::Complete,
        (_, State::Incomplete) => RecordingCondition::Incomplete,
    }
}
