//! A process on another host, or on this one, that has a share of the live analysis, or reads calls.

use crate::readers::read_calls;
use crate::task::Task;
use anyhow::{Context as _, Result, ensure};
use mpiscope_flow::{Cluster, FlowError, work_on_share};
use mpiscope_link::{MemberOptions, Secret, join as join_meeting};
use mpiscope_process::private::write_json;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Behind everything else of its host.
const LOW_PRIORITY: i32 = 10;
/// One that reads calls comes before those that analyse them, as the recorder does.
const READER_PRIORITY: i32 = 5;

/// The version of this program. Others of the same version speak the same.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What it has to know, in a line on its standard input: nobody else sees that.
#[derive(Serialize, Deserialize)]
pub(crate) struct Invitation {
    /// The version of the daemon's program.
    pub(crate) version: String,
    /// Where the daemon listens for it.
    pub(crate) addresses: Vec<String>,
    pub(crate) secret: String,
    /// What the daemon is known by; none where nothing is encrypted.
    pub(crate) certificate: Option<String>,
    /// Its number.
    pub(crate) number: usize,
    /// How long to wait for the others.
    pub(crate) patience: Duration,
}

/// Writes the line.
pub(crate) fn say_to(orders: &mut impl Write, invitation: &Invitation) -> Result<()> {
    write_json(&mut *orders, invitation)?;
    Ok(orders.write_all(b"\n")?)
}

/// The whole life of the process.
///
/// # Errors
/// When nobody says where to go, nobody is there, or another process than the daemon's is lost.
pub fn join(task: Task) -> Result<ExitCode> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("nobody said whom to join")?;
    let invitation: Invitation = serde_json::from_str(&line).context("read whom to join")?;
    let theirs = &invitation.version;
    ensure!(
        theirs == VERSION,
        "mpiscope {VERSION} is installed there, and {theirs} here: install the same on all hosts"
    );
    let Invitation { addresses, secret, certificate, number, patience, .. } = invitation;
    // Inherited by its threads. A system that does not allow it changes nothing but that.
    let priority = if task == Task::Record { READER_PRIORITY } else { LOW_PRIORITY };
    let _ = rustix::process::setpriority_process(None, priority);
    let secret = Secret::from_text(&secret)?;
    let (mut mesh, share) =
        join_meeting(MemberOptions { addresses, secret: secret.clone(), certificate, number, patience })?;
    if task == Task::Record {
        let streams = std::mem::take(&mut mesh.peers).into_iter();
        let mut streams = streams.map(|streams| streams.map(|[stream, _]| stream));
        let daemon = streams.next().flatten().context("the daemon is not there")?;
        read_calls(&share, daemon, streams.collect(), secret)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cluster = Cluster { number: mesh.number, peers: std::mem::take(&mut mesh.peers) };
    match work_on_share(&share, cluster, None) {
        // The daemon needs no share of it any more.
        Ok(()) | Err(FlowError::Lost(0)) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}
