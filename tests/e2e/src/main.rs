//! Runs the end-to-end tests, each in a process of its own: several at a time, those of `alone.txt` one by one.
//! Those of `full.txt` run in the full check only.
//!
//! In: the program of the tests, which cargo built, and words that select tests by name. Out: a line per test with its
//! time, the output of those that failed, and a last line as cargo's tests print it. A test that takes too long is killed
//! with everything it started.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "its output is the report of the tests")]

use anyhow::{Context as _, Result, ensure};
use mpiscope_harness::{Lists, OTHERS_RUN, Patience, Schedule, Signal, full_run, processes};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of tests that run at a time, if not two more than there are processors: most wait for a part of their time.
const JOBS: &str = "MPISCOPE_TEST_JOBS";

/// At most this number of failed tests is tried once more, alone; where more fail it is no chance. The full check tries none.
const MOST_TRIED_AGAIN: usize = 3;

/// How one test went.
struct Outcome {
    name: String,
    took: Duration,
    /// Its output, if it failed.
    failure: Option<String>,
}

struct Runner<'a> {
    binary: &'a Path,
    logs: PathBuf,
    limit: Duration,
    outcomes: Mutex<Vec<Outcome>>,
}

impl Runner<'_> {
    /// Runs one test and prints its line.
    fn run(&self, name: &str, is_alone: bool) -> Result<()> {
        let log = self.logs.join(format!("{}.log", name.replace("::", "-")));
        let output = File::create(&log).with_context(|| format!("create {}", log.display()))?;
        let mut command = Command::new(self.binary);
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
        // Alone, ranks are tested as they are.
        if is_alone {
            command.env_remove(OTHERS_RUN);
        } else {
            command.env(OTHERS_RUN, "1");
        }
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let begun = Instant::now();
        let mut patience = Patience::new(self.limit);
        let mut child = command.spawn().with_context(|| format!("start {}", self.binary.display()))?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if patience.is_over() {
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let took = begun.elapsed();
        let has_passed = status.is_some_and(|status| status.success());
        if status.is_none() {
            kill_with_all_it_started(&mut child)?;
        }
        let bytes = std::fs::read(&log).with_context(|| format!("read {}", log.display()))?;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        let ran = text.contains("\ntest result: ok. 1 passed;");
        match status {
            None => text += &format!("\nkilled: it took longer than {} s of its own\n", self.limit.as_secs()),
            Some(status) if !has_passed => text += &format!("\n{status}\n"),
            Some(_) if !ran => text += "\nthe program of the tests does not know this test\n",
            Some(_) => {}
        }
        let is_good = has_passed && ran;
        let word = if is_good { "ok" } else { "FAILED" };
        let skips: String = text
            .lines()
            .filter(|line| line.starts_with("SKIPPED: "))
            .map(|line| format!("{line}\n"))
            .collect();
        // One write, to keep the lines of several tests apart.
        let line = format!("{skips}test {name} ... {word} ({:.1} s)\n", took.as_secs_f64());
        std::io::stdout().lock().write_all(line.as_bytes())?;
        let outcome = Outcome { name: name.to_owned(), took, failure: (!is_good).then_some(text) };
        self.outcomes().push(outcome);
        Ok(())
    }

    /// Tries failed tests again, alone. One that passes then counts, and is listed with what it failed with beside others.
    fn run_again(&self) -> Result<()> {
        let failed: Vec<Outcome> =
            self.outcomes().extract_if(.., |outcome| outcome.failure.is_some()).collect();
        if failed.len() > MOST_TRIED_AGAIN {
            self.outcomes().extend(failed);
            return Ok(());
        }
        for first in failed {
            println!("test {} is tried again, alone; it had failed:", first.name);
            let failure = first.failure.unwrap_or_default();
            print_indented(&failure);
            self.run(&first.name, true)?;
            if self.outcomes().last().is_some_and(|again| again.failure.is_none()) {
                println!("UNSTABLE: end-to-end {}: {}", first.name, reason(&failure));
            }
        }
        Ok(())
    }

    fn outcomes(&self) -> MutexGuard<'_, Vec<Outcome>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes turns from the schedule until there are none.
    fn work(&self, schedule: &Schedule) -> Result<()> {
        while let Some(turn) = schedule.next() {
            self.run(turn.name(), turn.is_alone())?;
        }
        Ok(())
    }
}

/// A test that hangs cannot clean up; everything that it started carries its mark.
fn kill_with_all_it_started(child: &mut std::process::Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    for process in processes::all() {
        if processes::test_of(process) == Some(child.id()) {
            processes::signal(process, Signal::KILL);
        }
    }
    Ok(())
}

/// Whoever counts results does not count those of a single test again.
fn print_indented(text: &str) {
    text.lines().for_each(|line| println!("  {line}"));
}

/// What a test said as it failed, in one line.
fn reason(output: &str) -> &str {
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at"));
    lines.nth(1).or(output.lines().last()).unwrap_or_default()
}

/// The names of all tests of a program.
fn all_tests(binary: &Path) -> Result<Vec<String>> {
    let listed = Command::new(binary).args(["--list", "--format", "terse"]).output();
    let listed = listed.with_context(|| format!("start {}", binary.display()))?;
    ensure!(listed.status.success(), "{} does not list its tests", binary.display());
    let text = String::from_utf8(listed.stdout).context("the list of tests is no text")?;
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn run_all(binary: &Path, words: &[String]) -> Result<bool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let alone = std::fs::read_to_string(folder.join("alone.txt")).context("read alone.txt")?;
    let all = all_tests(binary)?;
    let full_only = std::fs::read_to_string(folder.join("full.txt")).context("read full.txt")?;
    let lists = Lists { alone: &alone, full_only: &full_only, is_full: full_run() };
    let schedule = Schedule::new(&all, words, &lists)?;
    let logs = mpiscope_harness::target().join("test-logs/end-to-end");
    std::fs::create_dir_all(&logs).with_context(|| format!("make {}", logs.display()))?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = std::env::var(JOBS).ok().and_then(|word| word.parse().ok()).unwrap_or(cores + 2);
    let limit = Duration::from_secs(if full_run() { 1800 } else { 600 });
    let runner = Runner { binary, logs, limit, outcomes: Mutex::default() };
    let begun = Instant::now();
    let chosen = schedule.len();
    println!("\nrunning {chosen} tests, {jobs} at a time and {} alone", schedule.len_alone());
    if words.is_empty() && chosen < all.len() {
        println!("left to ./deploy/test --full: {} tests (tests/e2e/full.txt)", all.len() - chosen);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(|| runner.work(&schedule))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    if !full_run() {
        runner.run_again()?;
    }
    let outcomes = runner.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.failure.is_some()).collect();
    if !failed.is_empty() {
        println!("\nfailures:\n");
        for Outcome { name, failure, took } in &failed {
            println!("---- {name} ({:.1} s) ----", took.as_secs_f64());
            print_indented(failure.as_deref().unwrap_or_default());
        }
    }
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s",
        if failed.is_empty() { "ok" } else { "FAILED" },
        outcomes.len() - failed.len(),
        failed.len(),
        all.len() - outcomes.len(),
        begun.elapsed().as_secs_f64()
    );
    Ok(failed.is_empty())
}

fn main() -> Result<ExitCode> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    ensure!(!words.is_empty(), "usage: tests/e2e/run [WORD...]");
    let binary = PathBuf::from(words.remove(0));
    Ok(if run_all(&binary, &words)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
