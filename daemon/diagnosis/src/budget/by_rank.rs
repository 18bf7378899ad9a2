//! Where time went, by rank and window: a region's budget is the sum over its ranks. With many ranks, windows are
//! longer, to bound the number of cells.

use super::causes::{Budget, Cause, Causes};
use super::window_budget::{Spared, WindowBudget};
use mpiscope_model::{Nanoseconds, Rank};
use std::ops::Range;

/// Cells of a rank and a window; each weighs some 220 bytes.
const MOST_CELLS: usize = 1 << 16;
/// Fewer are kept of few intervals, however far apart these are: this number, or some for each interval.
const LEAST_CELLS: usize = 1 << 13;
const CELLS_PER_INTERVAL: usize = 4;

/// What a rank did in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) budget: Budget,
    pub(super) compute_ns: u64,
    pub(super) cpu_wait_ns: u64,
    pub(super) spared: Spared,
}

mpiscope_model::numbers! { Cell { budget, compute_ns, cpu_wait_ns, spared } }

impl Cell {
    fn add(&mut self, other: &Self) {
        self.budget += other.budget;
        self.compute_ns += other.compute_ns;
        self.cpu_wait_ns += other.cpu_wait_ns;
        self.spared.add(&other.spared);
    }
}

/// All cells.
#[derive(Debug, Clone)]
pub(super) struct ByRank {
    width_ns: u64,
    ranks: usize,
    /// How often something was spread over cells, and how many cells may be kept since a window was closed last.
    intervals: usize,
    most_cells: usize,
    /// By window, then by rank.
    windows: Vec<Vec<Cell>>,
    /// The window that was last written to: from, to, its place.
    now: (Nanoseconds, Nanoseconds, usize),
}

mpiscope_model::numbers! { ByRank { width_ns, ranks, intervals, most_cells, windows, now } }

impl PartialEq for ByRank {
    /// Where nothing was written does not matter, nor what was written last.
    fn eq(&self, other: &Self) -> bool {
        let nothing = Vec::new();
        let windows = self.windows.len().max(other.windows.len());
        let cells = |of: &Self, at: usize, rank: usize| {
            let cells = of.windows.get(at).unwrap_or(&nothing);
            cells.get(rank).copied().unwrap_or_default()
        };
        let ranks = self.ranks.max(other.ranks);
        let is_same = |at| (0..ranks).all(|rank| cells(self, at, rank) == cells(other, at, rank));
        self.width_ns == other.width_ns && (0..windows).all(is_same)
    }
}

impl Eq for ByRank {}

impl ByRank {
    pub(super) fn new(width_ns: u64) -> Self {
        Self {
            width_ns: width_ns.max(1),
            ranks: 0,
            intervals: 0,
            most_cells: LEAST_CELLS,
            windows: Vec::new(),
            now: (0, 0, 0),
        }
    }

    pub(super) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    /// The cell of a rank and a moment.
    #[inline]
    pub(super) fn cell(&mut self, rank: Rank, at_ns: Nanoseconds) -> &mut Cell {
        let rank = rank.index();
        if at_ns < self.now.0 || at_ns >= self.now.1 || rank >= self.windows[self.now.2].len() {
            self.go_to(rank, at_ns);
        }
        &mut self.windows[self.now.2][rank]
    }

    #[cold]
    fn go_to(&mut self, rank: usize, at_ns: Nanoseconds) {
        let at = self.make(rank, at_ns);
        let from_ns = at as u64 * self.width_ns;
        self.now = (from_ns, from_ns.saturating_add(self.width_ns), at);
    }

    /// A window is over: more cells may be kept where there were more intervals. Within a window this number is the same,
    /// and so the order of intervals does not matter.
    pub(super) fn close(&mut self) -> usize {
        self.most_cells = self.intervals.saturating_mul(CELLS_PER_INTERVAL).clamp(LEAST_CELLS, MOST_CELLS);
        self.most_cells
    }

