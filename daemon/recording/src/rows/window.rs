//! `windows/*.parquet`: totals of a rank in a function during a window, for quick views of long runs.

use crate::folder::WINDOWS;
use crate::row::{Column, Row, SegmentRow, column};
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
    const RANKS: &'static [&'static str] = &["rank"];
    const TIMES: &'static [&'static str] = &["from_ns", "to_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(from_ns: U64, Rising),
        column!(to_ns: U64, Rising),
        column!(region: OptionalU32, Repeating),
        column!(rank: U32 of Rank, Repeating),
        column!(function: U16, Repeating),
        column!(calls: U64, Repeating),
        column!(polls: U64, Repeating),
        column!(bytes: U64, Repeating),
        column!(time_ns: U64, Rising),
    ];

    fn blank() -> Self {
        WindowRow::default()
    }
}

impl SegmentRow for WindowRow {
    type Key = (u64, Option<u32>, Rank, u16);

    const FOLDER: &'static str = WINDOWS;
    const PLURAL: &'static str = "windows";
    const BEGINS: &'static [&'static str] = &["from_ns"];
    const ENDS: &'static [&'static str] = &["to_ns"];

    fn key(&self) -> Self::Key {
        (self.from_ns, self.region, self.rank, self.function)
    }

    fn lane(key: &Self::Key) -> u64 {
        key.0
    }

    fn begin_ns(&self) -> u64 {
        self.from_ns
    }

    fn end_ns(&self) -> u64 {
        self.to_ns
    }
}
