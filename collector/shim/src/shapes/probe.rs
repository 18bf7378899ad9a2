//! Probes: a message that can be received, not received yet.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{comm_key, made};
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, enter};
use crate::mpi::{Status, read_status};
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
    recorder.with_comm(L::handle(HandleKind::Comm, wanted.comm), |thread, ring, comm| {
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
                (message, Posted::new(comm.index, post, true))
            });
        }
    });
    let recorded = recorder.commit(&call);
    if let Some((message, posted)) = matched {
        // SAFETY: the call has just set it.
        let handle = unsafe { L::key(library, HandleKind::Message, message, 0) };
        process.messages(|messages| messages.insert(handle, posted.and_recorded(recorded)));
    }
}

/// A blocking probe, or a polling one; `flag` is set if it found something.
unsafe fn look<L: Language>(
    function: u16,
    wanted: Wanted,
    flag: Option<*const c_int>,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let Wanted { source, tag, comm, .. } = wanted;
    let Some(mut entered) = enter::<L>() else { return real(status) };
    let status = entered.work(|recorder| recorder.status::<L>(status, 1)).unwrap_or(status);
    let asked = match flag {
        None => Asked::Receive { from: source, tag, comm: comm_key::<L>(comm) },
        Some(_) => Asked::Nothing,
    };
    // SAFETY: the call has just set it.
    let failed_poll = |result| result == 0 && flag.is_some_and(|flag| unsafe { *flag } == 0);
    let (result, at) = entered.timed_poll(function, asked, || real(status), failed_poll);
    let Some(at) = at else { return result };
    entered.work(|recorder| {
        if failed_poll(result) {
            recorder.failed_poll(function, at);
        } else {
            // SAFETY: the call has just filled the status.
            unsafe { reported::<L>(recorder, function, (result, at), &wanted, status) };
        }
    });
    result
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
