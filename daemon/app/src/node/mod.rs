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
pub(crate) use settings::LEFT_FILE;
use settings::{Lock, Settings};
use std::path::Path;
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
    if let Some(recording) = &options.recording {
        return by_hand(recording);
    }
    if std::env::var_os(WORKER).is_some() {
        let settings = Settings::from_environment()?;
        return match worker::work(&settings) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                settings.note(&format!("{error:#}"));
                Err(error)
            }
        };
    }
    let settings = Settings::from_environment()?;
    // Taken over from the rank that started us, or taken now; gone with the last of both processes.
    let lock = settings.lock()?;
    if matches!(lock, Lock::Anothers) {
        return Ok(ExitCode::SUCCESS);
    }
    for _ in 0..MOST_STARTS {
        match start()? {
            status if status.success() => break,
            // It said what is wrong: another start would say it again.
            status if status.code() == Some(2) => return Ok(ExitCode::from(2)),
            _ => std::thread::sleep(REST_AFTER_DEATH),
        }
    }
    drop(lock);
    Ok(ExitCode::SUCCESS)
}

/// Starts itself with what the recording says in its environment, and stays until it has ended.
fn by_hand(recording: &Path) -> Result<ExitCode> {
    let program = std::env::current_exe().context("find this program's own file")?;
    let status = Command::new(program)
        .arg("agent")
        .envs(settings::left_in(recording)?)
        .env(BY_HAND, "1")
        .stdin(Stdio::null())
        .status()
        .context("start the agent")?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn start() -> Result<ExitStatus> {
    let program = std::env::current_exe().context("find this program's own file")?;
    let mut worker = Command::new(program);
    worker.arg("agent").env(WORKER, "1").stdin(Stdio::null());
    worker.status().context("start the working process")
}
