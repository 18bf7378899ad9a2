//! Writes segments: many rows each, cut into row groups. A full one is written beside what comes next, if that is wanted.

use crate::error::RecordingError;
use crate::folder::{PARQUET, make_folder, numbered_files, numbered_name};
use crate::groups::{Span, for_each_group};
use crate::manifest::Segment;
use crate::row::SegmentRow;
use crate::salvage::parts_of;
use crate::table_file::write_file;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Rows of one row group, the least that a reader who seeks has to take.
const ROWS_PER_GROUP: usize = 1 << 17;

/// Takes rows and puts them on disk, many at a time.
pub struct SegmentWriter<R: SegmentRow> {
    plan: Plan,
    next_number: u32,
    rows_per_segment: usize,
    rows: Vec<R>,
    /// For the rows of the next segment: memory that was in use before costs nothing to get.
    spare: Vec<R>,
    span: Span,
    unwritten_rows: u64,
    /// Whether full segments are written by a thread of their own, and the one that is.
    is_beside: bool,
    writing: Option<Writing<R>>,
}

/// Where and how segments are written.
#[derive(Clone)]
struct Plan {
    folder: PathBuf,
    rows_per_group: usize,
    zstd_level: i32,
    clock_version: u32,
}

/// A segment that a thread writes.
struct Writing<R> {
    full: Arc<Full<R>>,
    thread: JoinHandle<Result<Segment, RecordingError>>,
}

/// Rows on their way to the disk.
struct Full<R> {
    plan: Plan,
    number: u32,
    rows: Vec<R>,
    span: Span,
}

