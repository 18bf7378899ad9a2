//! The built product: the program and the collector.

use crate::mpi::Mpi;
use crate::processes;
use crate::running::{Ended, Running, run};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The environment variable that names another program to test than that of the target folder.
const PROGRAM: &str = "MPISCOPE_PROGRAM";
const COLLECTOR: &str = "libmpiscope_shim.so";

/// The program's file.
fn program() -> Result<PathBuf> {
    let path = std::env::var_os(PROGRAM)
        .map_or_else(|| crate::target().join("release/mpiscope"), |given| crate::root().join(given));
    ensure!(path.is_file(), "{} is not there: cargo build --release -p mpiscope-app", path.display());
    Ok(path)
}

/// The library that is preloaded into the job, where the program finds it.
///
/// # Errors
/// When it is not built.
pub fn collector() -> Result<PathBuf> {
    let program = program()?;
    let folder = program.parent().context("the program is in no folder")?;
    let places = ["../shim", "../lib/mpiscope", "."].map(|place| folder.join(place).join(COLLECTOR));
    match places.iter().find(|place| place.is_file()) {
        Some(found) => Ok(found.canonicalize()?),
        None => {
            bail!("{COLLECTOR} is not there: build it with `cargo build -p mpiscope-shim --profile shim`")
        }
    }
}

/// Whether to test every combination and not a selection.
#[must_use]
pub fn full_run() -> bool {
    std::env::var_os("MPISCOPE_FULL").is_some_and(|value| value == "1")
}

/// The environment variable by which a test knows that others run beside it.
pub const OTHERS_RUN: &str = "MPISCOPE_TEST_SHARES";

/// Whether other tests run beside this one, which need the processors while its ranks wait.
#[must_use]
pub fn others_run() -> bool {
    std::env::var_os(OTHERS_RUN).is_some_and(|value| value == "1")
}

/// Of many cases those of the part that `MPISCOPE_PART=K/N` names: the K-th, counted from 0, and every N-th after it.
/// All of them where nothing is named.
///
/// # Panics
/// When what is named is no part.
#[must_use]
pub fn part_of<T>(cases: Vec<T>) -> Vec<T> {
    let Ok(named) = std::env::var("MPISCOPE_PART") else { return cases };
    let part = named.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    let Some((first, step)) = part.filter(|(first, step)| first < step) else {
        panic!("MPISCOPE_PART={named} is no part: give 0/10 for the first of ten");
    };
    cases.into_iter().skip(first).step_by(step).collect()
}

/// The program with arguments.
///
/// # Errors
/// When it is not built.
pub fn mpiscope(arguments: &[&str]) -> Result<Command> {
    collector()?;
    let mut command = Command::new(program()?);
    command.args(arguments);
    Ok(command)
}

/// `mpiscope run` without a page, of a program on this number of ranks, into a folder.
///
/// # Errors
/// When something is not built.
pub fn record(mpi: &Mpi, ranks: u32, program: &Path, arguments: &[&str], out: &Path) -> Result<Command> {
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"])?;
    command.arg(out).arg("--").args(mpi.words(ranks, program, arguments));
    mpi.prepare(&mut command)?;
    Ok(command)
}

/// The daemon of a `mpiscope run`: its child that is `mpiscope record`.
///
/// # Errors
/// When there is none.
pub fn daemon_of(run: &Running) -> Result<u32> {
    let is_daemon = |child: &u32| processes::command_line(*child).get(1).is_some_and(|word| word == "record");
    let find = || processes::children(run.process()).into_iter().find(is_daemon);
    processes::until(Duration::from_secs(30), find).context("mpiscope run has no daemon")
}

/// Waits until a recording's log has this size.
///
/// # Errors
/// When it does not come so far.
pub fn until_log_has(folder: &Path, bytes: u64) -> Result<()> {
    let has_enough = || (log_bytes(folder) >= bytes).then_some(());
    processes::until(Duration::from_secs(30), has_enough).context("the log does not grow")
}

/// How many bytes a recording's log holds.
#[must_use]
pub fn log_bytes(folder: &Path) -> u64 {
    let Ok(files) = std::fs::read_dir(folder.join("wal")) else { return 0 };
    files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

/// What `mpiscope report --json` says of a folder.
///
/// # Errors
/// When it does not exit with 0, or says something else than JSON.
pub fn report(folder: &Path) -> Result<serde_json::Value> {
    let mut command = mpiscope(&["report", "--json"])?;
    let Ended { status, stdout, stderr } = run(command.arg(folder), Duration::from_secs(60))?;
    ensure!(status == 0, "report exits with {status}: {}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).context("the report is no JSON")
}

/// The exit status of `mpiscope check --json`, and what it says of a folder; null where it says nothing.
///
/// # Errors
/// When it says something else than JSON.
pub fn check(folder: &Path) -> Result<(i32, serde_json::Value)> {
    let mut command = mpiscope(&["check", "--json"])?;
    let Ended { status, stdout, stderr } = run(command.arg(folder), Duration::from_secs(60))?;
    let errors = String::from_utf8_lossy(&stderr);
    ensure!(!errors.contains("panicked"), "check panics: {errors}");
    if status == 2 {
        ensure!(errors.lines().count() == 1 && stdout.is_empty(), "not one line: {errors}");
        return Ok((status, serde_json::Value::Null));
    }
    Ok((status, serde_json::from_slice(&stdout).context("the check is no JSON")?))
}

/// Runs `mpiscope repair` into another folder.
///
/// # Errors
/// When it cannot be started or takes too long, or panics.
pub fn repair(folder: &Path, out: &Path) -> Result<Ended> {
    let ended = run(mpiscope(&["repair", "-o"])?.arg(out).arg(folder), Duration::from_secs(60))?;
    ensure!(!ended.errors().contains("panicked"), "repair panics: {}", ended.errors());
    Ok(ended)
}
