//! Sends, receives, and both at once.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use crate::language::{Kind, Language};
use crate::local::{Recorder, enter, with_status};
use crate::mpi::{Handle, Status, read_status};
use crate::process::Process;
use core::ffi::c_int;
use mpiscope_capture::{Family, Interval, Posted, Received, StatusWords, Thread};
use mpiscope_wire::{Call, CallFlags};

#[inline(always)]
pub(crate) fn received(status: StatusWords) -> Received {
    Received { source: status.source, tag: status.tag, bytes: status.bytes, cancelled: status.cancelled }
}

/// A call with the mark of an error when it returned one.
#[inline(always)]
pub(crate) fn made(function: u16, at: Interval, result: c_int) -> Call {
    let mut call = Thread::plain(function, at);
    if result != 0 {
        call.flags = CallFlags::ERROR;
    }
    call
}

/// The same, of a call that belongs to a communicator.
pub(crate) fn begun(
    recorder: &mut Recorder,
    function: u16,
    at: Interval,
    result: c_int,
    comm: Handle,
) -> Call {
    let mut call = made(function, at, result);
    recorder.with_comm(comm, |thread, _, comm| {
        thread.define(comm);
        call.comm = comm.index;
    });
    call
}

/// Writes a call that moves nothing of its own.
pub(crate) fn finish(recorder: &mut Recorder, function: u16, at: Interval, result: c_int) -> bool {
    recorder.commit(&made(function, at, result))
}

#[inline]
pub(crate) unsafe fn send<L: Language>(
    function: u16,
    count: i64,
    datatype: Handle,
    to: c_int,
    tag: c_int,
    comm: Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    sent::<L>(function, count, [to, tag], datatype, comm, real, |_| {})
}

/// # Safety
/// `request` points to a request.
#[inline]
#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn start_send<L: Language>(
    function: u16,
    count: i64,
    datatype: Handle,
    to: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    sent::<L>(function, count, [to, tag], datatype, comm, real, |process| {
        // A handle that was given to a send is no receive's any more, also when that has only just completed in another
        // thread which has not come to take note of it, or completed where nothing is recorded. Whoever waits for the
        // send would take it for that receive.
        // SAFETY: the call has just set it.
        let handle = unsafe { L::key(&process.library, Kind::Request, request, 0) };
        process.requests(|requests| requests.forget(handle));
    })
}

#[inline(always)]
fn sent<L: Language>(
    function: u16,
    count: i64,
    [to, tag]: [c_int; 2],
    datatype: Handle,
    comm: Handle,
    real: impl FnOnce() -> c_int,
    then: impl FnOnce(&Process),
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        let mut call = Thread::plain(function, at);
        let library = &recorder.process.library;
        let comm = L::comm(library, comm);
        if result == 0 {
            then(recorder.process);
            let bytes = recorder.bytes(count, L::datatype(library, datatype));
            recorder.with_comm(comm, |thread, process, comm| {
                thread.send(&process.capture, &mut call, comm, to, tag, bytes);
            });
        } else {
            call = begun(recorder, function, at, result, comm);
        }
        recorder.commit(&call)
    });
    result
}

/// # Safety
/// `status` points to a status or is the constant that says to ignore it.
#[inline]
pub(crate) unsafe fn receive<L: Language>(
    function: u16,
    source: c_int,
    comm: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    with_status::<L>(function, status, real, |recorder, (result, at), status| {
        let library = &recorder.process.library;
        let comm = L::comm(library, comm);
        if result != 0 || source == library.family.proc_null {
            let call = begun(recorder, function, at, result, comm);
            recorder.commit(&call);
            return;
        }
        // SAFETY: the call has just filled it.
        let received = received(unsafe { read_status(&library.family.status, status, 0) });
        let mut call = Thread::plain(function, at);
        recorder.with_comm(comm, |thread, process, comm| {
            thread.receive(&process.capture, &mut call, comm, &received);
        });
        recorder.commit(&call);
    })
}

/// # Safety
/// `request` points to a request.
#[inline]
pub(crate) unsafe fn post<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        let process = recorder.process;
        let family = process.library.family;
        let comm = L::comm(&process.library, comm);
        if result != 0 || source == family.proc_null {
            let call = begun(recorder, function, at, result, comm);
            recorder.commit(&call);
            return;
        }
        let post = process.capture.next_post();
        let (source, tag) = wanted(family, source, tag);
        let mut call = Thread::plain(function, at);
        let comm = recorder.with_comm(comm, |thread, _, comm| {
            thread.post(&mut call, comm, source, tag, post);
            comm.index
        });
        let recorded = recorder.commit(&call);
        let Some(comm) = comm else { return };
        // SAFETY: the call has just set it.
        let handle = unsafe { L::key(&process.library, Kind::Request, request, 0) };
        take_up(recorder, handle, Posted { post, comm, recorded, cancelling: false });
    });
    result
}

/// Source and tag of a receive, as capture knows them.
#[inline]
pub(crate) fn wanted(family: &Family, source: c_int, tag: c_int) -> (Option<i32>, i32) {
    ((source != family.any_source).then_some(source), if tag == family.any_tag { -1 } else { tag })
}

/// From here on the handle is that of a posted receive.
#[inline(always)]
pub(crate) fn take_up(recorder: &mut Recorder, handle: u64, posted: Posted) {
    let process = recorder.process;
    let stale = process.requests(|requests| requests.insert(handle, posted));
    // With several threads the old one may just be completing in another.
    if let Some(stale) = stale.filter(|_| !process.capture.has_threads()) {
        recorder.thread.freed(&stale);
    }
}

/// # Safety
/// As for [`receive`].
#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn sendrecv<L: Language>(
    function: u16,
    count: i64,
    datatype: Handle,
    to: c_int,
    tag: c_int,
    source: c_int,
    comm: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    with_status::<L>(function, status, real, |recorder, (result, at), status| {
        let library = &recorder.process.library;
        let comm = L::comm(library, comm);
        let mut call = begun(recorder, function, at, result, comm);
        if result != 0 {
            recorder.commit(&call);
            return;
        }
        let received = (source != library.family.proc_null)
            // SAFETY: the call has just filled it.
            .then(|| received(unsafe { read_status(&library.family.status, status, 0) }));
        let bytes = recorder.bytes(count, L::datatype(library, datatype));
        let Recorder { process, thread, comms, ring, .. } = recorder;
        let find = || process.find_comm(comm);
        if let Some(comm) = comms.get(process.library.handle(comm), process.comm_epoch(), find) {
            thread.send(&process.capture, &mut call, comm, to, tag, bytes);
            if let Some(received) = received {
                thread.part(&process.capture, ring, comm, None, &received);
            }
        }
        recorder.commit(&call);
    })
}
