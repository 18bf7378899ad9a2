//! Reads a recording: the manifest, the small tables, and the rows a batch at a time.
//!
//! Nothing on disk is trusted. A name in the manifest opens nothing but a numbered file in the sub-folder of its kind,
//! and a segment that is missing or damaged costs its own rows and is told of. Rows come with the times of the last clock
//! map, whatever they were sealed with.

use crate::checksum::Checksum;
use crate::corrections::Corrections;
use crate::decode::Rows;
use crate::files::{FileState, file_state};
use crate::folder::{PARQUET, TABLES, number_of, open_plain, real_folder};
use crate::manifest::{Manifest, Segment};
use crate::row::{Row, SegmentRow};
use crate::rows::WindowRow;
use crate::tables::{Tables, table_name};
use crate::{RecordingError, WalReader};
use mpiscope_model::{Call, Message, Nanoseconds, Scheduling};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of one batch.
pub(crate) const BATCH_ROWS: usize = 64 << 10;

/// A recording on disk.
#[derive(Debug)]
pub struct Recording {
    dir: PathBuf,
    manifest: Manifest,
    damage: Option<String>,
    corrections: Arc<Corrections>,
}

/// A file that could not be read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFault {
    /// Its name as the manifest has it.
    pub file: String,
    /// Rows that should be in it and are not read.
    pub missing_rows: u64,
    /// What is wrong, in one sentence.
    pub text: String,
}

impl Recording {
    /// Opens the recording in `dir`.
    ///
    /// # Errors
    /// When there is none, or when its manifest cannot be understood.
    pub fn open(dir: &Path) -> Result<Self, RecordingError> {
        if !dir.is_dir() {
            return Err(RecordingError::NotAFolder { path: dir.to_path_buf() });
        }
        let (mut manifest, damage) = Manifest::read_and_check(dir)?;
        manifest.missing.extend(damage.clone());
        let corrections = Arc::new(Corrections::of(&manifest));
        Ok(Self { dir: dir.to_path_buf(), manifest, damage, corrections })
    }

    /// Its folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the recording says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What is wrong with the manifest itself, in a sentence.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// All calls.
    #[must_use]
    pub fn calls(&self) -> Batches<Call> {
        self.batches(&self.manifest.segments.calls, None)
    }

    /// The calls of which some part is in a range of time. Segments without any are not opened.
    #[must_use]
    pub fn calls_between(&self, range_ns: Range<Nanoseconds>) -> Batches<Call> {
        self.batches(&self.manifest.segments.calls, Some(range_ns))
    }

    /// All messages.
    #[must_use]
    pub fn messages(&self) -> Batches<Message> {
        self.batches(&self.manifest.segments.messages, None)
    }

    /// The messages that were under way at some time in a range.
    #[must_use]
    pub fn messages_between(&self, range_ns: Range<Nanoseconds>) -> Batches<Message> {
        self.batches(&self.manifest.segments.messages, Some(range_ns))
    }

    /// All windows.
    #[must_use]
    pub fn windows(&self) -> Batches<WindowRow> {
        self.batches(&self.manifest.segments.windows, None)
    }

    /// What the scheduler did to each rank, again and again. Within a segment by rank and then time; the segments follow
    /// each other in time.
    #[must_use]
    pub fn scheduling(&self) -> Batches<Scheduling> {
        self.batches(&self.manifest.segments.scheduling, None)
    }

    fn batches<R: SegmentRow>(&self, segments: &[Segment], range_ns: Option<Range<u64>>) -> Batches<R> {
        let mut segments = segments.to_vec();
        if let Some(range) = &range_ns {
            segments.retain(|segment| {
                let segment = self.corrections.segment(segment);
                segment.from_ns < range.end && segment.to_ns >= range.start
            });
        }
        Batches::of(&self.dir, segments, range_ns, Arc::clone(&self.corrections))
    }

    /// The segments of calls, each with the range of time in which its calls lie as they are read.
    #[must_use]
    pub fn call_segments(&self) -> Vec<Segment> {
        self.manifest.segments.calls.iter().map(|segment| self.corrections.segment(segment)).collect()
    }

