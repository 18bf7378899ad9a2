//! `scheduling/*.parquet`: what the scheduler did to each rank. It separates ranks that wait for a CPU from ranks that
//! wait for the network.

use crate::corrections::Corrections;
use crate::folder::SCHEDULING;
use crate::row::{Column, Row, SegmentRow, column};
use mpiscope_model::{Rank, Scheduling};

impl Row for Scheduling {
    const TABLE: &'static str = "scheduling";
    const RANKS: &'static [&'static str] = &["rank"];
    const TIMES: &'static [&'static str] = &["at_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(rank: U32 of Rank, Repeating),
        column!(at_ns: U64, Rising),
        column!(run_ns: U64, Rising),
        column!(wait_ns: U64, Rising),
        column!(voluntary: U64, Rising),
        column!(involuntary: U64, Rising),
        column!(stopped_ns: U64, Rising),
        column!(blocked_ns: U64, Rising),
        column!(major_faults: U64, Rising),
    ];
    const LATER: &'static [&'static str] = &["stopped_ns", "blocked_ns", "major_faults"];

    fn blank() -> Self {
        Scheduling::default()
    }
}

impl SegmentRow for Scheduling {
    type Key = (Rank, u64);

    const FOLDER: &'static str = SCHEDULING;
    const PLURAL: &'static str = "scheduling";
    const BEGINS: &'static [&'static str] = &["at_ns"];
    const ENDS: &'static [&'static str] = &["at_ns"];

    fn key(&self) -> Self::Key {
        // Stable: of two rows of one moment the later one stays the later one.
        (self.rank, self.at_ns)
    }

    fn lane(key: &Self::Key) -> u64 {
        key.0.0.into()
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