    /// Calls of this number of ranks that end before a time will be settled.
    pub(super) fn reach(&mut self, until_ns: Nanoseconds, ranks: usize) {
        self.ranks = self.ranks.max(ranks);
        let windows = |width_ns: u64| (until_ns.saturating_sub(1) / width_ns) as usize + 1;
        while windows(self.width_ns) > 1
            && windows(self.width_ns).saturating_mul(self.ranks) > self.most_cells
        {
            self.join();
        }
    }

    /// The number that holds for all shards.
    pub(super) fn allow_cells(&mut self, most: usize) {
        self.most_cells = most;
    }

    /// Takes in what another one has taken in since it was emptied last.
    pub(super) fn merge(&mut self, other: &Self) {
        self.intervals += other.intervals;
        self.ranks = self.ranks.max(other.ranks);
        while self.width_ns < other.width_ns {
            self.join();
        }
        for (at, cells) in other.windows.iter().enumerate() {
            let at_ns = at as u64 * other.width_ns;
            let written = cells.iter().enumerate().filter(|(_, cell)| **cell != Cell::default());
            written.for_each(|(rank, cell)| self.cell(Rank::from_index(rank), at_ns).add(cell));
        }
    }

    /// An empty one that may keep as many cells.
    pub(super) fn emptied(&self) -> Self {
        let Self { width_ns, ranks, most_cells, .. } = *self;
        Self { width_ns, ranks, intervals: 0, most_cells, windows: Vec::new(), now: (0, 0, 0) }
    }

    fn make(&mut self, rank: usize, at_ns: Nanoseconds) -> usize {
        self.ranks = self.ranks.max(rank + 1);
        loop {
            let at = (at_ns / self.width_ns) as usize;
            let windows = self.windows.len().max(at + 1);
            if windows > 1 && windows * self.ranks > self.most_cells {
                self.join();
                continue;
            }
            self.windows.resize(windows, Vec::new());
            if self.windows[at].len() <= rank {
                self.windows[at].resize(self.ranks, Cell::default());
            }
            return at;
        }
    }

    fn join(&mut self) {
        self.width_ns *= 2;
        self.now = (0, 0, 0);
        let mut joined = Vec::with_capacity(self.windows.len().div_ceil(2));
        let mut windows = std::mem::take(&mut self.windows).into_iter();
        while let Some(mut one) = windows.next() {
            let other = windows.next().unwrap_or_default();
            one.resize(one.len().max(other.len()), Cell::default());
            one.iter_mut().zip(&other).for_each(|(one, other)| one.add(other));
            joined.push(one);
        }
        self.windows = joined;
    }

    /// Does something with each cell that an interval touches, and the length of what it touches.
    #[inline]
    fn spread(&mut self, rank: Rank, from_ns: u64, to_ns: u64, mut each: impl FnMut(&mut Cell, u64)) {
        self.intervals += 1;
        // Mostly it lies in the one that was last written to.
        if from_ns >= self.now.0
            && to_ns <= self.now.1
            && let Some(cell) = self.windows[self.now.2].get_mut(rank.index())
        {
            return each(cell, to_ns - from_ns);
        }
        let mut at_ns = from_ns;
        while at_ns < to_ns {
            // The width may grow while cells are made.
            self.cell(rank, to_ns - 1);
            let end_ns = (at_ns - at_ns % self.width_ns).saturating_add(self.width_ns).min(to_ns);
            each(self.cell(rank, at_ns), end_ns - at_ns);
            at_ns = end_ns;
        }
    }

    #[inline]
    pub(super) fn direct(&mut self, rank: Rank, cause: Cause, from_ns: u64, to_ns: u64) {
        self.spread(rank, from_ns, to_ns, |cell, ns| cell.budget.direct[cause] += ns as i64);
    }

