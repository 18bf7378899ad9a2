//! Modelled jobs whose cause of lost time is known, judged as a run's final pass judges them: how often the verdict is
//! right, how near the seconds are, and whether the confidence means what it says.
//!
//! `cargo run --release -p mpiscope-scenarios [-- --only tuned|unseen] [--list] [--cases N]`

mod cases;
mod judge;
mod table;

use anyhow::{Result, ensure};
use cases::{Half, all};
use std::time::Instant;

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
    let list = arguments.iter().any(|word| word == "--list");
    let begun = Instant::now();
    let mut outcomes = Vec::new();
    for case in all().into_iter().filter(|case| only.is_none_or(|half| case.half == half)).take(most) {
        let outcome = judge::judge(&case)?;
        if list || !outcome.is_right() {
            println!("{}", outcome.line());
        }
        outcomes.push(outcome);
    }
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
