//! A recording of which files are damaged: made once more from the rows that are certain.

use super::{stretch, tables};
use crate::check::{Known, Sane};
use crate::daemon::window_row;
use crate::judge;
use crate::words::counted;
use anyhow::{Context as _, Result};
use mpiscope_analysis::Counts;
use mpiscope_model::{Call, Message, Scheduling, Totals};
use mpiscope_recording::{
    FileState, Manifest, Recording, RecordingError, RecordingOptions, RecordingWriter, RunTotals, Segment,
    SegmentRow, State, WindowRow, file_state, salvage,
};
use std::collections::BTreeSet;
use std::path::Path;

/// Writes what is certain into `out`.
pub(super) fn repair(recording: &Recording, out: &Path) -> Result<Manifest> {
    let old = recording.manifest();
    let (mut found, table_faults) = recording.tables();
    let known = Known::of(recording);
    let manifest = Manifest {
        segments: Default::default(),
        files: Vec::new(),
        state: State::Running,
        missing: Vec::new(),
        ..old.clone()
    };
    let mut saving = Saving {
        dir: recording.dir(),
        writer: RecordingWriter::create(out, manifest, RecordingOptions::default())?,
        known,
        lost: Vec::new(),
    };
    let segments = &old.segments;
    let mut totals = Totals::default();
    let mut counts = Counts::new(old.window_ns);
    let mut comms = BTreeSet::new();
    let mut windows: Vec<WindowRow> = Vec::new();
    let mut end_ns = 0;
    let all_calls = saving.rows(&segments.calls, RecordingWriter::push_calls, |calls: &[Call]| {
        totals.add_calls(calls);
        counts.calls(calls);
        comms.extend(calls.iter().filter_map(|call| call.comm));
        end_ns = calls.iter().map(|call| call.end_ns).fold(end_ns, u64::max);
    })?;
    saving.rows(&segments.messages, RecordingWriter::push_messages, |messages: &[Message]| {
        totals.add_messages(messages);
        comms.extend(messages.iter().map(|message| message.comm));
    })?;
    saving.rows(&segments.scheduling, RecordingWriter::push_scheduling, |_: &[Scheduling]| {})?;
    let is_whole = |segment: &Segment| salvage::<WindowRow>(recording.dir(), segment, &mut |_| {}).is_none();
    let listed: u64 = segments.windows.iter().map(|segment| segment.rows).sum();
    if all_calls && segments.windows.iter().all(is_whole) && (listed > 0 || totals.calls == 0) {
        saving.rows(&segments.windows, RecordingWriter::push_windows, |_: &[WindowRow]| {})?;
    } else {
        // Windows are sums of calls, and are to be those of the calls that are there.
        windows.extend(counts.take_windows(u64::MAX).iter().map(|cell| window_row(cell, old.window_ns)));
        saving.writer.set_clock_version(0)?;
        saving.writer.push_windows(&windows)?;
    }
    let Saving { mut writer, mut lost, .. } = saving;
    let given_up = recording.wal().is_ok_and(|log| !log.is_empty()) || old.state == State::Running;
    lost.extend(given_up.then(|| "what was not sealed when the recorder was killed".to_owned()));
    lost.extend(tables::rebuild(&mut found, &table_faults, &old.job, &comms));
    lost.extend(copy_files(recording, &mut writer, out)?);
    let manifest = writer.manifest_mut();
    let of_rows = Totals {
        unmatched_sends: old.totals.unmatched_sends,
        unmatched_receives: old.totals.unmatched_receives,
        uncertain_messages: old.totals.uncertain_messages,
        clock_violations_before: old.totals.clock_violations_before,
        clock_violations_after: old.totals.clock_violations_after,
        ..totals
    };
    manifest.totals = RunTotals::from(of_rows);
    manifest.job.duration_s = manifest.job.duration_s.or(Some(end_ns as f64 / 1e9));
    let is_complete = lost.is_empty() && recording.damage().is_none() && old.state == State::Complete;
    manifest.missing.clone_from(&old.missing);
    manifest.missing.append(&mut lost);
    manifest.state = if is_complete { State::Complete } else { State::Incomplete };
    Ok(writer.finish(&found)?)
}

struct Saving<'a> {
    dir: &'a Path,
    writer: RecordingWriter,
    known: Known,
    /// What is lost, in sentences.
    lost: Vec<String>,
}

impl Saving<'_> {
    /// Takes over the rows of some segments that are certain and make sense; says whether that are all.
    fn rows<R: Sane>(
        &mut self,
        segments: &[Segment],
        push: fn(&mut RecordingWriter, &[R]) -> Result<(), RecordingError>,
        mut see: impl FnMut(&[R]),
    ) -> Result<bool> {
        let mut is_all = true;
        let mut seen = BTreeSet::new();
        for segment in segments.iter().filter(|segment| seen.insert(segment.file.clone())) {
            self.writer.set_clock_version(segment.clock_version)?;
            let (mut saved_rows, mut pushed) = (0, Ok(()));
            let fault = salvage::<R>(self.dir, segment, &mut |rows| {
                let sound: Vec<R> =
                    rows.iter().filter(|row| row.oddity(&self.known).is_none()).cloned().collect();
                saved_rows += sound.len() as u64;
                see(&sound);
                if pushed.is_ok() {
                    pushed = push(&mut self.writer, &sound);
                }
            });
            pushed.with_context(|| format!("save {}", segment.file))?;
            let lost_rows = segment.rows.saturating_sub(saved_rows);
            if lost_rows > 0 || fault.is_some() {
                is_all = false;
                let why = fault.map_or_else(|| "they make no sense".to_owned(), |fault| fault.text);
                let (kind, of) = (<R as SegmentRow>::PLURAL, counted(segment.rows, "row"));
                let when = stretch(segment.from_ns, segment.to_ns);
                self.lost.push(format!(
                    "{lost_rows} of {of} of {kind} {when}: {}: {why}",
                    segment.file.escape_debug()
                ));
            }
        }
        Ok(is_all)
    }
}

/// Copies what was found about the run, and all else that is listed; says what cannot be.
fn copy_files(recording: &Recording, writer: &mut RecordingWriter, out: &Path) -> Result<Vec<String>> {
    let (dir, manifest) = (recording.dir(), recording.manifest());
    let mut names: BTreeSet<&str> =
        manifest.files.iter().map(|listed| listed.file.as_str()).filter(|file| !file.contains('/')).collect();
    if judge::may_be_read(dir) {
        names.insert(judge::FILE);
    }
    let mut missing = Vec::new();
    for name in names {
        match file_state(dir, manifest, name) {
            FileState::Damaged(why) => missing.push(match name {
                judge::FILE => format!("what was found about the run, in {name}: {why}"),
                _ => format!("{}: {why}", name.escape_debug()),
            }),
            FileState::Whole | FileState::NotListed => {
                std::fs::copy(dir.join(name), out.join(name)).with_context(|| format!("copy {name}"))?;
                writer.list_file(name)?;
            }
        }
    }
    Ok(missing)
}
