//! The operations of all ranks: blocking and immediate.

use crate::truth::Truth;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// All of them move numbers of this size. What an operation moves on a rank is what the rank hands over, to itself as
/// well, or what it receives where it hands over nothing.
const ELEMENT_BYTES: usize = 4;

pub fn blocking(world: &SimpleCommunicator, truth: &Truth, count: usize) {
    let (rank, size) = (world.rank(), world.size());
    let ranks = size as usize;
    let root_rank = count as i32 % size;
    let (root, is_root) = (world.process_at_rank(root_rank), rank == root_rank);
    let own = vec![rank; count];
    let bytes = ELEMENT_BYTES * count;
    let everybody: Vec<i32> = (0..size).flat_map(|other| vec![other; count]).collect();
    let sum = size * (size - 1) / 2;

    truth.called("MPI_Barrier");
    world.barrier();
    let mut broadcast_values = own.clone();
    truth.moved("MPI_Bcast", bytes);
    root.broadcast_into(&mut broadcast_values[..]);
    assert_eq!(broadcast_values[0], root_rank);

    let mut all = vec![0; count * ranks];
    truth.moved("MPI_Gather", bytes);
    if is_root {
        root.gather_into_root(&own[..], &mut all[..]);
        assert_eq!(all, everybody);
    } else {
        root.gather_into(&own[..]);
    }
    let mut part = vec![0; count];
    truth.moved("MPI_Scatter", if is_root { ranks * bytes } else { bytes });
    if is_root {
        root.scatter_into_root(&all[..], &mut part[..]);
    } else {
        root.scatter_into(&mut part[..]);
    }
    assert_eq!(part, own);

    let mut all = vec![0; count * ranks];
    truth.moved("MPI_Allgather", bytes);
    world.all_gather_into(&own[..], &mut all[..]);
    assert_eq!(all, everybody);
    let mut exchanged = vec![0; count * ranks];
    truth.moved("MPI_Alltoall", ranks * bytes);
    world.all_to_all_into(&all[..], &mut exchanged[..]);
    assert!(exchanged.iter().all(|value| *value == rank));

    let mut result = vec![0; count];
    truth.moved("MPI_Reduce", bytes);
    if is_root {
        root.reduce_into_root(&own[..], &mut result[..], SystemOperation::sum());
        assert_eq!(result[0], sum);
    } else {
        root.reduce_into(&own[..], SystemOperation::sum());
    }
    truth.moved("MPI_Allreduce", bytes);
    world.all_reduce_into(&own[..], &mut result[..], SystemOperation::sum());
    assert_eq!(result[0], sum);
    truth.moved("MPI_Scan", bytes);
    world.scan_into(&own[..], &mut result[..], SystemOperation::sum());
    assert_eq!(result[0], rank * (rank + 1) / 2);
    truth.moved("MPI_Exscan", bytes);
    world.exclusive_scan_into(&own[..], &mut result[..], SystemOperation::sum());
    truth.moved("MPI_Reduce_scatter_block", ranks * bytes);
    world.reduce_scatter_block_into(&all[..], &mut result[..], SystemOperation::max());
    assert_eq!(result[0], rank);
    of_different_sizes(world, truth, root_rank);
}

