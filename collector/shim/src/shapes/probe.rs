//! Probes: a message that can be received, not received yet.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{comm_key, made};
use crate::language::{Kind, Language};
use crate::local::{Recorder, with_status};
use crate::mpi::{Handle, Status, read_status};
use core::ffi::c_int;
use mpiscope_capture::{Interval, Posted};
use mpiscope_wire::{Asked, CallFlags};

/// Whom a probe asks for, and what it leads to.
#[derive(Clone, Copy)]
struct Wanted {
    source: c_int,
    tag: c_int,
    comm: Handle,
    /// A matched probe takes the message out of the order of receives: it posts, and a later call completes.
    message: Option<*mut Handle>,
}

unsafe fn reported<L: Language>(
    recorder: &mut Recorder,
    function: u16,
    (result, at): (c_int, Interval),
    wanted: &Wanted,
    status: *const Status,
) {
    let process = recorder.process;
    let library = &process.library;
    let mut call = made(function, at, result);
    let found = (result == 0 && wanted.source != library.family.proc_null)
        // SAFETY: the call has just filled it.
        .then(|| unsafe { read_status(&library.family.status, status, 0) });
    let mut matched = None;
    recorder.with_comm(L::handle(Kind::Comm, wanted.comm), |thread, ring, comm| {
        thread.place(&mut call, comm);
        if let Some(status) = found
            && let Some(peer) = comm.peer(status.source)
        {
            call.flags = call.flags.with(CallFlags::PROBE);
            call.peer = peer.world_rank;
            call.tag = status.tag;
            call.bytes = status.bytes;
            matched = wanted.message.map(|message| {
                let post = process.capture.next_post();
                thread.posted(ring, comm, Some(status.source), status.tag, post);
                (message, Posted { post, comm: comm.index, recorded: true, cancelling: false })
            });
        }
    });
    let recorded = recorder.commit(&call);
    if let Some((message, posted)) = matched {
        // SAFETY: the call has just set it.
        let handle = unsafe { L::key(library, Kind::Message, message, 0) };
        process.messages(|messages| messages.insert(handle, Posted { recorded, ..posted }));
    }
}

/// A probe that waits, or one that asks; `flag` says whether it found something.
unsafe fn look<L: Language>(
    function: u16,
    wanted: Wanted,
    flag: Option<*const c_int>,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let Wanted { source, tag, comm, .. } = wanted;
    let asked = || match flag {
        None => Asked::Receive { from: source, tag, comm: comm_key::<L>(comm) },
        Some(_) => Asked::Nothing,
    };
    with_status::<L>(function, asked, status, real, |recorder, (result, at), status| {
        // SAFETY: the call has just set the flag, and the status when the flag says so.
        unsafe {
            if result == 0 && flag.is_some_and(|flag| *flag == 0) {
                recorder.failed_poll(function, at);
            } else {
                reported::<L>(recorder, function, (result, at), &wanted, status);
            }
        }
    })
}

pub(crate) unsafe fn probe<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { look::<L>(function, Wanted { source, tag, comm, message: None }, None, status, real) }
}

pub(crate) unsafe fn iprobe<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    flag: *mut c_int,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { look::<L>(function, Wanted { source, tag, comm, message: None }, Some(flag), status, real) }
}

pub(crate) unsafe fn mprobe<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    message: *mut Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { look::<L>(function, Wanted { source, tag, comm, message: Some(message) }, None, status, real) }
}

#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn improbe<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    flag: *mut c_int,
    message: *mut Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe {
        look::<L>(function, Wanted { source, tag, comm, message: Some(message) }, Some(flag), status, real)
    }
}
