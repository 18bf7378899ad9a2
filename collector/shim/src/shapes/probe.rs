//! Probes: a message that can be received, not received yet.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::begun;
use crate::local::{Recorder, with_status};
use crate::mpi::{Handle, Status};
use core::ffi::c_int;
use mpiscope_capture::Interval;
use mpiscope_wire::CallFlags;

unsafe fn reported(
    recorder: &mut Recorder,
    function: u16,
    at: Interval,
    result: c_int,
    (source, comm): (c_int, Handle),
    status: *const Status,
) {
    let mut call = begun(recorder, function, at, result, comm);
    let library = &recorder.process.library;
    if result == 0 && source != library.family.proc_null {
        // SAFETY: the call has just filled it.
        let status = unsafe { library.read_status(status, 0) };
        recorder.with_comm(comm, |_, _, comm| {
            if let Some(peer) = comm.peer(status.source) {
                call.flags = call.flags.with(CallFlags::PROBE);
                call.peer = peer.world_rank;
                call.tag = status.tag;
                call.bytes = status.bytes;
            }
        });
    }
    recorder.commit(&call);
}

/// A probe that waits, or one that asks; `flag` says whether it found something.
unsafe fn look(
    function: u16,
    (source, comm): (c_int, Handle),
    flag: Option<*const c_int>,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    with_status(function, status, real, |recorder, (result, at), status| {
        // SAFETY: the call has just set the flag, and the status when the flag says so.
        unsafe {
            if result == 0 && flag.is_some_and(|flag| *flag == 0) {
                recorder.failed_poll(function, at);
            } else {
                reported(recorder, function, at, result, (source, comm), status);
            }
        }
    })
}

pub(crate) unsafe fn probe(
    function: u16,
    source: c_int,
    _: c_int,
    comm: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { look(function, (source, comm), None, status, real) }
}

pub(crate) unsafe fn iprobe(
    function: u16,
    source: c_int,
    _: c_int,
    comm: Handle,
    flag: *mut c_int,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { look(function, (source, comm), Some(flag), status, real) }
}
