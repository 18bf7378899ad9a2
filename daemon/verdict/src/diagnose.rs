//! Diagnoses a recording by its log.

use crate::findings::Findings;
use crate::findings_file::write;
use crate::pass;
use crate::recorded_time::RecordedTime;
use crate::reference_criteria;
use crate::stretches::LogStretches;
use anyhow::Result;
use mpiscope_diagnosis::{Budgeter, Reference};
use mpiscope_model::{Gap, Losses};
use mpiscope_recording::{Recording, WalReader};
use std::path::Path;

/// Takes what the first of two readings found.
pub type TakeFirst<'a> = &'a mut dyn FnMut(&Findings) -> Result<()>;

/// Finds out why a recorded run took as long as it did, by its log. Whoever may not wait for the second reading takes what the
/// first one found: savings of some parts of the run, and none of another placement.
///
/// # Errors
/// When its criteria cannot be read, what the first reading found cannot be taken, or the analysis has a fault of its own.
pub fn diagnose(
    recording: &Recording,
    log: &WalReader,
    workers: usize,
    first: Option<TakeFirst<'_>>,
) -> Result<Findings> {
    let manifest = recording.manifest();
    let reference = reference_criteria::reference(recording.dir(), &manifest.job)?;
    let of_run = (manifest.totals.calls, manifest.job.ranks);
    let parts = || LogStretches::of_parts(&reference, manifest.recorder_ns(), of_run);
    let mut parts = first.is_some().then(parts);
    let mut learnt = pass::learn(manifest, log, workers, parts.as_mut())?;
    if let Some((first, parts)) = first.zip(parts) {
        // For what is listed; `learnt` itself stays.
        learnt.hold_against(reference.clone());
        let (mut of_first, replayed) = findings(recording, &reference, &learnt, parts);
        if replayed > 0.0 {
            of_first.limit_to_first_reading(replayed, manifest.job.nodes.len());
            first(&of_first)?;
        }
    }
    let (advice, own) = (learnt.advice(), learnt.learnt());
    let mut stretches = LogStretches::new(&reference, &advice.node_of_rank, manifest.recorder_ns());
    let known = (reference.with(own), advice);
    let budgeter = pass::by(manifest, log, workers, known, &learnt, &mut stretches)?;
    drop(learnt);
    Ok(findings(recording, &reference, &budgeter, stretches).0)
}

/// What a pass found, and the share of the run that was replayed.
fn findings(
    recording: &Recording,
    reference: &Reference,
    budgeter: &Budgeter,
    stretches: LogStretches,
) -> (Findings, f64) {
    let manifest = recording.manifest();
    let calls = stretches.calls();
    let replayed = stretches.finish();
    let gaps = manifest.pauses.iter().flat_map(|pauses| &pauses.gaps);
    let gaps = gaps.copied().map(Gap::from).collect();
    let lost = Losses { unsaved: manifest.unsaved_calls(calls), ..manifest.lost.into() };
    let seen = RecordedTime { from_ns: 0, gaps, lost_share: RecordedTime::share(lost.total(), calls) };
    let found = Findings::from_budgeter(budgeter, reference.is_some(), manifest.job.ranks, &seen, &replayed);
    (found, replayed.share())
}

/// Diagnoses a recording whose log is complete and leaves what was found in its folder.
pub fn diagnose_into(dir: &Path, workers: usize) -> Result<()> {
    let recording = Recording::open(dir)?;
    write(dir, &diagnose(&recording, &recording.wal()?, workers, None)?)
}
