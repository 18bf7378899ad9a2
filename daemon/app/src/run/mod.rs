//! `mpiscope run`: starts the daemon, runs the command untouched, exits with its status.

mod command;
mod launch;
mod link;
mod place;
mod signals;
mod summary;
mod supervisor;

use crate::command_line::RunOptions;
use crate::daemon::Configuration;
use crate::here::own_program;
use crate::node::LEFT_FILE;
use crate::page;
use crate::site::{Site, Start};
use anyhow::Result;
use launch::Launch;
use place::Place;
use signals::Signals;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use supervisor::Supervisor;

pub(crate) use command::find_collector;
pub(crate) use launch::{System, may_span_hosts};
pub(crate) use place::{left_over_rings, random};

/// A run that is being recorded.
struct Recorded {
    place: Place,
    launch: Launch,
    supervisor: Supervisor,
}

pub(crate) fn run(options: &RunOptions) -> Result<ExitCode> {
    // Only the user's own word can keep the command from running.
    let out = place::choose_folder(options)?;
    let site = Site::load(options.site.as_deref());
    let site = if options.site.is_some() { Ok(site?) } else { site };
    let recorded = match site.and_then(|site| begin(options, out, &site)) {
        Ok(recorded) => Some(recorded),
        Err(error) => {
            eprintln!("mpiscope: {error:#}; the program runs without being recorded");
            None
        }
    };
    let signals = Signals::catch();
    let ended = match &recorded {
        Some(recorded) => command::run(&recorded.launch, &signals),
        None => command::run(&Launch::untouched(&options.command), &signals),
    };
    let exit = match &ended {
        Ok(status) => Some(shell_status(*status)),
        Err(error) => {
            eprintln!("mpiscope: {error:#}");
            None
        }
    };
    if let Some(recorded) = recorded {
        finish(recorded, exit);
    }
    Ok(ExitCode::from(match (exit, &ended) {
        (Some(exit), _) => u8::try_from(exit).unwrap_or(255),
        (None, Err(error)) if is_not_found(error) => 127,
        (None, _) => 126,
    }))
}

fn begin(options: &RunOptions, out: PathBuf, site: &Site) -> Result<Recorded> {
    let (collector, program, system) = (find_collector()?, own_program()?, System::default());
    let link = link::link(options, site, &system)?;
    let place = Place::make(out, &site.paths)?;
    let configuration = Configuration {
        run: place.name.clone(),
        out: place.out.clone(),
        rings: vec![place.rings.clone(), place.spool.clone()],
        command: options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        window_ns: options.window * 1_000_000,
        listen: (!options.no_dashboard).then(|| options.listen.unwrap_or(page::ANYWHERE)),
        token: format!("{:032x}", random()?),
        link: link.clone(),
        resume: false,
    };
    let mut needs = command::needs(&place, &collector, site).inspect_err(|_| place.remove_rings())?;
    let supervisor = Supervisor::start(configuration).inspect_err(|_| place.remove_rings())?;
    if let Some(url) = supervisor.url() {
        page::say_address("live page", url);
        if options.open {
            page::open_in_browser(url);
        }
    }
    if let Some((link, address)) = link.as_ref().zip(supervisor.link()) {
        let told = link::variables(link, address, site, &program);
        if site.agents.start == Start::ByHand
            && let Err(error) = link::leave(&place.out, needs.variables.iter().chain(&told))
        {
            eprintln!("mpiscope: agents cannot be started by hand: {error:#}");
        }
        needs.variables.extend(told);
    }
    // Before signals are caught: an interrupt while the launcher is asked what it is ends all.
    let launch = launch::plan(&options.command, &needs, &system);
    Ok(Recorded { place, launch, supervisor })
}

fn finish(recorded: Recorded, exit: Option<i32>) {
    let Recorded { place, supervisor, .. } = recorded;
    // Agents that come now would be told of a run that is over.
    let _ = std::fs::remove_file(place.out.join(LEFT_FILE));
    match supervisor.finish(exit) {
        Some(told) => {
            place.remove_rings();
            if exit.is_some() {
                summary::print(&told, &place.out);
            }
        }
        // The rings stay: what is in them is in no file yet.
        None => eprintln!(
            "mpiscope: the recording was not completed; `mpiscope report {}` reads what is there and in {}",
            place.out.display(),
            place.rings.display()
        ),
    }
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// The exit status as a shell would say it.
fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(255)
}
