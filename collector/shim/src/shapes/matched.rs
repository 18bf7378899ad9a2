//! Receives of messages that a matched probe has taken out of the order.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{finish, made, received, take_up};
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Entered, Recorder, enter};
use crate::mpi::{Status, read_status};
use core::ffi::c_int;
use mpiscope_capture::Posted;

/// The handle of a message, which the coming call sets to null, and the probe's record of it; none where the message
/// has no sender.
///
/// # Safety
/// The pointer is to a message.
unsafe fn probed<L: Language>(entered: &mut Entered, message: *const Handle) -> Option<(u64, Posted)> {
    entered.work(|recorder| {
        let process = recorder.process;
        // SAFETY: by the caller's word.
        let handle = unsafe { L::key(&process.library, HandleKind::Message, message, 0) };
        process.messages(|messages| messages.peek(handle)).map(|posted| (handle, posted))
    })?
}

/// The message was received. Only now: as long as it is in the table, its communicator is known.
fn taken(recorder: &Recorder, handle: u64, posted: &Posted) {
    recorder.process.messages(|messages| messages.complete_this(handle, posted.post));
}

pub(crate) unsafe fn matched_receive<L: Language>(
    function: u16,
    message: *mut Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real(status) };
    // SAFETY: the argument is the program's own.
    let probed = unsafe { probed::<L>(&mut entered, message) };
    let status = entered.work(|recorder| recorder.status::<L>(status, 1)).unwrap_or(status);
    let (result, at) = entered.timed(function, || real(status));
    entered.work(|recorder| {
        if let Some((handle, posted)) = probed {
            if result == 0 {
                // SAFETY: the call has just filled it.
                let received =
                    received(unsafe { read_status(&recorder.process.library.family.status, status, 0) });
                recorder.completed(&posted, &received);
            } else {
                recorder.freed(&posted);
            }
            taken(recorder, handle, &posted);
        }
        finish(recorder, function, at, result)
    });
    result
}

pub(crate) unsafe fn matched_post<L: Language>(
    function: u16,
    message: *mut Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    // SAFETY: the argument is the program's own.
    let probed = unsafe { probed::<L>(&mut entered, message) };
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        let mut call = made(function, at, result);
        if let Some((message, posted)) = probed {
            recorder.with_comm_index(posted.comm, |thread, _, comm| thread.place(&mut call, comm));
            if result == 0 {
                // SAFETY: the call has just set it.
                let handle = unsafe { L::key(&recorder.process.library, HandleKind::Request, request, 0) };
                take_up(recorder, handle, posted);
            } else {
                recorder.freed(&posted);
            }
            taken(recorder, message, &posted);
        }
        recorder.commit(&call)
    });
    result
}
