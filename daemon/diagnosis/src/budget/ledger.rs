//! Where time went, by window and rank. Windows double in length as the run grows, to bound the ledger.

use super::by_rank::ByRank;
use super::causes::{Cause, Causes};
use super::shares::RankShares;
use super::window_budget::{RankBudget, Spared, WindowBudget};
use mpiscope_model::{Nanoseconds, Rank};
use std::ops::Range;

/// More windows are joined in pairs.
const MOST_WINDOWS: usize = 4_096;

/// The ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    width_ns: u64,
    windows: Vec<WindowBudget>,
    /// Which window the first of them is; not the first of the run in what a shard adds up in a window.
    first: Option<usize>,
    ranks: Vec<RankBudget>,
    by_rank: ByRank,
    shares: RankShares,
}

mpiscope_model::numbers! { Ledger { width_ns, windows, first, ranks, by_rank, shares } }

impl Ledger {
    pub(super) fn new(width_ns: u64) -> Self {
        let width_ns = width_ns.max(1);
        let (by_rank, shares) = (ByRank::new(width_ns), RankShares::default());
        Self { width_ns, windows: Vec::new(), first: Some(0), ranks: Vec::new(), by_rank, shares }
    }

    /// Takes in what another one has taken in since it was emptied last.
    pub(super) fn merge(&mut self, other: &Self) {
        while self.width_ns < other.width_ns {
            self.join();
        }
        let written = |window: &WindowBudget| *window != WindowBudget::default();
        let windows = (other.first.unwrap_or_default()..).zip(&other.windows);
        for (at, theirs) in windows.filter(|(_, window)| written(window)) {
            self.window(at as u64 * other.width_ns).add(theirs);
        }
        for (rank, theirs) in other.ranks.iter().enumerate() {
            if *theirs != RankBudget::default() {
                self.rank(Rank::from_index(rank)).add(theirs);
            }
        }
        self.by_rank.merge(&other.by_rank);
        self.shares.merge(&other.shares);
    }

    /// An empty one, with windows as long.
    pub(super) fn emptied(&self) -> Self {
        Self {
            width_ns: self.width_ns,
            windows: Vec::new(),
            first: None,
            ranks: Vec::new(),
            by_rank: self.by_rank.emptied(),
            shares: self.shares.emptied(),
        }
    }

    /// Calls of this number of ranks that end before a time will be settled.
    pub(super) fn reach(&mut self, until_ns: Nanoseconds, ranks: usize) {
        while until_ns.saturating_sub(1) / self.width_ns >= MOST_WINDOWS as u64 {
            self.join();
        }
        self.by_rank.reach(until_ns, ranks);
        self.shares.reach(until_ns);
    }

    /// A window is over. Returns how many cells by rank may be kept in the next one.
    pub(super) fn close(&mut self) -> usize {
        self.by_rank.close()
    }

    /// Says how many cells by rank may be kept.
    pub(super) fn allow_cells(&mut self, most: usize) {
        self.by_rank.allow_cells(most);
    }

    /// How long each window is.
    #[must_use]
    pub fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// All windows from the start of the run.
    #[must_use]
    pub fn windows(&self) -> &[WindowBudget] {
        &self.windows
    }

    /// How long each window is for those who ask for some of the ranks, and how many there are; they are fewer than those
    /// of all ranks where there are many ranks.
    #[must_use]
    pub fn windows_by_rank(&self) -> (u64, usize) {
        (self.by_rank.width_ns(), self.by_rank.windows())
    }

    /// The budget of ranges of ranks, both ends included, in the windows of `windows_by_rank`. Comparisons of messages
    /// with criteria are not kept by rank.
    #[must_use]
    pub fn of_ranks(&self, ranks: &[(Rank, Rank)], windows: Range<usize>) -> WindowBudget {
        self.by_rank.sum(ranks, windows)
    }

    /// What each rank's time was spent on, for a view of the whole run.
    #[must_use]
    pub fn shares(&self) -> &RankShares {
        &self.shares
    }

    /// All ranks up to the last that did something.
    #[must_use]
    pub fn ranks(&self) -> &[RankBudget] {
        &self.ranks
    }

    /// The whole run.
    #[must_use]
    pub fn total(&self) -> WindowBudget {
        self.range(0, Nanoseconds::MAX)
    }

    /// The windows that begin in a range.
    #[must_use]
    pub fn range(&self, from_ns: Nanoseconds, to_ns: Nanoseconds) -> WindowBudget {
        let mut sum = WindowBudget::default();
        for (at, window) in self.windows.iter().enumerate() {
            let begin_ns = at as u64 * self.width_ns;
            if from_ns <= begin_ns && begin_ns < to_ns {
                sum.add(window);
            }
        }
        sum
    }

