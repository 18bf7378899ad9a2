//! Reads a recording: the manifest, the small tables, and the rows a batch at a time.
//!
//! Nothing on disk is trusted. A name in the manifest opens nothing but a numbered file in the sub-folder of its kind.
//! A segment that is missing or damaged costs its own rows and is reported. Rows come with the times of the last clock
//! map, whatever they were sealed with.

use crate::batches::Batches;
use crate::batches::{SegmentFault, SegmentReader};
use crate::bounds::Bounds;
use crate::corrections::Corrections;
use crate::decode::Rows;
use crate::error::RecordingError;
use crate::files::{FileState, file_state};
use crate::folder::{TABLES, open_plain, real_folder};
use crate::manifest::{JobNode, Manifest, Segment, Segments, State};
use crate::row::{Row, SegmentRow};
use crate::rows::WindowRow;
use crate::salvage::found_segments;
use crate::summary::Summary;
use crate::tables::{Tables, table_name};
use crate::wal::WalReader;
use mpiscope_model::{Call, Message, Nanoseconds, Scheduling};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default length of a window.
const USUAL_WINDOW_NS: u64 = 100_000_000;

/// None is recorded with shorter ones.
const LEAST_WINDOW_NS: u64 = 1_000_000;

/// A recording on disk.
#[derive(Debug)]
pub struct Recording {
    dir: PathBuf,
    manifest: Manifest,
    damage: Option<String>,
    corrections: Arc<Corrections>,
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
        if manifest.window_ns < LEAST_WINDOW_NS {
            // A run with more windows would never end.
            manifest.window_ns = USUAL_WINDOW_NS;
        }
        let corrections = Arc::new(Corrections::from_manifest(&manifest));
        Ok(Self { dir: dir.to_path_buf(), manifest, damage, corrections })
    }

    /// The content of `dir` without a readable manifest: the rows of the segments there, whose bytes cannot be
    /// checked, and of the job only the small tables.
    ///
    /// # Errors
    /// When there is no such folder, or no segment in it.
    pub fn without_manifest(dir: &Path) -> Result<Self, RecordingError> {
        let segments = found_segments(dir)?;
        let damage =
            "manifest.json could not be read: what it said of the run is lost, and rows could not be checked";
        let mut recording = Self {
            dir: dir.to_path_buf(),
            manifest: Manifest { segments, missing: vec![damage.to_owned()], ..Manifest::default() },
            damage: Some(damage.to_owned()),
            corrections: Arc::default(),
        };
        let tables = recording.tables().0;
        let has_log = recording.wal().is_ok_and(|log| !log.is_empty());
        let manifest = &mut recording.manifest;
        manifest.state = if has_log { State::Running } else { State::Incomplete };
        manifest.run = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Of sizes that no job has the table was rid when it was read.
        manifest.job.ranks = tables.ranks.iter().map(|info| info.world_size).max().unwrap_or_default();
        manifest.job.mpi = tables.ranks.first().map(|info| info.library.clone()).unwrap_or_default();
        let ranks_of =
            |node| tables.ranks.iter().filter(move |info| info.node == node).map(|info| info.rank.0);
        let nodes = tables.nodes.iter();
        manifest.job.nodes = nodes
            .map(|info| JobNode { name: info.name.clone(), ranks: ranks_of(info.node).collect() })
            .collect();
        let first = recording.windows().flatten().next();
        let window_ns = first
            .map(|row| row.to_ns.saturating_sub(row.from_ns))
            .filter(|window_ns| *window_ns >= LEAST_WINDOW_NS);
        recording.manifest.window_ns = window_ns.unwrap_or(USUAL_WINDOW_NS);
        Ok(recording)
    }

    /// Its folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The recording's own description.
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

    /// The calls that overlap a range of time. Segments without any are not opened.
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

    fn bounds(&self) -> Bounds {
        Bounds::from_manifest(&self.manifest)
    }

    fn batches<R: SegmentRow>(&self, segments: &[Segment], range_ns: Option<Range<u64>>) -> Batches<R> {
        let mut segments = segments.to_vec();
        if let Some(range) = &range_ns {
            segments.retain(|segment| {
                let segment = self.corrections.segment(segment);
                segment.from_ns < range.end && segment.to_ns >= range.start
            });
        }
        Batches::new(&self.dir, segments, range_ns, Arc::clone(&self.corrections), self.bounds())
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
        SegmentReader::corrected(self.dir.clone(), Arc::clone(&self.corrections), self.bounds())
    }

    /// The log of rows that are not in the segments yet.
    ///
    /// # Errors
    /// When its folder cannot be listed.
    pub fn wal(&self) -> Result<WalReader, RecordingError> {
        WalReader::open(&self.dir)
    }

    /// The small tables. One that is missing or damaged is empty and reported.
    #[must_use]
    pub fn tables(&self) -> (Tables, Vec<SegmentFault>) {
        let mut faults = Vec::new();
        let tables = Tables {
            functions: self.table(&mut faults),
            communicators: self.table(&mut faults),
            coordinates: self.table_if_there(&mut faults),
            nodes: self.table(&mut faults),
            sites: self.table_if_there(&mut faults),
            ranks: self.table(&mut faults),
        };
        (tables, faults)
    }

    /// The sums of the run, where the recording has them and they are whole.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        Summary::read(&self.dir, &self.manifest)
    }

    /// Checks the bytes of every segment without reading rows; returns the missing or damaged ones.
    #[must_use]
    pub fn damaged_segments(&self) -> Vec<SegmentFault> {
        let Segments { calls, messages, windows: _, scheduling } = &self.manifest.segments;
        let reader = self.segment_reader();
        let calls = calls.iter().filter_map(|segment| reader.check::<Call>(segment).err());
        let messages = messages.iter().filter_map(|segment| reader.check::<Message>(segment).err());
        let scheduling = scheduling.iter().filter_map(|segment| reader.check::<Scheduling>(segment).err());
        calls.chain(messages).chain(scheduling).collect()
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
        let (mut rows, mut missing_rows) = (Vec::new(), 0);
        let mut read = || -> Result<(), String> {
            real_folder(self.dir.join(TABLES)).map_err(|error| error.to_string())?;
            if let FileState::Damaged(why) = file_state(&self.dir, &self.manifest, &file) {
                return Err(why);
            }
            let opened = open_plain(&self.dir.join(&file)).map_err(|error| error.to_string())?;
            let mut found = Rows::open(opened, self.bounds())?;
            rows = found.rest()?;
            missing_rows = found.left_out().rows;
            found.left_out().words().map_or(Ok(()), Err)
        };
        if let Err(text) = read() {
            let text = format!("{file} cannot be read: {text}");
            faults.push(SegmentFault { file, missing_rows, text });
        }
        rows
    }
}
