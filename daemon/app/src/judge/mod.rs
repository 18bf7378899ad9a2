//! Where the time of a run went, and why: the pass over its log when it is over, with criteria, clocks and advice as they
//! are known in the end.
//!
//! The log is read twice: once to learn what messages usually take and who talks to whom, once to judge by that. The
//! daemon has this done by a process of its own, which may fail or take too long without harm to the recording.

mod findings;
mod judgement;
mod known;
mod pass;
mod words;

pub(crate) use findings::{Criterion, Findings};
pub(crate) use words::{budget_lines, verdict_sentences};

use crate::here::own_program;
use crate::private::create_private;
use anyhow::{Context as _, Result, ensure};
use mpiscope_recording::{Recording, WalReader};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What was found, in the folder of the recording.
const FILE: &str = "findings.json";
/// The word by which this program is asked to judge. Not for people.
const COMMAND: &str = "judge";
/// A run is not held up for longer than this when it is over, plus a share of its length.
const PATIENCE: Duration = Duration::from_secs(20);
const PATIENCE_SHARE: f64 = 0.05;
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// More than a sentence is not kept of what the process says when it fails.
const MOST_SAID: u64 = 4096;
/// Judging goes behind whatever else there is to do.
const LOW_PRIORITY: i32 = 10;

/// Judges a recording by its log.
pub(crate) fn judge(recording: &Recording, log: &WalReader) -> Findings {
    let manifest = recording.manifest();
    let learnt = pass::learn(manifest, log);
    let advice = learnt.budgeter.advice();
    let own = learnt.budgeter.learnt();
    let known = known::criteria(&manifest.job);
    let version = match &known {
        Some(quiet) => own.held_against(quiet),
        None => own,
    };
    let judged = pass::by(manifest, log, version, advice, &learnt.budgeter);
    Findings::of(&judged.budgeter, known.is_some(), manifest.job.ranks)
}

/// What was found about a recording before; none where it was not judged.
pub(crate) fn read(dir: &Path) -> Result<Option<Findings>> {
    let path = dir.join(FILE);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    };
    let findings = serde_json::from_slice(&bytes);
    findings
        .map(Some)
        .with_context(|| format!("{} does not say what was found about the run", path.display()))
}

/// Judges a recording whose log is complete and leaves what was found in its folder.
pub(crate) fn judge_into(dir: &Path) -> Result<()> {
    let recording = Recording::open(dir)?;
    let findings = judge(&recording, &recording.wal()?);
    let new = dir.join(format!("{FILE}.new"));
    serde_json::to_writer_pretty(create_private(&new)?, &findings)?;
    std::fs::rename(&new, dir.join(FILE)).with_context(|| format!("write {}", dir.join(FILE).display()))
}

/// The whole life of the process that judges a recording for the daemon.
pub(crate) fn judge_apart(dir: &Path) -> Result<ExitCode> {
    let _ = rustix::process::setpriority_process(None, LOW_PRIORITY);
    judge_into(dir)?;
    Ok(ExitCode::SUCCESS)
}

/// Has a recording judged by another process, for as long as that is worth waiting for.
pub(crate) fn have_judged(dir: &Path, run: Duration) -> Result<()> {
    let program: PathBuf = own_program()?;
    let mut child = Command::new(program)
        .arg(COMMAND)
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("start another process")?;
    let until = Instant::now() + PATIENCE + run.mul_f64(PATIENCE_SHARE);
    loop {
        if let Some(status) = child.try_wait().context("wait for the other process")? {
            ensure!(status.success(), "the process that judges it ended with {status}: {}", said(&mut child));
            return Ok(());
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            anyhow::bail!("it would take too long");
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// What a process said last before it ended.
fn said(child: &mut Child) -> String {
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MOST_SAID).read_to_end(&mut said);
    }
    String::from_utf8_lossy(&said).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_read_or_said_to_be_damaged() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        std::fs::write(dir.path().join(FILE), "{\"schema\": 7").unwrap();
        let error = format!("{:#}", read(dir.path()).unwrap_err());
        assert!(error.contains("findings.json does not say what was found"), "{error}");
    }
}