    /// A rank will do something.
    pub(super) fn expect(&mut self, rank: Rank) {
        self.shares.expect(rank);
    }

    pub(super) fn rank(&mut self, rank: Rank) -> &mut RankBudget {
        let at = rank.index();
        if self.ranks.len() <= at {
            self.ranks.resize(at + 1, RankBudget::default());
        }
        &mut self.ranks[at]
    }

    #[inline]
    pub(super) fn window(&mut self, at_ns: Nanoseconds) -> &mut WindowBudget {
        let mut at = (at_ns / self.width_ns) as usize;
        while at >= MOST_WINDOWS {
            self.join();
            at = (at_ns / self.width_ns) as usize;
        }
        let first = *self.first.get_or_insert(at);
        if at < first {
            self.windows.splice(..0, std::iter::repeat_n(WindowBudget::default(), first - at));
            self.first = Some(at);
        }
        let at = at - first.min(at);
        if self.windows.len() <= at {
            self.windows.resize(at + 1, WindowBudget::default());
        }
        &mut self.windows[at]
    }

    #[cold]
    fn join(&mut self) {
        self.width_ns *= 2;
        let pairs = self.windows.chunks(2).map(|pair| {
            let mut joined = pair[0];
            pair[1..].iter().for_each(|other| joined.add(other));
            joined
        });
        self.windows = pairs.collect();
    }

    /// Does something with each window that an interval touches, and the length of what it touches.
    #[inline]
    fn spread(&mut self, from_ns: u64, to_ns: u64, mut each: impl FnMut(&mut WindowBudget, u64)) {
        // Mostly it lies in one that is there already.
        let at = from_ns / self.width_ns;
        if to_ns - at * self.width_ns <= self.width_ns
            && let Some(first) = self.first
            && let Some(window) = (at as usize).checked_sub(first).and_then(|at| self.windows.get_mut(at))
        {
            return each(window, to_ns - from_ns);
        }
        let mut at_ns = from_ns;
        while at_ns < to_ns {
            // The width may grow while windows are made.
            self.window(to_ns - 1);
            let end_ns = (at_ns - at_ns % self.width_ns).saturating_add(self.width_ns).min(to_ns);
            each(self.window(at_ns), end_ns - at_ns);
            at_ns = end_ns;
        }
    }

    /// What would be spared in the window of a moment.
    pub(super) fn spared(&mut self, rank: Rank, at_ns: Nanoseconds, spared: Spared) {
        if spared != Spared::default() {
            self.window(at_ns.saturating_sub(1)).spared.add(&spared);
            self.by_rank.cell(rank, at_ns.saturating_sub(1)).spared.add(&spared);
        }
    }

    #[inline]
    pub(super) fn direct(&mut self, rank: Rank, cause: Cause, from_ns: u64, to_ns: u64) {
        if from_ns < to_ns {
            self.rank(rank).budget.direct[cause] += (to_ns - from_ns) as i64;
            self.by_rank.direct(rank, cause, from_ns, to_ns);
            self.shares.direct(rank, cause, from_ns, to_ns);
            self.spread(from_ns, to_ns, |window, ns| window.budget.direct[cause] += ns as i64);
        }
    }

    #[inline]
    pub(super) fn compute(&mut self, rank: Rank, from_ns: u64, to_ns: u64, cpu_wait_ns: u64) {
        if from_ns < to_ns {
            let whole_ns = to_ns - from_ns;
            let of = self.rank(rank);
            of.compute_ns += whole_ns;
            of.cpu_wait_ns += cpu_wait_ns;
            self.by_rank.compute(rank, from_ns, to_ns, cpu_wait_ns);
            self.shares.compute(rank, from_ns, to_ns, cpu_wait_ns);
            let (mut left_ns, mut left_cpu_wait_ns) = (whole_ns, cpu_wait_ns);
            self.spread(from_ns, to_ns, |window, ns| {
                let part_ns = if ns == left_ns {
                    left_cpu_wait_ns
                } else {
                    (u128::from(cpu_wait_ns) * u128::from(ns) / u128::from(whole_ns)) as u64
                };
                (left_ns, left_cpu_wait_ns) = (left_ns - ns, left_cpu_wait_ns - part_ns);
                window.compute_ns += ns;
                window.cpu_wait_ns += part_ns;
            });
        }
    }