/// Rank 0 has one element, rank 1 has two, and so on.
fn of_different_sizes(world: &SimpleCommunicator, truth: &Truth, root_rank: i32) {
    let (rank, size) = (world.rank(), world.size());
    let root = world.process_at_rank(root_rank);
    let own = vec![rank; rank as usize + 1];
    let counts: Vec<i32> = (1..=size).collect();
    let starts: Vec<i32> = (0..size).map(|other| other * (other + 1) / 2).collect();
    let expected: Vec<i32> = (0..size).flat_map(|other| vec![other; other as usize + 1]).collect();
    let (bytes, all_bytes) = (ELEMENT_BYTES * own.len(), ELEMENT_BYTES * expected.len());
    let mut all = vec![-1; expected.len()];
    truth.moved("MPI_Gatherv", bytes);
    if rank == root_rank {
        root.gather_varcount_into_root(
            &own[..],
            &mut PartitionMut::new(&mut all[..], &counts[..], &starts[..]),
        );
        assert_eq!(all, expected);
    } else {
        root.gather_varcount_into(&own[..]);
    }
    let mut part = vec![-1; own.len()];
    truth.moved("MPI_Scatterv", if rank == root_rank { all_bytes } else { bytes });
    if rank == root_rank {
        root.scatter_varcount_into_root(&Partition::new(&all[..], &counts[..], &starts[..]), &mut part[..]);
    } else {
        root.scatter_varcount_into(&mut part[..]);
    }
    assert_eq!(part, own);
    let mut all = vec![-1; expected.len()];
    truth.moved("MPI_Allgatherv", bytes);
    world.all_gather_varcount_into(&own[..], &mut PartitionMut::new(&mut all[..], &counts[..], &starts[..]));
    assert_eq!(all, expected);

    // To each other rank as many as this one has.
    let sent_counts = vec![rank + 1; size as usize];
    let sent_starts = vec![0; size as usize];
    truth.moved("MPI_Alltoallv", size as usize * bytes);
    world.all_to_all_varcount_into(
        &Partition::new(&own[..], &sent_counts[..], &sent_starts[..]),
        &mut PartitionMut::new(&mut all[..], &counts[..], &starts[..]),
    );
    assert_eq!(all, expected);
}

pub fn immediate(world: &SimpleCommunicator, truth: &Truth, count: usize) {
    let (rank, size) = (world.rank(), world.size());
    let ranks = size as usize;
    let root_rank = count as i32 % size;
    let root = world.process_at_rank(root_rank);
    let own = vec![rank; count];
    let bytes = ELEMENT_BYTES * count;
    let (mut broadcast_values, mut total, mut reduced) = (own.clone(), vec![0; count], vec![0; count]);
    let (mut all, mut exchanged) = (vec![0; count * ranks], vec![0; count * ranks]);
    let others: Vec<i32> = (0..size).flat_map(|other| vec![other; count]).collect();

    truth.called("MPI_Ibarrier");
    let barrier = world.immediate_barrier();
    truth.called("MPI_Wait");
    barrier.wait();
    request::scope(|scope| {
        truth.moved("MPI_Ibcast", bytes);
        let broadcast = root.immediate_broadcast_into(scope, &mut broadcast_values[..]);
        truth.moved("MPI_Iallreduce", bytes);
        let all_reduce =
            world.immediate_all_reduce_into(scope, &own[..], &mut total[..], SystemOperation::sum());
        truth.moved("MPI_Iallgather", bytes);
        let all_gather = world.immediate_all_gather_into(scope, &own[..], &mut all[..]);
        truth.moved("MPI_Ialltoall", ranks * bytes);
        let all_to_all = world.immediate_all_to_all_into(scope, &others[..], &mut exchanged[..]);
        truth.moved("MPI_Ireduce", bytes);
        if rank == root_rank {
            let operation = SystemOperation::max();
            let reduce = root.immediate_reduce_into_root(scope, &own[..], &mut reduced[..], operation);
            truth.called("MPI_Wait");
            reduce.wait();
        } else {
            let reduce = root.immediate_reduce_into(scope, &own[..], SystemOperation::max());
            truth.called("MPI_Wait");
            reduce.wait();
        }
        for _ in 0..4 {
            truth.called("MPI_Wait");
        }
        all_to_all.wait();
        all_gather.wait();
        all_reduce.wait();
        broadcast.wait();
    });
    assert_eq!((broadcast_values[0], total[0]), (root_rank, size * (size - 1) / 2));
    assert_eq!((all, exchanged), (others, vec![rank; count * ranks]));
    assert!(rank != root_rank || reduced[0] == size - 1);
}
