//! `mpiscope run`: starts the daemon, runs the command untouched, exits with its status.

mod command;
mod place;
mod signals;
mod summary;
mod supervisor;

use crate::command_line::RunOptions;
use crate::daemon::Configuration;
use anyhow::{Context as _, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};
use supervisor::Supervisor;

pub(crate) use command::find_collector;
pub(crate) use place::left_over_rings;

pub(crate) fn run(options: &RunOptions) -> Result<ExitCode> {
    let place = place::Place::choose(options)?;
    let words: Vec<String> = options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let anywhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let configuration = Configuration {
        run: place.name.clone(),
        out: place.out.clone(),
        rings: vec![place.rings.clone(), place.spool.clone()],
        command: words,
        window_ns: options.window * 1_000_000,
        listen: (!options.no_dashboard).then(|| options.listen.unwrap_or(anywhere)),
        token: format!("{:032x}", place::random()?),
        resume: false,
    };
    let collector = find_collector()?;
    // From here on nothing of ours may keep the command from running.
    let supervisor = match Supervisor::start(configuration) {
        Ok(supervisor) => Some(supervisor),
        Err(error) => {
            eprintln!("mpiscope: {error:#}; the program runs without being recorded");
            None
        }
    };
    if let Some(url) = supervisor.as_ref().and_then(Supervisor::url) {
        summary::address(url);
    }
    let recorded = supervisor.as_ref().map(|_| &place);
    let signals = signals::Signals::catch().context("catch signals, to pass them on")?;
    let status = command::run(&options.command, recorded, &collector, &signals);
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            if let Some(supervisor) = supervisor {
                supervisor.finish(None);
            }
            place.remove_rings();
            eprintln!("mpiscope: {error:#}");
            let not_found = error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
            return Ok(ExitCode::from(if not_found { 127 } else { 126 }));
        }
    };
    let exit = shell_status(status);
    match supervisor.map(|supervisor| supervisor.finish(Some(exit))) {
        Some(Some(told)) => summary::print(&told, &place.out),
        // The rings stay: what is in them is in no file yet.
        Some(None) => eprintln!(
            "mpiscope: the recording was not completed; `mpiscope report {}` reads what is there and in {}",
            place.out.display(),
            place.rings.display()
        ),
        None => place.remove_rings(),
    }
    Ok(ExitCode::from(u8::try_from(exit).unwrap_or(255)))
}

/// The exit status as a shell would say it.
fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(255)
}