impl<R: SegmentRow> SegmentWriter<R> {
    /// Writes to the sub-folder of this kind of row in the recording `dir`, behind the segments that it holds.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(dir: &Path, rows_per_segment: usize, zstd_level: i32) -> Result<Self, RecordingError> {
        let folder = dir.join(R::FOLDER);
        make_folder(&folder)?;
        let next_number = numbered_files(&folder, PARQUET)?.last().map_or(0, |(number, _)| number + 1);
        Ok(Self {
            plan: Plan { folder, rows_per_group: ROWS_PER_GROUP, zstd_level, clock_version: 0 },
            next_number,
            rows_per_segment: rows_per_segment.max(1),
            rows: Vec::new(),
            spare: Vec::new(),
            span: Span::default(),
            unwritten_rows: 0,
            is_beside: false,
            writing: None,
        })
    }

    /// Full segments are written beside what comes next: one at a time, and whoever fills another meanwhile waits.
    #[must_use]
    pub fn beside(mut self) -> Self {
        self.is_beside = true;
        self
    }

    /// Row groups get this number of rows.
    #[must_use]
    pub fn with_rows_per_group(mut self, rows: usize) -> Self {
        self.plan.rows_per_group = rows.max(1);
        self
    }

    /// From now on rows are by this version of the clock map.
    ///
    /// # Errors
    /// Rows of the version before are sealed; see [`SegmentWriter::seal`].
    pub fn set_clock_version(
        &mut self,
        version: u32,
        sealed: &mut Vec<Segment>,
    ) -> Result<(), RecordingError> {
        let outcome = if version == self.plan.clock_version { Ok(()) } else { self.seal(sealed) };
        self.plan.clock_version = version;
        outcome
    }

    /// Takes rows and seals each full segment; appends it to `sealed` when it is written, which may be in a later call.
    ///
    /// # Errors
    /// The first segment that could not be written; all rows are taken in any case. See [`SegmentWriter::seal`].
    pub fn push(&mut self, mut rows: &[R], sealed: &mut Vec<Segment>) -> Result<(), RecordingError> {
        let mut outcome = self.collect(sealed, false);
        while !rows.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(self.rows_per_segment - self.rows.len()));
            self.rows.extend_from_slice(now);
            now.iter().for_each(|row| self.span.add(row));
            rows = later;
            if self.rows.len() == self.rows_per_segment {
                outcome = outcome.and(self.write_full(sealed));
            }
        }
        outcome
    }

    /// The time span of the rows that wait for their segment to be full.
    pub(crate) fn waiting_range_ns(&self) -> (u64, u64) {
        if self.rows.is_empty() { (0, 0) } else { (self.span.first_end_ns, self.span.to_ns) }
    }

    /// Rows that wait for their segment, and those of one that is being written.
    #[must_use]
    pub fn waiting_rows(&self) -> usize {
        self.rows.len() + self.writing.as_ref().map_or(0, |writing| writing.full.rows.len())
    }

    /// Rows that are in no segment yet: those of one that is being written, and those behind.
    #[must_use]
    pub fn waiting(&self) -> [&[R]; 2] {
        [self.writing.as_ref().map_or(&[], |writing| &writing.full.rows), &self.rows]
    }

    /// Rows that were given up because their segment could not be written.
    #[must_use]
    pub fn unwritten_rows(&self) -> u64 {
        self.unwritten_rows
    }

    /// Sorts, compresses and writes the waiting rows as one segment, and waits for all; none when there are none.
    ///
    /// # Errors
    /// When one cannot be written. Its rows are given up and counted then: memory has a limit and the log still has
    /// what they were made from.
    pub fn seal(&mut self, sealed: &mut Vec<Segment>) -> Result<(), RecordingError> {
        let begun = self.begin_to_seal(sealed);
        begun.and(self.collect(sealed, true))
    }

    /// Likewise without waiting for the last of them, where they are written beside.
    pub(crate) fn begin_to_seal(&mut self, sealed: &mut Vec<Segment>) -> Result<(), RecordingError> {
        if self.rows.is_empty() { Ok(()) } else { self.write_full(sealed) }
    }

    /// Waits for the segment that is being written.
    pub(crate) fn settle(&mut self, sealed: &mut Vec<Segment>) -> Result<(), RecordingError> {
        self.collect(sealed, true)
    }

    /// Gives up all rows: they will be pushed again. The next segment has at least this number. None may be being written.
    pub(crate) fn forget(&mut self, next_number: u32) {
        self.rows.clear();
        self.span = Span::default();
        self.unwritten_rows = 0;
        self.next_number = self.next_number.max(next_number);
    }

    /// Counts rows as given up whose segment somebody else could not write.
    pub(crate) fn give_up(&mut self, rows: u64) {
        self.unwritten_rows += rows;
    }

    /// The number of the next segment.
    pub(crate) fn next_number(&self) -> u32 {
        self.next_number
    }

    /// Writes the waiting rows, or lets a thread do it.
    fn write_full(&mut self, sealed: &mut Vec<Segment>) -> Result<(), RecordingError> {
        let before = self.collect(sealed, true);
        let full = Arc::new(Full {
            plan: self.plan.clone(),
            number: self.next_number,
            rows: std::mem::replace(&mut self.rows, std::mem::take(&mut self.spare)),
            span: std::mem::take(&mut self.span),
        });
        let of_thread = Arc::clone(&full);
        let start = || Builder::new().name("segments".into()).spawn(move || of_thread.write());
        // Where no thread can be started, this one writes.
        if let Some(thread) = self.is_beside.then(start).and_then(Result::ok) {
            self.writing = Some(Writing { full, thread });
            before
        } else {
            let written = full.write();
            before.and(self.take_written(written, full, sealed))
        }
    }

    /// Takes the segment that a thread has written, or waits until it has.
    fn collect(&mut self, sealed: &mut Vec<Segment>, is_awaited: bool) -> Result<(), RecordingError> {
        let is_written = |writing: &mut Writing<R>| is_awaited || writing.thread.is_finished();
        let Some(Writing { full, thread }) = self.writing.take_if(is_written) else { return Ok(()) };
        let written = thread.join().unwrap_or_else(|fault| panic::resume_unwind(fault));
        self.take_written(written, full, sealed)
    }

    fn take_written(
        &mut self,
        written: Result<Segment, RecordingError>,
        full: Arc<Full<R>>,
        sealed: &mut Vec<Segment>,
    ) -> Result<(), RecordingError> {
        let rows = full.rows.len() as u64;
        // The thread is over.
        let mut buffer = Arc::into_inner(full).map(|full| full.rows).unwrap_or_default();
        buffer.clear();
        // Where nothing is written beside, one is enough.
        let place = if self.rows.capacity() == 0 { &mut self.rows } else { &mut self.spare };
        *place = buffer;
        match written {
            Ok(segment) => {
                self.next_number += 1;
                sealed.push(segment);
                Ok(())
            }
            Err(error) => {
                self.unwritten_rows += rows;
                Err(error)
            }
        }
    }
}

