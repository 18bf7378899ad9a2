//! The agent of a node that is not the daemon's: started by the first rank there, it reads the rings of its host, keeps
//! what it read in a spool, and brings it to the daemon, now or when there is a way again.
//!
//! Two processes: one works, the other starts it again when it dies. They hold a lock on the folder of the rings, by
//! which ranks see that they need not start an agent.

mod outbox;
mod settings;
mod spool;
mod worker;

use crate::command_line::AgentOptions;
use anyhow::{Context as _, Result};
use mpiscope_process::local_host::own_program;
use mpiscope_ring::{AGENT_LOCK_VARIABLE, SERVED_BY_DAEMON};
pub(crate) use outbox::Shared;
pub(crate) use settings::LEFT_FILE;
use settings::{Lock, Settings};
pub(crate) use spool::Spool;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

/// Tells the working process from the one that starts it.
const WORKER: &str = "MPISCOPE_AGENT_WORKER";
/// An agent that dies so often has a fault that another start does not mend.
const MOST_STARTS: u32 = 50;
/// What fails so often will fail again.
const MOST_FAILURES: u32 = 5;
const REST_AFTER_DEATH: Duration = Duration::from_millis(50);

/// `mpiscope agent`: everything it needs is in its environment, or in the recording that is named.
pub(crate) fn agent(options: &AgentOptions) -> Result<ExitCode> {
    let mut variables = options.recording.as_deref().map(settings::left_in).transpose()?.unwrap_or_default();
    let settings = || {
        Settings::from_variables(|name| {
            let left = variables.iter().find(|(left, _)| left == name).map(|(_, value)| value.clone());
            left.or_else(|| std::env::var(name).ok())
        })
    };
    // The rank that started this process may be over before another one could be started.
    let tries = if std::env::var_os(AGENT_LOCK_VARIABLE).is_some() { MOST_FAILURES } else { 1 };
    let settings = retry(tries, settings)?;
    if std::env::var_os(WORKER).is_some() {
        return match worker::work(&settings) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                settings.note(&format!("{error:#}"));
                Err(error)
            }
        };
    }
    if settings.rings.join(SERVED_BY_DAEMON).exists() {
        say!("the daemon itself records the ranks of this host: no agent is needed here");
        return Ok(ExitCode::SUCCESS);
    }
    // Taken over from the rank that started us, or taken now; gone with the last of both processes.
    let lock = settings.lock()?;
    if matches!(lock, Lock::Anothers) {
        return Ok(ExitCode::SUCCESS);
    }
    if options.recording.is_some() {
        variables.push((worker::BY_HAND.to_owned(), "1".to_owned()));
    }
    let code = start_until_success(&variables)?;
    drop(lock);
    Ok(code)
}

/// Starts the process that works, again and again, until it succeeds or its faults do not go away.
fn start_until_success(variables: &[(String, String)]) -> Result<ExitCode> {
    let mut failures = 0;
    for _ in 0..MOST_STARTS {
        let started = start(variables);
        match &started {
            Ok(status) if status.success() => break,
            // It was killed.
            Ok(status) if status.code() != Some(2) => {}
            _ => failures += 1,
        }
        if failures == MOST_FAILURES {
            // What the working process said is in its spool.
            return started.map(|_| ExitCode::from(2));
        }
        std::thread::sleep(REST_AFTER_DEATH);
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes something that may lack memory, space or processes now, and not a moment later.
fn retry<T>(tries: u32, make: impl Fn() -> Result<T>) -> Result<T> {
    for _ in 1..tries {
        if let Ok(made) = make() {
            return Ok(made);
        }
        std::thread::sleep(REST_AFTER_DEATH);
    }
    make()
}

/// Starts the process that works, with what the recording said, and stays until it has ended.
fn start(variables: &[(String, String)]) -> Result<ExitStatus> {
    let variables = variables.iter().map(|(name, value)| (name, value));
    let mut worker = Command::new(own_program()?);
    worker.arg("agent").envs(variables).env(WORKER, "1").stdin(Stdio::null());
    worker.status().context("start the working process")
}
