//! A diagnosis in a process of its own, which may fail or take too long without harm to the recording.

use super::diagnose::{Limits, TakeFirst, diagnose};
use super::findings::Findings;
use super::findings_file::write;
use anyhow::{Context as _, Result, ensure};
use mpiscope_process::local_host::own_program;
use mpiscope_process::output::print;
use mpiscope_recording::Recording;
use serde::de::DeserializeOwned;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The word by which this program is asked for a diagnosis. Not for people.
const COMMAND: &str = "diagnose";
/// A run is not held up for longer than this when it is over, plus a share of its length.
const PATIENCE: Duration = Duration::from_secs(20);
const PATIENCE_SHARE: f64 = 0.05;
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// More than a sentence is not kept of what the process says when it fails.
const MOST_ERROR_BYTES: u64 = 4096;
/// Of a run with this many calls, what the first reading found is kept until the second has ended, which may not come in time.
const MANY_CALLS: u64 = 1 << 20;
/// A diagnosis has time: everything else goes first.
pub(super) const LOW_PRIORITY: i32 = 10;

/// The whole life of the process that diagnoses a recording: what it finds goes into the recording's folder, or is printed. After
/// some seconds nobody may wait for it any more.
pub fn diagnose_apart(dir: &Path, prints: bool, workers: usize, seconds: Option<f64>) -> Result<ExitCode> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose().context("--seconds")?;
    let limits = Limits { time, ..Limits::new(workers) };
    let _ = rustix::process::setpriority_process(None, LOW_PRIORITY);
    let recording = Recording::open(dir)?;
    let log = recording.wal()?;
    if prints {
        print(&serde_json::to_string(&diagnose(&recording, &log, &limits, None)?)?)?;
    } else {
        let mut keep = |findings: &Findings| write(dir, findings);
        let totals = recording.manifest().totals;
        let has_many = totals.calls + totals.polls >= MANY_CALLS;
        let first = has_many.then_some(&mut keep as TakeFirst<'_>);
        write(dir, &diagnose(&recording, &log, &limits, first)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The diagnosis of a recording whose folder must not be written to, however long it takes.
pub fn diagnosed_apart(dir: &Path) -> Result<Findings> {
    answer(start([COMMAND.as_ref(), "--print".as_ref(), dir.as_os_str()], Stdio::null())?)
}

/// Has another process diagnose a recording, for as long as that is worth waiting for.
pub fn have_diagnosed(dir: &Path, run: Duration, workers: usize) -> Result<()> {
    let patience = PATIENCE + run.mul_f64(PATIENCE_SHARE);
    let (workers, seconds) = (workers.to_string(), patience.as_secs_f64().to_string());
    let [workers, seconds] = [["--workers", &workers], ["--seconds", &seconds]].map(|of| of.map(OsStr::new));
    let words = [OsStr::new(COMMAND), workers[0], workers[1], seconds[0], seconds[1], dir.as_os_str()];
    let mut child = start(words, Stdio::null())?;
    let until = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait().context("wait for the other process")? {
            return ended_well(&mut child, status);
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            anyhow::bail!("it would take too long");
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Starts this program for something that is better done apart.
pub(super) fn start<const WORDS: usize>(words: [&OsStr; WORDS], stdin: Stdio) -> Result<Child> {
    let mut command = Command::new(own_program()?);
    command.args(words).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("start another process")
}

/// What such a process prints as JSON, once it has ended.
pub(super) fn answer<T: DeserializeOwned>(mut child: Child) -> Result<T> {
    let mut text = Vec::new();
    let read = child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut text));
    let status = child.wait().context("wait for the other process")?;
    ended_well(&mut child, status)?;
    read.context("it has no output")?.context("read its answer")?;
    // From a slice, as other recorded verdicts: reading from a stream would be compiled a second time.
    serde_json::from_slice(&text).context("read its answer")
}

fn ended_well(child: &mut Child, status: ExitStatus) -> Result<()> {
    ensure!(status.success(), "the other process ended with {status}: {}", last_error_output(child));
    Ok(())
}

/// What a process wrote to standard error before it ended.
fn last_error_output(child: &mut Child) -> String {
    let mut output = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MOST_ERROR_BYTES).read_to_end(&mut output);
    }
    String::from_utf8_lossy(&output).trim().to_owned()
}
