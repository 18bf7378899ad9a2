//! The end of a recording on disk: what was lost and what was cut off is counted and written into its manifest.

use crate::functions::functions_by_time;
use crate::protocol;
use anyhow::{Result, bail};
use mpiscope_engine::load::{Loaded, Trust, calls_in_log, load_with};
use mpiscope_feed::Overview;
use mpiscope_ingest::host_clocks::Violations;
use mpiscope_model::Totals;
use mpiscope_model::words::{count, counted, plural, run_time};
use mpiscope_recording::{Cut, Manifest, Recording, RecordingWriter, State, Summary, Tables};
use mpiscope_verdict as verdict;
use std::path::Path;
use std::time::Duration;

/// Completes the recording of a run of this number of calls, whose clocks agree or leave messages that came before they
/// were sent.
pub(crate) fn complete(
    mut writer: RecordingWriter,
    tables: &Tables,
    sums: &Summary,
    (made_calls, is_free_of_violations): (u64, bool),
) -> Result<Manifest> {
    let dir = writer.dir().to_owned();
    let is_cut = writer.manifest_mut().cut.is_some();
    let before = writer.manifest_mut().clone();
    let finished = writer.finish(tables, sums);
    let is_whole = finished.as_ref().is_ok_and(|manifest| manifest.state == State::Complete);
    let lost =
        if is_whole || is_cut { 0 } else { note_unsaved(&dir, made_calls, before).unwrap_or_default() };
    let mut manifest = match finished {
        Err(error) if lost > 0 => {
            bail!("{error}; {} of {} are in no file", count(lost), plural(made_calls, "call"))
        }
        finished => finished?,
    };
    manifest.lost.unsaved = manifest.lost.unsaved.max(lost);
    count_what_is_left(&dir, &mut manifest, is_free_of_violations)?;
    Ok(manifest)
}

/// Completes the manifest of a recording whose segments are complete.
fn count_what_is_left(dir: &Path, manifest: &mut Manifest, is_free_of_violations: bool) -> Result<()> {
    if let Some(cut) = manifest.cut {
        say_cut(dir, manifest, cut)?;
    }
    if !is_free_of_violations {
        manifest.totals.clock_violations_after = violations_left(dir)?;
        manifest.write(dir)?;
    }
    Ok(())
}

/// The summary of a recording that another daemon had completed before it died: its log is gone, and nothing is added but
/// what that daemon may not have come to. `None` where the recording is not complete.
pub(crate) fn completed_before(dir: &Path) -> Result<Option<protocol::Summary>> {
    let Some(mut manifest) = RecordingWriter::end_complete(dir)? else { return Ok(None) };
    let is_free_of_violations = manifest.totals.inter_messages == 0;
    count_what_is_left(dir, &mut manifest, is_free_of_violations)?;
    let findings = verdict::read(dir).ok().flatten();
    let verdict = findings.map(|found| verdict::verdict_sentences(&found.diagnosis)).unwrap_or_default();
    // Its sums were written just now: to read all rows for their checksums would keep the end of the run waiting.
    let recording = Recording::open(dir)?;
    let Loaded { counts, processors, .. } =
        load_with(dir, &recording, Trust::Unchecked, Overview::default(), &mut |_| Ok(()))?;
    Ok(Some(protocol::Summary {
        verdict,
        functions: functions_by_time(&counts),
        processors: processors.sentence(),
        ..protocol::Summary::from_manifest(&manifest)
    }))
}

/// Notes in a recording that could not be completed how many of its calls are in no file.
fn note_unsaved(dir: &Path, made_calls: u64, known: Manifest) -> Result<u64> {
    let recording = Recording::open(dir)?;
    // Where only what comes after the log is missing, segments have all of it.
    let mut in_segments = Totals::default();
    recording.calls().for_each(|calls| in_segments.add_calls(&calls));
    let saved = calls_in_log(&recording)?.calls.max(in_segments.calls + in_segments.polls);
    let mut manifest = recording.manifest().clone();
    if manifest.state == State::Running {
        // The end of a rebuild that failed changed nothing: what is known of the run is in no file.
        let Manifest { job, lost, uncounted, missing, .. } = known;
        manifest = Manifest { job, lost, uncounted, missing, state: State::Incomplete, ..manifest };
    }
    manifest.cost.calls = made_calls;
    manifest.lost.unsaved = manifest.unsaved_calls(saved);
    // Where there is no room for it either, whoever reads the log finds out.
    let _ = manifest.write(dir);
    Ok(manifest.lost.unsaved)
}

/// Says what was dropped, and makes the totals those of what is left.
fn say_cut(dir: &Path, manifest: &mut Manifest, cut: Cut) -> Result<()> {
    let dropped = format!(
        "what ended before {}: {} and {}, dropped as --keep asked",
        run_time(Duration::from_nanos(cut.until_ns)),
        counted(cut.calls, "call"),
        counted(cut.messages, "message")
    );
    if manifest.missing.contains(&dropped) {
        return Ok(());
    }
    let mut left = Totals::from(manifest.totals);
    (left.calls, left.polls, left.messages) = (0, 0, 0);
    (left.bytes, left.intra_messages, left.inter_messages) = (0, 0, 0);
    let recording = Recording::open(dir)?;
    recording.calls().for_each(|calls| left.add_calls(&calls));
    recording.messages().for_each(|messages| left.add_messages(&messages));
    manifest.totals = left.into();
    manifest.missing.push(dropped);
    if cut.log {
        manifest.missing.push(
            "the pass over the whole run in the end: what was found is what was found while the job ran"
                .into(),
        );
    }
    Ok(manifest.write(dir)?)
}

/// Messages between nodes that end before they begin even by the clocks as they are known in the end.
fn violations_left(dir: &Path) -> Result<u64> {
    let mut violations = Violations::default();
    for messages in Recording::open(dir)?.messages().by_ref() {
        let between = messages.iter().filter(|message| message.inter);
        between.for_each(|message| violations.see(message.send_ns, message.recv_ns));
    }
    Ok(violations.count)
}
