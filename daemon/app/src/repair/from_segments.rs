//! A recording with damaged files: made once more from the rows that are certain.

use super::parts::{copy_layouts, stretch};
use super::tables;
use crate::check::{RowLimits, Sane};
use crate::interrupt::Interrupt;
use anyhow::{Context as _, Result};
use mpiscope_engine::Sums;
use mpiscope_matching::Counts;
use mpiscope_model::words::counted;
use mpiscope_model::{Call, Comm, Message, Scheduling, Totals};
use mpiscope_page::topology_files;
use mpiscope_recorder::window_row;
use mpiscope_recording::{
    FileState, Manifest, Recording, RecordingError, RecordingOptions, RecordingWriter, RunTotals, Segment,
    State, Summary, WindowRow, file_state, salvage,
};
use mpiscope_verdict as verdict;
use mpiscope_verdict::Processors;
use std::collections::BTreeSet;
use std::path::Path;

/// Writes what is certain into `out`.
pub(super) fn repair(recording: &Recording, out: &Path, interrupt: &Interrupt) -> Result<Manifest> {
    let old = recording.manifest();
    let (mut found, table_faults) = recording.tables();
    let known = RowLimits::read(recording);
    let mut saving = Saving {
        dir: recording.dir(),
        writer: empty_copy(old, out)?,
        known,
        seen: BTreeSet::new(),
        lost: Vec::new(),
        interrupt,
    };
    let segments = &old.segments;
    // Windows are sums of calls, and are to be those of the calls that are there.
    let are_windows_kept = saving.are_sound::<Call>(&segments.calls)
        && saving.are_sound::<WindowRow>(&segments.windows)
        && (segments.calls.is_empty() || !segments.windows.is_empty());
    let mut sums = RowSums::new(old.window_ns);
    saving.calls(&segments.calls, old.window_ns, !are_windows_kept, &mut sums)?;
    for segment in &segments.messages {
        saving.rows(segment, RecordingWriter::push_messages, |messages| sums.add_messages(messages))?;
    }
    for segment in &segments.scheduling {
        let see = |rows: &[Scheduling]| sums.processors.see(rows);
        saving.rows(segment, RecordingWriter::push_scheduling, see)?;
    }
    if are_windows_kept {
        for segment in &segments.windows {
            saving.rows(segment, RecordingWriter::push_windows, |_: &[WindowRow]| {})?;
        }
    }
    let Saving { mut writer, mut lost, .. } = saving;
    writer.settle()?;
    let given_up = recording.wal().is_ok_and(|log| !log.is_empty()) || old.state == State::Running;
    lost.extend(given_up.then(|| "what was not sealed when the recorder was killed".to_owned()));
    lost.extend(tables::rebuild(&mut found, &table_faults, &old.job, &sums.comms));
    lost.extend(copy_files(recording, &mut writer, out)?);
    complete(writer.manifest_mut(), recording, &sums, lost);
    interrupt.check()?;
    Ok(writer.finish(&found, &sums.summary())?)
}

/// A new recording of the same run, without rows so far.
fn empty_copy(old: &Manifest, out: &Path) -> Result<RecordingWriter> {
    let manifest = Manifest {
        segments: Default::default(),
        files: Vec::new(),
        state: State::Running,
        missing: Vec::new(),
        ..old.clone()
    };
    Ok(RecordingWriter::create(out, manifest, RecordingOptions::default())?)
}

/// Writes into the manifest what its rows add up to, and what is lost.
fn complete(manifest: &mut Manifest, recording: &Recording, sums: &RowSums, mut lost: Vec<String>) {
    let old = recording.manifest();
    let totals = Totals {
        unmatched_sends: old.totals.unmatched_sends,
        unmatched_receives: old.totals.unmatched_receives,
        uncertain_messages: old.totals.uncertain_messages,
        clock_violations_before: old.totals.clock_violations_before,
        clock_violations_after: old.totals.clock_violations_after,
        ..sums.totals
    };
    manifest.totals = RunTotals::from(totals);
    if manifest.cut.is_none() {
        manifest.lost.unsaved = manifest.unsaved_calls(totals.calls + totals.polls);
    }
    manifest.job.duration_s = manifest.job.duration_s.or(Some(sums.end_ns as f64 / 1e9));
    let is_complete = lost.is_empty() && recording.damage().is_none() && old.state == State::Complete;
    manifest.missing.clone_from(&old.missing);
    manifest.missing.append(&mut lost);
    manifest.state = if is_complete { State::Complete } else { State::Incomplete };
}

/// What the saved rows add up to.
struct RowSums {
    totals: Totals,
    counts: Counts,
    run_sums: Sums,
    processors: Processors,
    comms: BTreeSet<Comm>,
    end_ns: u64,
}

