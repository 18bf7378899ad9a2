//! `scheduling/*.parquet`: what the scheduler did to each rank, so that one that waits for a processor is told from one
//! that waits for the network.

use crate::Corrections;
use crate::folder::SCHEDULING;
use crate::row::Nature::{Repeating, Rising};
use crate::row::{Access, Column, Row, SegmentRow};
use mpiscope_model::Scheduling;

impl Row for Scheduling {
    const TABLE: &'static str = "scheduling";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "rank",
            nature: Repeating,
            access: Access::U32(|row| row.rank, |row, v| row.rank = v),
        },
        Column {
            name: "at_ns",
            nature: Rising,
            access: Access::U64(|row| row.at_ns, |row, v| row.at_ns = v),
        },
        Column {
            name: "run_ns",
            nature: Rising,
            access: Access::U64(|row| row.run_ns, |row, v| row.run_ns = v),
        },
        Column {
            name: "wait_ns",
            nature: Rising,
            access: Access::U64(|row| row.wait_ns, |row, v| row.wait_ns = v),
        },
        Column {
            name: "voluntary",
            nature: Rising,
            access: Access::U64(|row| row.voluntary, |row, v| row.voluntary = v),
        },
        Column {
            name: "involuntary",
            nature: Rising,
            access: Access::U64(|row| row.involuntary, |row, v| row.involuntary = v),
        },
    ];

    fn blank() -> Self {
        Scheduling::default()
    }
}

impl SegmentRow for Scheduling {
    const FOLDER: &'static str = SCHEDULING;
    const PLURAL: &'static str = "scheduling";
    const BEGINS: &'static [&'static str] = &["at_ns"];
    const ENDS: &'static [&'static str] = &["at_ns"];

    fn sort(rows: &mut [Self]) {
        // Stable: of two rows of one moment the later one stays the later one.
        rows.sort_by_key(|row| (row.rank, row.at_ns));
    }

    fn begin_ns(&self) -> u64 {
        self.at_ns
    }

    fn end_ns(&self) -> u64 {
        self.at_ns
    }

    fn correct(&mut self, corrections: &Corrections) {
        self.at_ns = corrections.of_rank(self.rank).apply(self.at_ns);
    }
}
