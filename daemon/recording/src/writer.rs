//! Writes a recording: segments, small tables and manifest together.

use crate::error::RecordingError;
use crate::folder::{
    MANIFEST, PARQUET, STARTS, SUMMARY, TABLES, WAL, bytes_on_disk, free_reserve, keep_reserve, make_folder,
    numbered_files, remove_unfinished,
};
use crate::intake::Intake;
use crate::keep::Keep;
use crate::lock::FolderLock;
use crate::manifest::{Manifest, Segment, Segments, State};
use crate::row::SegmentRow;
use crate::rows::WindowRow;
use crate::segment::SegmentWriter;
use crate::summary::Summary;
use crate::tables::{Tables, table_names};
use crate::wal::trim;
use mpiscope_model::{Call, Message, Scheduling};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number and interval of attempts to remove files that another process may be about to finish with.
const ATTEMPTS: u32 = 100;
const REST: Duration = Duration::from_millis(20);

/// How a recording is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingOptions {
    /// Calls of one segment; they wait in memory, about 100 bytes each. So do those of one that is being written.
    pub calls_per_segment: usize,
    /// Messages of one segment; likewise, 80 bytes each.
    pub messages_per_segment: usize,
    /// Windows of one segment.
    pub windows_per_segment: usize,
    /// Rows of what the scheduler did in one segment; they wait in memory, 48 bytes each.
    pub scheduling_per_segment: usize,
    /// How hard to compress, 1 to 22.
    pub zstd_level: i32,
}

impl Default for RecordingOptions {
    fn default() -> Self {
        Self {
            calls_per_segment: 1 << 20,
            messages_per_segment: 1 << 20,
            windows_per_segment: 1_000_000,
            scheduling_per_segment: 250_000,
            zstd_level: 1,
        }
    }
}

/// Writes one recording. Full segments of calls and of messages are written by threads of their own, one of each at a time.
/// Whoever pushes may wait for them and for the disk, so its owner gives it a thread that may.
///
/// Its owner writes the log with a [`crate::WalWriter`] of its own, made after this.
pub struct RecordingWriter {
    dir: PathBuf,
    options: RecordingOptions,
    manifest: Manifest,
    calls: SegmentWriter<Call>,
    messages: SegmentWriter<Message>,
    windows: SegmentWriter<WindowRow>,
    scheduling: SegmentWriter<Scheduling>,
    rebuilding: bool,
    keep: Option<Keep>,
    intake: Option<Intake>,
    /// Nobody else writes here meanwhile.
    _lock: FolderLock,
}

impl RecordingWriter {
    /// Begins a recording in `dir`, a new or empty folder, with the known facts of the run.
    ///
    /// # Errors
    /// When the folder holds something already, or cannot be written.
    pub fn create(dir: &Path, manifest: Manifest, options: RecordingOptions) -> Result<Self, RecordingError> {
        refuse_occupied(dir)?;
        make_folder(dir)?;
        let lock = FolderLock::take(dir)?;
        // Between the look and the lock another process may have been quicker.
        refuse_occupied(dir)?;
        let writer = Self::open(dir, manifest, options, (false, lock))?;
        writer.write_manifest()?;
        keep_reserve(dir);
        Ok(writer)
    }

    /// Writes the recording in `dir` anew, from its log: the manifest's description of the run stays, its rows and
    /// totals do not. The recording stays as it is until [`RecordingWriter::finish`].
    ///
    /// # Errors
    /// When there is no recording, or it cannot be written.
    pub fn rebuild(dir: &Path, options: RecordingOptions) -> Result<Self, RecordingError> {
        let lock = FolderLock::take(dir)?;
        let manifest = Manifest::read(dir)?;
        let manifest = Manifest {
            segments: Segments::default(),
            state: State::Running,
            summary: Vec::new(),
            missing: Vec::new(),
            ..manifest
        };
        Self::open(dir, manifest, options, (true, lock))
    }