impl RowSums {
    fn new(window_ns: u64) -> Self {
        Self {
            totals: Totals::default(),
            counts: Counts::new(window_ns),
            run_sums: Sums::default(),
            processors: Processors::default(),
            comms: BTreeSet::new(),
            end_ns: 0,
        }
    }

    fn add_calls(&mut self, calls: &[Call]) {
        self.totals.add_calls(calls);
        self.counts.calls(calls);
        self.run_sums.add(calls, &[], &[]);
        self.comms.extend(calls.iter().filter_map(|call| call.comm));
        self.end_ns = calls.iter().map(|call| call.end_ns).fold(self.end_ns, u64::max);
    }

    fn add_messages(&mut self, messages: &[Message]) {
        self.totals.add_messages(messages);
        self.counts.messages(messages);
        self.run_sums.add(&[], messages, &[]);
        self.comms.extend(messages.iter().map(|message| message.comm));
    }

    fn summary(&self) -> Summary {
        self.run_sums.summary(&self.counts, &self.processors)
    }
}

struct Saving<'a> {
    dir: &'a Path,
    writer: RecordingWriter,
    known: RowLimits,
    /// Files that were read: one that is listed twice counts once.
    seen: BTreeSet<&'a str>,
    /// What is lost, in sentences.
    lost: Vec<String>,
    interrupt: &'a Interrupt,
}

impl<'a> Saving<'a> {
    /// Whether these segments are as they were written, and all their rows make sense.
    fn are_sound<R: Sane>(&self, segments: &[Segment]) -> bool {
        segments.iter().all(|segment| {
            let mut is_sane = true;
            let fault = salvage::<R>(self.dir, segment, &mut |rows| {
                is_sane &= rows.iter().all(|row| self.known.allows(row, segment));
            });
            is_sane && fault.is_none()
        })
    }

    /// Takes over calls, and writes their windows where those that were recorded are not kept.
    fn calls(
        &mut self,
        segments: &'a [Segment],
        window_ns: u64,
        writes_windows: bool,
        sums: &mut RowSums,
    ) -> Result<()> {
        for segment in segments {
            self.rows(segment, RecordingWriter::push_calls, |calls| sums.add_calls(calls))?;
            let cells = sums.counts.take_windows(u64::MAX);
            sums.run_sums.add(&[], &[], &cells);
            if writes_windows {
                let windows: Vec<WindowRow> = cells.iter().map(|cell| window_row(cell, window_ns)).collect();
                self.writer.push_windows(&windows)?;
            }
        }
        Ok(())
    }

    /// Takes over the rows of a segment that are certain and make sense.
    fn rows<R: Sane>(
        &mut self,
        segment: &'a Segment,
        push: fn(&mut RecordingWriter, &[R]) -> Result<(), RecordingError>,
        mut see: impl FnMut(&[R]),
    ) -> Result<()> {
        self.interrupt.check()?;
        if !self.seen.insert(&segment.file) {
            return Ok(());
        }
        self.writer.set_clock_version(segment.clock_version)?;
        let (mut saved_rows, mut pushed) = (0, Ok(()));
        let fault = salvage::<R>(self.dir, segment, &mut |rows| {
            let sound = rows.iter().filter(|row| self.known.allows(*row, segment));
            let sound: Vec<R> = sound.cloned().collect();
            saved_rows += sound.len() as u64;
            see(&sound);
            if pushed.is_ok() {
                pushed = push(&mut self.writer, &sound);
            }
        });
        pushed.with_context(|| format!("save {}", segment.file))?;
        let lost_rows = segment.rows.saturating_sub(saved_rows);
        if lost_rows > 0 || fault.is_some() {
            let why = fault.map_or_else(|| "they make no sense".to_owned(), |fault| fault.text);
            let (kind, of) = (R::PLURAL, counted(segment.rows, "row"));
            let when = stretch(segment.from_ns, segment.to_ns);
            let file = segment.file.escape_debug();
            self.lost.push(format!("{lost_rows} of {of} of {kind} {when}: {file}: {why}"));
        }
        Ok(())
    }
}

/// Copies what was found about the run, and all else that is listed; says what cannot be.
fn copy_files(recording: &Recording, writer: &mut RecordingWriter, out: &Path) -> Result<Vec<String>> {
    let (dir, manifest) = (recording.dir(), recording.manifest());
    let mut names: BTreeSet<&str> =
        manifest.files.iter().map(|listed| listed.file.as_str()).filter(|file| !file.contains('/')).collect();
    if verdict::may_be_read(dir) {
        names.insert(verdict::FILE);
    }
    let mut missing: Vec<String> = copy_layouts(dir, out).into_iter().collect();
    missing.extend(topology_files::copy(recording, out, writer)?);
    for name in names.into_iter().filter(|name| !topology_files::is_file(name)) {
        match file_state(dir, manifest, name) {
            FileState::Damaged(why) => missing.push(match name {
                verdict::FILE => format!("what was found about the run, in {name}: {why}"),
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
