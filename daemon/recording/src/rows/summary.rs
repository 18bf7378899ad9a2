//! `summary/*.parquet`: the figures that a reader of a long recording needs before any call is read.

use crate::row::{Column, Row, column};
use mpiscope_model::{Function, Nanoseconds, Rank, Site};

/// What one function did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionRow {
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
    /// The longest of them.
    pub longest_ns: u64,
}

impl Row for FunctionRow {
    const TABLE: &'static str = "functions";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(function: U16, Rising),
        column!(calls: U64, Rising),
        column!(polls: U64, Repeating),
        column!(bytes: U64, Rising),
        column!(time_ns: U64, Rising),
        column!(longest_ns: U64, Rising),
    ];

    fn blank() -> Self {
        Self::default()
    }
}

/// Calls of one function by how long they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DurationRow {
    /// The function.
    pub function: Function,
    /// They took so long, or a hundredth less.
    pub up_to_ns: u64,
    /// How many.
    pub calls: u64,
}

impl Row for DurationRow {
    const TABLE: &'static str = "durations";
    const COLUMNS: &'static [Column<Self>] =
        &[column!(function: U16, Repeating), column!(up_to_ns: U64, Rising), column!(calls: U64, Rising)];

    fn blank() -> Self {
        Self::default()
    }
}

/// What one rank did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankRow {
    /// The rank.
    pub rank: Rank,
    /// Its rows of `calls`.
    pub calls: u64,
    /// Its time in MPI, over its threads.
    pub time_ns: u64,
    /// Matched messages that it sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Matched messages that it received.
    pub received: u64,
    /// When its last call ended; 0 in older recordings.
    pub last_ns: u64,
}

impl Row for RankRow {
    const TABLE: &'static str = "rank_sums";
    const RANKS: &'static [&'static str] = &["rank"];
    const TIMES: &'static [&'static str] = &["last_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(rank: U32 of Rank, Rising),
        column!(calls: U64, Rising),
        column!(time_ns: U64, Rising),
        column!(sent: U64, Rising),
        column!(sent_bytes: U64, Rising),
        column!(received: U64, Rising),
        column!(last_ns: U64, Rising),
    ];
    const LATER: &'static [&'static str] = &["last_ns"];

    fn blank() -> Self {
        Self::default()
    }
}

/// What was called from one call site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteRow {
    /// The call site; none for calls with an unknown one.
    pub site: Option<Site>,
    /// Rows of `calls`.
    pub calls: u64,
    /// Polls folded into those rows beyond the rows themselves.
    pub polls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time in them.
    pub time_ns: u64,
    /// What was called, the function with the least number.
    pub function: Option<u32>,
}

impl Row for SiteRow {
    const TABLE: &'static str = "site_sums";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(site: OptionalU32 of Site, Rising),
        column!(calls: U64, Rising),
        column!(polls: U64, Repeating),
        column!(bytes: U64, Rising),
        column!(time_ns: U64, Rising),
        column!(function: OptionalU32, Repeating),
    ];

    fn blank() -> Self {
        Self::default()
    }
}

/// What two ranks sent each other, whichever way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PairRow {
    /// The lower one; none for pairs that are not counted separately.
    pub one: Option<Rank>,
    /// The higher one.
    pub other: Option<Rank>,
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Row for PairRow {
    const TABLE: &'static str = "pairs";
    const RANKS: &'static [&'static str] = &["one", "other"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(one: OptionalU32 of Rank, Repeating),
        column!(other: OptionalU32 of Rank, Rising),
        column!(messages: U64, Rising),
        column!(bytes: U64, Rising),
    ];

    fn blank() -> Self {
        Self::default()
    }
}

/// Messages of one size class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageSizeRow {
    /// The least size.
    pub from_bytes: u64,
    /// The first size beyond the class.
    pub to_bytes: u64,
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Row for MessageSizeRow {
    const TABLE: &'static str = "message_sizes";
    const COLUMNS: &'static [Column<Self>] = &[
        column!(from_bytes: U64, Rising),
        column!(to_bytes: U64, Rising),
        column!(messages: U64, Rising),
        column!(bytes: U64, Rising),
    ];

    fn blank() -> Self {
        Self::default()
    }
}

/// Calls that ended in a stretch of time, by rank, function and how long they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DensityRow {
    /// Where the stretch begins.
    pub from_ns: Nanoseconds,
    /// Where it ends.
    pub to_ns: Nanoseconds,
    /// The first of the ranks.
    pub rank: Rank,
    /// How many ranks, from that one on, were counted together.
    pub ranks: u32,
    /// The function.
    pub function: Function,
    /// They took `t` nanoseconds each, where `floor(16 * log2(1 + t))` is this.
    pub bin: u32,
    /// How many.
    pub calls: u64,
}

impl Row for DensityRow {
    const TABLE: &'static str = "densities";
    const RANKS: &'static [&'static str] = &["rank"];
    const RANK_COUNTS: &'static [&'static str] = &["ranks"];
    const TIMES: &'static [&'static str] = &["from_ns", "to_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(from_ns: U64, Rising),
        column!(to_ns: U64, Rising),
        column!(rank: U32 of Rank, Repeating),
        column!(ranks: U32, Repeating),
        column!(function: U16, Repeating),
        column!(bin: U32, Rising),
        column!(calls: U64, Rising),
    ];

    fn blank() -> Self {
        Self::default()
    }
}

/// Calls of one function, of all ranks, that began in one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowSumRow {
    /// Where the window begins.
    pub from_ns: Nanoseconds,
    /// Where it ends.
    pub to_ns: Nanoseconds,
    /// The function.
    pub function: Function,
    /// Rows of `calls`.
    pub calls: u64,
}

impl Row for WindowSumRow {
    const TABLE: &'static str = "window_sums";
    const TIMES: &'static [&'static str] = &["from_ns", "to_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(from_ns: U64, Rising),
        column!(to_ns: U64, Rising),
        column!(function: U16, Repeating),
        column!(calls: U64, Rising),
    ];

    fn blank() -> Self {
        Self::default()
    }
}
