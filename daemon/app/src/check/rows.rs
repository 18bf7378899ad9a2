//! Every segment: whether it is as it was written, and whether its rows make sense.

use super::report::{CheckReport, Fault, Kind, RecordingCondition};
use mpiscope_model::words::plural;
use mpiscope_model::{Call, Message, Rank, Scheduling};
use mpiscope_recording::{Recording, Segment, SegmentRow, WindowRow, salvage};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// More threads than this wait for the same disk.
const MOST_THREADS: usize = 8;

/// What rows may speak of.
pub(crate) struct RowLimits {
    /// How many ranks there are; none where that is not known.
    ranks: Option<u32>,
    /// The functions that have names; empty where their table is not there.
    functions: BTreeSet<u16>,
    /// Whether it is known between which times the rows of each file are.
    has_times: bool,
}

impl RowLimits {
    pub(crate) fn read(recording: &Recording) -> Self {
        // A manifest that is damaged may say anything.
        let has_times = recording.damage().is_none();
        let ranks = Some(recording.manifest().job.ranks).filter(|ranks| *ranks > 0 && has_times);
        let functions = recording.tables().0.functions.iter().map(|row| row.function).collect();
        Self { ranks, functions, has_times }
    }

    /// Whether a row of a file can be right.
    pub(crate) fn allows<R: Sane>(&self, row: &R, segment: &Segment) -> bool {
        row.oddity(self).is_none() && !(self.has_times && is_outside(row, segment))
    }

    fn has_rank(&self, rank: Rank) -> bool {
        self.ranks.is_none_or(|ranks| rank.0 < ranks)
    }

    fn has_function(&self, function: u16) -> bool {
        self.functions.is_empty() || self.functions.contains(&function)
    }
}

/// What rows add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Rows that the segments should have.
    pub(super) listed: u64,
    /// Rows that they have.
    pub(super) rows: u64,
    pub(super) calls: u64,
    pub(super) polls: u64,
    pub(super) bytes: u64,
    pub(super) inter: u64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.listed = self.listed.saturating_add(other.listed);
        self.rows = self.rows.saturating_add(other.rows);
        self.calls = self.calls.saturating_add(other.calls);
        self.polls = self.polls.saturating_add(other.polls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.inter = self.inter.saturating_add(other.inter);
    }
}

/// Those of all kinds that can be compared with something.
pub(super) struct AllSums {
    pub(super) calls: Sums,
    pub(super) messages: Sums,
    pub(super) windows: Sums,
}

/// A row that can be looked at closely.
pub(crate) trait Sane: SegmentRow {
    /// What is odd about it, as it follows a number of rows.
    fn oddity(&self, known: &RowLimits) -> Option<&'static str>;
    /// What it adds.
    fn count(&self, _sums: &mut Sums) {}
}

const BACKWARD: &str = "that end before they begin";
const NO_RANK: &str = "of ranks that the job does not have";
const NO_FUNCTION: &str = "of functions without a name";

impl Sane for Call {
    fn oddity(&self, known: &RowLimits) -> Option<&'static str> {
        if self.end_ns < self.start_ns {
            Some(BACKWARD)
        } else if !known.has_rank(self.rank) {
            Some(NO_RANK)
        } else if !known.has_function(self.function) {
            Some(NO_FUNCTION)
        } else {
            (self.count == 0).then_some("that stand for no call")
        }
    }

    fn count(&self, sums: &mut Sums) {
        sums.calls += 1;
        sums.polls = sums.polls.saturating_add(self.count.saturating_sub(1));
    }
}

impl Sane for Message {
    fn oddity(&self, known: &RowLimits) -> Option<&'static str> {
        // By clocks that were corrected later a message may well end before it begins.
        (!known.has_rank(self.src) || !known.has_rank(self.dst)).then_some(NO_RANK)
    }

    fn count(&self, sums: &mut Sums) {
        sums.bytes = sums.bytes.saturating_add(self.bytes);
        sums.inter += u64::from(self.inter);
    }
}

