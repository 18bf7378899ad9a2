//! How many calls of each function began when: the whole run in a bounded number of windows, which double in length
//! when the run outgrows them.

use mpiscope_model::{Call, Function, Nanoseconds};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// The operator.
#[derive(Debug, Clone)]
pub struct Timeline {
    window_ns: u64,
    windows_max: usize,
    columns: FxHashMap<Function, Vec<u64>>,
}

/// Calls of one function that began in one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimelineCell {
    /// Where the window begins.
    pub start_ns: Nanoseconds,
    /// The function.
    pub function: Function,
    /// Rows of calls.
    pub calls: u64,
}

/// Counts of a range in bins of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bins {
    /// Where the first begins.
    pub from_ns: Nanoseconds,
    /// How long each is.
    pub bin_ns: u64,
    /// How many there are.
    pub bins: usize,
    /// The functions that occur, each with a count for every bin.
    pub counts: BTreeMap<Function, Vec<u64>>,
}

impl Bins {
    /// Empty bins; the last one may reach beyond the range.
    #[must_use]
    pub fn over(range_ns: &Range<Nanoseconds>, bins: usize) -> Self {
        let bins = bins.max(1);
        let bin_ns = range_ns.end.saturating_sub(range_ns.start).div_ceil(bins as u64).max(1);
        Self { from_ns: range_ns.start, bin_ns, bins, counts: BTreeMap::new() }
    }

    /// Empty bins, with the longest power of two nanoseconds that needs at least this number of bins. Their edges are
    /// multiples of it: the first and the last may reach beyond the range.
    #[must_use]
    pub fn of_a_power(range_ns: &Range<Nanoseconds>, bins: usize) -> Self {
        let span_ns = range_ns.end.saturating_sub(range_ns.start);
        let least_ns = (span_ns / bins.max(1) as u64).max(1);
        let bin_ns = 1 << least_ns.ilog2();
        let from_ns = range_ns.start / bin_ns * bin_ns;
        let bins = range_ns.end.saturating_sub(from_ns).div_ceil(bin_ns).max(1);
        Self { from_ns, bin_ns, bins: usize::try_from(bins).unwrap_or(usize::MAX), counts: BTreeMap::new() }
    }

    /// Where the last one ends.
    #[must_use]
    pub fn to_ns(&self) -> Nanoseconds {
        self.from_ns.saturating_add(self.bin_ns.saturating_mul(self.bins as u64))
    }

    /// Counts calls of a function that began then; those outside are left out.
    pub fn add(&mut self, function: Function, start_ns: Nanoseconds, calls: u64) {
        let Some(after) = start_ns.checked_sub(self.from_ns) else { return };
        let bin = usize::try_from(after / self.bin_ns).unwrap_or(usize::MAX);
        if calls > 0 && bin < self.bins {
            self.counts.entry(function).or_insert_with(|| vec![0; self.bins])[bin] += calls;
        }
    }
}

impl Timeline {
    /// Windows of this length, until there are more than `windows_max` of them.
    #[must_use]
    pub fn new(window_ns: u64, windows_max: usize) -> Self {
        Self { window_ns: window_ns.max(1), windows_max: windows_max.max(2), columns: FxHashMap::default() }
    }

