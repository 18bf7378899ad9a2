//! What is done to requests apart from completing them: persistent ones, freeing, cancelling.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{finish, made, received, wanted};
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, enter, recorded};
use crate::process::unpoisoned;
use core::ffi::c_int;
use mpiscope_capture::{Posted, Received, Template, started_number};

/// A call that made a persistent request.
///
/// # Safety
/// `request` points to a request.
pub(super) unsafe fn init<L: Language>(
    function: u16,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
    template: impl FnOnce(&mut Recorder, u32) -> Option<Template>,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let process = recorder.process;
        let mut call = made(function, at, result);
        let index = recorder.with_comm(L::handle(HandleKind::Comm, comm), |thread, _, comm| {
            thread.place(&mut call, comm);
            comm.index
        });
        if let Some(index) = index.filter(|_| result == 0) {
            // SAFETY: the call has just set it.
            let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
            let template = template(recorder, index);
            let stale = process.requests(|requests| match template {
                Some(template) => requests.insert_persistent(handle, template),
                None => requests.forget(handle),
            });
            recorder.displaced(stale);
        }
        recorder.commit(&call)
    })
}

#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn send_init<L: Language>(
    function: u16,
    count: i64,
    datatype: Handle,
    to: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe {
        init::<L>(function, comm, request, real, |recorder, comm| {
            let bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
            Some(Template::Send { comm, to, tag, bytes })
        })
    }
}

pub(crate) unsafe fn receive_init<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe {
        init::<L>(function, comm, request, real, |recorder, comm| {
            let family = recorder.process.library.family;
            let (wanted, tag) = wanted(family, source, tag);
            (source != family.proc_null).then_some(Template::Receive { comm, source: wanted, tag })
        })
    }
}

/// One of the requests of a start.
fn started(recorder: &mut Recorder, handle: u64) {
    let process = recorder.process;
    match process.requests(|requests| requests.start(handle)) {
        Some(Template::Send { comm, to, tag, bytes }) => {
            recorder.with_comm_index(comm, |thread, ring, comm| {
                thread.sent(&process.capture, ring, comm, to, tag, bytes);
            });
        }
        Some(Template::Receive { comm, source, tag }) => {
            let post = process.capture.next_post();
            recorder.with_comm_index(comm, |thread, ring, comm| {
                thread.posted(ring, comm, source, tag, post);
            });
            recorder.started.push((handle, Posted::new(comm, post, true)));
        }
        Some(Template::Partitioned { comm, source, tag, bytes }) => {
            let post = process.capture.next_post();
            recorder.with_comm_index(comm, |thread, ring, comm| {
                thread.posted(ring, comm, Some(source), tag, post);
            });
            let expected = Received { source, tag, bytes, cancelled: false };
            unpoisoned(&process.expected).insert(post, Some(expected));
            recorder.started.push((handle, Posted::partitioned(comm, post, true)));
        }
        Some(template @ Template::Collective { comm, made, starts, .. }) => {
            let number = started_number(made, starts);
            recorder.with_comm_index(comm, |thread, ring, comm| {
                thread.started(ring, comm, &template, number);
            });
            recorder.started.push((handle, Posted::collective(comm, number, true)));
        }
        None => {}
    }
}

pub(crate) unsafe fn start_all<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        recorder.started.clear();
        if result == 0 {
            // SAFETY: the array has `count` requests, which a start leaves as they are.
            unsafe { recorder.copy_handles::<L>(count, requests) };
            for at in 0..recorder.handles.len() {
                started(recorder, recorder.handles[at]);
            }
        }
        let recorded = finish(recorder, function, at, result);
        let process = recorder.process;
        for at in 0..recorder.started.len() {
            let (handle, posted) = recorder.started[at];
            let posted = posted.and_recorded(recorded);
            let stale = process.requests(|requests| requests.activate(handle, posted));
            recorder.displaced(stale);
        }
    })
}

pub(crate) unsafe fn start_one<L: Language>(
    function: u16,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { start_all::<L>(function, 1, request, real) }
}

/// A request that is given up. A receive never completes visibly then, except that MPI can still report whether it was
/// cancelled.
pub(crate) unsafe fn request_free<L: Language>(
    function: u16,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    entered.work(|recorder| {
        let process = recorder.process;
        // SAFETY: the pointer is to a request, which the call will set to null.
        let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
        // Before the call: after it another thread may have the handle for a new one.
        let Some(posted) = process.requests(|requests| requests.forget(handle)) else { return };
        if posted.comm != posted.comm_index() {
            unpoisoned(&process.expected).remove(&posted.post);
        }
        let status = if posted.is_cancelling() { process.library.status_of(handle) } else { None };
        match status {
            Some(status) => recorder.completed(&posted, &received(status)),
            None => recorder.freed(&posted),
        }
    });
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| finish(recorder, function, at, result));
    result
}

/// Only asks; what came of it shows when the request completes.
pub(crate) unsafe fn request_cancel<L: Language>(
    function: u16,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let process = recorder.process;
        // SAFETY: the pointer is to a request.
        let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
        process.requests(|requests| requests.cancel(handle));
        finish(recorder, function, at, result)
    })
}
