//! Who talks to whom: the names of patterns, and the grids that they put ranks into.

use crate::error::{Error, named};
use crate::style::Style;
use std::str::FromStr;

/// Who talks to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// To the next rank, around.
    Ring,
    /// With the neighbours of a grid that has borders.
    Halo2d,
    /// The same in three dimensions.
    Halo3d,
    /// As in a conjugate gradient solver: four messages in turn with each partner in the row, one with the transpose.
    Cg,
    /// With everybody.
    AllToAll,
    /// Rank 0 deals tasks to ranks that are done.
    MasterWorker,
    /// Across a grid from corner to corner, in blocks that follow each other, and back.
    Wavefront,
    /// With four others, by chance, the same all the time.
    RandomSparse,
    /// From the first rank to the last, in blocks that follow each other.
    Pipeline,
    /// With both neighbours in a ring of four ranks, and rarely with the next such ring.
    Groups,
    /// With nobody: each step ends with an `MPI_Allreduce`.
    Collectives,
}

const ALL: [(&str, Pattern); 11] = [
    ("ring", Pattern::Ring),
    ("halo2d", Pattern::Halo2d),
    ("halo3d", Pattern::Halo3d),
    ("cg", Pattern::Cg),
    ("all-to-all", Pattern::AllToAll),
    ("master-worker", Pattern::MasterWorker),
    ("wavefront", Pattern::Wavefront),
    ("random-sparse", Pattern::RandomSparse),
    ("pipeline", Pattern::Pipeline),
    ("groups", Pattern::Groups),
    ("collectives", Pattern::Collectives),
];

/// The names of patterns.
pub const PATTERNS: [&str; 11] = {
    let (mut names, mut at) = ([""; 11], 0);
    while at < names.len() {
        names[at] = ALL[at].0;
        at += 1;
    }
    names
};

/// Blocks that follow each other through a wavefront or a pipeline.
pub(crate) const WAVES: u32 = 8;
/// Partners of a rank, each way.
pub(crate) const SPARSE_PARTNERS: u32 = 4;
/// Messages with each partner in a row.
pub(crate) const CG_ROUNDS: u32 = 4;
/// All pairs of more ranks are too many to be kept.
const MOST_ALL_TO_ALL: u32 = 1024;
/// What a slot has room for.
const MOST_RANKS: u32 = 1 << 20;

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        named("pattern", &ALL, name)
    }
}

impl Pattern {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(_, pattern)| *pattern == self).map_or("", |(name, _)| name)
    }

    pub(crate) fn check(self, ranks: u32) -> Result<(), Error> {
        let needed = match self {
            Pattern::Cg if !ranks.is_power_of_two() || ranks < 2 => "a power of two of at least 2",
            Pattern::AllToAll if ranks > MOST_ALL_TO_ALL => "2 to 1,024",
            _ if !(2..=MOST_RANKS).contains(&ranks) => "2 to 1,048,576",
            _ => return Ok(()),
        };
        Err(Error::Ranks { pattern: self.name(), needed, ranks })
    }

    /// How many messages follow each other in a step, about.
    pub(crate) fn chain(self, ranks: u32, style: Style) -> u32 {
        let blocking = |messages: u32| if style == Style::Blocking { messages } else { 1 };
        match self {
            Pattern::Ring => 1,
            Pattern::Halo2d => blocking(4),
            Pattern::Halo3d => blocking(6),
            Pattern::Cg => CG_ROUNDS * row(ranks).ilog2() + 1,
            Pattern::AllToAll => blocking(ranks - 1),
            Pattern::MasterWorker => 2,
            Pattern::Wavefront => {
                let [width, height, _] = grid(ranks, 2);
                2 * (WAVES + width + height - 2)
            }
            Pattern::RandomSparse => blocking(SPARSE_PARTNERS),
            Pattern::Pipeline => WAVES,
            Pattern::Groups => blocking(2),
            Pattern::Collectives => 2 * ranks.next_power_of_two().ilog2(),
        }
    }
}

/// A grid as near to a square or cube as the number of ranks allows.
pub(crate) fn grid(ranks: u32, dimensions: u32) -> [u32; 3] {
    let greatest = |number: u32, root: f64| {
        let most = f64::from(number).powf(1.0 / root).round() as u32;
        (1..=most.max(1)).rev().find(|divisor| number.is_multiple_of(*divisor)).unwrap_or(1)
    };
    let depth = if dimensions == 3 { greatest(ranks, 3.0) } else { 1 };
    let height = greatest(ranks / depth, 2.0);
    [ranks / depth / height, height, depth]
}

/// How many ranks a row has.
pub(crate) fn row(ranks: u32) -> u32 {
    1 << ranks.ilog2().div_ceil(2)
}

/// The rank on the other side of the diagonal. Where rows are twice as many ranks as columns, pairs stand for one.
pub(crate) fn transpose(rank: u32, ranks: u32) -> u32 {
    let (columns, rows) = (row(ranks), ranks / row(ranks));
    let width = columns / rows;
    let (pair, within) = (rank / width, rank % width);
    width * (pair % rows * rows + pair / rows) + within
}

/// Tags of tasks and results.
pub(crate) const TASK_TAG: i32 = 1;
pub(crate) const RESULT_TAG: i32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_even_as_can_be() {
        assert_eq!(grid(64, 2), [8, 8, 1]);
        assert_eq!(grid(12, 2), [4, 3, 1]);
        assert_eq!(grid(7, 2), [7, 1, 1]);
        assert_eq!(grid(16_384, 3).iter().product::<u32>(), 16_384);
        assert_eq!(grid(27, 3), [3, 3, 3]);
    }

    #[test]
    fn transposing_twice_is_nothing() {
        for ranks in [2, 4, 8, 16, 32, 64, 512] {
            let all: Vec<u32> = (0..ranks).map(|rank| transpose(rank, ranks)).collect();
            assert!((0..ranks).all(|rank| all[all[rank as usize] as usize] == rank), "{ranks}: {all:?}");
        }
        assert_eq!(row(64), 8);
        assert_eq!(row(512), 32);
    }
}
