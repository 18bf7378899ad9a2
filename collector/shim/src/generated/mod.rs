//! The symbols that stand before those of the MPI library, and the names of what stands behind them. An exception of C++
//! may pass through them, as it would through MPI.
#![expect(unsafe_code, reason = "symbols that the program calls")]

mod c;
mod fortran;
mod names;

pub(crate) use c::{
    MPI_Abort, MPI_Allgather, MPI_Allreduce, MPI_Alltoall, MPI_Barrier, MPI_Bcast, MPI_Finalize, MPI_Recv,
    MPI_Reduce, MPI_Send,
};
pub(crate) use names::REAL_NAMES;
