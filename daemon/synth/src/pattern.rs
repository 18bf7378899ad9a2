//! Who talks to whom: the names of patterns, and the steps that each rank goes through.

use crate::error::{Error, named};
use crate::random::{Purpose, Stream};
use crate::script::{Builder, Op, Script, Serial};
use crate::spec::{Collective, Spec, Style};
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
/// Ranks of a group.
const GROUP: u32 = 4;
/// Groups talk to each other every N steps.
const GROUPS_MEET_EVERY: u32 = 20;
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

    /// The steps of every rank.
    pub(crate) fn script(self, spec: &Spec, serial: Serial) -> Script {
        let mut builder = Builder::new(spec, serial);
        match self {
            Pattern::Ring => rounds(&mut builder, spec.ranks, &[Shift::by(1)]),
            Pattern::Halo2d => halo(&mut builder, spec.ranks, 2),
            Pattern::Halo3d => halo(&mut builder, spec.ranks, 3),
            Pattern::Cg => cg(&mut builder, spec.ranks),
            Pattern::AllToAll => {
                let shifts: Vec<Shift> = (1..spec.ranks).map(Shift::by).collect();
                rounds(&mut builder, spec.ranks, &shifts);
            }
            Pattern::MasterWorker => master_worker(&mut builder, spec.ranks),
            Pattern::Wavefront => wavefront(&mut builder, spec.ranks),
            Pattern::RandomSparse => {
                let stream = Stream::new(spec.seed, Purpose::Partners);
                let shifts: Vec<Shift> = (0..SPARSE_PARTNERS)
                    .map(|at| Shift::Along(ring(&stream.shuffled(at, spec.ranks))))
                    .collect();
                rounds(&mut builder, spec.ranks, &shifts);
            }
            Pattern::Pipeline => pipeline(&mut builder, spec.ranks),
            Pattern::Groups => groups(&mut builder, spec.ranks),
            Pattern::Collectives => {
                for _ in 0..spec.ranks {
                    builder.compute(1);
                    builder.push(Op::Meet(Some(Collective::Allreduce)));
                    builder.end_rank();
                }
            }
        }
        builder.finish()
    }
}

/// Everybody sends to one and receives from one.
enum Shift {
    By(u32),
    /// To whom, and from whom.
    Along((Vec<u32>, Vec<u32>)),
}

impl Shift {
    fn by(distance: u32) -> Self {
        Shift::By(distance)
    }

    fn partners(&self, rank: u32, ranks: u32) -> (u32, u32) {
        match self {
            Shift::By(distance) => ((rank + distance) % ranks, (rank + ranks - distance) % ranks),
            Shift::Along((to, from)) => (to[rank as usize], from[rank as usize]),
        }
    }
}

/// The next and the previous of everybody, around in an order.
fn ring(order: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut to, mut from) = (vec![0; order.len()], vec![0; order.len()]);
    for (at, &rank) in order.iter().enumerate() {
        let next = order[(at + 1) % order.len()];
        to[rank as usize] = next;
        from[next as usize] = rank;
    }
    (to, from)
}