    /// Ends what the writer of a complete recording was killed in: what is over goes, and nothing else is changed. `None` where
    /// the recording is not complete.
    ///
    /// # Errors
    /// When there is no recording, or it cannot be written.
    pub fn end_complete(dir: &Path) -> Result<Option<Manifest>, RecordingError> {
        let lock = FolderLock::take(dir)?;
        let manifest = Manifest::read(dir)?;
        if manifest.state != State::Complete {
            return Ok(None);
        }
        let writer = Self::open(dir, manifest, RecordingOptions::default(), (false, lock))?;
        writer.remove_what_is_over()?;
        Ok(Some(writer.manifest))
    }

    fn open(
        dir: &Path,
        manifest: Manifest,
        options: RecordingOptions,
        (rebuilding, lock): (bool, FolderLock),
    ) -> Result<Self, RecordingError> {
        let RecordingOptions {
            calls_per_segment,
            messages_per_segment,
            windows_per_segment,
            scheduling_per_segment,
            zstd_level,
        } = options;
        Ok(Self {
            dir: dir.to_path_buf(),
            options,
            manifest,
            calls: SegmentWriter::open(dir, calls_per_segment, zstd_level)?.beside(),
            messages: SegmentWriter::open(dir, messages_per_segment, zstd_level)?.beside(),
            windows: SegmentWriter::open(dir, windows_per_segment, zstd_level)?,
            scheduling: SegmentWriter::open(dir, scheduling_per_segment, zstd_level)?,
            rebuilding,
            keep: None,
            intake: None,
            _lock: lock,
        })
    }

    /// Keeps only the newest part of the run, see [`RecordingWriter::trim`]. Nothing is written beside then: what is on disk is what
    /// is counted, and dropped.
    ///
    /// # Errors
    /// As of [`RecordingWriter::create`].
    pub fn keeping(mut self, keep: Keep) -> Result<Self, RecordingError> {
        let per_segment = |rows| keep.rows_per_segment(rows);
        let (dir, level) = (&self.dir, self.options.zstd_level);
        self.calls = SegmentWriter::open(dir, per_segment(self.options.calls_per_segment), level)?;
        self.messages = SegmentWriter::open(dir, per_segment(self.options.messages_per_segment), level)?;
        self.keep = Some(keep);
        Ok(self)
    }

