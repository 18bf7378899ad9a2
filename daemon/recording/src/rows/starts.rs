//! `starts/*.parquet`: how many calls of one segment began when, in windows of several lengths, each twice the one before.
//!
//! A file goes with the segment of calls of its number and has a row group a length, the shortest first. So a timeline of
//! any zoom reads some thousand rows, or so few calls that they can be counted.

use crate::error::RecordingError;
use crate::folder::{STARTS, make_folder};
use crate::manifest::FileMark;
use crate::row::{Column, Row, column};
use crate::table_file::write_file;
use mpiscope_model::{Call, Function, Nanoseconds};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Calls of one function that began in one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StartRow {
    /// How long the window is, a power of two.
    pub window_ns: u64,
    /// Where it begins, a multiple of that.
    pub from_ns: Nanoseconds,
    /// The function.
    pub function: Function,
    /// Rows of `calls`.
    pub calls: u64,
    /// Polls folded into those rows beyond the rows themselves.
    pub polls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time in them.
    pub time_ns: u64,
}

impl Row for StartRow {
    const TABLE: &'static str = "starts";
    const TIMES: &'static [&'static str] = &["window_ns", "from_ns"];
    const COLUMNS: &'static [Column<Self>] = &[
        column!(window_ns: U64, Repeating),
        column!(from_ns: U64, Rising),
        column!(function: U16, Repeating),
        column!(calls: U64, Rising),
        column!(polls: U64, Repeating),
        column!(bytes: U64, Rising),
        column!(time_ns: U64, Rising),
    ];

    fn blank() -> Self {
        Self::default()
    }
}

/// About this number of calls is in one of the shortest windows.
const CALLS_PER_WINDOW: u64 = 256;
/// The longest windows are those that make the segment with this number of windows or fewer.
const FEWEST_WINDOWS: u64 = 16;

impl StartRow {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.polls = self.polls.saturating_add(other.polls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
    }
}

/// Writes the file that goes with a segment of calls.
pub(crate) fn write(
    calls: &[Call],
    ends_ns: u64,
    (dir, name): (&Path, &str),
    zstd_level: i32,
) -> Result<FileMark, RecordingError> {
    make_folder(&dir.join(STARTS))?;
    let file = format!("{STARTS}/{name}");
    let written = write_file(&dir.join(&file), zstd_level, |encoder| {
        levels(calls, ends_ns).iter().try_for_each(|level| encoder.group(level))
    })?;
    Ok(FileMark { file, crc32: written.crc32, bytes: written.bytes })
}

/// The rows of a segment's calls, shortest windows first, one list a length.
fn levels(calls: &[Call], ends_ns: u64) -> Vec<Vec<StartRow>> {
    let windows = (calls.len() as u64 / CALLS_PER_WINDOW).max(1);
    let mut window_ns = (ends_ns / windows).max(1).checked_next_power_of_two().unwrap_or(1 << 63);
    let mut level = shortest(calls, window_ns);
    let mut levels = Vec::new();
    loop {
        let is_last = ends_ns / window_ns <= FEWEST_WINDOWS;
        let next = (!is_last).then(|| {
            window_ns *= 2;
            doubled(&level, window_ns)
        });
        levels.push(level);
        match next {
            Some(next) => level = next,
            None => return levels,
        }
    }
}

/// Functions for which it is remembered where the last call was counted.
const REMEMBERED: usize = 64;

fn shortest(calls: &[Call], window_ns: u64) -> Vec<StartRow> {
    let mut places = FxHashMap::<(u64, Function), usize>::default();
    let mut rows: Vec<StartRow> = Vec::new();
    // Most calls began in the window of the one before of their function.
    let mut recent = [None; REMEMBERED];
    for call in calls {
        let key = (begin_of(call.start_ns, window_ns), call.function);
        let last = &mut recent[usize::from(call.function) % REMEMBERED];
        let at = match *last {
            Some((of, at)) if of == key => at,
            _ => *places.entry(key).or_insert(rows.len()),
        };
        *last = Some((key, at));
        if at == rows.len() {
            rows.push(StartRow { window_ns, from_ns: key.0, function: key.1, ..StartRow::default() });
        }
        rows[at].add(&StartRow {
            calls: 1,
            polls: call.count.saturating_sub(1),
            bytes: call.bytes,
            time_ns: call.duration_ns(),
            ..StartRow::default()
        });
    }
    in_order(rows)
}

/// Where a window begins whose length is a power of two.
fn begin_of(time_ns: Nanoseconds, window_ns: u64) -> Nanoseconds {
    time_ns & !(window_ns - 1)
}

fn doubled(rows: &[StartRow], window_ns: u64) -> Vec<StartRow> {
    let wider = |row: &StartRow| StartRow { window_ns, from_ns: begin_of(row.from_ns, window_ns), ..*row };
    let is_same =
        |one: &StartRow, other: &StartRow| one.function == other.function && one.from_ns == other.from_ns;
    let mut sums: Vec<StartRow> = Vec::with_capacity(rows.len());
    // Both of each pair are neighbours.
    for row in rows.iter().map(wider) {
        match sums.last_mut() {
            Some(last) if is_same(last, &row) => last.add(&row),
            _ => sums.push(row),
        }
    }
    sums
}

fn in_order(mut rows: Vec<StartRow>) -> Vec<StartRow> {
    rows.sort_unstable_by_key(|row| (row.function, row.from_ns));
    rows
}
