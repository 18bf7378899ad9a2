//! `mpiscope import`: a recording of a table of sends and receives, or of a trace of another tool.
//!
//! The formats are those of `mpiscope-formats`. Here are the options, the folder of the recording, Ctrl-C, the progress bar,
//! the recorder, and the messages to the user.

#[cfg(test)]
mod tests;

use crate::command_line::ImportOptions;
use crate::interrupt::Interrupt;
use crate::output_folder::refuse_occupied;
use crate::progress::ProgressBar;
use anyhow::{Context as _, Result, bail};
use mpiscope_formats::Progress as _;
use mpiscope_formats::import::{ImportedRun, InputFile, InputFormat};
use mpiscope_model::words::plural;
use mpiscope_recorder::{Diagnose, record_told};
use mpiscope_recording::{IMPORT, Manifest};
use mpiscope_verdict::diagnose_into;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn import(options: &ImportOptions) -> Result<ExitCode> {
    let out = std::path::absolute(&options.output).context("find the current folder")?;
    refuse_occupied(&out, "-o")?;
    let interrupt = Interrupt::catch("nothing was imported");
    interrupt.outcome(import_into(&out, options, &interrupt))
}

fn import_into(out: &Path, options: &ImportOptions, interrupt: &Interrupt) -> Result<()> {
    let progress = ProgressBar::new(interrupt);
    let command = vec![IMPORT.into(), options.file.to_string_lossy().into_owned()];
    let input = InputFile::recognize(&options.file)?;
    if options.nodes.is_some() {
        refuse_nodes(input.format())?;
    }
    let run = input.read(options.nodes.as_deref(), scratch(out), &progress)?;
    for sentence in run.notes() {
        say!("{sentence}");
    }
    interrupt.begin_folder(out);
    let item = run.item_name();
    let (manifest, overlapping) = record(run, command, out, &progress)?;
    if overlapping > 0 {
        say!("{} with overlapping calls: treated as multi-threaded", plural(overlapping, "rank"));
    }
    interrupt.keep()?;
    drop(progress);
    say(&manifest, item, &options.output);
    Ok(())
}

/// Refuses a file of nodes with a format that has them itself.
fn refuse_nodes(format: InputFormat) -> Result<()> {
    match format {
        InputFormat::Otf2 => {
            bail!(
                "--nodes goes with a table or a PICL trace: an OTF2 archive says which rank was on which node"
            )
        }
        InputFormat::Dumpi => {
            bail!(
                "--nodes goes with a table or a PICL trace: the texts of a DUMPI trace say which rank was on which node"
            )
        }
        InputFormat::Picl | InputFormat::Table => Ok(()),
    }
}

fn say(manifest: &Manifest, item: &str, of: &Path) {
    let totals = manifest.totals;
    say!(
        "{} of {} on {}: {}; {} without a receive, {} without a send",
        plural(totals.calls, item),
        plural(manifest.job.ranks.into(), "rank"),
        plural(manifest.job.nodes.len() as u64, "node"),
        plural(totals.messages, "message"),
        plural(totals.unmatched_sends, "send"),
        plural(totals.unmatched_receives, "receive"),
    );
    say!("recording in {}: mpiscope replay shows it, mpiscope report says what it holds", of.display());
}

/// Where what has to be sorted waits: there should be room where the recording will be.
fn scratch(out: &Path) -> &Path {
    out.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
}

/// Writes the recording; gives its manifest, and how many ranks had calls that overlap.
fn record(
    run: ImportedRun,
    command: Vec<String>,
    out: &Path,
    progress: &ProgressBar,
) -> Result<(Manifest, u64)> {
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Without durations nobody can tell what calls were made of.
    let has_durations = run.has_durations();
    let diagnose: Diagnose =
        Box::new(move |out, _| if has_durations { diagnose_into(out, 1) } else { Ok(()) });
    progress.begin("recording", Some(run.item_count()))?;
    record_told(out, diagnose, amend, move |teller| {
        run.missing().iter().for_each(|sentence| teller.miss(sentence.clone()));
        run.write_log(name, command, progress, &mut |message| teller.tell(message))
    })
}

/// Takes out what no imported file says.
fn amend(manifest: &mut Manifest) {
    manifest.job.exit = None;
    (manifest.cost.nanoseconds_per_call, manifest.cost.seconds) = (None, None);
}