    /// Drops the oldest data, if there is a limit. Call it about once a second.
    ///
    /// # Errors
    /// When something cannot be written or removed; it is tried again the next time.
    pub fn trim(&mut self) -> Result<(), RecordingError> {
        let Some(keep) = self.keep else { return Ok(()) };
        let ranges = [self.calls.waiting_range_ns(), self.messages.waiting_range_ns()];
        if ranges.iter().any(|(from_ns, to_ns)| to_ns - from_ns > keep.segment_ns()) {
            self.seal_rows()?;
        }
        let newest = |of: &[Segment]| of.iter().map(|segment| segment.to_ns).max();
        let sealed = newest(&self.manifest.segments.calls).max(newest(&self.manifest.segments.messages));
        let waiting = ranges.iter().map(|(_, to_ns)| *to_ns).max();
        let now_ns = sealed.max(waiting).unwrap_or_default();
        let mut cut = self.manifest.cut.unwrap_or_default();
        let gone = keep.trim(now_ns, &mut self.manifest.segments, &mut cut);
        cut.log |= trim(&self.dir, keep)?;
        if gone.is_empty() && !cut.log {
            return Ok(());
        }
        self.manifest.cut = Some(cut);
        // First they leave the manifest, then they go.
        self.write_manifest()?;
        for file in gone {
            let path = self.dir.join(file);
            fs::remove_file(&path).map_err(RecordingError::io("remove", &path))?;
        }
        Ok(())
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What will be written with the next [`RecordingWriter::seal`] or [`RecordingWriter::write_manifest`]. The owner
    /// sets what it knows, and the state to incomplete when something is missing for good; segments are this writer's.
    pub fn manifest_mut(&mut self) -> &mut Manifest {
        &mut self.manifest
    }

    /// Takes calls; see [`RecordingWriter::push_windows`].
    ///
    /// # Errors
    /// As there.
    pub fn push_calls(&mut self, calls: &[Call]) -> Result<(), RecordingError> {
        let before = self.manifest.segments.calls.len();
        let pushed = self.calls.push(calls, &mut self.manifest.segments.calls);
        let announced = self.tell_if(self.manifest.segments.calls.len() > before);
        pushed.and(announced)
    }

    /// Gives up all rows: they will be pushed again. No name is used twice.
    ///
    /// # Errors
    /// When the manifest cannot be written, or segments cannot be removed.
    pub fn begin_again(&mut self) -> Result<(), RecordingError> {
        // What could not be written is of no use any more.
        let _ = self.settle();
        let [calls, messages] = self.intake.as_ref().map_or([0, 0], Intake::next_numbers);
        self.calls.forget(calls);
        self.messages.forget(messages);
        self.windows.forget(0);
        self.scheduling.forget(0);
        self.manifest.segments = Segments::default();
        self.write_manifest()?;
        self.remove_all_segments_but(&self.manifest.segments)
    }

    /// Where segments of calls and messages go that others have encoded. From now on none of these may be pushed.
    #[must_use]
    pub fn intake(&mut self) -> Intake {
        let numbers = [self.calls.next_number(), self.messages.next_number()];
        self.intake.insert(Intake::new(self.dir.clone(), numbers)).clone()
    }

    /// Lists segments of calls and messages that came in so.
    ///
    /// # Errors
    /// When the manifest cannot be written.
    pub fn list(&mut self, calls: Vec<Segment>, messages: Vec<Segment>) -> Result<(), RecordingError> {
        let is_new = !calls.is_empty() || !messages.is_empty();
        self.manifest.segments.calls.extend(calls);
        self.manifest.segments.messages.extend(messages);
        self.tell_if(is_new)
    }

    /// Counts calls and messages whose segments others could not write.
    pub fn give_up(&mut self, calls: u64, messages: u64) {
        self.calls.give_up(calls);
        self.messages.give_up(messages);
    }

    /// Takes messages; see [`RecordingWriter::push_windows`].
    ///
    /// # Errors
    /// As there.
    pub fn push_messages(&mut self, messages: &[Message]) -> Result<(), RecordingError> {
        let before = self.manifest.segments.messages.len();
        let pushed = self.messages.push(messages, &mut self.manifest.segments.messages);
        let announced = self.tell_if(self.manifest.segments.messages.len() > before);
        pushed.and(announced)
    }

    /// Takes windows. A segment that became full is sealed; the manifest lists it when it is written, with a later call if that
    /// is done beside.
    ///
    /// # Errors
    /// When a segment cannot be written, which may be that of an earlier call. Its rows are counted as unwritten, all others are
    /// taken, and the recording can go on: the log has what they were made from.
    pub fn push_windows(&mut self, windows: &[WindowRow]) -> Result<(), RecordingError> {
        let before = self.manifest.segments.windows.len();
        let pushed = self.windows.push(windows, &mut self.manifest.segments.windows);
        let announced = self.tell_if(self.manifest.segments.windows.len() > before);
        pushed.and(announced)
    }

    /// Takes what the scheduler did; see [`RecordingWriter::push_windows`].
    ///
    /// # Errors
    /// As there.
    pub fn push_scheduling(&mut self, rows: &[Scheduling]) -> Result<(), RecordingError> {
        let before = self.manifest.segments.scheduling.len();
        let pushed = self.scheduling.push(rows, &mut self.manifest.segments.scheduling);
        let announced = self.tell_if(self.manifest.segments.scheduling.len() > before);
        pushed.and(announced)
    }

    fn tell_if(&self, something_new: bool) -> Result<(), RecordingError> {
        if something_new { self.write_manifest() } else { Ok(()) }
    }

    /// From now on rows are by this version of the clock map; those before get segments of their own.
    ///
    /// # Errors
    /// As of [`RecordingWriter::seal`].
    pub fn set_clock_version(&mut self, version: u32) -> Result<(), RecordingError> {
        let Segments { calls, messages, windows, scheduling } = &mut self.manifest.segments;
        let outcomes = [
            self.calls.set_clock_version(version, calls),
            self.messages.set_clock_version(version, messages),
            self.windows.set_clock_version(version, windows),
            self.scheduling.set_clock_version(version, scheduling),
        ];
        outcomes.into_iter().collect()
    }

    /// Lists the present state of a file in the folder: readers notice later changes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list_file(&mut self, file: &str) -> Result<(), RecordingError> {
        self.manifest.list(&self.dir, file)
    }

