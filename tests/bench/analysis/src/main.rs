//! How many calls a second the analysis takes on one core: each operator by itself, and all of them; and on timely
//! dataflow with one worker and several, and over several processes.
//!
//! `cargo run --release -p mpiscope-bench-analysis [-- --ranks N --pattern NAME --seconds S --rate CALLS_PER_S --rounds R]` A job is
//! simulated and read before the clock starts; then each operator takes the same batches, in turns. The result is CPU
//! time, which depends less on other load; for flows also elapsed time. Flows are compared with the operators without
//! threads round by round, because a machine is not always as fast. `--only NAME` selects one operator. Other options
//! print something else: `--placement` the time of an advice, `--regions` that of regions, `--evolution` that of a
//! window of a region, `--dependencies` that of the dependency graph and of questions about logical time, `--digest`
//! the results of some jobs, to compare them with another build, `--ingest` how fast messages become batches, `--bytes`
//! what processes send each other.

#![allow(clippy::print_stdout, reason = "its figures are for whoever runs it")]

mod dependencies;
mod digest;
mod evolution;
mod ingest;
mod job;
mod placement;
mod processes;
mod regions;

use anyhow::{Context, Result};
use job::Job;
use mpiscope_diagnosis::{BudgetOptions, Windowed};
use mpiscope_flow::{Flow, FlowOptions};
use mpiscope_matching::{Counts, Matcher};
use mpiscope_model::Batch;
use processes::Processes;
use rustix::time::{ClockId, clock_gettime};

const WINDOW_NS: u64 = 100_000_000;

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

/// Ranks are shared out in as many blocks as there are workers in all processes.
fn options(processes: usize, workers: usize, ranks: u32) -> FlowOptions {
    let budget = BudgetOptions { window_ns: WINDOW_NS, ..BudgetOptions::default() };
    let neighbours = ranks.div_ceil((processes * workers) as u32);
    FlowOptions { workers, neighbours, budget, ..FlowOptions::default() }
}

fn flow(workers: usize, ranks: u32, batches: Vec<Batch>) -> Result<()> {
    let flow = Flow::start(&options(1, workers, ranks))?;
    for batch in batches {
        flow.feed(batch)?;
    }
    flow.finish()?;
    Ok(())
}

fn whole(batches: &[Batch]) {
    counts(batches);
    windowed(batches);
}

/// What it does with batches: borrows them, or takes its own in this number of workers.
enum Operator {
    Looks(fn(&[Batch])),
    Flows(usize),
    /// Likewise in this number of processes with one worker each.
    Shares(usize),
    /// Likewise, where the others feed it, as those do that read calls.
    Fed(usize),
}

impl Operator {
    fn run(&self, job: &Job, batches: &[Batch]) -> Result<Took> {
        let ranks = job.ranks;
        match self {
            Operator::Looks(operator) => {
                let begun = Took::begin();
                operator(batches);
                Ok(begun.end())
            }
            Operator::Flows(workers) => {
                let own = batches.to_vec();
                let begun = Took::begin();
                flow(*workers, ranks, own)?;
                Ok(begun.end())
            }
            Operator::Shares(processes) | Operator::Fed(processes) => {
                let (own, mut options) = (batches.to_vec(), options(*processes, 1, ranks));
                let fed = Some(job).filter(|_| matches!(self, Operator::Fed(_)));
                options.fed_by_others = fed.map(|job| job.ranks);
                let processes = Processes::start(*processes, &options, fed)?;
                let begun = Took::begin();
                let others_s = processes.flow(&options, own)?;
                Ok(Took { others_s, ..begun.end() })
            }
        }
    }
}

/// Seconds of a clock, and of processors: others may be at work on the machine.
#[derive(Clone, Copy)]
struct Took {
    wall_s: f64,
    processor_s: f64,
    /// Of other processes.
    others_s: f64,
}

impl Took {
    fn begin() -> Self {
        Self { wall_s: seconds(ClockId::Monotonic), processor_s: processor_s(), others_s: 0.0 }
    }

    fn end(self) -> Self {
        let now = Self::begin();
        Self {
            wall_s: now.wall_s - self.wall_s,
            processor_s: now.processor_s - self.processor_s,
            others_s: 0.0,
        }
    }

