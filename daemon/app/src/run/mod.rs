//! `mpiscope run`: starts the daemon, runs the command untouched, exits with its status.

mod analysis_hosts;
mod command;
mod folders;
mod link;
mod signals;
mod summary;
mod supervisor;

use crate::command_line::RunOptions;
use crate::remote_agent::LEFT_FILE;
use crate::site::{Site, Start};
use anyhow::{Context as _, Result, bail};
use mpiscope_launch::{self as launch, Launch};
use mpiscope_page::topology_files;
use mpiscope_page::{self as page, LayoutFilePath};
use mpiscope_process::local_host::own_program;
use mpiscope_process::private::random;
use mpiscope_recorder::switch;
use mpiscope_recorder::{Configuration, Link, Summary};
use mpiscope_recording::{Manifest, State};
use mpiscope_verdict as verdict;
use mpiscope_verdict::criteria_file::CriteriaFile;
use signals::Signals;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

pub(crate) use analysis_hosts::analysis_hosts;
pub(crate) use command::find_collector;
pub(crate) use folders::{RunFolders, left_over_rings, remove_rings_of};
pub(crate) use mpiscope_launch::{System, may_span_hosts};
pub(crate) use supervisor::Supervisor;

/// A run that is being recorded.
struct Recorded {
    folders: RunFolders,
    launch: Launch,
    supervisor: Supervisor,
    /// The page in the user's browser, where that was asked for.
    opened: Option<page::Opened>,
}

/// A command that is over.
pub(crate) struct Over {
    /// Its exit status.
    pub(crate) status: u8,
    /// Whether it could be run at all.
    pub(crate) has_run: bool,
    /// The figures of its recording; none when that could not be completed.
    pub(crate) summary: Option<Summary>,
}

pub(crate) fn run(options: &RunOptions) -> Result<ExitCode> {
    // Only the user's own word can keep the command from running.
    let out = folders::choose_folder(options)?;
    let criteria = options.criteria.as_deref().map(verdict::named).transpose()?;
    if let Some(layout) = &options.layout {
        LayoutFilePath::named(layout)?;
    }
    topology_files::read(&options.topology)?;
    let site = Site::load(options.site.as_deref());
    let site = if options.site.is_some() { Ok(site?) } else { site };
    let begun = || site.and_then(|site| begin(options, out.clone(), &site, criteria, Vec::new()));
    let recorded = match unless_panic(begun) {
        Ok(recorded) => Some(recorded),
        Err(error) => {
            say!("{error:#}; the program runs without being recorded");
            None
        }
    };
    let Over { status, has_run, summary } = carry_out(&options.command, recorded);
    if let Some(summary) = summary.filter(|_| has_run) {
        summary::print(&summary, &out);
    }
    Ok(ExitCode::from(status))
}

/// A panic in the work for a recording is a failure of the recording, never of the program.
fn unless_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // What was being changed is not used again.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| bail!("mpiscope has an internal error"))
}

/// Runs a command for the sake of its recording, with these variables for its ranks besides; without a recording it does
/// not run.
///
/// # Errors
/// When it cannot be recorded.
pub(crate) fn run_to_measure(
    options: &RunOptions,
    site: &Site,
    variables: Vec<(String, OsString)>,
) -> Result<Over> {
    let out = folders::choose_folder(options)?;
    let recorded = begin(options, out, site, None, variables)?;
    Ok(carry_out(&options.command, Some(recorded)))
}

/// Runs the command to its end, and completes the recording.
fn carry_out(command: &[OsString], recorded: Option<Recorded>) -> Over {
    let signals = Signals::catch();
    let ended = match &recorded {
        Some(recorded) => command::run(&recorded.launch, &signals),
        None => command::run(&Launch::untouched(command), &signals),
    };
    let exit = match &ended {
        Ok(status) => Some(shell_status(*status)),
        Err(error) => {
            say!("{error:#}");
            None
        }
    };
    let summary = recorded.and_then(|recorded| unless_panic(|| Ok(finish(recorded, exit))).ok().flatten());
    let status = match (exit, &ended) {
        (Some(exit), _) => u8::try_from(exit).unwrap_or(255),
        (None, Err(error)) if is_not_found(error) => 127,
        (None, _) => 126,
    };
    Over { status, has_run: exit.is_some(), summary }
}