    /// Calls that wait for their segment.
    #[must_use]
    pub fn waiting_calls(&self) -> usize {
        self.calls.waiting_rows()
    }

    /// The segments of calls that are sealed.
    #[must_use]
    pub fn call_segments(&self) -> &[Segment] {
        &self.manifest.segments.calls
    }

    /// Messages that wait for their segment.
    #[must_use]
    pub fn waiting_messages(&self) -> usize {
        self.messages.waiting_rows()
    }

    /// The segments of messages that are sealed.
    #[must_use]
    pub fn message_segments(&self) -> &[Segment] {
        &self.manifest.segments.messages
    }

    /// Rows of all kinds that were given up because the disk did not take them.
    #[must_use]
    pub fn unwritten_rows(&self) -> u64 {
        self.calls.unwritten_rows()
            + self.messages.unwritten_rows()
            + self.windows.unwritten_rows()
            + self.scheduling.unwritten_rows()
    }

    /// Seals everything that waits and writes the manifest. It sorts, compresses and waits for the disk.
    ///
    /// # Errors
    /// The first thing that could not be written; the rest is written in any case.
    pub fn seal(&mut self) -> Result<(), RecordingError> {
        let sealed = self.seal_rows();
        sealed.and(self.write_manifest())
    }

    /// Waits for the segments that are being written.
    ///
    /// # Errors
    /// When one of them could not be written. Its rows are counted as unwritten.
    pub fn settle(&mut self) -> Result<(), RecordingError> {
        let Segments { calls, messages, .. } = &mut self.manifest.segments;
        let outcomes = [self.calls.settle(calls), self.messages.settle(messages)];
        outcomes.into_iter().collect()
    }

    fn seal_rows(&mut self) -> Result<(), RecordingError> {
        let Segments { calls, messages, windows, scheduling } = &mut self.manifest.segments;
        // All at once, and then one after the other is waited for.
        let outcomes = [
            self.calls.begin_to_seal(calls),
            self.messages.begin_to_seal(messages),
            self.windows.seal(windows),
            self.scheduling.seal(scheduling),
            self.calls.seal(calls),
            self.messages.seal(messages),
        ];
        outcomes.into_iter().collect()
    }

    /// Writes the manifest as it stands.
    ///
    /// # Errors
    /// When it cannot be written; the one before is still there then.
    pub fn write_manifest(&self) -> Result<(), RecordingError> {
        // While a recording is rebuilt, the old list of segments is the one that holds.
        if self.rebuilding { Ok(()) } else { self.manifest.write(&self.dir) }
    }

    /// Ends the recording: seals everything, writes the small tables and the manifest, and removes the log once all is
    /// safe. If rows could not be written, the log stays, the state is incomplete and `missing` lists it.
    ///
    /// # Errors
    /// When tables or manifest cannot be written; the log is still there then.
    pub fn finish(mut self, tables: &Tables, summary: &Summary) -> Result<Manifest, RecordingError> {
        let earlier = self.settle().err();
        let sealed = self.seal_rows().and_then(|()| self.trim());
        free_reserve(&self.dir);
        let tables_written = tables.write(&self.dir, self.options.zstd_level);
        let tables_written = tables_written
            .and_then(|()| table_names().iter().try_for_each(|name| self.manifest.list(&self.dir, name)));
        // A failure does no harm: the rows have the same data. A part of a run has none: it would sum up dropped rows.
        if self.manifest.cut.is_none() && sealed.is_ok() && self.unwritten_rows() == 0 {
            self.manifest.summary = summary.write(&self.dir, self.options.zstd_level).unwrap_or_default();
        }
        self.say_unwritten();
        self.manifest.missing.extend(earlier.map(|error| error.to_string()));
        let whole = sealed.is_ok() && tables_written.is_ok() && self.unwritten_rows() == 0;
        if !whole {
            self.manifest.state = State::Incomplete;
        } else if self.manifest.state == State::Running {
            self.manifest.state = State::Complete;
        }
        if self.rebuilding && !whole {
            // The recording as it was says more than half of a new one, whose files take the room of its last words.
            let _ =
                Manifest::read(&self.dir).and_then(|before| self.remove_all_segments_but(&before.segments));
            return sealed.and(tables_written).map(|()| self.manifest);
        }
        self.measure(whole);
        self.manifest.write(&self.dir)?;
        if whole {
            self.remove_what_is_over()?;
        }
        sealed.and(tables_written).map(|()| self.manifest)
    }

