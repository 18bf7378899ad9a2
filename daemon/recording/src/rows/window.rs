//! `windows/*.parquet`: what one rank did in one function during one window, for quick views of long runs.

use crate::folder::WINDOWS;
use crate::row::Nature::{Repeating, Rising};
use crate::row::{Access, Column, Row, SegmentRow};
use mpiscope_model::{Function, Nanoseconds, Rank};

/// The calls of one function on one rank that ended in one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowRow {
    /// When the window begins.
    pub from_ns: Nanoseconds,
    /// When it ends.
    pub to_ns: Nanoseconds,
    /// The region of the rank then; none while there are no regions.
    pub region: Option<u32>,
    /// The rank.
    pub rank: Rank,
    /// The function.
    pub function: Function,
    /// Its rows of `calls`.
    pub calls: u64,
    /// Polls folded into those rows beyond the rows themselves.
    pub polls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time in them.
    pub time_ns: u64,
}

impl Row for WindowRow {
    const TABLE: &'static str = "windows";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "from_ns",
            nature: Rising,
            access: Access::U64(|row| row.from_ns, |row, v| row.from_ns = v),
        },
        Column {
            name: "to_ns",
            nature: Rising,
            access: Access::U64(|row| row.to_ns, |row, v| row.to_ns = v),
        },
        Column {
            name: "region",
            nature: Repeating,
            access: Access::OptionalU32(|row| row.region, |row, v| row.region = v),
        },
        Column {
            name: "rank",
            nature: Repeating,
            access: Access::U32(|row| row.rank, |row, v| row.rank = v),
        },
        Column {
            name: "function",
            nature: Repeating,
            access: Access::U16(|row| row.function, |row, v| row.function = v),
        },
        Column {
            name: "calls",
            nature: Repeating,
            access: Access::U64(|row| row.calls, |row, v| row.calls = v),
        },
        Column {
            name: "polls",
            nature: Repeating,
            access: Access::U64(|row| row.polls, |row, v| row.polls = v),
        },
        Column {
            name: "bytes",
            nature: Repeating,
            access: Access::U64(|row| row.bytes, |row, v| row.bytes = v),
        },
        Column {
            name: "time_ns",
            nature: Rising,
            access: Access::U64(|row| row.time_ns, |row, v| row.time_ns = v),
        },
    ];

    fn blank() -> Self {
        WindowRow::default()
    }
}

impl SegmentRow for WindowRow {
    const FOLDER: &'static str = WINDOWS;
    const PLURAL: &'static str = "windows";
    const BEGINS: &'static [&'static str] = &["from_ns"];
    const ENDS: &'static [&'static str] = &["to_ns"];

    fn sort(rows: &mut [Self]) {
        rows.sort_by_key(|row| (row.from_ns, row.region, row.rank, row.function));
    }

    fn begin_ns(&self) -> u64 {
        self.from_ns
    }

    fn end_ns(&self) -> u64 {
        self.to_ns
    }
}
