//! `mpiscope calibrate`: runs after `MPI_Init` in place of the program. The ranks exchange messages and make
//! collective calls for some seconds, through the recorded functions as a program would, and end.
//!
//! All ranks compute the same rounds by themselves. One rank decides the number of repetitions: nobody waits for a
//! call that does not come.
#![expect(unsafe_code, reason = "calling MPI as a program does, and ending the process")]

mod collectives;
mod job;
mod messages;

use crate::calibration_request::{seconds, take_late};
use crate::generated::declarations::{MPI_Abort, MPI_Finalize};
use crate::process::{self, say_line};
use core::ffi::c_int;
use job::{Failed, Job};
use messages::Pair;
use mpiscope_capture::{partner, rounds};
use std::panic::catch_unwind;
use std::time::Duration;

/// How long a sender leaves the receiver to begin to wait: between nodes for longer than their clocks are apart, or it
/// would seem to have come too late.
const PAUSE_WITHIN: Duration = Duration::from_micros(20);
const PAUSE_BETWEEN: Duration = Duration::from_micros(200);
/// What part of the time messages get; collectives get the rest.
const MESSAGES_SHARE: f64 = 0.6;

/// The first call of a process whose `MPI_Init` was not seen.
pub(crate) fn if_late() {
    if take_late() {
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