    fn all_s(&self) -> f64 {
        self.processor_s + self.others_s
    }
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The CPU time of this process.
fn processor_s() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// Which of them the flows are held against.
const WITHOUT_THREADS: &str = "matching and budget";

fn sorted(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2], values[values.len() - 1]]
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().split(' ').next()?.parse().ok()
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str, default: &str| {
        let at = arguments.iter().position(|word| word == name);
        at.and_then(|at| arguments.get(at + 1)).cloned().unwrap_or_else(|| default.to_owned())
    };
    if let [word, address, number] = &arguments[..]
        && word == "--join"
    {
        println!("{}", processes::work(address, number)?);
        return Ok(());
    }
    if arguments.iter().any(|word| word == "--digest") {
        return digest::all();
    }
    if arguments.iter().any(|word| word == "--dependencies") {
        dependencies::all();
        return Ok(());
    }
    if arguments.iter().any(|word| word == "--placement") {
        placement::all();
        return Ok(());
    }
    if arguments.iter().any(|word| word == "--regions") {
        regions::all();
        return Ok(());
    }
    if arguments.iter().any(|word| word == "--evolution") {
        evolution::all();
        return Ok(());
    }
    let rounds: usize = value("--rounds", "5").parse().context("--rounds takes a number")?;
    let ranks: u32 = value("--ranks", "64").parse().context("--ranks takes a number")?;
    let seconds: f64 = value("--seconds", "2").parse().context("--seconds takes a number")?;
    let (pattern, style) = (value("--pattern", "halo2d"), value("--style", "waitall"));
    let calls_per_s = value("--rate", "1000000").parse().context("--rate takes a number")?;
    let job = Job { pattern, style, ranks, seconds, calls_per_s };
    if arguments.iter().any(|word| word == "--ingest") {
        return ingest::all(&job.spec()?, rounds);
    }
    let batches = job.batches()?;
    let calls: usize = batches.iter().map(|batch| batch.calls.len()).sum();
    let before_kib = peak_kib().unwrap_or_default();
    println!("{} {}, {ranks} ranks, {calls} calls, {rounds} rounds", job.pattern, job.style);
    if arguments.iter().any(|word| word == "--bytes") {
        for (processes, feeds) in [(2, None), (4, None), (2, Some(&job)), (3, Some(&job)), (5, Some(&job))] {
            let options =
                FlowOptions { fed_by_others: feeds.map(|job| job.ranks), ..options(processes, 1, ranks) };
            let [data, words] = processes::bytes(processes, &options, batches.clone(), feeds)?;
            let a_call = |bytes: u64| bytes as f64 / calls as f64;
            let (data, words) = (a_call(data), a_call(words));
            println!(
                "{processes} processes{}: {data:.1} bytes a call of the dataflow, {words:.1} between workers",
                if feeds.is_some() { ", all but the first feed" } else { "" }
            );
        }
        return Ok(());
    }
    let operators: [(&str, Operator); 10] = [
        ("counts", Operator::Looks(counts)),
        ("matching", Operator::Looks(matching)),
        ("matching and budget", Operator::Looks(windowed)),
        ("all", Operator::Looks(whole)),
        ("flow, 1 worker", Operator::Flows(1)),
        ("flow, 2 workers", Operator::Flows(2)),
        ("flow, 2 processes", Operator::Shares(2)),
        ("flow, 4 processes", Operator::Shares(4)),
        ("flow, 1 feeds", Operator::Fed(2)),
        ("flow, 2 feed", Operator::Fed(3)),
    ];
    whole(&batches);
    println!(
        "memory: {} MiB beyond the batches",
        peak_kib().unwrap_or_default().saturating_sub(before_kib) / 1024
    );
    let only = value("--only", "");
    let operators: Vec<(&str, Operator)> =
        operators.into_iter().filter(|(name, _)| only.is_empty() || *name == only).collect();
    let without = operators.iter().position(|(name, _)| *name == WITHOUT_THREADS);
    let mut took = vec![Vec::new(); operators.len()];
    for _ in 0..rounds {
        for ((_, operator), took) in operators.iter().zip(&mut took) {
            took.push(operator.run(&job, &batches)?);
        }
    }
    for ((name, operator), of) in operators.iter().zip(&took) {
        let [least, middle, most] = sorted(of.iter().map(|took| calls as f64 / 1e6 / took.all_s()).collect());
        print!("{name:<22} {middle:>7.2} million calls/s [{least:.2}..{most:.2}]");
        if let (Operator::Flows(_) | Operator::Shares(_) | Operator::Fed(_), Some(without)) =
            (operator, without)
        {
            let rounds = || took[without].iter().zip(of);
            let [least, middle, most] =
                sorted(rounds().map(|(without, with)| without.wall_s / with.wall_s).collect());
            let [_, processor, _] =
                sorted(rounds().map(|(without, with)| with.all_s() / without.processor_s).collect());
            let [_, own, _] =
                sorted(rounds().map(|(without, with)| with.processor_s / without.processor_s).collect());
            print!(
                "; as fast as matching and budget times {middle:.2} [{least:.2}..{most:.2}], \
                 for processor time times {processor:.2}, in this process {own:.2}"
            );
        }
        println!();
    }
    Ok(())
}
