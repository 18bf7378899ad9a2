//! Diagnoses a recording by its log.

use crate::findings::Findings;
use crate::findings_file::write;
use crate::hosts::Hosts;
use crate::pass::{self, Reading};
use crate::recorded_time::RecordedTime;
use crate::reference_criteria;
use crate::replayed::Replayed;
use crate::stretches::{FINAL_CALLS, LogStretches};
use anyhow::{Context as _, Result};
use mpiscope_diagnosis::{Budgeter, Reference};
use mpiscope_model::{Gap, Losses};
use mpiscope_recording::{Recording, WalReader};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{panic, thread};

/// Takes what the first of two readings found.
pub type TakeFirst<'a> = &'a mut dyn FnMut(&Findings) -> Result<()>;

/// What a diagnosis may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Threads of the analysis.
    pub workers: usize,
    /// Calls in memory, of those that are replayed.
    pub most_calls: usize,
    /// After this time nobody waits any more: readings for which there is no time are cut or left out.
    pub time: Option<Duration>,
}

impl Limits {
    /// As much memory and time as a diagnosis needs.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { workers, most_calls: FINAL_CALLS, time: None }
    }
}

/// The shares of the time after which the first reading is cut: where all that was read is replayed after it, and where parts of it
/// were replayed beside. If it took more than the last share, there is no time for a second one beside the replays.
const READING_OF_WHOLE: f64 = 0.5;
const READING_OF_PARTS: f64 = 0.8;
const READING_OF_TWO: f64 = 0.4;

/// Finds out why a recorded run took as long as it did, by its log. Whoever may not wait for the second reading takes what the
/// first one found: of a run that does not fit into memory, savings of some parts, and none of another placement.
///
/// # Errors
/// When its criteria cannot be read, what the first reading found cannot be taken, or the analysis has a fault of its own.
pub fn diagnose(
    recording: &Recording,
    log: &WalReader,
    limits: &Limits,
    first: Option<TakeFirst<'_>>,
) -> Result<Findings> {
    let begun = Instant::now();
    let manifest = recording.manifest();
    let Limits { workers, most_calls, time } = *limits;
    let reference = reference_criteria::reference(recording.dir(), &manifest.job)?;
    let run = Run { recording, log, workers, reference };
    let recorder_ns = manifest.recorder_ns();
    let of_run = (manifest.totals.calls, manifest.job.ranks);
    let mut replays = LogStretches::of_first_reading(&run.reference, recorder_ns, of_run, most_calls);
    let needs_replays = first.is_some() || time.is_some() || replays.is_whole();
    let reading = if replays.is_whole() { READING_OF_WHOLE } else { READING_OF_PARTS };
    let until = time.map(|time| begun + time.mul_f64(reading));
    let stretches = needs_replays.then_some(&mut replays);
    let Reading { budgeter: mut learnt, is_cut } = pass::learn(manifest, log, workers, stretches, until)?;
    if is_cut {
        return Ok(run.cut_findings(&mut learnt, replays));
    }
    if replays.is_whole() {
        let is_late = time.is_some_and(|time| begun.elapsed() > time.mul_f64(READING_OF_TWO));
        return if is_late {
            Ok(run.replay(learnt, replays))
        } else {
            run.replay_meanwhile(learnt, replays, first)
        };
    }
    if let Some(first) = first {
        let calls = replays.calls();
        let replayed = replays.finish();
        if replayed.share() > 0.0 {
            let mut of_first = run.first_findings(&mut learnt, calls, &replayed);
            of_first.limit_to_parts(replayed.share(), manifest.job.nodes.len());
            first(&of_first)?;
        }
    }
    let advice = learnt.advice();
    let advised = &advice.node_of_rank;
    let mut stretches = LogStretches::new(&run.reference, advised, recorder_ns, most_calls);
    let second = pass::second(manifest, workers, &run.reference, advice, &learnt);
    drop(learnt);
    let Reading { budgeter, .. } = pass::over(&second, manifest, log, Some(&mut stretches), None)?;
    let calls = stretches.calls();
    Ok(run.findings(&budgeter, calls, &stretches.finish()))
}

