//! Sends, receives, and both at once.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, recorded, recorded_asking, with_status};
use crate::mpi::{Status, read_status};
use crate::process::{Process, unpoisoned};
use core::ffi::c_int;
use mpiscope_capture::{Comm, Family, Interval, Posted, Received, StatusWords, Thread};
use mpiscope_wire::{Asked, Call, CallFlags, Part};
use std::sync::Arc;

#[inline(always)]
pub(crate) fn received(status: StatusWords) -> Received {
    Received { source: status.source, tag: status.tag, bytes: status.bytes, cancelled: status.cancelled }
}

/// The handle of a communicator in the form that calls in flight use.
#[inline(always)]
pub(crate) fn comm_key<L: Language>(comm: Handle) -> u64 {
    L::handle(HandleKind::Comm, comm) as u64
}

/// The communicator of a call that makes something of its members, with the call placed on it.
pub(crate) fn parent_of(recorder: &mut Recorder, call: &mut Call, comm: Handle) -> Option<Arc<Comm>> {
    recorder.with_comm(comm, |thread, _, comm| {
        thread.place(call, comm);
        Arc::clone(comm)
    })
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
    recorder.with_comm(comm, |thread, _, comm| thread.place(&mut call, comm));
    call
}

/// Writes a call that moves nothing of its own.
#[inline(always)]
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
    let asked = || Asked::Send { to, tag, comm: comm_key::<L>(comm) };
    sent::<L>(function, count, [to, tag], datatype, comm, (asked, real), |_| {})
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
    // It returns at once and does not wait.
    let asked = || Asked::Nothing;
    sent::<L>(function, count, [to, tag], datatype, comm, (asked, real), |process| {
        // SAFETY: the call has just set it.
        unsafe { given_to_other::<L>(process, request) };
    })
}

/// A handle that was given to a send is no receive's any more, also when that has only just completed in another thread
/// which has not come to take note of it, or completed where nothing is recorded. Whoever waits for the send would take
/// it for that receive.
///
/// # Safety
/// `request` points to a request.
#[inline(always)]
unsafe fn given_to_other<L: Language>(process: &Process, request: *mut Handle) {
    // SAFETY: by the caller's word.
    let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
    process.requests(|requests| requests.forget(handle));
}

/// The same of a request that a call of another kind has just made.
#[inline(never)]
pub(crate) fn not_a_receive<L: Language>(recorder: &Recorder, request: *mut Handle) {
    // SAFETY: the call has just set it.
    unsafe { given_to_other::<L>(recorder.process, request) };
}

#[inline(always)]
fn sent<L: Language>(
    function: u16,
    count: i64,
    [to, tag]: [c_int; 2],
    datatype: Handle,
    comm: Handle,
    (asked, real): (impl FnOnce() -> Asked, impl FnOnce() -> c_int),
    then: impl FnOnce(&Process),
) -> c_int {
    recorded_asking::<L, _>(function, asked, real, |recorder, (result, at)| {
        let process = recorder.process;
        let comm = L::handle(HandleKind::Comm, comm);
        if result != 0 {
            return failed(recorder, function, (result, at), comm);
        }
        then(process);
        let mut call = Thread::plain(function, at);
        let bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
        recorder.with_comm(comm, |thread, _, comm| {
            thread.send(&process.capture, &mut call, comm, to, tag, bytes);
        });
        recorder.commit(&call)
    })
}

/// Writes a call that failed, or that has no partner.
#[cold]
#[inline(never)]
fn failed(recorder: &mut Recorder, function: u16, (result, at): (c_int, Interval), comm: Handle) -> bool {
    let call = begun(recorder, function, at, result, comm);
    recorder.commit(&call)
}

/// A receive that was too short for its message fails and takes it all the same. What it was is not known for certain, but
/// the next receive gets another one.
#[cold]
#[inline(never)]
fn taken_in_part(recorder: &mut Recorder, result: c_int, (source, tag): (c_int, c_int), comm: Handle) {
    let process = recorder.process;
    let library = &process.library;
    if result == 0 || source == library.family.proc_null || !library.is_truncation(result) {
        return;
    }
    let (source, tag) = wanted(library.family, source, tag);
    recorder.with_comm(comm, |thread, ring, comm| {
        let post = process.capture.next_post();
        thread.posted(ring, comm, source, tag, post);
        thread.freed(ring, &Posted::new(comm.index, post, true));
    });
}

/// Writes a receive that failed, or had no sender.
#[cold]
#[inline(never)]
fn not_received(
    recorder: &mut Recorder,
    function: u16,
    (result, at): (c_int, Interval),
    wanted: (c_int, c_int),
    comm: Handle,
) {
    let call = begun(recorder, function, at, result, comm);
    taken_in_part(recorder, result, wanted, comm);
    recorder.commit(&call);
}