    /// Likewise the segments of messages.
    #[must_use]
    pub fn message_segments(&self) -> Vec<Segment> {
        self.manifest.segments.messages.iter().map(|segment| self.corrections.segment(segment)).collect()
    }

    /// What reads single segments of this recording.
    #[must_use]
    pub fn segment_reader(&self) -> SegmentReader {
        SegmentReader { dir: self.dir.clone(), corrections: Arc::clone(&self.corrections) }
    }

    /// The log of what is not in the segments yet.
    ///
    /// # Errors
    /// When its folder cannot be listed.
    pub fn wal(&self) -> Result<WalReader, RecordingError> {
        WalReader::open(&self.dir)
    }

    /// The small tables. One that is missing or damaged is empty and told of.
    #[must_use]
    pub fn tables(&self) -> (Tables, Vec<SegmentFault>) {
        let mut faults = Vec::new();
        let tables = Tables {
            functions: self.table(&mut faults),
            communicators: self.table(&mut faults),
            nodes: self.table(&mut faults),
            sites: self.table_if_there(&mut faults),
            ranks: self.table(&mut faults),
        };
        (tables, faults)
    }

    /// One that recordings of an earlier version do not have.
    fn table_if_there<R: Row>(&self, faults: &mut Vec<SegmentFault>) -> Vec<R> {
        let file = table_name::<R>();
        let is_there = self.dir.join(&file).symlink_metadata().is_ok()
            || self.manifest.files.iter().any(|listed| listed.file == file);
        if is_there { self.table(faults) } else { Vec::new() }
    }

    fn table<R: Row>(&self, faults: &mut Vec<SegmentFault>) -> Vec<R> {
        let file = table_name::<R>();
        let mut rows = Vec::new();
        let mut read = || -> Result<(), String> {
            real_folder(self.dir.join(TABLES)).map_err(|error| error.to_string())?;
            if let FileState::Damaged(why) = file_state(&self.dir, &self.manifest, &file) {
                return Err(why);
            }
            let mut found =
                Rows::open(open_plain(&self.dir.join(&file)).map_err(|error| error.to_string())?)?;
            while let Some(batch) = found.next_batch(BATCH_ROWS)? {
                rows.extend(batch);
            }
            Ok(())
        };
        if let Err(text) = read() {
            let text = format!("{file} cannot be read: {text}");
            faults.push(SegmentFault { file, missing_rows: 0, text });
        }
        rows
    }
}

/// Reads single segments, for those who keep a list of them.
#[derive(Debug, Clone)]
pub struct SegmentReader {
    dir: PathBuf,
    corrections: Arc<Corrections>,
}

impl SegmentReader {
    /// For segments that are still being added to `dir`: their rows are by the clocks as they are known now.
    #[must_use]
    pub fn uncorrected(dir: PathBuf) -> Self {
        Self { dir, corrections: Arc::default() }
    }

    /// All rows of one segment, and what is wrong with it, if anything.
    #[must_use]
    pub fn read<R: SegmentRow>(&self, segment: &Segment) -> (Vec<R>, Vec<SegmentFault>) {
        let mut batches = Batches::of(&self.dir, vec![segment.clone()], None, Arc::clone(&self.corrections));
        let rows = batches.by_ref().flatten().collect();
        (rows, batches.faults)
    }
}

/// All rows of one segment in `dir` as they were sealed; see [`SegmentReader::uncorrected`].
#[must_use]
pub fn read_segment<R: SegmentRow>(dir: &Path, segment: &Segment) -> (Vec<R>, Vec<SegmentFault>) {
    SegmentReader::uncorrected(dir.to_path_buf()).read(segment)
}

/// The rows of one kind, a batch at a time.
pub struct Batches<R: SegmentRow> {
    dir: PathBuf,
    segments: std::vec::IntoIter<Segment>,
    range_ns: Option<Range<Nanoseconds>>,
    seen: HashSet<String>,
    current: Option<(Segment, u64, Rows<R>)>,
    faults: Vec<SegmentFault>,
    corrections: Arc<Corrections>,
}

