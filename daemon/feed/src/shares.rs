//! What ranks' time was spent on over a range, for the view of messages.

use crate::column::U32Column;
use crate::question::SharesQuestion;
use mpiscope_diagnosis::{RankShares, SHARE_KINDS, ShareTable};
use mpiscope_model::{Nanoseconds, Rank};
use serde::{Deserialize, Serialize};

/// Cells of an answer; each kind of each cell has 4 bytes.
const MOST_CELLS: usize = 1 << 17;

/// Sums by row of ranks and window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Shares {
    /// Where the first window begins.
    pub from_ns: u64,
    /// How long each is.
    pub width_ns: u64,
    /// How many there are.
    pub windows: u32,
    /// Until when time was diagnosed.
    pub until_ns: u64,
    /// The first rank of the first row.
    pub first_rank: u32,
    /// Ranks in a row.
    pub ranks_per_row: u32,
    /// How many rows there are.
    pub rows: u32,
    /// Nanoseconds of a unit of the columns.
    pub unit_ns: u64,
    /// Computing; waiting for a CPU; transfer; other time in MPI; waiting for work, for ranks without a CPU, for the
    /// network, for distance, for the rest. By row, then by window, in units; bits of signed numbers.
    pub kinds: Vec<U32Column>,
}

impl Shares {
    pub(crate) fn new(shares: &RankShares, question: &SharesQuestion, until_ns: Nanoseconds) -> Self {
        let ranks = question.ranks.as_deref().unwrap_or(&[(Rank(0), Rank::MAX)]);
        let first = ranks.iter().map(|(first, _)| *first).min().unwrap_or_default();
        let end = ranks.iter().map(|(_, last)| Rank(last.0.saturating_add(1))).max().unwrap_or_default();
        let limits = (question.windows as usize, MOST_CELLS);
        let table = shares.table(&question.range_ns, &(first..end), question.ranks_per_row, limits);
        Self::of_table(&table, until_ns)
    }

    fn of_table(table: &ShareTable, until_ns: Nanoseconds) -> Self {
        let greatest = table.cells.iter().flatten().map(|ns| ns.unsigned_abs()).max().unwrap_or_default();
        let mut unit_ns = 1_u64;
        while greatest / unit_ns > i32::MAX as u64 {
            unit_ns *= 2;
        }
        let units = |ns: i64| ((ns / unit_ns.cast_signed()) as i32).cast_unsigned();
        Self {
            from_ns: table.from_ns,
            width_ns: table.width_ns,
            windows: table.windows as u32,
            until_ns,
            first_rank: table.first_rank.0,
            ranks_per_row: table.ranks_per_row,
            rows: table.rows as u32,
            unit_ns,
            kinds: (0..SHARE_KINDS)
                .map(|kind| table.cells.iter().map(|cell| units(cell[kind])).collect())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_diagnosis::ShareRow;

    #[test]
    fn a_unit_is_a_nanosecond_unless_sums_are_too_large() {
        let row = |first_rank, ns| ShareRow {
            ranks: 1,
            width_ns: 1 << 33,
            from_ns: 0,
            first_rank,
            parts: [ns, 0, 0, 0, -5, 0, 0, 0, 0],
        };
        let question = SharesQuestion { range_ns: 0..1 << 33, ranks: None, ranks_per_row: 1, windows: 9 };
        let of = |ns| {
            let shares = RankShares::restored(3, [row(Rank(0), 7), row(Rank(2), ns)].into_iter());
            Shares::new(&shares, &question, 77)
        };
        let small = of(2_000_000_000);
        assert_eq!((small.unit_ns, small.rows, small.windows, small.width_ns), (1, 3, 1, 1 << 33));
        assert_eq!(small.kinds[0].0, [7, 0, 2_000_000_000]);
        assert_eq!(small.kinds[4].0[2].cast_signed(), -5);
        let large = of(8_000_000_000);
        assert_eq!((large.unit_ns, large.kinds[0].0[2], large.until_ns), (4, 2_000_000_000, 77));
    }
}
