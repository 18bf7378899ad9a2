//! Writes segments: many rows each, cut into row groups.

use crate::error::RecordingError;
use crate::folder::{PARQUET, make_folder, numbered_files, numbered_name};
use crate::groups::for_each_group;
use crate::manifest::Segment;
use crate::row::SegmentRow;
use crate::salvage::parts_of;
use crate::table_file::write_file;
use std::path::{Path, PathBuf};

/// Rows of one row group, the least that a reader who seeks has to take.
const ROWS_PER_GROUP: usize = 1 << 17;

/// Takes rows and puts them on disk, many at a time.
pub struct SegmentWriter<R: SegmentRow> {
    folder: PathBuf,
    next_number: u32,
    rows_per_segment: usize,
    rows_per_group: usize,
    zstd_level: i32,
    rows: Vec<R>,
    unwritten_rows: u64,
    clock_version: u32,
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
            folder,
            next_number,
            rows_per_segment: rows_per_segment.max(1),
            rows_per_group: ROWS_PER_GROUP,
            zstd_level,
            rows: Vec::new(),
            unwritten_rows: 0,
            clock_version: 0,
        })
    }

    /// Row groups get this number of rows.
    #[must_use]
    pub fn with_rows_per_group(mut self, rows: usize) -> Self {
        self.rows_per_group = rows.max(1);
        self
    }

    /// From now on rows are by this version of the clock map.
    ///
    /// # Errors
    /// Rows of the version before are sealed; see [`SegmentWriter::seal`].
    pub fn set_clock_version(&mut self, version: u32) -> Result<Option<Segment>, RecordingError> {
        let sealed = if version == self.clock_version { Ok(None) } else { self.seal() };
        self.clock_version = version;
        sealed
    }

    /// Takes rows and seals each full segment; appends it to `sealed`.
    ///
    /// # Errors
    /// The first segment that could not be written; all rows are taken in any case. See [`SegmentWriter::seal`].
    pub fn push(&mut self, mut rows: &[R], sealed: &mut Vec<Segment>) -> Result<(), RecordingError> {
        let mut outcome = Ok(());
        while !rows.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(self.rows_per_segment - self.rows.len()));
            self.rows.extend_from_slice(now);
            rows = later;
            if self.rows.len() == self.rows_per_segment {
                match self.seal() {
                    Ok(segment) => sealed.extend(segment),
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
        }
        outcome
    }

    /// The time span of the rows that wait for their segment.
    pub(crate) fn waiting_range_ns(&self) -> (u64, u64) {
        let ends = || self.rows.iter().map(SegmentRow::end_ns);
        (ends().min().unwrap_or_default(), ends().max().unwrap_or_default())
    }

    /// Rows that wait for their segment.
    #[must_use]
    pub fn waiting_rows(&self) -> usize {
        self.rows.len()
    }

    /// Rows that were given up because their segment could not be written.
    #[must_use]
    pub fn unwritten_rows(&self) -> u64 {
        self.unwritten_rows
    }

    /// Sorts, compresses and writes the waiting rows as one segment; none when there are none.
    ///
    /// # Errors
    /// When it cannot be written. Its rows are given up and counted then: memory has a limit and the log still has
    /// what they were made from.
    pub fn seal(&mut self) -> Result<Option<Segment>, RecordingError> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let name = numbered_name(self.next_number, PARQUET);
        let (from_ns, to_ns) = (
            self.rows.iter().map(SegmentRow::begin_ns).min().unwrap_or_default(),
            self.rows.iter().map(SegmentRow::end_ns).max().unwrap_or_default(),
        );
        let written = write_file(&self.folder.join(&name), self.zstd_level, |encoder| {
            for_each_group(&self.rows, self.rows_per_group, |rows| encoder.group(rows))
        });
        let rows = self.rows.len() as u64;
        let beside = |rows: &[R]| R::write_beside(rows, self.folder.parent()?, &name, self.zstd_level);
        let segment = written.map(|written| Segment {
            file: format!("{}/{name}", R::FOLDER),
            rows,
            from_ns,
            to_ns,
            clock_version: self.clock_version,
            crc32: Some(written.crc32),
            bytes: Some(written.bytes),
            // Without them it is as good as ever, until it is damaged.
            parts: parts_of::<R>(&self.folder.join(&name)).unwrap_or_default(),
            starts: beside(&self.rows),
        });
        self.rows.clear();
        match segment {
            Ok(segment) => {
                self.next_number += 1;
                Ok(Some(segment))
            }
            Err(error) => {
                self.unwritten_rows += rows;
                Err(error)
            }
        }
    }
}
