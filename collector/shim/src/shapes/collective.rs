//! Collectives with one count and one type.
#![expect(unsafe_code, reason = "all shapes share one signature; the pointers are the program's")]

use super::message::begun;
use crate::local::enter;
use crate::mpi::Handle;
use core::ffi::c_int;
use mpiscope_wire::CallFlags;

pub(crate) unsafe fn collective(
    function: u16,
    count: Option<c_int>,
    datatype: Option<Handle>,
    root: Option<c_int>,
    comm: Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter() else { return real() };
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        let mut call = begun(recorder, function, at, result, comm);
        // On a side of an intercommunicator that takes no part, the other arguments mean nothing.
        let takes_part = result == 0 && root != Some(recorder.process.library.family.proc_null);
        call.bytes = match (count, datatype) {
            (Some(count), Some(datatype)) if takes_part => recorder.bytes(count, datatype),
            _ => 0,
        };
        recorder.with_comm(comm, |_, process, comm| {
            // Every member counts, also one whose call failed, so that the numbers go on agreeing.
            let number = comm.count_collective(process.capture.has_threads());
            call.flags = call.flags.with(CallFlags::COLLECTIVE);
            call.tag = number as i32;
            if let Some(root) = root.and_then(|root| comm.peer(root)) {
                call.peer = root.world_rank;
            }
        });
        recorder.commit(&call)
    });
    result
}