/// # Safety
/// `status` points to a status or is the constant for no status.
#[inline]
pub(crate) unsafe fn receive<L: Language>(
    function: u16,
    source: c_int,
    tag: c_int,
    comm: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let asked = || Asked::Receive { from: source, tag, comm: comm_key::<L>(comm) };
    with_status::<L>(function, asked, status, real, |recorder, (result, at), status| {
        let process = recorder.process;
        let family = process.library.family;
        let comm = L::handle(HandleKind::Comm, comm);
        if result != 0 || source == family.proc_null {
            not_received(recorder, function, (result, at), (source, tag), comm);
            return;
        }
        // SAFETY: the call has just filled it.
        let received = received(unsafe { read_status(&family.status, status, 0) });
        let mut call = Thread::plain(function, at);
        recorder.with_comm(comm, |thread, _, comm| {
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
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let process = recorder.process;
        let family = process.library.family;
        let comm = L::handle(HandleKind::Comm, comm);
        if result != 0 || source == family.proc_null {
            failed(recorder, function, (result, at), comm);
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
        let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
        take_up(recorder, handle, Posted::new(comm, post, recorded));
    })
}

/// A send and a receive that are started together and complete together.
///
/// # Safety
/// `request` points to a request.
#[expect(clippy::too_many_arguments, reason = "the call has them")]
pub(crate) unsafe fn isendrecv<L: Language>(
    function: u16,
    count: i64,
    datatype: Handle,
    to: c_int,
    tag: c_int,
    source: c_int,
    receive_tag: c_int,
    comm: Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let process = recorder.process;
        let family = process.library.family;
        let comm = L::handle(HandleKind::Comm, comm);
        if result != 0 {
            let call = begun(recorder, function, at, result, comm);
            recorder.commit(&call);
            return;
        }
        let mut call = Thread::plain(function, at);
        let bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
        let (wanted_source, wanted_tag) = wanted(family, source, receive_tag);
        let post = (source != family.proc_null).then(|| process.capture.next_post());
        let index = recorder.with_comm(comm, |thread, ring, comm| {
            thread.send(&process.capture, &mut call, comm, to, tag, bytes);
            if let Some(post) = post {
                thread.posted(ring, comm, wanted_source, wanted_tag, post);
            }
            comm.index
        });
        let recorded = recorder.commit(&call);
        let Some((post, comm)) = post.zip(index) else { return not_a_receive::<L>(recorder, request) };
        // SAFETY: the call has just set it.
        let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
        // In MPICH 4.0 the status of such a request is that of the previous user of its slot. The message has the
        // size; the sender or tag of a wildcard receive stays unknown.
        let expected = wanted_source.filter(|_| wanted_tag >= 0).map(|source| Received {
            source,
            tag: wanted_tag,
            bytes: Part::UNKNOWN_BYTES,
            cancelled: false,
        });
        unpoisoned(&process.expected).insert(post, expected);
        let posted = Posted::partitioned(comm, post, recorded);
        let stale = process.requests(|requests| requests.insert_collective(handle, posted));
        recorder.displaced(stale);
    })
}

/// Source and tag of a receive, as capture knows them.
#[inline]
pub(crate) fn wanted(family: &Family, source: c_int, tag: c_int) -> (Option<i32>, i32) {
    ((source != family.any_source).then_some(source), if tag == family.any_tag { -1 } else { tag })
}

/// From here on the handle is that of a posted receive.
#[inline(always)]
pub(crate) fn take_up(recorder: &mut Recorder, handle: u64, posted: Posted) {
    let stale = recorder.process.requests(|requests| requests.insert(handle, posted));
    recorder.displaced(stale);
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
    receive_tag: c_int,
    comm: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let asked = || Asked::Exchange { to, from: source, tag, comm: comm_key::<L>(comm) };
    with_status::<L>(function, asked, status, real, |recorder, (result, at), status| {
        let process = recorder.process;
        let family = process.library.family;
        let comm = L::handle(HandleKind::Comm, comm);
        if result != 0 {
            let mut call = begun(recorder, function, at, result, comm);
            if process.library.is_truncation(result) {
                let bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
                recorder.with_comm(comm, |thread, _, comm| {
                    thread.send(&process.capture, &mut call, comm, to, tag, bytes);
                });
                taken_in_part(recorder, result, (source, receive_tag), comm);
            }
            recorder.commit(&call);
            return;
        }
        let received = (source != family.proc_null)
            // SAFETY: the call has just filled it.
            .then(|| received(unsafe { read_status(&family.status, status, 0) }));
        let bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
        let mut call = Thread::plain(function, at);
        recorder.with_comm(comm, |thread, ring, comm| {
            thread.send(&process.capture, &mut call, comm, to, tag, bytes);
            if let Some(received) = received {
                thread.completed(&process.capture, ring, comm, None, &received);
            }
        });
        recorder.commit(&call);
    })
}