    fn say_unwritten(&mut self) {
        let unwritten = [
            (Call::PLURAL, self.calls.unwritten_rows()),
            (Message::PLURAL, self.messages.unwritten_rows()),
            (WindowRow::PLURAL, self.windows.unwritten_rows()),
            (Scheduling::PLURAL, self.scheduling.unwritten_rows()),
        ];
        for (plural, rows) in unwritten.into_iter().filter(|(_, rows)| *rows > 0) {
            self.manifest.missing.push(format!(
                "{rows} {plural} could not be written to {plural}/; what of them is in the log stays there"
            ));
        }
    }

    /// Fills in the size that the folder will have.
    fn measure(&mut self, log_goes: bool) {
        let old = self.dir.join(MANIFEST).metadata().map_or(0, |metadata| metadata.len());
        let log = if log_goes { bytes_on_disk(&self.dir.join(WAL)) } else { 0 };
        let rest = bytes_on_disk(&self.dir).saturating_sub(old + log);
        // Twice: the first number has to be there for the length of the manifest to be right.
        for _ in 0..2 {
            self.manifest.cost.bytes_on_disk = rest + self.manifest.to_bytes().len() as u64;
        }
    }

    /// Removes the log, half-written files, and segments of before a rebuild.
    fn remove_what_is_over(&self) -> Result<(), RecordingError> {
        remove_log(&self.dir.join(WAL))?;
        remove_unfinished(&self.dir);
        remove_unfinished(&self.dir.join(TABLES));
        remove_unfinished(&self.dir.join(SUMMARY));
        self.remove_all_segments_but(&self.manifest.segments)
    }

    fn remove_all_segments_but(&self, listed: &Segments) -> Result<(), RecordingError> {
        let Segments { calls, messages, windows, scheduling } = listed;
        self.remove_unlisted::<Call>(calls)?;
        self.remove_unlisted::<Message>(messages)?;
        self.remove_unlisted::<WindowRow>(windows)?;
        self.remove_unlisted::<Scheduling>(scheduling)?;
        let beside = calls.iter().filter_map(|segment| Some(&segment.starts.as_ref()?.file));
        self.remove_all_but(STARTS, beside)
    }

    fn remove_unlisted<R: SegmentRow>(&self, segments: &[Segment]) -> Result<(), RecordingError> {
        self.remove_all_but(R::FOLDER, segments.iter().map(|segment| &segment.file))
    }

    fn remove_all_but<'a>(
        &self,
        folder: &str,
        listed: impl Iterator<Item = &'a String>,
    ) -> Result<(), RecordingError> {
        let folder = self.dir.join(folder);
        if !folder.is_dir() {
            return Ok(());
        }
        remove_unfinished(&folder);
        let listed: HashSet<PathBuf> = listed.map(|file| self.dir.join(file)).collect();
        for (_, path) in numbered_files(&folder, PARQUET)? {
            if !listed.contains(&path) {
                fs::remove_file(&path).map_err(RecordingError::io("remove", &path))?;
            }
        }
        Ok(())
    }
}

/// Removes the log; one of its files may just be being compressed.
fn remove_log(folder: &Path) -> Result<(), RecordingError> {
    let mut attempts = 0..ATTEMPTS;
    loop {
        match fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && attempts.next().is_some() => {
                std::thread::sleep(REST);
            }
            Err(error) => return Err(RecordingError::io("remove", folder)(error)),
        }
    }
}

fn refuse_occupied(dir: &Path) -> Result<(), RecordingError> {
    let path = || dir.to_path_buf();
    match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(RecordingError::NotAFolder { path: path() })
        }
        Err(error) => Err(RecordingError::io("read the folder", dir)(error)),
        Ok(_) if dir.join(MANIFEST).exists() => Err(RecordingError::AlreadyRecorded { path: path() }),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(RecordingError::NotEmpty { path: path() }),
        },
    }
}
