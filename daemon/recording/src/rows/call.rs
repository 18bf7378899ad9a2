//! `calls/*.parquet`: one row a call, by rank, then by time.

use crate::Corrections;
use crate::folder::CALLS;
use crate::row::Nature::{Repeating, Rising};
use crate::row::{Access, Column, Row, SegmentRow};
use mpiscope_model::Call;

impl Row for Call {
    const TABLE: &'static str = "calls";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "rank",
            nature: Repeating,
            access: Access::U32(|row| row.rank, |row, v| row.rank = v),
        },
        Column {
            name: "thread",
            nature: Repeating,
            access: Access::U16(|row| row.thread, |row, v| row.thread = v),
        },
        Column {
            name: "function",
            nature: Repeating,
            access: Access::U16(|row| row.function, |row, v| row.function = v),
        },
        Column {
            name: "start_ns",
            nature: Rising,
            access: Access::U64(|row| row.start_ns, |row, v| row.start_ns = v),
        },
        Column {
            name: "end_ns",
            nature: Rising,
            access: Access::U64(|row| row.end_ns, |row, v| row.end_ns = v),
        },
        Column {
            name: "peer",
            nature: Repeating,
            access: Access::OptionalU32(|row| row.peer, |row, v| row.peer = v),
        },
        Column {
            name: "tag",
            nature: Repeating,
            access: Access::OptionalI32(|row| row.tag, |row, v| row.tag = v),
        },
        Column {
            name: "bytes",
            nature: Repeating,
            access: Access::U64(|row| row.bytes, |row, v| row.bytes = v),
        },
        Column {
            name: "comm",
            nature: Repeating,
            access: Access::OptionalU32(|row| row.comm, |row, v| row.comm = v),
        },
        Column {
            name: "site",
            nature: Repeating,
            access: Access::OptionalU32(|row| row.site, |row, v| row.site = v),
        },
        Column {
            name: "count",
            nature: Repeating,
            access: Access::U64(|row| row.count, |row, v| row.count = v),
        },
        Column {
            name: "instance",
            nature: Rising,
            access: Access::OptionalU32(|row| row.instance, |row, v| row.instance = v),
        },
    ];

    fn blank() -> Self {
        Call {
            rank: 0,
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
    const FOLDER: &'static str = CALLS;
    const PLURAL: &'static str = "calls";
    const BEGINS: &'static [&'static str] = &["start_ns"];
    const ENDS: &'static [&'static str] = &["end_ns"];

    fn sort(rows: &mut [Self]) {
        // Stable: calls of one instant stay as they came, and runs that are in order already cost little.
        rows.sort_by_key(|call| (call.rank, call.start_ns));
    }

    fn begin_ns(&self) -> u64 {
        self.start_ns
    }

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn correct(&mut self, corrections: &Corrections) {
        corrections.call(self);
    }
}
