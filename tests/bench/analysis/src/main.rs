//! How many calls a second the analysis takes on one core: each operator by itself, and all of them.
//!
//! `cargo run --release -p mpiscope-bench-analysis [-- --ranks N --pattern NAME --seconds S --rounds R]`
//! A job is modelled and read before the clock starts; then each operator takes the same batches, in turns. What counts is
//! the time on a core, so that what else runs on the machine matters less.
//! With `--only NAME` only one of the operators. With `--placement` it says instead how long advice takes, with `--digest`
//! what comes out of some jobs, to be held against what another build finds.

mod digest;
mod placement;

use anyhow::{Context, Result};
use mpiscope_analysis::{BudgetOptions, Counts, Matcher, Windowed};
use mpiscope_ingest::Ingest;
use mpiscope_model::Batch;
use mpiscope_synth::{Pattern, Spec, Style, generate};
use mpiscope_wire::Message;

const WINDOW_NS: u64 = 100_000_000;

/// The batches of a modelled job.
fn batches(spec: &Spec) -> Result<Vec<Batch>> {
    let mut ingest = Ingest::to_be_judged();
    let mut batches = Vec::new();
    for message in generate(spec)? {
        let settles = matches!(message, Message::Knot(_) | Message::RunEnd(_));
        ingest.feed(message);
        if settles {
            batches.push(ingest.take());
        }
    }
    Ok(batches)
}

fn counts(batches: &[Batch]) {
    let mut counts = Counts::new(WINDOW_NS);
    for batch in batches {
        counts.calls(&batch.calls);
        counts.take_windows(batch.until_ns);
    }
}

fn matching(batches: &[Batch]) {
    let mut matcher = Matcher::default();
    for batch in batches {
        batch.ranks.iter().for_each(|info| matcher.place(info.rank, info.node));
        matcher.feed(&batch.events);
    }
}

fn windowed(batches: &[Batch]) {
    let mut windowed = Windowed::new(BudgetOptions { window_ns: WINDOW_NS, ..BudgetOptions::default() });
    for batch in batches {
        windowed.feed(batch, batch.until_ns);
    }
    windowed.finish();
}

fn whole(batches: &[Batch]) {
    counts(batches);
    windowed(batches);
}

/// Its name, and what it does with batches.
type Operator = (&'static str, fn(&[Batch]));

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().split(' ').next()?.parse().ok()
}

/// How long this thread has been on a core.
fn on_core_ns() -> Result<u64> {
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").context("ask how long this ran")?;
    Ok(figures.split(' ').next().unwrap_or_default().parse()?)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str, default: &str| {
        let at = arguments.iter().position(|word| word == name);
        at.and_then(|at| arguments.get(at + 1)).cloned().unwrap_or_else(|| default.to_owned())
    };
    if arguments.iter().any(|word| word == "--placement") {
        placement::all();
        return Ok(());
    }
    if arguments.iter().any(|word| word == "--digest") {
        return digest::all();
    }
    let rounds: usize = value("--rounds", "5").parse().context("--rounds takes a number")?;
    let ranks: u32 = value("--ranks", "64").parse().context("--ranks takes a number")?;
    let seconds: f64 = value("--seconds", "2").parse().context("--seconds takes a number")?;
    let pattern: Pattern = value("--pattern", "halo2d").parse()?;
    let style: Style = value("--style", "waitall").parse()?;
    let mut spec = Spec::new(pattern, ranks, seconds, 1_000_000.0);
    spec.style = style;
    let batches = batches(&spec)?;
    let calls: usize = batches.iter().map(|batch| batch.calls.len()).sum();
    let before_kib = peak_kib().unwrap_or_default();
    println!("{pattern:?} {style:?}, {ranks} ranks, {calls} calls, {rounds} rounds");
    let operators: [Operator; 4] =
        [("counts", counts), ("matching", matching), ("matching and budget", windowed), ("all", whole)];
    let only = value("--only", "");
    let operators: Vec<Operator> =
        operators.into_iter().filter(|(name, _)| only.is_empty() || *name == only).collect();
    let mut rates = vec![Vec::new(); operators.len()];
    for _ in 0..rounds {
        for ((_, operator), rates) in operators.iter().zip(&mut rates) {
            let begun_ns = on_core_ns()?;
            operator(&batches);
            rates.push(calls as f64 * 1e3 / (on_core_ns()? - begun_ns) as f64);
        }
    }
    for ((name, _), rates) in operators.iter().zip(&mut rates) {
        rates.sort_by(f64::total_cmp);
        let (least, middle, most) = (rates[0], rates[rates.len() / 2], rates[rates.len() - 1]);
        println!("{name:<22} {middle:>7.2} million calls/s [{least:.2}..{most:.2}]");
    }
    println!(
        "memory: {} MiB beyond the batches",
        peak_kib().unwrap_or_default().saturating_sub(before_kib) / 1024
    );
    Ok(())
}