    /// How long a window is now.
    #[must_use]
    pub fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// How many windows there are from the start of the run to the last call's.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.columns.values().map(Vec::len).max().unwrap_or_default()
    }

    /// Takes in calls.
    pub fn calls(&mut self, calls: &[Call]) {
        for call in calls {
            self.add(call.function, call.start_ns, 1);
        }
    }

    /// Counts calls of a function that began then; returns where their window begins.
    pub fn add(&mut self, function: Function, start_ns: Nanoseconds, calls: u64) -> Nanoseconds {
        let mut window = start_ns / self.window_ns;
        while window >= self.windows_max as u64 {
            self.merge_pairs();
            window = start_ns / self.window_ns;
        }
        let window = window as usize;
        let column = self.columns.entry(function).or_default();
        if column.len() <= window {
            column.resize(window + 1, 0);
        }
        column[window] = column[window].saturating_add(calls);
        window as u64 * self.window_ns
    }

    /// Makes windows at least so long.
    pub fn widen(&mut self, window_ns: u64) {
        while self.window_ns < window_ns {
            self.merge_pairs();
        }
    }

    fn merge_pairs(&mut self) {
        self.window_ns = self.window_ns.saturating_mul(2);
        for column in self.columns.values_mut() {
            *column = column
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)))
                .collect();
        }
    }

    /// All cells that hold something, in order.
    #[must_use]
    pub fn cells(&self) -> Vec<TimelineCell> {
        let cell = |function: Function| {
            move |(window, &calls): (usize, &u64)| TimelineCell {
                start_ns: window as u64 * self.window_ns,
                function,
                calls,
            }
        };
        let mut cells: Vec<_> = self
            .columns
            .iter()
            .flat_map(|(&function, column)| column.iter().enumerate().map(cell(function)))
            .filter(|cell| cell.calls > 0)
            .collect();
        cells.sort_unstable_by_key(|cell| (cell.start_ns, cell.function));
        cells
    }

    /// The cell of a window, known by where it begins, and a function.
    #[must_use]
    pub fn cell(&self, start_ns: Nanoseconds, function: Function) -> TimelineCell {
        let window = usize::try_from(start_ns / self.window_ns).unwrap_or(usize::MAX);
        let calls = self.columns.get(&function).and_then(|column| column.get(window)).copied();
        TimelineCell { start_ns, function, calls: calls.unwrap_or_default() }
    }

    /// What whole windows know of a range, and the ranges at its edges whose calls have to be counted one by one.
    #[must_use]
    pub fn between(
        &self,
        range_ns: &Range<Nanoseconds>,
    ) -> (BTreeMap<Function, u64>, Vec<Range<Nanoseconds>>) {
        let first = range_ns.start.div_ceil(self.window_ns);
        let last = range_ns.end / self.window_ns;
        if first >= last {
            return (BTreeMap::new(), vec![range_ns.clone()]);
        }
        let counts = self.columns.iter().map(|(&function, column)| {
            let within = (first as usize).min(column.len())..(last as usize).min(column.len());
            (function, column[within].iter().fold(0, |sum: u64, calls| sum.saturating_add(*calls)))
        });
        let edges = [range_ns.start..first * self.window_ns, last * self.window_ns..range_ns.end];
        (
            counts.filter(|(_, calls)| *calls > 0).collect(),
            edges.into_iter().filter(|edge| !edge.is_empty()).collect(),
        )
    }

    /// Counts into bins, when their edges are those of windows; returns whether it did.
    pub fn fill(&self, bins: &mut Bins) -> bool {
        if !bins.bin_ns.is_multiple_of(self.window_ns) || !bins.from_ns.is_multiple_of(self.window_ns) {
            return false;
        }
        let first = (bins.from_ns / self.window_ns) as usize;
        let last = usize::try_from(bins.to_ns() / self.window_ns).unwrap_or(usize::MAX);
        for (&function, column) in &self.columns {
            let windows = column.iter().enumerate().take(last).skip(first);
            for (window, &calls) in windows {
                bins.add(function, window as u64 * self.window_ns, calls);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows_that_are_full_merge_and_keep_their_sums() {
        let mut timeline = Timeline::new(10, 4);
        for start_ns in [0, 10, 20, 39] {
            timeline.add(1, start_ns, 1);
        }
        assert_eq!(timeline.add(2, 79, 5), 60);
        assert_eq!(timeline.window_ns(), 20);
        let cells: Vec<_> =
            timeline.cells().iter().map(|cell| (cell.start_ns, cell.function, cell.calls)).collect();
        assert_eq!(cells, [(0, 1, 2), (20, 1, 2), (60, 2, 5)]);
        assert_eq!(timeline.cell(20, 1).calls, 2);
    }

    #[test]
    fn bins_shorter_than_a_window_are_not_guessed() {
        let mut timeline = Timeline::new(16, 100);
        timeline.add(1, 55, 1);
        let filled = |bins| {
            let mut bins = Bins::of_a_power(&(48..64), bins);
            timeline.fill(&mut bins).then_some(bins)
        };
        assert_eq!(filled(2), None);
        assert_eq!(filled(1).unwrap().counts[&1], [1]);
    }

    proptest! {
        #[test]
        fn a_range_is_counted_exactly(
            starts in proptest::collection::vec((0_u64..5_000, 1_u16..4), 0..200),
            from in 0_u64..6_000,
            span in 0_u64..6_000,
        ) {
            let mut timeline = Timeline::new(3, 64);
            for &(start_ns, function) in &starts {
                timeline.add(function, start_ns, 1);
            }
            let range = from..from + span;
            let (mut found, edges) = timeline.between(&range);
            for &(start_ns, function) in &starts {
                let times = edges.iter().filter(|edge| edge.contains(&start_ns)).count();
                *found.entry(function).or_default() += times as u64;
            }
            found.retain(|_, calls| *calls > 0);
            let mut plain = BTreeMap::new();
            for (_, function) in starts.iter().filter(|(start_ns, _)| range.contains(start_ns)) {
                *plain.entry(*function).or_default() += 1_u64;
            }
            prop_assert_eq!(found, plain);
        }

        #[test]
        fn bins_are_what_counting_one_by_one_gives(
            starts in proptest::collection::vec((0_u64..5_000, 1_u16..4), 0..200),
            from in 0_u64..4_000,
            span in 1_u64..3_000,
            bins in 1_usize..50,
        ) {
            let mut timeline = Timeline::new(4, 64);
            for &(start_ns, function) in &starts {
                timeline.add(function, start_ns, 1);
            }
            let mut found = Bins::of_a_power(&(from..from + span), bins);
            prop_assert!(found.from_ns <= from && found.to_ns() >= from + span);
            prop_assert!(found.bins >= bins.min(span as usize) && found.bins <= 2 * bins + 1);
            if timeline.fill(&mut found) {
                let mut plain = Bins { counts: BTreeMap::new(), ..found.clone() };
                for &(start_ns, function) in &starts {
                    plain.add(function, start_ns, 1);
                }
                prop_assert_eq!(plain, found);
            }
        }
    }
}