    /// Waiting: the pieces of it that were spent in calls, and what it was made of.
    pub(super) fn waiting(&mut self, rank: Rank, pieces: &[(u64, u64)], by: Causes) {
        let whole_ns: u64 = pieces.iter().map(|(from, to)| to - from).sum();
        if whole_ns == 0 {
            return;
        }
        let budget = &mut self.rank(rank).budget;
        budget.waiting_ns += whole_ns;
        budget.waiting_by += by;
        self.by_rank.waiting(rank, pieces, whole_ns, by);
        self.shares.waiting(rank, pieces, whole_ns, by);
        let (mut left_ns, mut left) = (whole_ns, by);
        for &(from_ns, to_ns) in pieces {
            self.spread(from_ns, to_ns, |window, ns| {
                // Rounding must not lose a nanosecond in any window: what the parts lack is computing.
                let part = if ns == left_ns {
                    left
                } else {
                    let mut part = by.share(ns, whole_ns);
                    part[Cause::Compute] += ns as i64 - part.sum();
                    part
                };
                left_ns -= ns;
                left -= part;
                window.budget.waiting_ns += ns;
                window.budget.waiting_by += part;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_join_and_lose_nothing() {
        let mut ledger = Ledger::new(10);
        let mut by = Causes::default();
        (by[Cause::Compute], by[Cause::Excess]) = (70, -1);
        by[Cause::Base] = 31;
        ledger.waiting(Rank(3), &[(5, 45), (50, 110)], by);
        ledger.compute(Rank(3), 110, 145, 13);
        for (window, expected) in ledger.windows().iter().zip([5, 10, 10, 10, 5, 10, 10]) {
            assert_eq!(
                (window.budget.waiting_ns, window.budget.waiting_by.sum()),
                (expected, expected as i64)
            );
        }
        let before = ledger.total();
        assert_eq!(before.budget.waiting_by, by);
        assert_eq!((before.compute_ns, before.cpu_wait_ns), (35, 13));
        ledger.direct(Rank(0), Cause::Other, 1_000_000, 1_000_007);
        assert!(ledger.windows().len() <= MOST_WINDOWS && ledger.width_ns() == 320);
        let mut after = ledger.total();
        assert_eq!(after.budget.direct[Cause::Other], 7);
        after.budget.direct[Cause::Other] = 0;
        assert_eq!(after, before);
        assert_eq!(ledger.ranks()[3].budget, before.budget);
    }

    #[test]
    fn some_ranks_sum_to_all_in_every_window() {
        let mut ledger = Ledger::new(10);
        let spared = Spared { quiet_ns: 3, ..Spared::default() };
        for step in 0..2_000_u64 {
            let (rank, at_ns) = ((step % 100) as u32, step * 7 % 9_001);
            let mut by = Causes::default();
            (by[Cause::Compute], by[Cause::Excess], by[Cause::Base]) = (40, -3, 10);
            ledger.waiting(Rank(rank), &[(at_ns, at_ns + 13), (at_ns + 20, at_ns + 54)], by);
            ledger.direct(Rank(rank), Cause::Base, at_ns + 54, at_ns + 61);
            ledger.compute(Rank(rank), at_ns, at_ns + 31, 17);
            ledger.spared(Rank(rank), at_ns, spared);
        }
        let (width_ns, windows) = ledger.windows_by_rank();
        assert!(width_ns > ledger.width_ns() && windows * 100 <= 1 << 16, "{width_ns} {windows}");
        let (every, some, others) = ([(0, 99)], [(0, 16), (60, 60)], [(17, 59), (61, 4_000)]);
        let ranges = |ranges: &[(u32, u32)]| -> Vec<(Rank, Rank)> {
            ranges.iter().map(|&(first, last)| (Rank(first), Rank(last))).collect()
        };
        for at in 0..windows {
            let whole = ledger.range(at as u64 * width_ns, (at as u64 + 1) * width_ns);
            let of = |ranks: &[(u32, u32)]| ledger.of_ranks(&ranges(ranks), at..at + 1);
            let (mut sum, other) = (of(&some), of(&others));
            sum.add(&other);
            assert_eq!(sum, of(&every));
            assert_eq!((sum.budget.total_ns(), sum.compute_ns), (whole.budget.total_ns(), whole.compute_ns));
            assert_eq!(sum.spared, whole.spared);
            assert_eq!(sum.budget.waiting_by.sum(), sum.budget.waiting_ns as i64);
        }
        let (all, total) = (ledger.of_ranks(&ranges(&every), 0..windows), ledger.total());
        assert_eq!((all.budget, all.cpu_wait_ns), (total.budget, total.cpu_wait_ns));
        assert_eq!(ledger.of_ranks(&[(Rank(200), Rank(300))], 0..windows), WindowBudget::default());
    }
}
