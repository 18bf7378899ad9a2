//! `mpiscope calibrate`: runs after `MPI_Init` in place of the program. The ranks exchange messages and make
//! collective calls for some seconds, through the recorded functions as a program would, and end.
//!
//! All ranks compute the same rounds by themselves. One rank decides the number of repetitions: nobody waits for a
//! call that does not come.
#![expect(unsafe_code, reason = "calling MPI as a program does, and ending the process")]

mod collectives;
mod messages;

use crate::generated::{MPI_Abort, MPI_Allgather, MPI_Barrier, MPI_Bcast, MPI_Finalize, MPI_Recv, MPI_Send};
use crate::mpi::{Handle, Library, Status};
use crate::process::{self, host_name, say_line};
use core::ffi::{c_int, c_void};
use messages::Pair;
use mpiscope_capture::{partner, rounds};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// For how long to measure; set by the command in the environment of the ranks.
const VARIABLE: &str = "MPISCOPE_CALIBRATE";
/// What a call sends or receives in all, at the most.
const BUFFER_BYTES: usize = 4 << 20;
/// How long a sender leaves the receiver to begin to wait: between nodes for longer than their clocks are apart, or it
/// would seem to have come too late.
const PAUSE_WITHIN: Duration = Duration::from_micros(20);
const PAUSE_BETWEEN: Duration = Duration::from_micros(200);
/// What part of the time messages get; collectives get the rest.
const MESSAGES_SHARE: f64 = 0.6;

static BEGAN_LATE: AtomicBool = AtomicBool::new(false);

/// The function of MPI that failed.
type Failed = &'static str;

/// For how long to measure, where that is what the job is for.
pub(crate) fn seconds() -> Option<f64> {
    let seconds: f64 = std::env::var(VARIABLE).ok()?.parse().ok()?;
    let recorded = std::env::var_os("MPISCOPE_RINGS").is_some();
    (recorded && seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

/// Recording began at another call than `MPI_Init`, and nothing can be done yet.
pub(crate) fn began_late() {
    BEGAN_LATE.store(true, Ordering::Relaxed);
}

/// The first call of a process whose `MPI_Init` was not seen.
pub(crate) fn if_late() {
    if BEGAN_LATE.swap(false, Ordering::Relaxed) {
        instead_of_the_program();
    }
}

/// Measures and ends the process, where that was asked for; else it does nothing.
#[cold]
pub(crate) fn instead_of_the_program() {
    let Some(seconds) = seconds() else { return };
    if process::current().is_none() {
        // The reason was printed. The launcher ends the other ranks, which would wait for this one.
        leave(1);
    }
    match catch_unwind(|| measure(seconds)) {
        Ok(Ok(())) => {
            // SAFETY: MPI is initialized and all that was begun is over.
            unsafe { MPI_Finalize() };
            leave(0);
        }
        Ok(Err(failed)) => say_line(&format!("{failed} failed; measuring stopped")),
        Err(_) => say_line("internal error of the collector; measuring stopped"),
    }
    if let Some(process) = process::current() {
        // SAFETY: the handle is the world's. The other ranks may be waiting for this one.
        unsafe { MPI_Abort(process.library.comm_world, 1) };
    }
    leave(1);
}

/// Ends the process without a word of the program's: neither its handlers nor what it has yet to write.
fn leave(status: c_int) -> ! {
    // SAFETY: nothing of ours is left to be done; the rings are files that the agent reads.
    unsafe { libc::_exit(status) }
}

/// The job, as the measurements need it.
struct Job {
    world: Handle,
    byte: Handle,
    double: Handle,
    sum: Handle,
    no_status: *mut Status,
    rank: u32,
    size: u32,
    /// What goes out, and what comes in.
    out: Vec<u64>,
    back: Vec<u64>,
}

fn measure(seconds: f64) -> Result<(), Failed> {
    let Some(process) = process::current() else { return Ok(()) };
    let mut job = Job::new(&process.library)?;
    if job.size < 2 {
        return Ok(());
    }
    let nodes = job.nodes()?;
    let rounds = rounds(&nodes);
    let slice = Duration::from_secs_f64(seconds * MESSAGES_SHARE / rounds.len().max(1) as f64);
    for round in &rounds {
        job.barrier()?;
        let Some(peer) = partner(round, job.rank) else {
            // One that waits in MPI takes a processor from those who do not.
            std::thread::sleep(slice);
            continue;
        };
        let is_near = nodes[job.rank as usize] == nodes[peer as usize];
        let pair = Pair { job: &mut job, peer, pause: if is_near { PAUSE_WITHIN } else { PAUSE_BETWEEN } };
        if pair.job.rank < peer { pair.lead(slice)? } else { pair.follow()? }
    }
    job.barrier()?;
    collectives::measure(&mut job, Duration::from_secs_f64(seconds * (1.0 - MESSAGES_SHARE)))
}

fn done(result: c_int, function: Failed) -> Result<(), Failed> {
    if result == 0 { Ok(()) } else { Err(function) }
}

/// A rank, or a count, as MPI takes it.
fn number(value: impl TryInto<c_int>) -> c_int {
    value.try_into().unwrap_or(c_int::MAX)
}

impl Job {
    fn new(library: &Library) -> Result<Self, Failed> {
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
    fn nodes(&mut self) -> Result<Vec<u64>, Failed> {
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

    fn out(&mut self) -> *mut c_void {
        self.out.as_mut_ptr().cast()
    }

    fn back(&mut self) -> *mut c_void {
        self.back.as_mut_ptr().cast()
    }

    fn barrier(&self) -> Result<(), Failed> {
        // SAFETY: the handle is the world's.
        done(unsafe { MPI_Barrier(self.world) }, "MPI_Barrier")
    }

    /// Sends the beginning of what goes out; at most all of it.
    fn send(&mut self, bytes: usize, to: u32, tag: c_int) -> Result<(), Failed> {
        let count = number(bytes.min(BUFFER_BYTES));
        // SAFETY: the buffer is at least so long.
        let result = unsafe { MPI_Send(self.out(), count, self.byte, number(to), tag, self.world) };
        done(result, "MPI_Send")
    }

    fn receive(&mut self, bytes: usize, from: u32, tag: c_int) -> Result<(), Failed> {
        let (count, status) = (number(bytes.min(BUFFER_BYTES)), self.no_status);
        // SAFETY: likewise; the status is the constant for no status.
        let result =
            unsafe { MPI_Recv(self.back(), count, self.byte, number(from), tag, self.world, status) };
        done(result, "MPI_Recv")
    }

    /// Sends rank 0's decision to all.
    fn broadcast(&self, mut word: u64) -> Result<u64, Failed> {
        let bytes = number(size_of::<u64>());
        // SAFETY: the word is so long.
        let result = unsafe { MPI_Bcast((&raw mut word).cast(), bytes, self.byte, 0, self.world) };
        done(result, "MPI_Bcast").map(|()| word)
    }
}
