//! The job, as the measurements need it, and the calls that several of them make.
#![expect(unsafe_code, reason = "calling MPI as a program does")]

use crate::generated::declarations::{MPI_Allgather, MPI_Barrier, MPI_Bcast, MPI_Recv, MPI_Send};
use crate::handle::Handle;
use crate::mpi::{Library, Status};
use crate::process::host_name;
use core::ffi::{c_int, c_void};

/// What a call sends or receives in all, at the most.
pub(super) const BUFFER_BYTES: usize = 4 << 20;

/// The function of MPI that failed.
pub(super) type Failed = &'static str;

/// The job, as the measurements need it.
pub(super) struct Job {
    pub(super) world: Handle,
    pub(super) byte: Handle,
    pub(super) double: Handle,
    pub(super) sum: Handle,
    pub(super) no_status: *mut Status,
    pub(super) rank: u32,
    pub(super) size: u32,
    /// What goes out, and what comes in.
    pub(super) out: Vec<u64>,
    pub(super) back: Vec<u64>,
}

pub(super) fn done(result: c_int, function: Failed) -> Result<(), Failed> {
    if result == 0 { Ok(()) } else { Err(function) }
}

/// A rank, or a count, as MPI takes it.
pub(super) fn number(value: impl TryInto<c_int>) -> c_int {
    value.try_into().unwrap_or(c_int::MAX)
}

impl Job {
    pub(super) fn new(library: &Library) -> Result<Self, Failed> {
        let family = library.family;
        let predefined = |number, name, failure| Library::predefined(number, name).ok_or(failure);
        let (rank, size) = library.place_in(library.comm_world).ok_or("MPI_Comm_rank")?;
        Ok(Self {
            world: library.comm_world,
            byte: predefined(family.byte, c"ompi_mpi_byte", "looking for MPI_BYTE")?,
            double: predefined(family.double, c"ompi_mpi_double", "looking for MPI_DOUBLE")?,
            sum: predefined(family.sum, c"ompi_mpi_op_sum", "looking for MPI_SUM")?,
            no_status: family.status_ignore as *mut Status,
            rank,
            size,
            // Written once, to touch all pages before the measurement; and numbers with the fastest sums.
            out: vec![1_f64.to_bits(); BUFFER_BYTES / size_of::<f64>()],
            back: vec![1_f64.to_bits(); BUFFER_BYTES / size_of::<f64>()],
        })
    }

    /// The node of each rank, by the names of their hosts.
    pub(super) fn nodes(&mut self) -> Result<Vec<u64>, Failed> {
        // FNV-1a.
        let hash = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        let own = host_name().bytes().fold(0xCBF2_9CE4_8422_2325, hash);
        let mut all = vec![0_u64; self.size as usize];
        let bytes = number(size_of::<u64>());
        // SAFETY: both buffers have the sizes of the counts, the second for each rank.
        let result = unsafe {
            let (from, to) = ((&raw const own).cast_mut().cast(), all.as_mut_ptr().cast());
            MPI_Allgather(from, bytes, self.byte, to, bytes, self.byte, self.world)
        };
        done(result, "MPI_Allgather")?;
        Ok(all)
    }

    pub(super) fn out(&mut self) -> *mut c_void {
        self.out.as_mut_ptr().cast()
    }

    pub(super) fn back(&mut self) -> *mut c_void {
        self.back.as_mut_ptr().cast()
    }

    pub(super) fn barrier(&self) -> Result<(), Failed> {
        // SAFETY: the handle is the world's.
        done(unsafe { MPI_Barrier(self.world) }, "MPI_Barrier")
    }

    /// Sends the beginning of what goes out; at most all of it.
    pub(super) fn send(&mut self, bytes: usize, to: u32, tag: c_int) -> Result<(), Failed> {
        let count = number(bytes.min(BUFFER_BYTES));
        // SAFETY: the buffer is at least so long.
        let result = unsafe { MPI_Send(self.out(), count, self.byte, number(to), tag, self.world) };
        done(result, "MPI_Send")
    }

    pub(super) fn receive(&mut self, bytes: usize, from: u32, tag: c_int) -> Result<(), Failed> {
        let (count, status) = (number(bytes.min(BUFFER_BYTES)), self.no_status);
        // SAFETY: likewise; the status is the constant for no status.
        let result =
            unsafe { MPI_Recv(self.back(), count, self.byte, number(from), tag, self.world, status) };
        done(result, "MPI_Recv")
    }

    /// Sends rank 0's decision to all.
    pub(super) fn broadcast(&self, mut word: u64) -> Result<u64, Failed> {
        let bytes = number(size_of::<u64>());
        // SAFETY: the word is so long.
        let result = unsafe { MPI_Bcast((&raw mut word).cast(), bytes, self.byte, 0, self.world) };
        done(result, "MPI_Bcast").map(|()| word)
    }
}