    #[inline]
    pub(super) fn compute(&mut self, rank: Rank, from_ns: u64, to_ns: u64, cpu_wait_ns: u64) {
        let mut shares = Shares::new(to_ns - from_ns);
        let mut left_ns = cpu_wait_ns;
        self.spread(rank, from_ns, to_ns, |cell, ns| {
            let part_ns = match shares.next(ns) {
                None => left_ns,
                Some((ns, whole_ns)) => {
                    (u128::from(cpu_wait_ns) * u128::from(ns) / u128::from(whole_ns)) as u64
                }
            };
            left_ns -= part_ns;
            cell.compute_ns += ns;
            cell.cpu_wait_ns += part_ns;
        });
    }

    /// Waiting: its pieces, so long in all, and what it was made of.
    pub(super) fn waiting(&mut self, rank: Rank, pieces: &[(u64, u64)], whole_ns: u64, by: Causes) {
        let mut shares = Shares::new(whole_ns);
        let mut left = by;
        for &(from_ns, to_ns) in pieces {
            self.spread(rank, from_ns, to_ns, |cell, ns| {
                // Rounding must not lose a nanosecond in any window: what the parts lack is computing.
                let part = match shares.next(ns) {
                    None => left,
                    Some((ns, whole_ns)) => {
                        let mut part = by.share(ns, whole_ns);
                        part[Cause::Compute] += ns as i64 - part.sum();
                        part
                    }
                };
                left -= part;
                cell.budget.waiting_ns += ns;
                cell.budget.waiting_by += part;
            });
        }
    }

    /// The sum over ranges of ranks, both ends included, of the windows of these numbers.
    pub(super) fn sum(&self, ranks: &[(Rank, Rank)], windows: Range<usize>) -> WindowBudget {
        let mut sum = Cell::default();
        for cells in self.windows.get(windows).unwrap_or_default() {
            for &(first, last) in ranks {
                let end = (last.index() + 1).min(cells.len());
                let of = cells.get(first.index()..end).unwrap_or_default();
                of.iter().for_each(|cell| sum.add(cell));
            }
        }
        WindowBudget {
            budget: sum.budget,
            compute_ns: sum.compute_ns,
            cpu_wait_ns: sum.cpu_wait_ns,
            spared: sum.spared,
            ..WindowBudget::default()
        }
    }
}

/// A time that is shared out: the last gets what is left.
struct Shares {
    whole_ns: u64,
    left_ns: u64,
}

impl Shares {
    fn new(whole_ns: u64) -> Self {
        Self { whole_ns, left_ns: whole_ns }
    }

    /// The next gets so much of the whole; none when that is all that is left.
    fn next(&mut self, ns: u64) -> Option<(u64, u64)> {
        let is_last = ns == self.left_ns;
        self.left_ns -= ns;
        (!is_last).then_some((ns, self.whole_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_follow_intervals_and_not_the_time_between_them() {
        const LONG_NS: u64 = 12 * 365 * 86_400 * 1_000_000_000;
        let mut sparse = ByRank::new(1_000_000);
        for at in 0..8_u64 {
            let from_ns = at * LONG_NS;
            sparse.compute(Rank((at % 2) as u32), from_ns, from_ns + LONG_NS, 0);
            let cells: usize = sparse.windows.iter().map(Vec::len).sum();
            assert!(cells <= LEAST_CELLS, "{cells} cells");
        }
        let whole = sparse.sum(&[(Rank(0), Rank(1))], 0..sparse.windows());
        assert_eq!(whole.compute_ns, 8 * LONG_NS);
        // Where there are many intervals, windows are as short as before.
        let mut dense = ByRank::new(1_000);
        for at in 0..20_000_u64 {
            dense.compute(Rank(0), at * 1_000, at * 1_000 + 1_000, 0);
            dense.close();
        }
        assert_eq!((dense.windows(), dense.width_ns()), (20_000, 1_000));
    }
}
