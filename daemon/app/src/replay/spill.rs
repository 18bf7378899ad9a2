//! A recording with its rows: in its own segments, or moved out of its log into some. However many there are, they need
//! not stay in memory.

use anyhow::{Context as _, Result};
use mpiscope_engine::load::{self, Loaded, Rows, Trust, load_with};
use mpiscope_feed::Overview;
use mpiscope_model::{Call, Message, Nanoseconds};
use mpiscope_page::{CACHE_BYTES, RunData, SegmentCache}; // words: allow the name of a type
use mpiscope_placement::Placements;
use mpiscope_process::private::random;
use mpiscope_recording::{Recording, Segment, SegmentRow, SegmentWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As in a recording.
const ROWS_PER_SEGMENT: usize = 1_000_000;

/// A recording that is read.
pub(super) struct OpenedRecording {
    pub(super) recording: Recording,
    /// Where rows of its log are, as long as this is kept.
    pub(super) spilled: Option<Spilled>,
    pub(super) rows: RunData, // words: allow the name of a type
}

impl OpenedRecording {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let recording = Recording::open(dir)?;
        let spilled = if load::is_in_log(&recording) { Some(Spilled::make()?) } else { None };
        let placements = Placements::of_recording(dir);
        let rows = match &spilled {
            Some(spilled) => RunData::new(&spilled.0, CACHE_BYTES, placements),
            None => RunData::of_recording(&recording, CACHE_BYTES, placements),
        };
        Ok(Self { recording, spilled, rows })
    }

    /// Reads all of it, and says when the last call ended.
    pub(super) fn load(&self, dir: &Path, overview: Overview) -> Result<(Loaded, Nanoseconds)> {
        let mut spill = match &self.spilled {
            Some(Spilled(dir)) => Some(Spill::into(dir, self.rows.clone())?),
            None => None,
        };
        let mut last_ns = load::last_call_ns(&self.recording);
        let mut keep = |Rows { calls, messages, .. }| {
            last_ns = calls.iter().map(|call| call.end_ns).fold(last_ns, u64::max);
            spill.as_mut().map_or(Ok(()), |spill| spill.add(calls, messages))
        };
        let loaded = load_with(dir, &self.recording, Trust::Unchecked, overview, &mut keep)?;
        self.rows.sites.see(&loaded.sites);
        Ok((loaded, last_ns))
    }
}

/// The calls and messages of a log, as segments.
struct Spill {
    calls: SpilledRows<Call>,
    messages: SpilledRows<Message>,
}

struct SpilledRows<R: SegmentRow> {
    writer: SegmentWriter<R>,
    segments: Vec<Segment>,
    cache: SegmentCache<R>,
}

impl Spill {
    fn into(dir: &Path, data: RunData) -> Result<Self> {
        let RunData { calls, messages, .. } = data;
        Ok(Self { calls: SpilledRows::into(dir, calls)?, messages: SpilledRows::into(dir, messages)? })
    }

    fn add(&mut self, calls: Vec<Call>, messages: Vec<Message>) -> Result<()> {
        self.calls.add(calls).and_then(|()| self.messages.add(messages))
    }
}

impl<R: SegmentRow> SpilledRows<R> {
    fn into(dir: &Path, cache: SegmentCache<R>) -> Result<Self> {
        let writer = SegmentWriter::open(dir, ROWS_PER_SEGMENT, 1)?;
        Ok(Self { writer, segments: Vec::new(), cache })
    }

    fn add(&mut self, rows: Vec<R>) -> Result<()> {
        self.writer.push(&rows, &mut self.segments).with_context(|| {
            format!("keep the {} of the log for looking back at them (TMPDIR says where)", R::PLURAL)
        })?;
        self.cache.add(Arc::new(rows), self.writer.waiting_rows(), &self.segments);
        Ok(())
    }
}

/// A folder of our own, gone when this ends.
pub(super) struct Spilled(PathBuf);

impl Spilled {
    fn make() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("mpiscope-replay-{:016x}", random()? as u64));
        Ok(Self(dir))
    }
}

impl Drop for Spilled {
    fn drop(&mut self) {
        // It may not have been made yet.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
