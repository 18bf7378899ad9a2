//! What each rule of the replays is worth on real runs that were disturbed on purpose: `tests/truth/run.py --keep DIR --json FILE`
//! leaves their recordings, and what each disturbance costs by the programs' own clocks.

use crate::ablation::{Row, table, without_each};
use anyhow::{Context as _, Result, ensure};
use mpiscope_diagnosis::whatif::{GraphBuilder, Rule};
use mpiscope_model::{Blame, Node};
use mpiscope_placement::place;
use mpiscope_recording::Recording;
use mpiscope_topology::Traffic;
use mpiscope_verdict::builder_of_segments;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// Seconds are near enough when they are off by no more than this share of the measured ones.
const NEAR: f64 = 0.25;
/// What saves a smaller share of the run is nothing.
const NEGLIGIBLE: f64 = 0.02;
/// A cause is found otherwise where it saves another share of the run by this much.
const OTHERWISE: f64 = 0.01;

/// What the file of all runs has of each.
#[derive(Deserialize)]
pub(crate) struct Run {
    recording: String,
    expected: String,
    measured_s: f64,
    is_short: bool,
}

#[derive(Deserialize)]
struct Runs {
    runs: Vec<Run>,
}

pub(crate) fn read(file: &Path) -> Result<Vec<Run>> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let Runs { runs } =
        serde_json::from_slice(&text).with_context(|| format!("{} is no list of runs", file.display()))?;
    ensure!(!runs.is_empty(), "{} lists no run; run.py lists those that --keep left", file.display());
    Ok(runs)
}

/// What causes save of a run, in the order of [`Blame::ALL`].
struct Saved {
    wall_s: [f64; 4],
    length_s: f64,
}

impl Saved {
    fn new(builder: GraphBuilder, advised: Option<&[Node]>) -> Result<Self> {
        let graph = builder.finish().ok().context("the run has too many calls")?;
        let savings = graph.savings(advised);
        let wall_s = match savings.departure {
            Some(_) => [0.0; 4],
            None => savings.causes.map(|of| of.wall_ns / 1e9),
        };
        Ok(Self { wall_s, length_s: (graph.recorded_ns() - graph.began_ns()) as f64 / 1e9 })
    }

    fn cause(&self) -> &'static str {
        let most = self.wall_s.iter().zip(Blame::ALL).max_by(|one, other| one.0.total_cmp(other.0));
        let costly = most.filter(|(s, _)| **s >= NEGLIGIBLE * self.length_s);
        costly.map_or("none", |(_, cause)| cause.word())
    }
}

/// A run, and what was found of it with all rules first, then without each.
pub(crate) struct Replayed<'a> {
    run: &'a Run,
    found: Vec<Saved>,
}

impl Replayed<'_> {
    fn expected(&self) -> Option<usize> {
        Blame::ALL.iter().position(|cause| cause.word() == self.run.expected)
    }

    fn is_right(&self, at: usize) -> bool {
        let cause = self.found[at].cause();
        cause == self.run.expected || self.expected().is_none() && self.run.is_short && cause == "cpu"
    }

    /// The causes whose seconds were measured: that of the disturbance, or all of a run without one, which save nothing. How much a
    /// run that is short of CPUs would save without that was not.
    fn measured_causes(&self) -> impl Iterator<Item = usize> {
        let (expected, is_short) = (self.expected(), self.run.is_short);
        let is_measured = move |at: &usize| match expected {
            Some(cause) => *at == cause,
            None => !(is_short && Blame::ALL[*at] == Blame::Cpu),
        };
        (0..Blame::ALL.len()).filter(is_measured)
    }

    fn is_otherwise(&self, at: usize) -> bool {
        let [all, without] = [0, at].map(|at| &self.found[at]);
        let apart = self.measured_causes().map(|cause| (all.wall_s[cause] - without.wall_s[cause]).abs());
        apart.fold(0.0, f64::max) > OTHERWISE * all.length_s
    }

    /// How far what was found is from the measured seconds, as a share of these, or of the run where nothing is to be found.
    fn error(&self, at: usize) -> f64 {
        let (found, Run { measured_s, .. }) = (&self.found[at], self.run);
        match self.expected() {
            Some(cause) => (found.wall_s[cause] - measured_s).abs() / measured_s,
            None => {
                let most_s = self.measured_causes().map(|cause| found.wall_s[cause]).fold(0.0, f64::max);
                most_s / found.length_s
            }
        }
    }
}

/// Replays a recording with all rules, and without each of these.
pub(crate) fn replay<'a>(folder: &Path, run: &'a Run, rules: &[Rule]) -> Result<Replayed<'a>> {
    let dir = folder.join(&run.recording);
    let recording = Recording::open(&dir)?;
    let (builder, faults) = builder_of_segments(&recording)?;
    ensure!(faults.is_empty(), "{}: {}", dir.display(), faults.join(", "));
    let mut traffic = Traffic::default();
    recording.messages().for_each(|batch| traffic.feed(&batch));
    let placement = place(&recording.manifest().job, &traffic);
    let advised = placement.ok().map(|placement| placement.advice.node_of_rank);
    let found = without_each(&builder, rules).map(|builder| Saved::new(builder, advised.as_deref()));
    let found = found.collect::<Result<_>>()?;
    Ok(Replayed { run, found })
}

/// Prints what came out.
pub(crate) fn print(rules: &[Rule], replayed: &[Replayed<'_>]) {
    let row = |at: usize| {
        let right = |is_disturbed: bool| {
            let of_kind = replayed.iter().filter(move |of| of.expected().is_some() == is_disturbed);
            of_kind.filter(|of| of.is_right(at)).count()
        };
        let otherwise = replayed.iter().filter(|of| of.is_otherwise(at));
        Row {
            causes: right(true),
            none: right(false),
            near: replayed.iter().filter(|of| of.expected().is_some() && of.error(at) <= NEAR).count(),
            farther: otherwise.map(|of| of.error(at) - of.error(0)).collect(),
        }
    };
    table(&format!("real runs: {}", replayed.len()), rules, row);
}
