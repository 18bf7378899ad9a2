//! Where time went by rank and window, for ranges of time and ranks that somebody asks for.

use crate::findings::{By, Parts};
use mpiscope_model::Rank;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Cells of a rank and a window.
const MOST_CELLS: usize = 1 << 13;
/// Figures of a cell: the parts, then what could be avoided.
const PARTS: usize = 19;
pub(crate) const FIGURES: usize = PARTS + 4;

/// What a window costs by each cause that could be avoided: placement, pattern, network contention, CPU contention.
pub type Avoidable = [f64; 4];

/// Windows as long as it takes for at most this number of cells: of many ranks they are few.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ByRank {
    /// Where the first window begins.
    pub from_ns: u64,
    /// How long each is.
    pub width_ns: u64,
    ranks: usize,
    windows: usize,
    /// By window, then by rank, in microseconds: most are nothing, and so they are short where they are written.
    figures: Vec<i64>,
}

impl ByRank {
    /// How many windows have to become one, of a number of windows with a number of ranks each.
    #[must_use]
    pub fn step(windows: usize, ranks: usize) -> usize {
        let most = (MOST_CELLS / ranks.max(1)).max(1);
        windows.div_ceil(most).max(1)
    }

    /// No windows of this number of ranks yet.
    #[must_use]
    pub fn new(from_ns: u64, width_ns: u64, ranks: usize) -> Self {
        Self { from_ns, width_ns, ranks, windows: 0, figures: Vec::new() }
    }

    /// The next window, rank by rank.
    pub fn push(&mut self, cells: impl Iterator<Item = (Parts, Avoidable)>) {
        self.windows += 1;
        for (parts, avoidable) in cells.take(self.ranks) {
            self.figures.extend(parts.figures().map(microseconds));
            self.figures.extend(avoidable.map(microseconds));
        }
        self.figures.resize(self.windows * self.ranks * FIGURES, 0);
    }

    /// The number of windows; none if another version of the program wrote other figures.
    pub(crate) fn windows(&self) -> usize {
        if self.figures.len() == self.windows * self.ranks * FIGURES { self.windows } else { 0 }
    }

    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// The sum over ranges of ranks, both ends included; a rank in several of them counts once.
    pub(crate) fn sum(&self, windows: Range<usize>, ranks: &[(Rank, Rank)]) -> (Parts, Avoidable) {
        seconds(&self.figures_of(windows, ranks).map(|figure| figure as f64))
    }

    fn figures_of(&self, windows: Range<usize>, ranks: &[(Rank, Rank)]) -> [i64; FIGURES] {
        let mut sum = [0_i64; FIGURES];
        let of_window = self.ranks * FIGURES;
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable();
        for window in windows {
            let mut next = 0;
            for &(first, last) in &ranks {
                let first = first.index().clamp(next, self.ranks);
                let end = last.index().saturating_add(1).clamp(first, self.ranks);
                next = end;
                let cells = window * of_window + first * FIGURES..window * of_window + end * FIGURES;
                for cell in self.figures.get(cells).unwrap_or_default().chunks_exact(FIGURES) {
                    sum.iter_mut().zip(cell).for_each(|(sum, figure)| *sum += figure);
                }
            }
        }
        sum
    }

    /// Adds a share of what ranks have in a window.
    pub(crate) fn add_share(
        &self,
        window: usize,
        ranks: &[(Rank, Rank)],
        share: f64,
        to: &mut [f64; FIGURES],
    ) {
        let sum = self.figures_of(window..window + 1, ranks);
        to.iter_mut().zip(sum).for_each(|(to, figure)| *to += share * figure as f64);
    }
}

/// Of sums in microseconds.
pub(crate) fn seconds(sum: &[f64; FIGURES]) -> (Parts, Avoidable) {
    let seconds = |at: usize| sum[at] / 1e6;
    (Parts::from_figures(std::array::from_fn(seconds)), std::array::from_fn(|at| seconds(PARTS + at)))
}

fn microseconds(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

impl Parts {
    /// All figures, in order.
    pub(crate) fn figures(&self) -> [f64; PARTS] {
        let By { compute, base, distance, excess, operation, other, unknown, cpu_wait } = self.waiting_by;
        [
            self.waiting_s,
            self.base_s,
            self.distance_s,
            self.excess_s,
            self.operation_s,
            self.other_s,
            self.unknown_s,
            self.total_s,
            compute,
            base,
            distance,
            excess,
            operation,
            other,
            unknown,
            cpu_wait,
            self.distance_saved_s,
            self.excess_inside_s,
            self.cpu_wait_s,
        ]
    }

    /// Of all figures, in order.
    pub(crate) fn from_figures(figures: [f64; PARTS]) -> Self {
        let [waiting_s, base_s, distance_s, excess_s, operation_s, other_s, unknown_s, total_s, rest @ ..] =
            figures;
        let [
            compute,
            base,
            distance,
            excess,
            operation,
            other,
            unknown,
            cpu_wait,
            saved_s,
            inside_s,
            cpu_wait_s,
        ] = rest;
        Self {
            waiting_s,
            base_s,
            distance_s,
            excess_s,
            operation_s,
            other_s,
            unknown_s,
            total_s,
            waiting_by: By { compute, base, distance, excess, operation, other, unknown, cpu_wait },
            distance_saved_s: saved_s,
            excess_inside_s: inside_s,
            cpu_wait_s,
        }
    }
}
