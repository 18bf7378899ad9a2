//! How often each rank's calls of each function took how long, over the run; the history behind the particles is drawn
//! from it. Durations are in bins of a sixteenth of an octave, fine enough for any scale of the picture.

use mpiscope_model::{Call, Function, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Bins in which a duration doubles.
pub const BINS_PER_OCTAVE: u32 = 16;

/// All ranks that there may be.
const MOST_RANKS_PER_ROW: u32 = 1 << 31;

/// Where the sixteenths of an octave begin.
static SIXTEENTHS: LazyLock<[f64; BINS_PER_OCTAVE as usize]> =
    LazyLock::new(|| std::array::from_fn(|number| (number as f64 / f64::from(BINS_PER_OCTAVE)).exp2()));

/// The bin of a duration: `floor(16 * log2(1 + ns))`, without a logarithm for each call.
#[must_use]
pub fn duration_bin(duration_ns: u64) -> u16 {
    const MANTISSA: u64 = (1 << f64::MANTISSA_DIGITS.saturating_sub(1)) - 1;
    let bits = (duration_ns as f64 + 1.0).to_bits();
    let octave = (bits >> (f64::MANTISSA_DIGITS - 1)) - 1_023;
    let within = f64::from_bits((bits & MANTISSA) | 1.0_f64.to_bits());
    let sixteenth = SIXTEENTHS.partition_point(|begin| *begin <= within).saturating_sub(1);
    (octave * u64::from(BINS_PER_OCTAVE) + sixteenth as u64) as u16
}

/// One cell: a row of ranks, a function, a bin of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DensityKey {
    /// The number of the row of ranks.
    pub row: u32,
    /// The function.
    pub function: Function,
    /// The bin of the duration.
    pub bin: u16,
}

mpiscope_model::numbers! { DensityKey { row, function, bin } }

/// As one number: each call is counted by its key.
impl Hash for DensityKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { row, function, bin } = *self;
        state.write_u64(u64::from(row) << 32 | u64::from(function) << 16 | u64::from(bin));
    }
}

/// Counts of calls by how long they took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Density {
    /// Ranks that share a row, a power of two.
    ranks_per_row: u32,
    cells: FxHashMap<DensityKey, u64>,
}

impl Density {
    /// Counts, with this number of ranks in a row.
    #[must_use]
    pub fn new(ranks_per_row: u32) -> Self {
        Self {
            ranks_per_row: ranks_per_row.clamp(1, MOST_RANKS_PER_ROW).next_power_of_two(),
            cells: FxHashMap::default(),
        }
    }

    /// Ranks that share a row.
    #[must_use]
    pub fn ranks_per_row(&self) -> u32 {
        self.ranks_per_row
    }

    /// Counts calls of a cell. Most cells are known: finding one costs less than an entry, which makes room for a new one.
    pub fn add_cell(&mut self, key: DensityKey, calls: u64) {
        match self.cells.get_mut(&key) {
            Some(count) => *count += calls,
            None => {
                self.cells.insert(key, calls);
            }
        }
    }

    /// Counts a call.
    pub fn add(&mut self, call: &Call) {
        let row = call.rank.0 >> self.ranks_per_row.trailing_zeros();
        let key = DensityKey { row, function: call.function, bin: duration_bin(call.each_ns()) };
        self.add_cell(key, 1);
    }

    /// Adds what another counted.
    pub fn merge(&mut self, other: &Self) {
        self.add_cells(other.ranks_per_row, other.cells.iter().map(|(key, calls)| (*key, *calls)));
    }

    /// Adds cells with this number of ranks in a row.
    fn add_cells(&mut self, ranks_per_row: u32, cells: impl Iterator<Item = (DensityKey, u64)>) {
        self.widen(ranks_per_row);
        for (DensityKey { row, function, bin }, calls) in cells {
            let row = (u64::from(row) * u64::from(ranks_per_row) / u64::from(self.ranks_per_row)) as u32;
            self.add_cell(DensityKey { row, function, bin }, calls);
        }
    }

    fn widen(&mut self, ranks_per_row: u32) {
        if ranks_per_row <= self.ranks_per_row {
            return;
        }
        let narrow = std::mem::replace(self, Self::new(ranks_per_row));
        self.merge(&narrow);
    }

