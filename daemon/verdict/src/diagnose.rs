//! Diagnoses a recording by its log.

use crate::findings::Findings;
use crate::findings_file::write;
use crate::pass;
use crate::recorded_time::RecordedTime;
use crate::reference_criteria;
use crate::stretches::LogStretches;
use anyhow::Result;
use mpiscope_model::{Gap, Losses};
use mpiscope_recording::{Recording, WalReader};
use std::path::Path;

/// Finds out why a recorded run took as long as it did, by its log.
///
/// # Errors
/// When its criteria cannot be read, or the analysis has a fault of its own.
pub fn diagnose(recording: &Recording, log: &WalReader, workers: usize) -> Result<Findings> {
    let manifest = recording.manifest();
    let learnt = pass::learn(manifest, log, workers)?;
    let (advice, own) = (learnt.advice(), learnt.learnt());
    let reference = reference_criteria::reference(recording.dir(), &manifest.job)?;
    let mut stretches = LogStretches::new(&reference, &advice.node_of_rank, manifest.recorder_ns());
    let budgeter = pass::by(manifest, log, workers, (reference.with(own), advice), &learnt, &mut stretches)?;
    drop(learnt);
    let calls = stretches.calls();
    let replayed = stretches.finish();
    let gaps = manifest.pauses.iter().flat_map(|pauses| &pauses.gaps);
    let gaps = gaps.copied().map(Gap::from).collect();
    let lost = Losses { unsaved: manifest.unsaved_calls(calls), ..manifest.lost.into() };
    let seen = RecordedTime { from_ns: 0, gaps, lost_share: RecordedTime::share(lost.total(), calls) };
    Ok(Findings::from_budgeter(&budgeter, reference.is_some(), manifest.job.ranks, &seen, &replayed))
}

/// Diagnoses a recording whose log is complete and leaves what was found in its folder.
pub fn diagnose_into(dir: &Path, workers: usize) -> Result<()> {
    let recording = Recording::open(dir)?;
    write(dir, &diagnose(&recording, &recording.wal()?, workers)?)
}
