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
use crate::here::own_program;
use anyhow::{Context as _, Result};
pub(crate) use settings::LEFT_FILE;
use settings::{Lock, Settings};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

/// Tells the working process from the one that starts it.
const WORKER: &str = "MPISCOPE_AGENT_WORKER";
/// Says that no rank started it: ranks may take their time.
const BY_HAND: &str = "MPISCOPE_AGENT_BY_HAND";
/// An agent that dies so often has a fault that another start does not mend.
const MOST_STARTS: u32 = 50;
const REST_AFTER_DEATH: Duration = Duration::from_millis(50);

/// `mpiscope agent`: everything it needs is in its environment, or in the recording that is named.
pub(crate) fn agent(options: &AgentOptions) -> Result<ExitCode> {
    let mut told = options.recording.as_deref().map(settings::left_in).transpose()?.unwrap_or_default();
    let settings = Settings::of(|name| {
        let left = told.iter().find(|(left, _)| left == name).map(|(_, value)| value.clone());
        left.or_else(|| std::env::var(name).ok())
    })?;
    if std::env::var_os(WORKER).is_some() {
        return match worker::work(&settings) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                settings.note(&format!("{error:#}"));
                Err(error)
            }
        };
    }
    // Taken over from the rank that started us, or taken now; gone with the last of both processes.
    let lock = settings.lock()?;
    if matches!(lock, Lock::Anothers) {
        return Ok(ExitCode::SUCCESS);
    }
    if options.recording.is_some() {
        told.push((BY_HAND.to_owned(), "1".to_owned()));
    }
    for _ in 0..MOST_STARTS {
        match start(&told)? {
            status if status.success() => break,
            // It said what is wrong: another start would say it again.
            status if status.code() == Some(2) => return Ok(ExitCode::from(2)),
            _ => std::thread::sleep(REST_AFTER_DEATH),
        }
    }
    drop(lock);
    Ok(ExitCode::SUCCESS)
}

/// Starts the process that works, with what the recording said, and stays until it has ended.
fn start(told: &[(String, String)]) -> Result<ExitStatus> {
    let told = told.iter().map(|(name, value)| (name, value));
    let mut worker = Command::new(own_program()?);
    worker.arg("agent").envs(told).env(WORKER, "1").stdin(Stdio::null());
    worker.status().context("start the working process")
}
