//! Where the balance of work changes.
//!
//! In: how much each rank works in each of equal cells of the run, relative to the mean of the ranks that do the same.
//! Out: the segments within which each rank's share stays the same. A single slow step is noise and starts no segment.

use crate::whatif::median::median_of_floats;
use std::ops::Range;

/// A segment has at least this many cells.
const LEAST_CELLS: usize = 4;
/// A share has changed if it differs by this many standard errors, and by this much of the mean.
const SIGNIFICANT: f64 = 6.0;
const RELEVANT: f64 = 0.05;
/// Cells on each side whose median replaces a cell.
const SMOOTHED: usize = 2;
/// The median of the distances of normal values that follow each other, in their standard deviation.
const MEDIAN_DISTANCE: f64 = 0.954;

/// A smaller share is none.
const LEAST_SHARE: f64 = 1e-3;

/// The shares of all ranks, as sums up to each cell.
struct Shares {
    cells: usize,
    /// By rank and cell, one more for each rank; of shares and of their logarithms, whose noise is alike at every level.
    sums: Vec<(f64, f64)>,
    /// By rank, the standard deviation of the logarithm from cell to cell.
    deviations: Vec<f64>,
}

impl Shares {
    fn new(relative: &[f64], cells: usize) -> Self {
        let mut sums = Vec::with_capacity(relative.len() + relative.len() / cells);
        let mut deviations = Vec::with_capacity(relative.len() / cells);
        let log = |share: f64| share.max(LEAST_SHARE).ln();
        let (mut distances, mut window) = (Vec::with_capacity(cells), [0.0; 2 * SMOOTHED + 1]);
        for of_rank in relative.chunks_exact(cells) {
            distances.clear();
            distances.extend(of_rank.windows(2).map(|two| (log(two[1]) - log(two[0])).abs()));
            deviations.push(median_of_floats(&mut distances) / MEDIAN_DISTANCE);
            let (mut sum, mut sum_of_logs) = (0.0, 0.0);
            sums.push((sum, sum_of_logs));
            for cell in 0..cells {
                let near = &of_rank[cell.saturating_sub(SMOOTHED)..(cell + SMOOTHED + 1).min(cells)];
                window[..near.len()].copy_from_slice(near);
                let share = median_of_floats(&mut window[..near.len()]);
                (sum, sum_of_logs) = (sum + share, sum_of_logs + log(share));
                sums.push((sum, sum_of_logs));
            }
        }
        Self { cells, sums, deviations }
    }

    /// How clearly the shares of all ranks change at a cell: squared standard errors of those that do.
    fn change_at(&self, at: usize, within: &Range<usize>) -> f64 {
        let (before, after) = ((at - within.start) as f64, (within.end - at) as f64);
        let of_rank = |(sums, deviation): (&[(f64, f64)], &f64)| {
            let change = |of: fn((f64, f64)) -> f64| {
                let (from, middle, to) = (of(sums[within.start]), of(sums[at]), of(sums[within.end]));
                ((to - middle) / after - (middle - from) / before).abs()
            };
            let error = deviation * (1.0 / before + 1.0 / after).sqrt();
            let errors = change(|sums| sums.1) / error.max(1e-9);
            let is_change = errors > SIGNIFICANT && change(|sums| sums.0) > RELEVANT;
            if is_change { errors * errors } else { 0.0 }
        };
        self.sums.chunks_exact(self.cells + 1).zip(&self.deviations).map(of_rank).sum()
    }

    /// Where within a range the shares change most clearly; none where they do not.
    fn clearest_change(&self, within: &Range<usize>) -> Option<usize> {
        let places = within.start + LEAST_CELLS..(within.end + 1).saturating_sub(LEAST_CELLS);
        let changes = places.map(|at| (self.change_at(at, within), at));
        let (clarity, at) = changes.max_by(|one, other| one.0.total_cmp(&other.0))?;
        (clarity > 0.0).then_some(at)
    }

    /// Drops starts at which nothing changes any more, now that there are others beside them.
    fn drop_needless(&self, starts: &mut Vec<usize>) {
        let mut at = 1;
        while at < starts.len() {
            let end = starts.get(at + 1).copied().unwrap_or(self.cells);
            if self.change_at(starts[at], &(starts[at - 1]..end)) > 0.0 {
                at += 1;
            } else {
                starts.remove(at);
            }
        }
    }
}

/// The cells at which a segment starts, the first among them. Shares are by rank and cell.
pub(crate) fn starts(relative: &[f64], cells: usize, most: usize) -> Vec<usize> {
    let mut starts = vec![0];
    let shares = Shares::new(relative, cells);
    let mut open = vec![(0, cells)];
    while let Some((start, end)) = open.pop()
        && starts.len() < most
    {
        if let Some(at) = shares.clearest_change(&(start..end)) {
            starts.push(at);
            open.extend([(start, at), (at, end)]);
        }
    }
    starts.sort_unstable();
    shares.drop_needless(&mut starts);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: usize = 192;

    /// Values around 1 that repeat in each run of the test.
    fn noise(at: usize) -> f64 {
        let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let uniform =
            ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24);
        1.0 + 0.2 * (uniform - 0.5)
    }

    fn shares(ranks: usize, share: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let values = (0..ranks * CELLS).map(|at| noise(at) * share(at / CELLS, at % CELLS));
        values.collect()
    }

    #[test]
    fn balance_that_stays_is_one_segment() {
        assert_eq!(starts(&shares(16, |rank, _| if rank == 3 { 3.0 } else { 0.9 }), CELLS, 64), [0]);
        // A single slow step, however slow.
        assert_eq!(
            starts(&shares(4, |rank, cell| if (rank, cell) == (1, 90) { 50.0 } else { 1.0 }), CELLS, 64),
            [0]
        );
    }

    #[test]
    fn a_slow_rank_that_moves_starts_a_segment_each_time() {
        let moves = |rank: usize, cell: usize| if cell * 7 / CELLS == rank { 2.3 } else { 0.8 };
        let found = starts(&shares(7, moves), CELLS, 64);
        let wanted: Vec<usize> = (0..7).map(|rank| (rank * CELLS).div_ceil(7)).collect();
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        assert!(
            found.iter().zip(&wanted).all(|(found, wanted)| found.abs_diff(*wanted) <= 2),
            "{found:?} {wanted:?}"
        );
    }

    #[test]
    fn no_more_segments_than_allowed() {
        let jumps = |_: usize, cell: usize| if (cell / 8).is_multiple_of(2) { 1.0 } else { 3.0 };
        assert!(starts(&shares(4, jumps), CELLS, 64).len() > 16);
        assert_eq!(starts(&shares(4, jumps), CELLS, 5).len(), 5);
    }

    #[test]
    fn few_cells_are_one_segment() {
        for cells in 1..2 * LEAST_CELLS {
            assert_eq!(starts(&vec![1.0; 3 * cells], cells, 64), [0]);
        }
    }
}
