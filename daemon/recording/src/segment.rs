//! Writes rows as Parquet files: segments of many rows, and the small tables.

use crate::checksum::Checksum;
use crate::encode::Encoder;
use crate::error::RecordingError;
use crate::folder::{PARQUET, Replacement, make_folder, numbered_files, numbered_name};
use crate::groups::for_each_group;
use crate::manifest::Segment;
use crate::row::{Row, SegmentRow};
use crate::salvage::parts_of;
use std::fs::File;
use std::io::{self, Write};
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

/// A file that was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    pub(crate) crc32: u32,
    pub(crate) bytes: u64,
}

/// Writes rows as one Parquet file, whole or not at all.
pub(crate) fn write_table<R: Row>(
    path: &Path,
    rows: &[R],
    zstd_level: i32,
) -> Result<Written, RecordingError> {
    write_file(path, zstd_level, |encoder: &mut Encoder<R, _>| encoder.group(rows))
}

/// Writes a Parquet file of row groups, whole or not at all.
pub(crate) fn write_file<R: Row>(
    path: &Path,
    zstd_level: i32,
    fill: impl FnOnce(&mut Encoder<R, &mut Checked<&mut File>>) -> parquet::errors::Result<()>,
) -> Result<Written, RecordingError> {
    let mut replacement = Replacement::begin(path)?;
    let mut target = Checked::new(&mut replacement.file);
    let encoded = Encoder::begin(zstd_level, &mut target).and_then(|mut encoder| {
        fill(&mut encoder)?;
        encoder.finish()
    });
    let written = Written { crc32: target.checksum.value(), bytes: target.bytes };
    if let Some(source) = target.failure {
        return Err(RecordingError::io("write", path)(source));
    }
    encoded
        .map_err(|error| RecordingError::Encode { path: path.to_path_buf(), reason: error.to_string() })?;
    replacement.finish()?;
    Ok(written)
}

/// Passes bytes on, sums them up, and keeps the system's word for a failure, which the encoder turns into text.
pub(crate) struct Checked<W> {
    inner: W,
    checksum: Checksum,
    bytes: u64,
    failure: Option<io::Error>,
}

impl<W: Write> Checked<W> {
    fn new(inner: W) -> Self {
        Self { inner, checksum: Checksum::new(), bytes: 0, failure: None }
    }

    fn note<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(bytes);
        let written = self.note(outcome)?;
        self.checksum.add(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.note(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::Checked;
    use crate::encode::Encoder;
    use crate::row::Row;
    use mpiscope_model::Call;
    use parquet::errors::Result;
    use std::io::{self, Write};

    /// A disk with space for this number of bytes.
    struct SmallDisk {
        room_bytes: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.room_bytes);
            self.room_bytes -= taken;
            if taken == 0 && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn encode(rows: &[Call], target: impl Write + Send) -> Result<()> {
        let mut encoder = Encoder::begin(1, target)?;
        encoder.group(rows)?;
        encoder.finish()
    }

    #[test]
    fn a_disk_that_fills_up_at_any_byte_is_an_error_that_says_so() {
        let rows: Vec<Call> =
            (0..50).map(|at| Call { start_ns: at * 977, end_ns: at * 1000, ..Call::blank() }).collect();
        let mut whole = Vec::new();
        encode(&rows, &mut whole).unwrap();
        for room_bytes in 0..whole.len() {
            let mut target = Checked::new(SmallDisk { room_bytes });
            encode(&rows, &mut target).unwrap_err();
            assert_eq!(
                target.failure.map(|error| error.kind()),
                Some(io::ErrorKind::StorageFull),
                "{room_bytes}"
            );
        }
        let mut target = Checked::new(SmallDisk { room_bytes: whole.len() });
        encode(&rows, &mut target).unwrap();
        assert!(target.failure.is_none());
    }
}
