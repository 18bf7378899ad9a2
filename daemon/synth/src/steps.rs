//! The steps that each rank goes through in a pattern.

use crate::pattern::{
    CG_ROUNDS, Pattern, RESULT_TAG, SPARSE_PARTNERS, TASK_TAG, WAVES, grid, row, transpose,
};
use crate::random::{Purpose, Stream};
use crate::script::{Builder, Op, Script, Serial};
use crate::spec::{Collective, Spec};

/// Ranks of a group.
const GROUP: u32 = 4;
/// Groups talk to each other every N steps.
const GROUPS_MEET_EVERY: u32 = 20;

impl Pattern {
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
