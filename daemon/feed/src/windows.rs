//! The run over time in a fixed number of rows.

use crate::message::Windows;
use crate::{F64Column, WindowIncrement};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    calls: u64,
    messages: u64,
    bytes: u64,
}

impl Counts {
    fn add(&mut self, calls: u64, messages: u64, bytes: u64) {
        self.calls = self.calls.saturating_add(calls);
        self.messages = self.messages.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Row `i` covers the run time from `i * window_ns` to `(i + 1) * window_ns`.
#[derive(Debug)]
pub(crate) struct WindowHistory {
    window_ns: u64,
    rows_max: usize,
    rows: Vec<Counts>,
}

/// What a round of increments changed.
#[derive(Debug, Default)]
pub(crate) struct WindowChanges {
    all: bool,
    rows: BTreeSet<usize>,
}

impl WindowHistory {
    pub(crate) fn new(window_ns: u64, rows_max: usize) -> Self {
        WindowHistory { window_ns: window_ns.max(1), rows_max: rows_max.max(2), rows: Vec::new() }
    }

    /// Adds the increments. One bad clock must not merge the whole run into a few rows: what claims to lie after `now_ns`
    /// counts as now.
    pub(crate) fn apply(&mut self, increments: &[WindowIncrement], now_ns: u64) -> WindowChanges {
        let mut changes = WindowChanges::default();
        for increment in increments {
            if increment.calls == 0 && increment.messages == 0 && increment.bytes == 0 {
                continue;
            }
            let row = self.make_row(increment.start_ns.min(now_ns), &mut changes);
            if let Some(counts) = self.rows.get_mut(row) {
                counts.add(increment.calls, increment.messages, increment.bytes);
                changes.rows.insert(row);
            }
        }
        changes
    }

    /// The row of this time; merges pairs until it fits.
    fn make_row(&mut self, start_ns: u64, changes: &mut WindowChanges) -> usize {
        while start_ns / self.window_ns >= self.rows_max as u64 {
            self.merge_pairs();
            changes.all = true;
        }
        let row = (start_ns / self.window_ns) as usize;
        if row >= self.rows.len() {
            changes.rows.extend(self.rows.len()..=row);
            self.rows.resize(row + 1, Counts::default());
        }
        row
    }

    fn merge_pairs(&mut self) {
        self.window_ns = self.window_ns.saturating_mul(2);
        self.rows = self
            .rows
            .chunks(2)
            .map(|pair| {
                let mut sum = Counts::default();
                for counts in pair {
                    sum.add(counts.calls, counts.messages, counts.bytes);
                }
                sum
            })
            .collect();
    }

    pub(crate) fn all(&self) -> Windows {
        self.pick(0..self.rows.len())
    }

    pub(crate) fn changed(&self, changes: &WindowChanges) -> Option<Windows> {
        if changes.all {
            return Some(self.all());
        }
        (!changes.rows.is_empty()).then(|| self.pick(changes.rows.iter().copied()))
    }

    fn pick(&self, rows: impl Iterator<Item = usize> + Clone) -> Windows {
        let counts = rows.clone().filter_map(|row| self.rows.get(row));
        Windows {
            window_ns: self.window_ns,
            start_ns: rows.map(|row| row as u64 * self.window_ns).collect(),
            calls: counts.clone().map(|counts| counts.calls).collect(),
            messages: counts.clone().map(|counts| counts.messages).collect(),
            bytes: counts.map(|counts| counts.bytes).collect::<F64Column>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start_ns: u64) -> WindowIncrement {
        WindowIncrement { start_ns, calls: 1, messages: 2, bytes: 3 }
    }

    #[test]
    fn a_full_history_merges_pairs_and_keeps_the_sums() {
        let mut history = WindowHistory::new(100, 4);
        for start_ns in [0, 100, 200, 300] {
            assert!(!history.apply(&[at(start_ns)], 1_000).all);
        }
        assert!(history.apply(&[at(400)], 1_000).all);
        let windows = history.all();
        assert_eq!(windows.window_ns, 200);
        assert_eq!(windows.start_ns.0, [0.0, 200.0, 400.0]);
        assert_eq!(windows.calls.0, [2.0, 2.0, 1.0]);
        assert_eq!(windows.bytes.0, [6.0, 6.0, 3.0]);
    }

    #[test]
    fn a_time_far_away_stays_bounded() {
        let mut history = WindowHistory::new(100, 4);
        history.apply(&[at(0), at(u64::MAX)], u64::MAX);
        let windows = history.all();
        assert!(windows.calls.0.len() <= 4);
        assert_eq!(windows.calls.0.iter().sum::<f64>(), 2.0);
    }

    #[test]
    fn a_time_after_now_counts_as_now() {
        let mut history = WindowHistory::new(100, 8);
        history.apply(&[at(5_000)], 250);
        assert_eq!(history.all().window_ns, 100);
        assert_eq!(history.all().calls.0, [0.0, 0.0, 1.0]);
    }

    #[test]
    fn gaps_are_rows_of_zero() {
        let mut history = WindowHistory::new(100, 8);
        let changes = history.apply(&[at(300)], 1_000);
        assert_eq!(history.changed(&changes).unwrap().calls.0, [0.0, 0.0, 0.0, 1.0]);
    }
}
