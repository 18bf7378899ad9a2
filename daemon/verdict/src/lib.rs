//! The verdict on a run: where its time went and why, what each cause costs, and the sentences that say so.
//!
//! In: the log of a recording, or the calls of a run that goes on, with criteria, clocks and placements as far as they are
//! known. Out: [`Findings`], kept as `findings.json` in the folder of the recording, and their sentences. It never delays a
//! job: at the end a process of its own diagnoses, which may fail without harm to the recording, and live a thread behind
//! everything else. Where calls were lost it lowers or withholds a verdict; it never guesses.
//!
//! The log is read twice: once to learn expected transfer times and who talks to whom, once to diagnose by that.

mod actions;
mod advice;
mod apart;
mod blame;
mod by_region;
pub mod criteria_file;
mod diagnosis;
mod disturbances;
mod ending;
mod evolution;
mod findings;
mod graph;
mod live;
mod part;
mod pass;
mod processors;
mod recorded_time;
mod reference_criteria;
mod regions;
mod replayed;
pub mod shares;
#[cfg(test)]
mod simulated;
mod sources;
mod stretches;
mod waits;
mod words;

pub use advice::{advise_apart, ask as ask_for_advice};
pub use apart::{diagnose_apart, diagnosed_apart, have_diagnosed};
pub use ending::Ending;
pub use findings::{Criterion, Findings};
pub use graph::{builder as graph_builder, finish as finish_graph, of_segments as graph_of_segments};
pub use live::LiveDiagnosis;
pub use part::PartVerdicts;
pub use processors::{Crowding, Processors, where_ranks_run};
pub use recorded_time::recorded_ns;
pub use reference_criteria::{GIVEN, give, named};
pub use regions::regions_sentence;
pub use words::{budget_lines, verdict_sentences};

use anyhow::{Context as _, Result, bail};
use mpiscope_model::{Gap, Losses};
use mpiscope_process::private::replace_json;
use mpiscope_recording::{Manifest, Recording, WalReader, read_listed};
use recorded_time::RecordedTime;
use std::path::Path;
use stretches::LogStretches;

/// What was found, for those who watch.
#[derive(Debug)]
pub struct Found {
    /// The verdict and its sentences.
    pub report: mpiscope_feed::Found,
    /// How the run went over time.
    pub course: mpiscope_feed::Course,
    /// What messages usually take.
    pub criteria: mpiscope_diagnosis::Version,
}

/// What was found, in the folder of the recording.
pub const FILE: &str = "findings.json";

/// Judges a recording by its log.
///
/// # Errors
/// When it was to be judged by criteria that cannot be read, or the analysis has a fault of its own.
pub fn diagnose(recording: &Recording, log: &WalReader, workers: usize) -> Result<Findings> {
    let manifest = recording.manifest();
    let learnt = pass::learn(manifest, log, workers)?;
    let (advice, own) = (learnt.advice(), learnt.learnt());
    let reference = reference_criteria::reference(recording.dir(), &manifest.job)?;
    let mut stretches = LogStretches::new(&reference, &advice.node_of_rank, manifest.recorder_ns());
    let judged = pass::by(manifest, log, workers, (reference.with(own), advice), &learnt, &mut stretches)?;
    drop(learnt);
    let calls = stretches.calls();
    let replayed = stretches.finish();
    let gaps = manifest.pauses.iter().flat_map(|pauses| &pauses.gaps);
    let gaps = gaps.copied().map(Gap::from).collect();
    let lost = Losses { unsaved: manifest.unsaved_calls(calls), ..manifest.lost.into() };
    let seen = RecordedTime { from_ns: 0, gaps, lost_share: RecordedTime::share(lost.total(), calls) };
    Ok(Findings::of(&judged, reference.is_some(), manifest.job.ranks, &seen, &replayed))
}

/// What was found about a recording before; none where it was not judged.
pub fn read(dir: &Path) -> Result<Option<Findings>> {
    let path = dir.join(FILE);
    let Some(bytes) = read_listed(dir, FILE)? else { return Ok(None) };
    let findings: serde_json::Result<Findings> = serde_json::from_slice(&bytes);
    let mut findings =
        findings.with_context(|| format!("{} does not say what was found about the run", path.display()))?;
    // Whoever shows regions goes through their ranks.
    let ranks = Manifest::read(dir).map_or(0, |manifest| manifest.job.ranks);
    let mut of_regions = findings.regions().regions.iter().flat_map(|region| &region.ranks);
    if let Some((first, last)) =
        of_regions.find(|(first, last)| first > last || (ranks > 0 && *last >= ranks))
    {
        bail!("{} has a region of ranks {first} to {last}, and the job has {ranks}", path.display());
    }
    findings = findings.completed();
    findings.course.shares = shares::read(dir);
    Ok(Some(findings))
}

/// Whether a folder without a readable manifest has what was found about its run.
pub fn may_be_read(dir: &Path) -> bool {
    let bytes = std::fs::read(dir.join(FILE)).unwrap_or_default();
    serde_json::from_slice::<Findings>(&bytes).is_ok()
}

/// Judges a recording whose log is complete and leaves what was found in its folder.
pub fn diagnose_into(dir: &Path, workers: usize) -> Result<()> {
    let recording = Recording::open(dir)?;
    write(dir, &diagnose(&recording, &recording.wal()?, workers)?)
}

/// Leaves what was found in the folder of a recording.
///
/// # Errors
/// When it cannot be written.
pub fn write(dir: &Path, findings: &Findings) -> Result<()> {
    replace_json(dir, FILE, findings).with_context(|| format!("write {}", dir.join(FILE).display()))?;
    // A view of the page lacks them where they cannot be written, and nothing else does.
    let _ = shares::write(dir, &findings.course.shares);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_recording::Manifest;

    #[test]
    fn what_was_found_is_read_or_said_to_be_damaged() {
        let dir = tempfile::tempdir().unwrap();
        Manifest::default().write(dir.path()).unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        std::fs::write(dir.path().join(FILE), "{\"schema\": 7").unwrap();
        let error = format!("{:#}", read(dir.path()).unwrap_err());
        assert!(error.contains("findings.json does not say what was found"), "{error}");
    }
}