impl Sane for WindowRow {
    fn oddity(&self, known: &RowLimits) -> Option<&'static str> {
        if self.to_ns < self.from_ns {
            Some(BACKWARD)
        } else if !known.has_rank(self.rank) {
            Some(NO_RANK)
        } else {
            (!known.has_function(self.function)).then_some(NO_FUNCTION)
        }
    }

    fn count(&self, sums: &mut Sums) {
        sums.calls = sums.calls.saturating_add(self.calls);
        sums.polls = sums.polls.saturating_add(self.polls);
    }
}

impl Sane for Scheduling {
    fn oddity(&self, known: &RowLimits) -> Option<&'static str> {
        (!known.has_rank(self.rank)).then_some(NO_RANK)
    }
}

/// Checks all segments of a recording.
pub(super) fn check(recording: &Recording, known: &RowLimits, found: &mut CheckReport) -> AllSums {
    let segments = &recording.manifest().segments;
    let dir = recording.dir();
    let sums = AllSums {
        calls: kind::<Call>(dir, &segments.calls, known, found),
        messages: kind::<Message>(dir, &segments.messages, known, found),
        windows: kind::<WindowRow>(dir, &segments.windows, known, found),
    };
    kind::<Scheduling>(dir, &segments.scheduling, known, found);
    sums
}

fn kind<R: Sane>(dir: &Path, segments: &[Segment], known: &RowLimits, found: &mut CheckReport) -> Sums {
    let mut sums = Sums::default();
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (segment, (of_segment, mut its_faults)) in segments.iter().zip(all::<R>(dir, segments, known)) {
        sums.add(&of_segment);
        if !seen.insert(&segment.file) {
            its_faults = vec![Fault::new(segment.file.clone(), "the manifest lists it twice")];
        }
        faults.extend(its_faults);
    }
    // Whoever records may replace files between two looks.
    let state = if matches!(found.condition, RecordingCondition::BeingWritten(_)) {
        "whole up to now"
    } else {
        "whole"
    };
    let words =
        format!("{}, {}, {state}", plural(segments.len() as u64, "segment"), plural(sums.rows, "row"),);
    found.kinds.push(Kind { name: R::FOLDER, files: segments.len() as u64, rows: sums.rows, words, faults });
    sums
}

/// Checks segments on several threads; the outcomes are in their order.
fn all<R: Sane>(dir: &Path, segments: &[Segment], known: &RowLimits) -> Vec<(Sums, Vec<Fault>)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((at, segment)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, segments.get(at)?)))
        {
            let outcome = segment_sums::<R>(dir, segment, known);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).insert(at, outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(segments.len()) {
            scope.spawn(work);
        }
        work();
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn is_outside<R: SegmentRow>(row: &R, segment: &Segment) -> bool {
    row.begin_ns() < segment.from_ns || row.end_ns() > segment.to_ns
}

fn segment_sums<R: Sane>(dir: &Path, segment: &Segment, known: &RowLimits) -> (Sums, Vec<Fault>) {
    let mut sums = Sums { listed: segment.rows, ..Sums::default() };
    let mut odd: BTreeMap<&str, u64> = BTreeMap::new();
    let mut is_sorted = true;
    let damage = salvage::<R>(dir, segment, &mut |rows| {
        sums.rows += rows.len() as u64;
        is_sorted &= rows.is_sorted_by_key(SegmentRow::key);
        for row in rows {
            row.count(&mut sums);
            let outside =
                is_outside(row, segment).then_some("outside the range of time that the manifest says");
            for why in row.oddity(known).into_iter().chain(outside) {
                *odd.entry(why).or_default() += 1;
            }
        }
    });
    let mut faults: Vec<Fault> = Vec::new();
    if let Some(damage) = damage {
        faults.push(Fault { file: damage.file, what: damage.text, lost_rows: damage.missing_rows });
    }
    for (why, rows) in odd {
        faults.push(Fault::new(segment.file.clone(), format!("{} {why}", plural(rows, "row"))));
    }
    if !is_sorted {
        faults.push(Fault::new(segment.file.clone(), "its rows are not in order"));
    }
    (sums, faults)
}