    /// All cells, in order.
    #[must_use]
    pub fn cells(&self) -> Vec<(DensityKey, u64)> {
        let mut cells: Vec<_> = self.cells.iter().map(|(&key, &count)| (key, count)).collect();
        cells.sort_unstable_by_key(|(key, _)| *key);
        cells
    }

    /// Whether no call was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Calls counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.cells.values().sum()
    }
}

/// The density over time, by the end of the calls, in a bounded number of chapters that double in length when the run
/// outgrows them. A clone is cheap: it shares the chapters, and one that goes on growing is copied then.
#[derive(Debug, Clone)]
pub struct DensityHistory {
    chapter_ns: u64,
    chapters_max: usize,
    rows_max: u32,
    ranks_per_row: u32,
    chapters: Vec<Arc<Density>>,
}

impl DensityHistory {
    /// Numbers of chapters and of rows of ranks; a chapter has this length until there are more.
    #[must_use]
    pub fn new(chapter_ns: u64, chapters_max: usize, rows_max: u32) -> Self {
        Self {
            chapter_ns: chapter_ns.max(1),
            chapters_max: chapters_max.max(2),
            rows_max: rows_max.max(1),
            ranks_per_row: 1,
            chapters: Vec::new(),
        }
    }

    /// Ranks that share a row.
    #[must_use]
    pub fn ranks_per_row(&self) -> u32 {
        self.ranks_per_row
    }

