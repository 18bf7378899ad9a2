//! The common collectives on all ranks, each after a barrier: nobody waits for a late rank.
#![expect(unsafe_code, reason = "calling MPI as a program does")]

use super::job::{BUFFER_BYTES, Failed, Job, done, number};
use crate::generated::declarations::{MPI_Allgather, MPI_Allreduce, MPI_Alltoall, MPI_Bcast, MPI_Reduce};
use mpiscope_ring::clock::monotonic_ns;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Function {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Allgather,
    Alltoall,
}

const MOST_PASSES: u32 = 32;
/// What a rank hands over in all.
const UNIFORM: [usize; 4] = [8, 1 << 10, 64 << 10, 1 << 20];
/// What it hands over to each.
const BLOCKS: [usize; 3] = [8, 1 << 10, 16 << 10];

/// How often a call is made in a pass.
fn turns_of(bytes: usize) -> u32 {
    if bytes > 64 << 10 { 1 } else { 4 }
}

/// Every rank makes the same calls; after each pass rank 0 decides whether there is time for another.
pub(super) fn measure(job: &mut Job, during: Duration) -> Result<(), Failed> {
    use Function::{Allgather, Allreduce, Alltoall, Barrier, Bcast, Reduce};
    let begin_ns = monotonic_ns();
    for _ in 0..MOST_PASSES {
        turns(job, Barrier, 0)?;
        for function in [Bcast, Reduce, Allreduce] {
            for bytes in UNIFORM {
                turns(job, function, bytes)?;
            }
        }
        for function in [Allgather, Alltoall] {
            for bytes in BLOCKS {
                // Where ranks are many, what they have to hand over to all may be too much.
                if bytes * job.size as usize <= BUFFER_BYTES {
                    turns(job, function, bytes)?;
                }
            }
        }
        let is_time = monotonic_ns() - begin_ns < during.as_nanos() as u64;
        if job.broadcast(u64::from(is_time))? == 0 {
            break;
        }
    }
    Ok(())
}

fn turns(job: &mut Job, function: Function, bytes: usize) -> Result<(), Failed> {
    for _ in 0..turns_of(bytes) {
        job.barrier()?;
        call(job, function, bytes)?;
    }
    Ok(())
}

fn call(job: &mut Job, function: Function, bytes: usize) -> Result<(), Failed> {
    let (out, back) = (job.out(), job.back());
    let (byte, double, sum, world) = (job.byte, job.double, job.sum, job.world);
    let (count, doubles) = (number(bytes), number(bytes / size_of::<f64>()));
    // SAFETY: the buffers are different and hold what a rank hands over, to each of all where it is for each.
    unsafe {
        match function {
            Function::Barrier => job.barrier(),
            Function::Bcast => done(MPI_Bcast(out, count, byte, 0, world), "MPI_Bcast"),
            Function::Reduce => done(MPI_Reduce(out, back, doubles, double, sum, 0, world), "MPI_Reduce"),
            Function::Allreduce => {
                done(MPI_Allreduce(out, back, doubles, double, sum, world), "MPI_Allreduce")
            }
            Function::Allgather => {
                done(MPI_Allgather(out, count, byte, back, count, byte, world), "MPI_Allgather")
            }
            Function::Alltoall => {
                done(MPI_Alltoall(out, count, byte, back, count, byte, world), "MPI_Alltoall")
            }
        }
    }
}
