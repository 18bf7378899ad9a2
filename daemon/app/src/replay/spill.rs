//! The rows of a log, moved into segments: however many there are, they need not stay in memory.

use crate::page::{Shelf, Shelves}; // words: allow the name of a type
use crate::private::random;
use anyhow::{Context as _, Result};
use mpiscope_model::{Call, Message};
use mpiscope_recording::{Segment, SegmentRow, SegmentWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As in a recording.
const ROWS_PER_SEGMENT: usize = 1_000_000;

/// The calls and messages of a log, as segments, so that however many there are they need not stay in memory.
pub(super) struct Spill {
    calls: SpilledRows<Call>,
    messages: SpilledRows<Message>,
}

struct SpilledRows<R: SegmentRow> {
    writer: SegmentWriter<R>,
    segments: Vec<Segment>,
    shelf: Shelf<R>,
}

impl Spill {
    pub(super) fn into(dir: &Path, shelves: Shelves) -> Result<Self> {
        let Shelves { calls, messages, .. } = shelves;
        Ok(Self { calls: SpilledRows::into(dir, calls)?, messages: SpilledRows::into(dir, messages)? })
    }

    pub(super) fn add(&mut self, calls: Vec<Call>, messages: Vec<Message>) -> Result<()> {
        self.calls.add(calls).and_then(|()| self.messages.add(messages))
    }
}

impl<R: SegmentRow> SpilledRows<R> {
    fn into(dir: &Path, shelf: Shelf<R>) -> Result<Self> {
        let writer = SegmentWriter::open(dir, ROWS_PER_SEGMENT, 1)?;
        Ok(Self { writer, segments: Vec::new(), shelf })
    }

    fn add(&mut self, rows: Vec<R>) -> Result<()> {
        self.writer.push(&rows, &mut self.segments).with_context(|| {
            format!("keep the {} of the log for looking back at them (TMPDIR says where)", R::PLURAL)
        })?;
        self.shelf.add(Arc::new(rows), self.writer.waiting_rows(), &self.segments);
        Ok(())
    }
}

/// A folder of our own, gone when this ends.
pub(super) struct Spilled(pub(super) PathBuf);

impl Spilled {
    pub(super) fn make() -> Result<Self> {
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