fn begin(
    options: &RunOptions,
    out: PathBuf,
    site: &Site,
    criteria: Option<CriteriaFile>,
    variables: Vec<(String, OsString)>,
) -> Result<Recorded> {
    let (collector, program, system) = (find_collector()?, own_program()?, System::default());
    let link = link::link(options, site, &system)?;
    let folders = RunFolders::make(out, &site.paths)?;
    let mut configuration = configure(options, &folders, criteria, link.clone())?;
    configuration.analysis = analysis_hosts(options.hostfile.as_ref(), site);
    let mut needs = command::needs(&folders, &collector, site).inspect_err(|_| folders.remove_rings())?;
    needs.variables.extend(variables);
    needs.variables.extend(recording_variables(options));
    let supervisor = Supervisor::start(configuration).inspect_err(|_| {
        folders.remove_rings();
        folders.remove_beginning();
    })?;
    let url = supervisor.url().inspect(|url| page::say_address("live page", url));
    let opened = url.filter(|_| options.open).and_then(page::open_in_browser);
    if let Some((link, address)) = link.as_ref().zip(supervisor.link()) {
        let link_variables = link::variables(link, address, site, &program);
        if site.agents.start == Start::ByHand
            && let Err(error) = link::leave(&folders.out, needs.variables.iter().chain(&link_variables))
        {
            say!("agents cannot be started by hand: {error:#}");
        }
        needs.variables.extend(link_variables);
    }
    // Before signals are caught: an interrupt while the launcher is asked what it is ends all.
    let launch = launch::plan(&options.command, &needs, &system);
    Ok(Recorded { folders, launch, supervisor, opened })
}

/// What the recorder is to do.
fn configure(
    options: &RunOptions,
    folders: &RunFolders,
    criteria: Option<CriteriaFile>,
    link: Option<Link>,
) -> Result<Configuration> {
    Ok(Configuration {
        run: folders.name.clone(),
        out: folders.out.clone(),
        rings: vec![folders.rings.clone(), folders.spool.clone()],
        command: options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        window_ns: options.window * 1_000_000,
        workers: options.workers,
        analysis: None,
        latency: options.latency,
        paused: options.paused || options.flight.is_some(),
        flight: options.flight,
        hang_after: Duration::from_secs(options.hang_after),
        keep: options.keep,
        criteria,
        layout: options
            .layout
            .as_deref()
            .map(LayoutFilePath::named)
            .transpose()?
            .map(LayoutFilePath::into_path),
        topology: options
            .topology
            .iter()
            .map(|path| std::path::absolute(path).with_context(|| format!("find {}", path.display())))
            .collect::<Result<_>>()?,
        listen: (!options.no_dashboard).then(|| options.listen.unwrap_or(page::ANYWHERE)),
        token: format!("{:032x}", random()?),
        link,
        resume: false,
    })
}

/// What the options ask of the collector, in the environment of the ranks.
fn recording_variables(options: &RunOptions) -> impl Iterator<Item = (String, OsString)> {
    let call_paths = options.call_paths.then(|| (command::CALL_PATHS.to_owned(), "1".into()));
    let paused = options.paused.then(|| (switch::PAUSED.to_owned(), "1".into()));
    let flight = options.flight.map(|span| (switch::FLIGHT.to_owned(), span.as_secs().to_string().into()));
    call_paths.into_iter().chain(paused).chain(flight)
}

fn finish(recorded: Recorded, exit: Option<i32>) -> Option<Summary> {
    let Recorded { folders, supervisor, opened, .. } = recorded;
    // Agents that come now would get settings of a finished run.
    let _ = std::fs::remove_file(folders.out.join(LEFT_FILE));
    let answer = supervisor.finish(exit);
    drop(opened);
    if answer.is_some() {
        folders.remove_rings();
        if exit.is_none() {
            folders.remove_recording();
        }
    } else if Manifest::read(&folders.out).is_ok_and(|manifest| manifest.state == State::Complete) {
        // Nothing in the rings is missing there.
        folders.remove_rings();
        say!("the recording is complete: {}", folders.out.display());
    } else {
        // The rings stay: what is in them is in no file yet.
        say!(
            "the recording was not completed; `mpiscope report {}` reads what is there and in {}",
            folders.out.display(),
            folders.rings.display()
        );
    }
    answer
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// The exit status as a shell would say it.
fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(255)
}