    /// The chapters, each with where it begins and ends.
    pub fn chapters(&self) -> impl Iterator<Item = (Range<Nanoseconds>, &Density)> + '_ {
        let numbered = (0_u64..).zip(&self.chapters);
        numbered.map(|(at, density)| (at * self.chapter_ns..(at + 1) * self.chapter_ns, density.as_ref()))
    }

    /// Takes in a chapter of another one that had as many chapters and rows, or fewer.
    pub fn add_chapter(&mut self, range_ns: &Range<Nanoseconds>, density: &Density) {
        let cells = density.cells.iter().map(|(key, calls)| (*key, *calls));
        self.add_cells(range_ns, density.ranks_per_row, cells);
    }

    /// Likewise, as cells with this number of ranks in a row.
    pub fn add_cells(
        &mut self,
        range_ns: &Range<Nanoseconds>,
        ranks_per_row: u32,
        cells: impl Iterator<Item = (DensityKey, u64)>,
    ) {
        let ranks_per_row = ranks_per_row.min(MOST_RANKS_PER_ROW);
        while range_ns.end.saturating_sub(range_ns.start) > self.chapter_ns {
            self.double();
        }
        while self.ranks_per_row < ranks_per_row {
            self.widen();
        }
        self.make_room(Rank(0), range_ns.start);
        let chapter = (range_ns.start / self.chapter_ns) as usize;
        Arc::make_mut(&mut self.chapters[chapter]).add_cells(ranks_per_row, cells);
    }

    /// What was counted since this was last asked. What comes later is counted by the same chapters and rows.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let rest = Self { chapters: Vec::new(), ..*self };
        std::mem::replace(self, rest)
    }

    /// Takes in calls.
    pub fn calls(&mut self, calls: &[Call]) {
        let mut rest = calls;
        while let Some(first) = rest.first() {
            self.make_room(first.rank, first.end_ns);
            let chapter = first.end_ns / self.chapter_ns;
            let begin_ns = chapter * self.chapter_ns;
            let ranks = u64::from(self.rows_max) * u64::from(self.ranks_per_row);
            let is_alike = |call: &&Call| {
                (begin_ns..begin_ns.saturating_add(self.chapter_ns)).contains(&call.end_ns)
                    && u64::from(call.rank.0) < ranks
            };
            let (alike, others) = rest.split_at(rest.iter().take_while(is_alike).count().max(1));
            let density = Arc::make_mut(&mut self.chapters[chapter as usize]);
            alike.iter().for_each(|call| density.add(call));
            rest = others;
        }
    }

    fn make_room(&mut self, rank: Rank, end_ns: Nanoseconds) {
        while rank.0 / self.ranks_per_row >= self.rows_max {
            self.widen();
        }
        while end_ns / self.chapter_ns >= self.chapters_max as u64 {
            self.double();
        }
        let chapter = (end_ns / self.chapter_ns) as usize;
        while self.chapters.len() <= chapter {
            self.chapters.push(Arc::new(Density::new(self.ranks_per_row)));
        }
    }

    fn widen(&mut self) {
        self.ranks_per_row *= 2;
        for chapter in &mut self.chapters {
            Arc::make_mut(chapter).widen(self.ranks_per_row);
        }
    }

    fn double(&mut self) {
        self.chapter_ns = self.chapter_ns.saturating_mul(2);
        let pairs = std::mem::take(&mut self.chapters);
        self.chapters = pairs
            .chunks(2)
            .map(|pair| {
                let mut both = Arc::clone(&pair[0]);
                pair[1..].iter().for_each(|second| Arc::make_mut(&mut both).merge(second));
                both
            })
            .collect();
    }

    /// What whole chapters know of a range, and the ranges at its edges whose calls have to be counted one by one.
    #[must_use]
    pub fn between(&self, range_ns: &Range<Nanoseconds>) -> (Density, Vec<Range<Nanoseconds>>) {
        let mut density = Density::new(self.ranks_per_row);
        let first = range_ns.start.div_ceil(self.chapter_ns);
        // Nothing ended after the last chapter: a range that reaches beyond it has all of it.
        let known = self.chapters.len() as u64;
        let last = if range_ns.end >= known.saturating_mul(self.chapter_ns) {
            known
        } else {
            range_ns.end / self.chapter_ns
        };
        if first >= last {
            let rest = range_ns.start..range_ns.end.min(known.saturating_mul(self.chapter_ns));
            return (density, if rest.is_empty() { Vec::new() } else { vec![rest] });
        }
        for chapter in self.chapters.iter().take(last as usize).skip(first as usize) {
            density.merge(chapter);
        }
        let edges = [range_ns.start..first * self.chapter_ns, last * self.chapter_ns..range_ns.end];
        let open = |edge: &Range<u64>| !edge.is_empty() && edge.start < known.saturating_mul(self.chapter_ns);
        (density, edges.into_iter().filter(open).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(rank: u32, function: Function, start_ns: u64, end_ns: u64) -> Call {
        Call { rank: Rank(rank), function, start_ns, end_ns, ..Call::default() }
    }

    #[test]
    fn bins_are_sixteenths_of_octaves() {
        assert_eq!([0, 1, 3, 1_023].map(duration_bin), [0, 16, 32, 160]);
        assert!(duration_bin(u64::MAX) <= 1_024);
    }

    proptest! {
        #[test]
        fn bins_are_those_of_the_logarithm(octave in 0_u32..60, part in 0_u64..1 << 20) {
            let duration_ns = (1_u64 << octave) + (((1_u128 << octave) * u128::from(part)) >> 20) as u64;
            let plain = 16.0 * (duration_ns as f64 + 1.0).log2();
            // At an edge the logarithm itself is not exact.
            prop_assert!((f64::from(duration_bin(duration_ns)) - plain.floor()).abs() < 1e-9
                || (plain - plain.round()).abs() < 1e-9);
        }

        #[test]
        fn chapters_and_edges_make_what_counting_all_makes(
            calls in proptest::collection::vec((0_u32..40, 1_u16..3, 0_u64..3_000, 0_u64..100), 0..150),
            from in 0_u64..3_200,
            span in 0_u64..3_200,
        ) {
            let calls: Vec<Call> =
                calls.into_iter().map(|(rank, function, at, long)| call(rank, function, at, at + long)).collect();
            let mut history = DensityHistory::new(7, 16, 8);
            history.calls(&calls);
            let range = from..from + span;
            let mut restored = DensityHistory::new(7, 16, 8);
            history.chapters().for_each(|(range, density)| restored.add_chapter(&range, density));
            let cells = |of: &DensityHistory| of.between(&range).0.cells();
            prop_assert_eq!(cells(&restored), cells(&history));
            let (mut found, edges) = history.between(&range);
            let mut plain = Density::new(history.ranks_per_row());
            for call in calls.iter().filter(|call| range.contains(&call.end_ns)) {
                plain.add(call);
            }
            for edge in edges {
                prop_assert!(edge.start >= range.start && edge.end <= range.end);
                calls.iter().filter(|call| edge.contains(&call.end_ns)).for_each(|call| found.add(call));
            }
            prop_assert_eq!(found.cells(), plain.cells());
            prop_assert_eq!(found.total(), plain.total());
        }
    }
}
