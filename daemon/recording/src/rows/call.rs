//! `calls/*.parquet`: one row a call, by rank, then by time.

use crate::corrections::Corrections;
use crate::folder::CALLS;
use crate::manifest::FileMark;
use crate::row::{Column, Row, SegmentRow, column};
use crate::rows::starts;
use mpiscope_model::{Call, Comm, Rank, Site};
use std::ops::RangeInclusive;
use std::path::Path;

impl Row for Call {
    const TABLE: &'static str = "calls";
    const RANKS: &'static [&'static str] = &["rank"];
    const TIMES: &'static [&'static str] = &["start_ns", "end_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(rank: U32 of Rank, Rising),
        column!(thread: U16, Rising),
        column!(function: U16, Repeating),
        column!(start_ns: U64, Rising),
        column!(end_ns: U64, Rising),
        column!(peer: OptionalU32 of Rank, Repeating),
        column!(tag: OptionalI32, Repeating),
        column!(bytes: U64, Repeating),
        column!(comm: OptionalU32 of Comm, Repeating),
        column!(site: OptionalU32 of Site, Repeating),
        column!(count: U64, Rising),
        column!(instance: OptionalU32, Rising),
    ];

    fn blank() -> Self {
        Call {
            rank: Rank(0),
            thread: 0,
            function: 0,
            start_ns: 0,
            end_ns: 0,
            peer: None,
            tag: None,
            bytes: 0,
            comm: None,
            site: None,
            count: 1,
            instance: None,
        }
    }
}

impl SegmentRow for Call {
    type Key = (Rank, u64);

    const FOLDER: &'static str = CALLS;
    const PLURAL: &'static str = "calls";
    const BEGINS: &'static [&'static str] = &["start_ns"];
    const ENDS: &'static [&'static str] = &["end_ns"];

    fn key(&self) -> Self::Key {
        // Stable: calls of one instant stay as they came, and runs that are in order already cost little.
        (self.rank, self.start_ns)
    }

    fn lane(key: &Self::Key) -> u64 {
        key.0.0.into()
    }

    fn begin_ns(&self) -> u64 {
        self.start_ns
    }

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn write_beside(
        rows: &[Self],
        ends_ns: RangeInclusive<u64>,
        to: (&Path, &str),
        zstd_level: i32,
    ) -> Option<FileMark> {
        starts::write(rows, ends_ns, to, zstd_level).ok()
    }

    fn correct(&mut self, corrections: &Corrections) {
        corrections.call(self);
    }
}
