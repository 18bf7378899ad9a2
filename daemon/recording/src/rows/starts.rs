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
use std::ops::RangeInclusive;
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
    ends_ns: RangeInclusive<Nanoseconds>,
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
fn levels(calls: &[Call], ends_ns: RangeInclusive<Nanoseconds>) -> Vec<Vec<StartRow>> {
    let (first_ns, last_ns) = ends_ns.into_inner();
    let ends_ns = last_ns.saturating_sub(first_ns);
    let windows = (calls.len() as u64 / CALLS_PER_WINDOW).max(1);
    let mut window_ns = (ends_ns / windows).max(1).checked_next_power_of_two().unwrap_or(1 << 63);
    let mut level = shortest(calls, last_ns, window_ns);
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

/// Of calls that ended until then.
fn shortest(calls: &[Call], to_ns: Nanoseconds, window_ns: u64) -> Vec<StartRow> {
    let mut places = Places::new(calls.len(), to_ns / window_ns);
    let mut rows: Vec<StartRow> = Vec::new();
    for call in calls {
        let from_ns = begin_of(call.start_ns, window_ns);
        let at = places.find(from_ns / window_ns, call.function, rows.len());
        if at == rows.len() {
            rows.push(StartRow { window_ns, from_ns, function: call.function, ..StartRow::default() });
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

/// Where the row of a window and a function is. Most calls began in the last windows: there it is looked up in a table.
struct Places {
    /// The first of the last windows.
    first: u64,
    windows: usize,
    /// For each function the place in each of them, and one more; 0 is for none.
    near: Vec<Vec<u32>>,
    far: FxHashMap<(u64, Function), usize>,
}

impl Places {
    fn new(calls: usize, last: u64) -> Self {
        let windows = 2 * calls / CALLS_PER_WINDOW as usize + 1;
        let first = last.saturating_sub(windows as u64 - 1);
        Self { first, windows, near: Vec::new(), far: FxHashMap::default() }
    }

    /// The place; the next one where it has none.
    fn find(&mut self, window: u64, function: Function, next: usize) -> usize {
        // A call that ends before it begins may begin behind the last window.
        let near = window.checked_sub(self.first).filter(|window| *window < self.windows as u64);
        let Some(window) = near else { return *self.far.entry((window, function)).or_insert(next) };
        let function = usize::from(function);
        if self.near.len() <= function {
            self.near.resize_with(function + 1, Vec::new);
        }
        let of_function = &mut self.near[function];
        if of_function.is_empty() {
            of_function.resize(self.windows, 0);
        }
        let place = &mut of_function[window as usize];
        if *place == 0 {
            *place = next as u32 + 1;
        }
        *place as usize - 1
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn each_length_counts_every_call_once(
            calls in proptest::collection::vec((0_u64..9_000_000, 0_u64..9_000, 0_u16..4, 1_u64..3), 1..3_000),
            early_ns in 0_u64..9_000_000,
            last_ns in 9_000_000_u64..9_100_000,
        ) {
            let call = |&(end_ns, duration_ns, function, count): &(u64, u64, u16, u64)| {
                // One began long before, and one behind its own end.
                let start_ns = end_ns.saturating_sub(if duration_ns == 7 { early_ns } else { duration_ns });
                Call { start_ns, end_ns, function, count, bytes: duration_ns, ..Call::default() }
            };
            let mut calls: Vec<Call> = calls.iter().map(call).collect();
            calls.push(Call { start_ns: 2 * last_ns, end_ns: last_ns, ..Call::default() });
            let first_ns = calls.iter().map(|call| call.end_ns).min().unwrap();
            let levels = levels(&calls, first_ns..=last_ns);
            for level in &levels {
                let window_ns = level[0].window_ns;
                let mut plain = BTreeMap::<_, StartRow>::new();
                for call in &calls {
                    let from_ns = call.start_ns / window_ns * window_ns;
                    let empty = StartRow { window_ns, from_ns, function: call.function, ..StartRow::default() };
                    let row = plain.entry((call.function, from_ns)).or_insert(empty);
                    row.calls += 1;
                    row.polls += call.count - 1;
                    row.bytes += call.bytes;
                    row.time_ns += call.duration_ns();
                }
                prop_assert_eq!(level, &plain.into_values().collect::<Vec<_>>());
            }
        }
    }
}