impl<R: SegmentRow> Full<R> {
    /// Sorts, compresses and writes the rows.
    fn write(&self) -> Result<Segment, RecordingError> {
        let Self { plan: Plan { folder, rows_per_group, zstd_level, clock_version }, number, rows, span } =
            self;
        let name = numbered_name(*number, PARQUET);
        let path = folder.join(&name);
        let written = write_file(&path, *zstd_level, |encoder| {
            for_each_group(rows, span.ends_ns(), *rows_per_group, |rows| encoder.group(rows.iter().copied()))
        })?;
        let beside =
            || R::write_beside(rows, span.first_end_ns..=span.to_ns, (folder.parent()?, &name), *zstd_level);
        Ok(Segment {
            file: format!("{}/{name}", R::FOLDER),
            rows: rows.len() as u64,
            from_ns: span.from_ns,
            to_ns: span.to_ns,
            clock_version: *clock_version,
            crc32: Some(written.crc32),
            bytes: Some(written.bytes),
            // Without them it is as good as ever, until it is damaged.
            parts: parts_of::<R>(&path).unwrap_or_default(),
            starts: beside(),
        })
    }
}

impl<R: SegmentRow> Drop for SegmentWriter<R> {
    /// Whoever is next in the folder finds nobody at work there.
    fn drop(&mut self) {
        if let Some(Writing { thread, .. }) = self.writing.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::{Call, Rank};
    use proptest::prelude::*;
    use std::fs;

    fn calls(first: u64, count: u64) -> Vec<Call> {
        let call = |at: u64| Call {
            rank: Rank((at * 7 % 5) as u32),
            start_ns: at * 100,
            end_ns: at * 100 + at * at % 3_000,
            ..Call::default()
        };
        (first..first + count).map(call).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn segments_written_beside_are_those_written_at_once(
            pieces in proptest::collection::vec(0_u64..400, 1..12),
            rows_per_segment in 1_usize..300,
        ) {
            let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let [at_once, beside] = dirs.each_ref().map(|dir| {
                SegmentWriter::<Call>::open(dir.path(), rows_per_segment, 1).unwrap().with_rows_per_group(70)
            });
            let mut writers = [at_once, beside.beside()];
            let mut sealed = [Vec::new(), Vec::new()];
            let mut pushed = 0;
            for count in pieces {
                let rows = calls(pushed, count);
                pushed += count;
                for (writer, sealed) in writers.iter_mut().zip(&mut sealed) {
                    writer.push(&rows, sealed).unwrap();
                    let written: u64 = sealed.iter().map(|segment| segment.rows).sum();
                    prop_assert_eq!(written + writer.waiting_rows() as u64, pushed, "no row is in both or in none");
                }
            }
            for (writer, sealed) in writers.iter_mut().zip(&mut sealed) {
                writer.seal(sealed).unwrap();
                prop_assert_eq!(writer.waiting_rows(), 0);
            }
            prop_assert_eq!(&sealed[0], &sealed[1]);
            for segment in &sealed[0] {
                let [one, other] = dirs.each_ref().map(|dir| fs::read(dir.path().join(&segment.file)).unwrap());
                prop_assert!(one == other, "{}", segment.file);
            }
        }
    }
}
