//! Simulated jobs with known causes of lost time, diagnosed as in a run's final pass: how often the verdict is right,
//! how near the seconds are, and whether the confidence means what it says.
//!
//! `cargo run --release -p mpiscope-scenarios [-- --only tuned|unseen] [--list] [--cases N] [--name PART] [--threads N] [--draw N]`
//! With `--ablation`: what verdicts are like without each rule of the replays. With `--recordings DIR --runs FILE`: likewise of
//! real runs, as `tests/truth/run.py --keep DIR --json FILE` leaves them. `--rule NAME`, again and again: only without these.

#![allow(clippy::print_stdout, reason = "its figures are for whoever runs it")]

mod ablation;
mod cases;
mod diagnosis;
mod recordings;
mod table;

use anyhow::{Context as _, Result, ensure};
use cases::{Case, Half, all};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Does something with all of these, several at once; the results are in their order.
fn all_of<'a, T: Sync, R: Send>(
    all: &'a [T],
    threads: usize,
    one: impl Fn(&'a T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        while let Some((at, of)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, all.get(at)?)))
        {
            results.push((at, one(of)?));
        }
        Ok(results)
    };
    let results = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |of: std::thread::ScopedJoinHandle<'_, Result<Vec<(usize, R)>>>| {
            of.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    let mut results: Vec<(usize, R)> = results.into_iter().flatten().collect();
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        arguments
            .iter()
            .position(|word| word == name)
            .and_then(|at| arguments.get(at + 1))
            .map(String::as_str)
    };
    let only = match value("--only") {
        Some("tuned") => Some(Half::Tuned),
        Some("unseen") => Some(Half::Unseen),
        Some(other) => anyhow::bail!("--only takes tuned or unseen, not {other}"),
        None => None,
    };
    let most: usize = value("--cases").map_or(Ok(usize::MAX), str::parse)?;
    let threads = value("--threads").map_or(Ok(1), str::parse)?.max(1);
    let is_ablation = arguments.iter().any(|word| word == "--ablation");
    let names = arguments.iter().enumerate().filter(|(_, word)| *word == "--rule");
    let names: Option<Vec<&str>> = names.map(|(at, _)| Some(arguments.get(at + 1)?.as_str())).collect();
    let names = names.context("--rule needs a name")?;
    ensure!(
        names.is_empty() || is_ablation || value("--recordings").is_some(),
        "--rule needs --ablation or --recordings"
    );
    let rules = ablation::named(&names)?;
    if let Some(folder) = value("--recordings") {
        let file = value("--runs").context("--recordings needs --runs FILE")?;
        let runs = recordings::read(Path::new(file))?;
        let replayed = all_of(&runs, threads, |run| recordings::replay(Path::new(folder), run, &rules))?;
        recordings::print(&rules, &replayed);
        return Ok(());
    }
    let list = arguments.iter().any(|word| word == "--list");
    let begun = Instant::now();
    let name = value("--name").unwrap_or_default();
    let is_wanted = |case: &Case| only.is_none_or(|half| case.half == half) && case.name.contains(name);
    let draw: u64 = value("--draw").map_or(Ok(0), str::parse)?;
    let cases: Vec<Case> = all(draw).into_iter().filter(is_wanted).take(most).collect();
    if is_ablation {
        let outcomes = all_of(&cases, threads, |case| diagnosis::diagnose_without_each(case, &rules))?;
        ablation::print(&rules, &outcomes);
        return Ok(());
    }
    let outcomes = all_of(&cases, threads, |case| {
        let outcome = diagnosis::diagnose(case)?;
        if list || !outcome.is_right() {
            println!("{}", outcome.line());
        }
        Ok(outcome)
    })?;
    let mut enough = true;
    for half in [Half::Tuned, Half::Unseen] {
        let of_half: Vec<_> = outcomes.iter().filter(|outcome| outcome.half == half).collect();
        if !of_half.is_empty() {
            enough &= table::print(half, &of_half);
        }
    }
    let calls: u64 = outcomes.iter().map(|outcome| outcome.calls).sum();
    println!("{} runs, {calls} calls, {:.0} s", outcomes.len(), begun.elapsed().as_secs_f64());
    ensure!(enough, "the verdicts are not good enough; see the tables");
    Ok(())
}
