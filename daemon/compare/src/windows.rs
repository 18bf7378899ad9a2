//! What each function did over the time of a recording, and on which ranks.

use mpiscope_engine::WindowCell;
use mpiscope_model::{Function, Rank};
use mpiscope_recording::WindowRow;
use std::collections::BTreeMap;

/// No run has more of them; what is beyond is damaged.
const MOST_WINDOWS: usize = 1 << 22;
const MOST_RANKS: usize = 1 << 20;

/// All windows of a recording.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    pub(crate) width_ns: u64,
    pub(crate) functions: BTreeMap<Function, FunctionSums>,
}

/// What one function did.
#[derive(Debug, Default)]
pub(crate) struct FunctionSums {
    /// Calls that began in each window.
    pub(crate) calls: Vec<u64>,
    /// Time in them, in seconds.
    pub(crate) seconds: Vec<f64>,
    /// The same by rank.
    pub(crate) by_rank: Vec<f64>,
}

impl Windows {
    pub(crate) fn new(width_ns: u64) -> Self {
        Self { width_ns: width_ns.max(1), functions: BTreeMap::new() }
    }

    pub(crate) fn rows(&mut self, rows: &[WindowRow]) {
        for row in rows {
            let window = row.from_ns / self.width_ns;
            self.add(row.function, window, row.rank, (row.calls, row.time_ns));
        }
    }

    pub(crate) fn cells(&mut self, cells: &[WindowCell]) {
        for ((window, rank, function), totals) in cells {
            self.add(*function, *window, *rank, (totals.calls, totals.time_ns));
        }
    }

    fn add(&mut self, function: Function, window: u64, rank: Rank, (calls, time_ns): (u64, u64)) {
        let (window, rank) = (window as usize, rank.index());
        if window >= MOST_WINDOWS || rank >= MOST_RANKS {
            return;
        }
        let of = self.functions.entry(function).or_default();
        let seconds = time_ns as f64 / 1e9;
        *value_at(&mut of.calls, window) += calls;
        *value_at(&mut of.seconds, window) += seconds;
        *value_at(&mut of.by_rank, rank) += seconds;
    }

    /// How many windows there are.
    pub(crate) fn count(&self) -> usize {
        self.functions.values().map(|of| of.calls.len()).max().unwrap_or_default()
    }

    /// Calls of all functions in each window of the run.
    pub(crate) fn calls(&self) -> Vec<f64> {
        let mut calls = vec![0.0; self.count()];
        for of in self.functions.values() {
            calls.iter_mut().zip(&of.calls).for_each(|(sum, calls)| *sum += *calls as f64);
        }
        calls
    }

    /// What a function took in each window of the run.
    pub(crate) fn seconds(&self, function: Function) -> Vec<f64> {
        let mut seconds = self.functions.get(&function).map(|of| of.seconds.clone()).unwrap_or_default();
        seconds.resize(self.count(), 0.0);
        seconds
    }
}

fn value_at<T: Default + Clone>(values: &mut Vec<T>, place: usize) -> &mut T {
    if values.len() <= place {
        values.resize(place + 1, T::default());
    }
    &mut values[place]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_matching::WindowTotals;

    #[test]
    fn rows_and_cells_say_the_same() {
        let row = |window: u64, rank, function| WindowRow {
            from_ns: window * 100,
            to_ns: window * 100 + 100,
            rank,
            function,
            calls: 2,
            time_ns: 500_000_000,
            ..WindowRow::default()
        };
        let rows = [
            row(0, Rank(1), 7),
            row(3, Rank(0), 7),
            row(3, Rank(0), 7),
            row(1, Rank(0), 9),
            row(u64::MAX / 200, Rank(0), 7),
        ];
        let cells = rows.map(|row| {
            let totals = WindowTotals { calls: row.calls, time_ns: row.time_ns, ..WindowTotals::default() };
            ((row.from_ns / 100, row.rank, row.function), totals)
        });
        let (mut one, mut other) = (Windows::new(100), Windows::new(100));
        one.rows(&rows);
        other.cells(&cells);
        for windows in [one, other] {
            assert_eq!(windows.seconds(7), [0.5, 0.0, 0.0, 1.0]);
            assert_eq!(windows.seconds(9), [0.0, 0.5, 0.0, 0.0]);
            assert_eq!(windows.functions[&7].by_rank, [1.0, 0.5]);
            assert_eq!(windows.functions[&7].calls, [2, 0, 0, 4]);
        }
    }
}