impl<R: SegmentRow> Batches<R> {
    fn of(
        dir: &Path,
        segments: Vec<Segment>,
        range_ns: Option<Range<Nanoseconds>>,
        corrections: Arc<Corrections>,
    ) -> Self {
        Self {
            dir: dir.to_path_buf(),
            segments: segments.into_iter(),
            range_ns,
            seen: HashSet::new(),
            current: None,
            faults: Vec::new(),
            corrections,
        }
    }

    /// What went wrong up to now; complete once the iteration is at its end.
    #[must_use]
    pub fn faults(&self) -> &[SegmentFault] {
        &self.faults
    }

    fn fault(&mut self, segment: &Segment, read_rows: u64, why: &str) {
        self.faults.push(SegmentFault {
            file: segment.file.clone(),
            missing_rows: segment.rows.saturating_sub(read_rows),
            text: format!("{} is damaged or missing: {why}", segment.file.escape_debug()),
        });
    }

    fn open(&mut self, segment: &Segment) -> Result<Rows<R>, String> {
        let path = segment_path::<R>(&self.dir, &segment.file)?;
        if self.seen.contains(&segment.file) {
            return Err("the manifest lists it twice".to_owned());
        }
        let mut file = open_plain(&path).map_err(|error| error.to_string())?;
        if let Some(expected) = segment.crc32 {
            let found = file_checksum(&mut file).map_err(|error| error.to_string())?;
            if found != expected {
                return Err(format!("its CRC-32 is {found} and should be {expected}"));
            }
        }
        let rows = Rows::open(file)?;
        self.seen.insert(segment.file.clone());
        Ok(rows)
    }

    /// The next batch of the segment that is open; none when it is at its end or damaged.
    fn next_of_current(&mut self) -> Option<Vec<R>> {
        let (segment, read_rows, rows) = self.current.as_mut()?;
        match rows.next_batch(BATCH_ROWS) {
            Ok(Some(mut batch)) => {
                *read_rows += batch.len() as u64;
                if self.corrections.concern(segment) {
                    batch.iter_mut().for_each(|row| row.correct(&self.corrections));
                }
                return Some(batch);
            }
            Ok(None) if *read_rows == segment.rows => {}
            Ok(None) => {
                let (segment, read_rows) = (segment.clone(), *read_rows);
                let why = format!("it has {read_rows} rows and should have {}", segment.rows);
                self.fault(&segment, read_rows, &why);
            }
            Err(why) => {
                let (segment, read_rows) = (segment.clone(), *read_rows);
                self.fault(&segment, read_rows, &why);
            }
        }
        self.current = None;
        None
    }
}

impl<R: SegmentRow> Iterator for Batches<R> {
    type Item = Vec<R>;

    fn next(&mut self) -> Option<Vec<R>> {
        loop {
            while let Some(mut batch) = self.next_of_current() {
                if let Some(range) = &self.range_ns {
                    batch.retain(|row| row.begin_ns() < range.end && row.end_ns() >= range.start);
                }
                if !batch.is_empty() {
                    return Some(batch);
                }
            }
            let segment = self.segments.next()?;
            match self.open(&segment) {
                Ok(rows) => self.current = Some((segment, 0, rows)),
                Err(why) => self.fault(&segment, 0, &why),
            }
        }
    }
}

/// The path of a segment: nothing but a numbered file in the sub-folder of its kind.
pub(crate) fn segment_path<R: SegmentRow>(dir: &Path, file: &str) -> Result<PathBuf, String> {
    let name = file.strip_prefix(R::FOLDER).and_then(|rest| rest.strip_prefix('/'));
    let name = name.filter(|name| number_of(name, PARQUET).is_some());
    let name = name.ok_or_else(|| format!("its name is not {}/NNNNNN.{PARQUET}", R::FOLDER))?;
    let folder = real_folder(dir.join(R::FOLDER)).map_err(|error| error.to_string())?;
    Ok(folder.join(name))
}

pub(crate) fn file_checksum(file: &mut File) -> std::io::Result<u32> {
    let mut checksum = Checksum::new();
    let mut chunk = vec![0; 256 << 10];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            count => checksum.add(&chunk[..count]),
        }
    }
    file.rewind()?;
    Ok(checksum.value())
}