fn rounds(builder: &mut Builder, ranks: u32, shifts: &[Shift]) {
    for rank in 0..ranks {
        builder.compute(1);
        let partners = shifts.iter().zip(0..).map(|(shift, tag)| {
            let (to, from) = shift.partners(rank, ranks);
            (Some((to, tag)), Some((from, tag)))
        });
        builder.exchange_all(&partners.collect::<Vec<_>>());
        builder.end_rank();
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

/// The neighbour at a distance along an axis; ranks count along the first axis first.
fn neighbour(rank: u32, grid: [u32; 3], axis: usize, forward: bool) -> Option<u32> {
    let stride: u32 = grid[..axis].iter().product();
    let at = rank / stride % grid[axis];
    if forward {
        (at + 1 < grid[axis]).then(|| rank + stride)
    } else {
        at.checked_sub(1).map(|_| rank - stride)
    }
}

fn halo(builder: &mut Builder, ranks: u32, dimensions: u32) {
    let grid = grid(ranks, dimensions);
    for rank in 0..ranks {
        builder.compute(1);
        let sides = (0..dimensions as usize).flat_map(|axis| [(axis, true), (axis, false)]);
        let partners = sides.zip(0..).map(|((axis, forward), tag)| {
            let to = neighbour(rank, grid, axis, forward);
            let from = neighbour(rank, grid, axis, !forward);
            (to.map(|to| (to, tag)), from.map(|from| (from, tag)))
        });
        builder.exchange_all(&partners.collect::<Vec<_>>());
        builder.end_rank();
    }
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

fn cg(builder: &mut Builder, ranks: u32) {
    let columns = row(ranks);
    for rank in 0..ranks {
        for _ in 0..CG_ROUNDS {
            builder.compute(CG_ROUNDS);
            for partner in (0..columns.ilog2()).rev().map(|bit| rank ^ (1 << bit)) {
                builder.exchange_all(&[(Some((partner, 0)), Some((partner, 0)))]);
            }
        }
        let partner = transpose(rank, ranks);
        if partner != rank {
            builder.exchange_all(&[(Some((partner, 1)), Some((partner, 1)))]);
        }
        builder.end_rank();
    }
}

fn wavefront(builder: &mut Builder, ranks: u32) {
    let grid = grid(ranks, 2);
    for rank in 0..ranks {
        for forward in [true, false] {
            for _ in 0..WAVES {
                let beside =
                    |forward| [0, 1].map(|axis| neighbour(rank, grid, axis, forward)).into_iter().zip(0..);
                let tag = |tag: i32| tag + if forward { 0 } else { 2 };
                for (from, axis) in beside(!forward) {
                    builder.receive(from.map(|from| (from, tag(axis))));
                }
                builder.wait();
                builder.compute(2 * WAVES);
                for (to, axis) in beside(forward) {
                    builder.send(to.map(|to| (to, tag(axis))));
                }
                builder.wait();
            }
        }
        builder.end_rank();
    }
}

fn pipeline(builder: &mut Builder, ranks: u32) {
    for rank in 0..ranks {
        for _ in 0..WAVES {
            builder.receive(rank.checked_sub(1).map(|from| (from, 0)));
            builder.wait();
            builder.compute(WAVES);
            builder.send((rank + 1 < ranks).then_some((rank + 1, 0)));
            builder.wait();
        }
        builder.end_rank();
    }
}

fn groups(builder: &mut Builder, ranks: u32) {
    for rank in 0..ranks {
        builder.compute(1);
        let first = rank / GROUP * GROUP;
        let size = GROUP.min(ranks - first);
        let partners: Vec<_> = (1..size)
            .filter(|distance| *distance == 1 || distance + 1 == size)
            .map(|distance| {
                let beside = |distance| first + (rank - first + distance) % size;
                let tag = distance as i32;
                (Some((beside(distance), tag)), Some((beside(size - distance), tag)))
            })
            .collect();
        builder.exchange_all(&partners);
        builder.every(GROUPS_MEET_EVERY, |builder| {
            let next = Some((rank + GROUP) % ranks).filter(|to| *to != rank);
            let before = Some((rank + ranks - GROUP % ranks) % ranks).filter(|from| *from != rank);
            builder.exchange_all(&[(next.map(|to| (to, 0)), before.map(|from| (from, 0)))]);
        });
        builder.end_rank();
    }
}

/// Tags of tasks and results.
pub(crate) const TASK_TAG: i32 = 1;
pub(crate) const RESULT_TAG: i32 = 2;

fn master_worker(builder: &mut Builder, ranks: u32) {
    builder.push(Op::First { else_skip: ranks - 1 });
    for worker in 1..ranks {
        builder.push_channel(Op::Send, worker, TASK_TAG);
    }
    for _ in 1..ranks {
        builder.push(Op::Serve);
        builder.handle();
        builder.push(Op::Reply);
    }
    builder.end_rank();
    for _ in 1..ranks {
        builder.receive(Some((0, TASK_TAG)));
        builder.wait();
        builder.push(Op::StopUnlessTask);
        builder.compute(1);
        builder.spread();
        builder.send(Some((0, RESULT_TAG)));
        builder.wait();
        builder.end_rank();
    }
}

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
