//! `mpiscope export`: calls and messages of a recording for other programs.
//!
//! The formats are those of `mpiscope-formats`. Here are the options, the output, which has its name only when it is whole,
//! Ctrl-C, the progress bar, the log of a run that is not complete, and the messages to the user.

mod target;

use crate::command_line::{ExportFormat, ExportOptions, ExportTable, range_ns};
use crate::interrupt::Interrupt;
use crate::progress::ProgressBar;
use anyhow::{Result, bail};
use mpiscope_engine::load::{Rows, Trust, is_in_log, load_with};
use mpiscope_feed::Overview;
use mpiscope_formats::export::{
    ExportSummary, Filter, LogReader, LogSummary, Otf2Library, Source, TableFormat, TakeLogRows, write_otf2,
    write_perfetto, write_picl, write_table,
};
use mpiscope_model::SiteInfo;
use mpiscope_model::words::plural;
use mpiscope_recording::{Direction, Recording};
use mpiscope_symbols::{PATIENCE, look_up};
use std::path::Path;
use std::process::ExitCode;
use target::{Target, TargetFolder, folder_of};

/// Reads the log of a run as the other commands do.
struct LogReplay;

impl LogReader for LogReplay {
    fn has_rows(&self, recording: &Recording) -> bool {
        is_in_log(recording)
    }

    fn read_rows(&self, recording: &Recording, take: &mut TakeLogRows<'_>) -> Result<LogSummary> {
        let mut reader = |Rows { calls, messages, .. }| take(calls, messages);
        let overview = Overview::default();
        let loaded = load_with(recording.dir(), recording, Trust::Checked, overview, &mut reader)?;
        Ok(LogSummary {
            job: loaded.job,
            sites: loaded.sites,
            calls: loaded.totals.calls,
            messages: loaded.totals.messages,
            missing: loaded.missing,
        })
    }

    fn name_call_sites(&self, sites: &mut [SiteInfo]) -> Vec<String> {
        look_up(sites, PATIENCE)
    }
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
        bail!("--function and --call-site choose calls: leave them out, or use --table calls");
    }
    let is_plain = options.output == Path::new("-");
    if is_plain && matches!(options.format, ExportFormat::Otf2 | ExportFormat::Parquet) {
        bail!(
            "only csv, perfetto and picl can be written to the standard output: choose another place with -o"
        );
    }
    Ok(())
}

fn write(options: &ExportOptions, interrupt: &Interrupt) -> Result<()> {
    let progress = ProgressBar::new(interrupt);
    let mut source = Source::open(Recording::open(&options.dir)?, &LogReplay, &progress)?;
    let filter = filter(options, &source)?;
    let exported = export_rows(options, &mut source, &filter, &progress, interrupt)?;
    drop(progress);
    say(options, &source, &exported);
    Ok(())
}

/// Writes the rows in the format that is asked for.
fn export_rows(
    options: &ExportOptions,
    source: &mut Source<'_>,
    filter: &Filter,
    progress: &ProgressBar,
    interrupt: &Interrupt,
) -> Result<ExportSummary> {
    let direction = if options.reverse { Direction::Backward } else { Direction::Forward };
    let table = options.table.unwrap_or(ExportTable::Calls);
    Ok(match options.format {
        ExportFormat::Otf2 => export_otf2(&options.output, source, filter, progress, interrupt)?,
        ExportFormat::Perfetto => {
            let target = Target::open(&options.output, interrupt)?;
            let (exported, target) =
                write_perfetto(source, filter, &scratch(&options.output), target, progress)?;
            target.finish(interrupt)?;
            exported
        }
        ExportFormat::Picl => {
            let target = Target::open(&options.output, interrupt)?;
            let (exported, target) = write_picl(source, filter, &scratch(&options.output), target, progress)?;
            target.finish(interrupt)?;
            exported
        }
        ExportFormat::Csv | ExportFormat::Parquet => {
            let is_csv = options.format == ExportFormat::Csv;
            let format = if is_csv { TableFormat::Csv } else { TableFormat::Parquet };
            let target = Target::open(&options.output, interrupt)?;
            let (exported, target) =
                write_table(source, (filter, direction), (format, table.into()), target, progress)?;
            target.finish(interrupt)?;
            exported
        }
    })
}

fn export_otf2(
    output: &Path,
    source: &mut Source<'_>,
    filter: &Filter,
    progress: &ProgressBar,
    interrupt: &Interrupt,
) -> Result<ExportSummary> {
    // Without the library nothing else needs to be done.
    let library = Otf2Library::load()?;
    let target = TargetFolder::open(output, interrupt)?;
    let exported = write_otf2(&library, source, filter, target.path(), progress)?;
    target.finish(interrupt)?;
    Ok(exported)
}

/// What of the recording is exported.
fn filter(options: &ExportOptions, source: &Source<'_>) -> Result<Filter> {
    let range = range_ns(options.from, options.to)?;
    let (ranks, functions) = (options.rank.as_ref(), source.function_names());
    let filter = Filter::new(range, ranks, &options.function, options.longer_than, functions)?
        .with_peers_and_bytes(options.peer.as_ref(), options.bytes.as_ref());
    match &options.site {
        Some(place) => filter.at_call_site(place, &source.site_names()),
        None => Ok(filter),
    }
}

/// Where files without a name may be while something is sorted: where the output goes there should be room.
fn scratch(output: &Path) -> std::path::PathBuf {
    if output.metadata().is_ok_and(|found| !found.is_file()) || output == Path::new("-") {
        return std::env::temp_dir();
    }
    folder_of(output).to_owned()
}

fn say(options: &ExportOptions, source: &Source<'_>, exported: &ExportSummary) {
    for sentence in source.missing().iter().chain(&exported.remarks) {
        say!("{sentence}");
    }
    let mut what = Vec::new();
    let table = options.table.unwrap_or(ExportTable::Calls);
    let is_table = matches!(options.format, ExportFormat::Csv | ExportFormat::Parquet);
    if !is_table || table == ExportTable::Calls {
        what.push(plural(exported.calls, "call"));
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

/// Whether somebody stopped reading what is written.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
