//! `mpiscope export`: calls and messages of a recording for other programs.
//!
//! Whatever state the recording is in, its rows are read in pieces and written in pieces; what has to be sorted goes through
//! files without a name beside the output. The output has its name only when it is whole.

mod filter;
mod gather;
mod item;
mod otf2;
mod perfetto;
mod source;
mod sweep;
mod table;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use filter::{RankList, byte_range, duration_ns, run_time_ns};
pub(crate) use otf2::ATTRIBUTES;

use crate::command_line::ExportOptions;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::words::plural;
use anyhow::{Result, bail};
use clap::ValueEnum;
use filter::Filter;
use mpiscope_recording::Direction;
use source::Source;
use std::path::Path;
use std::process::ExitCode;
use table::Form;
use target::{Target, TargetFolder, folder_of};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A folder with an OTF2 trace
    Otf2,
    /// A JSON trace for ui.perfetto.dev and Chrome
    Perfetto,
    /// A table as comma-separated values
    Csv,
    /// A table as one Parquet file
    Parquet,
}

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportTable {
    /// One row a call
    Calls,
    /// One row a message
    Messages,
}

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Exported {
    pub(crate) calls: u64,
    pub(crate) messages: u64,
    /// What is to be said of it, a sentence each.
    pub(crate) remarks: Vec<String>,
}

pub(crate) fn export(options: &ExportOptions) -> Result<ExitCode> {
    refuse(options)?;
    let interrupt = Interrupt::catch("nothing was written");
    let outcome = write(options, &interrupt);
    if outcome.as_ref().is_err_and(is_broken_pipe) {
        // Whoever reads has seen enough.
        return Ok(ExitCode::SUCCESS);
    }
    interrupt.outcome(outcome)
}

/// Refuses what makes no sense before anything is read.
fn refuse(options: &ExportOptions) -> Result<()> {
    let is_table = matches!(options.format, ExportFormat::Csv | ExportFormat::Parquet);
    if !is_table && options.table.is_some() {
        bail!("--table goes with csv and parquet: the other formats hold calls and messages");
    }
    if !is_table && options.reverse {
        bail!("--reverse goes with csv and parquet: the other formats have an order of their own");
    }
    let is_of_calls = !options.function.is_empty() || options.site.is_some();
    if options.table == Some(ExportTable::Messages) && is_of_calls {
        bail!("--function and --site are of calls: leave them out, or choose --table calls");
    }
    let is_plain = options.output == Path::new("-");
    if is_plain && matches!(options.format, ExportFormat::Otf2 | ExportFormat::Parquet) {
        bail!("only csv and perfetto can be written to the standard output: choose another place with -o");
    }
    Ok(())
}

fn write(options: &ExportOptions, interrupt: &Interrupt) -> Result<()> {
    let progress = Progress::new(interrupt);
    let mut source = Source::open(&options.dir, &progress)?;
    let range = (options.from, options.to);
    let filter =
        Filter::new(range, options.rank.as_ref(), &options.function, options.longer_than, &source.functions)?
            .with(options.peer.as_ref(), options.bytes.as_ref());
    let filter = match &options.site {
        Some(place) => filter.of_place(place, &source.site_names())?,
        None => filter,
    };
    let direction = if options.reverse { Direction::Backward } else { Direction::Forward };
    let table = options.table.unwrap_or(ExportTable::Calls);
    let exported = match options.format {
        ExportFormat::Otf2 => {
            // Without the library nothing else needs to be done.
            let library = mpiscope_otf2::Library::load()?;
            let target = TargetFolder::open(&options.output, interrupt)?;
            let exported = otf2::write(&library, &mut source, &filter, target.path(), &progress)?;
            target.finish()?;
            exported
        }
        ExportFormat::Perfetto => {
            let target = Target::open(&options.output, interrupt)?;
            let (exported, target) =
                perfetto::write(&mut source, &filter, &scratch(&options.output), target, &progress)?;
            target.finish()?;
            exported
        }
        ExportFormat::Csv | ExportFormat::Parquet => {
            let form = if options.format == ExportFormat::Csv { Form::Csv } else { Form::Parquet };
            let target = Target::open(&options.output, interrupt)?;
            let (exported, target) =
                table::write(&mut source, (&filter, direction), (form, table), target, &progress)?;
            target.finish()?;
            exported
        }
    };
    interrupt.keep();
    drop(progress);
    say(options, &source, &exported);
    Ok(())
}

/// Where files without a name may be while something is sorted: where the output goes there should be room.
fn scratch(output: &Path) -> std::path::PathBuf {
    if output.metadata().is_ok_and(|found| !found.is_file()) || output == Path::new("-") {
        return std::env::temp_dir();
    }
    folder_of(output).to_owned()
}

fn say(options: &ExportOptions, source: &Source, exported: &Exported) {
    for sentence in source.missing.iter().chain(&exported.remarks) {
        say!("{sentence}");
    }
    let mut what = Vec::new();
    let table = options.table.unwrap_or(ExportTable::Calls);
    let is_table = matches!(options.format, ExportFormat::Csv | ExportFormat::Parquet);
    if !is_table || table == ExportTable::Calls {
        what.push(plural_calls(exported.calls));
    }
    if !is_table || table == ExportTable::Messages {
        what.push(plural(exported.messages, "message"));
    }
    let place = if options.output == Path::new("-") {
        "on the standard output".into()
    } else {
        format!("in {}", options.output.display())
    };
    say!("{} {place}", what.join(" and "));
}

fn plural_calls(calls: u64) -> String {
    plural(calls, "call")
}

/// Whether somebody stopped reading what is written.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