/// A recorded run, and what messages take at other times.
struct Run<'a> {
    recording: &'a Recording,
    log: &'a WalReader,
    workers: usize,
    reference: Reference,
}

impl Run<'_> {
    /// Replays the whole run, and leaves out the second reading.
    fn replay(&self, mut learnt: Budgeter, replays: LogStretches) -> Findings {
        let (advice, calls) = (learnt.advice(), replays.calls());
        let replayed = replays.finish_with(&advice.node_of_rank);
        learnt.follow(advice);
        self.first_findings(&mut learnt, calls, &replayed)
    }

    /// The second reading. The whole run is replayed meanwhile.
    fn replay_meanwhile(
        &self,
        mut learnt: Budgeter,
        replays: LogStretches,
        first: Option<TakeFirst<'_>>,
    ) -> Result<Findings> {
        let manifest = self.recording.manifest();
        let advice = learnt.advice();
        let second = pass::second(manifest, self.workers, &self.reference, advice.clone(), &learnt);
        let calls = replays.calls();
        thread::scope(|scope| {
            let reading = thread::Builder::new().name("second-reading".into());
            let reading = reading.spawn_scoped(scope, || pass::over(&second, manifest, self.log, None, None));
            let reading = reading.context("start a thread that reads the log")?;
            let replayed = replays.finish_with(&advice.node_of_rank);
            if let Some(first) = first {
                learnt.follow(advice);
                first(&self.first_findings(&mut learnt, calls, &replayed))?;
            }
            drop(learnt);
            let reading = reading.join().unwrap_or_else(|fault| panic::resume_unwind(fault))?;
            Ok(self.findings(&reading.budgeter, calls, &replayed))
        })
    }

    /// What a first reading found that had no time for all of the run.
    fn cut_findings(&self, learnt: &mut Budgeter, replays: LogStretches) -> Findings {
        let manifest = self.recording.manifest();
        // What it did not read is not lost.
        let calls = manifest.totals.calls + manifest.totals.polls;
        let replayed = replays.finish();
        let mut found = self.first_findings(learnt, calls, &replayed);
        let (until_ns, _) = learnt.critical_path();
        let read = manifest.job.duration_s.map_or(1.0, |run_s| (until_ns as f64 / 1e9 / run_s).min(1.0));
        found.limit_to_parts(replayed.share() * read, manifest.job.nodes.len());
        found.say_cut();
        found
    }

    /// What the first reading of this many calls found.
    fn first_findings(&self, learnt: &mut Budgeter, calls: u64, replayed: &Replayed) -> Findings {
        // For what is listed.
        learnt.hold_against(self.reference.clone());
        let mut of_first = self.findings(learnt, calls, replayed);
        of_first.limit_to_first_reading();
        of_first
    }

    /// What a reading of this many calls found.
    fn findings(&self, budgeter: &Budgeter, calls: u64, replayed: &Replayed) -> Findings {
        let manifest = self.recording.manifest();
        let gaps = manifest.pauses.iter().flat_map(|pauses| &pauses.gaps);
        let gaps = gaps.copied().map(Gap::from).collect();
        let lost = Losses { unsaved: manifest.unsaved_calls(calls), ..manifest.lost.into() };
        let seen = RecordedTime { from_ns: 0, gaps, lost_share: RecordedTime::share(lost.total(), calls) };
        let is_referenced = self.reference.is_some();
        let mut found = Findings::from_budgeter(budgeter, is_referenced, manifest.job.ranks, &seen, replayed);
        found.name_hosts(&Hosts::of_job(&manifest.job.nodes));
        found
    }
}

/// Diagnoses a recording whose log is complete and leaves what was found in its folder.
pub fn diagnose_into(dir: &Path, workers: usize) -> Result<()> {
    let recording = Recording::open(dir)?;
    write(dir, &diagnose(&recording, &recording.wal()?, &Limits::new(workers), None)?)
}
