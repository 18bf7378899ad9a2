//! The rows of one kind that a reader has, on their way into segments.

use super::folder::Folder;
use super::packets::{Written, write_segment};
use anyhow::Result;
use mpiscope_recording::{EncodedSegment, RecordingError, Segment, SegmentRow, SegmentWriter};
use std::io::Write;

pub(crate) struct Table<R: SegmentRow> {
    /// The kind of packets with its segments.
    kind: u8,
    writer: SegmentWriter<R>,
    sealed: Vec<Segment>,
}

impl<R: SegmentRow + Copy> Table<R> {
    pub(crate) fn open(folder: &Folder, kind: u8, rows_per_segment: usize, level: i32) -> Result<Self> {
        let writer = SegmentWriter::open(folder.path(), rows_per_segment, level)?.beside();
        Ok(Self { kind, writer, sealed: Vec::new() })
    }

    /// Takes rows, and writes all that wait if these are the last.
    pub(crate) fn push(&mut self, rows: &[R], is_last: bool) -> [Result<(), RecordingError>; 2] {
        let pushed = self.writer.push(rows, &mut self.sealed);
        [pushed, if is_last { self.writer.seal(&mut self.sealed) } else { Ok(()) }]
    }

    /// Hands over the segments that are written.
    pub(crate) fn hand_over(&mut self, folder: &Folder, to: &mut impl Write) -> Result<()> {
        for segment in self.sealed.drain(..) {
            write_segment(to, self.kind, &EncodedSegment::take(folder.path(), segment)?)?;
        }
        Ok(())
    }

    /// Rows that are in no segment yet.
    pub(crate) fn waiting(&self) -> Vec<R> {
        self.writer.waiting().concat()
    }

    pub(crate) fn written(&self) -> Written {
        Written { waiting: self.writer.waiting_rows(), given_up: self.writer.unwritten_rows() }
    }
}
