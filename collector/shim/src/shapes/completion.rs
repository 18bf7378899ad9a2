//! Waits and tests: which requests were receives, and what their statuses contain.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{finish, received};
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, collected, enter};
use crate::mpi::{Status, read_status};
use core::ffi::c_int;
use mpiscope_capture::{Posted, Requests};
use mpiscope_wire::Asked;

/// A receive completed; its status is the one at `status_at`.
///
/// # Safety
/// The array of statuses has that element.
#[inline(always)]
unsafe fn completed(recorder: &mut Recorder, posted: &Posted, statuses: *const Status, status_at: usize) {
    // SAFETY: by the caller's word.
    let status = unsafe { read_status(&recorder.process.library.family.status, statuses, status_at) };
    recorder.completed(posted, &received(status));
}

/// The request at place `at` of the call's requests completed.
///
/// # Safety
/// The array of statuses has that element.
#[inline(always)]
unsafe fn completed_at(recorder: &mut Recorder, at: usize, statuses: *const Status, status_at: usize) {
    let process = recorder.process;
    let Some(&handle) = recorder.handles.get(at) else { return };
    let posted = if process.capture.has_threads() {
        recorder.peeked.get(at).copied().flatten()
    } else {
        process.requests(|requests| requests.complete(handle))
    };
    if let Some(posted) = posted {
        // SAFETY: by the caller's word.
        unsafe { completed(recorder, &posted, statuses, status_at) };
        if process.capture.has_threads() {
            // Only now: as long as it is in the table, its communicator is known.
            process.requests(|requests| requests.complete_this(handle, posted.post));
        }
    }
}

/// All requests of the call completed.
///
/// # Safety
/// The array of statuses has an element for each.
unsafe fn completed_all(recorder: &mut Recorder, statuses: *const Status) {
    if recorder.process.capture.has_threads() {
        for place in 0..recorder.handles.len() {
            // SAFETY: by the caller's word.
            unsafe { completed_at(recorder, place, statuses, place) };
        }
        return;
    }
    let process = recorder.process;
    // SAFETY: by the caller's word.
    process.requests(|requests| unsafe {
        if requests.has_collectives() {
            completed_each::<true>(recorder, requests, statuses);
        } else {
            completed_each::<false>(recorder, requests, statuses);
        }
    });
}

/// [`completed_all`] of a single thread. It borrows the recorder's parts once for all of them: one by one, as
/// [`Recorder::completed`] does it, takes a third more time. Where there was no collective, not even the place to take note
/// of one is in it.
#[inline(never)]
unsafe fn completed_each<const COLLECTIVES: bool>(
    recorder: &mut Recorder,
    requests: &mut Requests,
    statuses: *const Status,
) {
    let Recorder { process, thread, comms, ring, handles, .. } = recorder;
    let layout = &process.library.family.status;
    for (place, &handle) in handles.iter().enumerate() {
        let Some(posted) = requests.complete(handle) else { continue };
        let comm = comms.get_by_index(posted.comm, || process.comm_by_index(posted.comm));
        let Some(comm) = comm else {
            if COLLECTIVES {
                collected(process, thread, comms, ring, posted);
            }
            continue;
        };
        // SAFETY: by the caller's word.
        let status = unsafe { read_status(layout, statuses, place) };
        thread.completed(&process.capture, ring, comm, Some(&posted), &received(status));
    }
}

/// After an error some requests may be gone, which shows in their handles: what became of them is not known.
///
/// # Safety
/// The array still has the requests whose handles were copied.
unsafe fn failed<L: Language>(recorder: &mut Recorder, requests: *const Handle) {
    let library = &recorder.process.library;
    recorder.give_up_requests(|at, handle| {
        // SAFETY: by the caller's word.
        unsafe { L::key(library, HandleKind::Request, requests, at) != handle }
    });
}

/// Whether the request at a place is no longer the one whose handle was copied.
///
/// # Safety
/// The array still has the requests whose handles were copied.
unsafe fn gone<L: Language>(recorder: &Recorder, requests: *const Handle, at: c_int) -> bool {
    let Ok(at) = usize::try_from(at) else { return false };
    let library = &recorder.process.library;
    // SAFETY: by the caller's word, and with this length.
    recorder
        .handles
        .get(at)
        .is_some_and(|&handle| unsafe { L::key(library, HandleKind::Request, requests, at) } != handle)
}

/// Copies the handles. Says whether one of them is a receive, and where to have the statuses written: where the program
/// wants them, or where we can read them when it does not.
///
/// # Safety
/// The array has this number of requests.
unsafe fn prepare<L: Language>(
    recorder: &mut Recorder,
    count: c_int,
    requests: *const Handle,
    statuses: *mut Status,
    status_count: usize,
) -> (bool, *mut Status) {
    if recorder.process.requests(|requests| requests.is_empty()) {
        // Sends alone.
        recorder.handles.clear();
        return (false, statuses);
    }
    // SAFETY: by the caller's word.
    unsafe { recorder.copy_handles::<L>(count, requests) };
    let Recorder { process, handles, peeked, .. } = recorder;
    let receives = process.requests(|requests| {
        if process.capture.has_threads() {
            peeked.clear();
            peeked.extend(handles.iter().map(|&handle| requests.peek(handle)));
        }
        requests.any(handles)
    });
    (receives, if receives { recorder.status::<L>(statuses, status_count) } else { statuses })
}

/// A wait or a test on one request.
#[inline]
unsafe fn complete_one<L: Language>(
    function: u16,
    request: *mut Handle,
    flag: Option<*const c_int>,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real(status) };
    let prepared = entered.work(|recorder| {
        let process = recorder.process;
        // SAFETY: the argument is the program's own.
        let handle = unsafe { L::key(&process.library, HandleKind::Request, request, 0) };
        let posted = process.requests(|requests| requests.peek(handle));
        let status = if posted.is_some() { recorder.status::<L>(status, 1) } else { status };
        (handle, posted, status)
    });
    let (handle, posted, status) = prepared.unwrap_or((0, None, status));
    let asked = match posted {
        // A test does not wait.
        _ if flag.is_some() => Asked::Nothing,
        Some(posted) if posted.as_collective().is_none() => Asked::Post { post: posted.post },
        _ => Asked::Requests { count: 0 },
    };
    // SAFETY: the call has just set it.
    let failed_poll = |result| result == 0 && flag.is_some_and(|flag| unsafe { *flag } == 0);
    let (result, at) = entered.timed_poll(function, asked, || real(status), failed_poll);
    let Some(at) = at else { return result };
    entered.work(|recorder| {
        if failed_poll(result) {
            recorder.failed_poll(function, at);
            return;
        }
        if let Some(posted) = posted {
            let process = recorder.process;
            if result == 0 {
                // SAFETY: the call has just filled the status.
                unsafe { completed(recorder, &posted, status, 0) };
                process.requests(|requests| requests.complete_this(handle, posted.post));
            // SAFETY: the argument is the program's own.
            } else if unsafe { L::key(&process.library, HandleKind::Request, request, 0) } != handle {
                process.requests(|requests| requests.forget(handle));
                recorder.freed(&posted);
            }
        }
        finish(recorder, function, at, result);
    });
    result
}

/// The steps that waits and tests on several requests share. `settle` notes what completed, by the call's result, whether
/// there are receives among the requests, and where the statuses are.
///
/// # Safety
/// The array has `count` requests, and place for `status_count` statuses where the program wants any.
#[inline(always)]
unsafe fn complete_several<L: Language>(
    function: u16,
    (count, requests): (c_int, *const Handle),
    (statuses, status_count): (*mut Status, usize),
    real: impl FnOnce(*mut Status) -> c_int,
    failed_poll: impl Fn(c_int) -> bool,
    settle: impl FnOnce(&mut Recorder, c_int, bool, *const Status),
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real(statuses) };
    // SAFETY: by the caller's word.
    let prepared =
        entered.work(|recorder| unsafe { prepare::<L>(recorder, count, requests, statuses, status_count) });
    let (receives, statuses) = prepared.unwrap_or((false, statuses));
    let asked = Asked::Requests { count: count as u32 };
    let (result, at) = entered.timed_poll(function, asked, || real(statuses), &failed_poll);
    let Some(at) = at else { return result };
    entered.work(|recorder| {
        if failed_poll(result) {
            recorder.failed_poll(function, at);
            return;
        }
        settle(recorder, result, receives, statuses);
        finish(recorder, function, at, result);
    });
    result
}

/// A wait or a test on all requests.
unsafe fn all<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    statuses: *mut Status,
    flag: Option<*const c_int>,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let length = usize::try_from(count).unwrap_or_default();
    // SAFETY: the call has just set it.
    let failed_poll = |result| result == 0 && flag.is_some_and(|flag| unsafe { *flag } == 0);
    let settle = |recorder: &mut Recorder, result, receives, statuses| {
        if result == 0 {
            if receives {
                // SAFETY: the call has just filled `count` statuses.
                unsafe { completed_all(recorder, statuses) };
            }
        } else {
            // SAFETY: the array is as long as before.
            unsafe { failed::<L>(recorder, requests) };
        }
    };
    // SAFETY: the array has `count` requests.
    unsafe {
        complete_several::<L>(function, (count, requests), (statuses, length), real, failed_poll, settle)
    }
}

/// A wait or a test on any request.
unsafe fn any<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    index: *const c_int,
    status: *mut Status,
    flag: Option<*const c_int>,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the call has just set it.
    let failed_poll = |result| result == 0 && flag.is_some_and(|flag| unsafe { *flag } == 0);
    let settle = |recorder: &mut Recorder, result, receives, status| {
        // SAFETY: the call has just set it; it is negative when no request was active.
        let index = if result == 0 { unsafe { *index } } else { -1 };
        // SAFETY: the array is as long as before.
        let place = index - L::first(&[index], |at| unsafe { gone::<L>(recorder, requests, at) });
        if let Ok(place) = usize::try_from(place) {
            if receives {
                // SAFETY: the call has just filled the one status.
                unsafe { completed_at(recorder, place, status, 0) };
            }
        } else if result != 0 {
            // SAFETY: the array is as long as before.
            unsafe { failed::<L>(recorder, requests) };
        }
    };
    // SAFETY: the array has `count` requests.
    unsafe { complete_several::<L>(function, (count, requests), (status, 1), real, failed_poll, settle) }
}

/// A wait or a test on some requests.
#[expect(clippy::too_many_arguments, reason = "the call has them")]
unsafe fn some<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    completed_count: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
    polls: bool,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    let length = usize::try_from(count).unwrap_or_default();
    // SAFETY: the call has just set it; it is negative when no request was active.
    let done_of = |result| if result == 0 { unsafe { *completed_count } } else { -1 };
    let failed_poll = |result| polls && done_of(result) == 0;
    let settle = |recorder: &mut Recorder, result, receives, statuses| {
        if let Some(done) = usize::try_from(done_of(result)).ok().filter(|_| receives) {
            // SAFETY: the call has just filled this number of indices and statuses; the array of requests is as long
            // as before.
            unsafe {
                let indices = std::slice::from_raw_parts(indices, done.min(length));
                let first = L::first(indices, |at| gone::<L>(recorder, requests, at));
                for (status_at, &index) in indices.iter().enumerate() {
                    let place = usize::try_from(index - first).unwrap_or(usize::MAX);
                    completed_at(recorder, place, statuses, status_at);
                }
            }
        }
        if result != 0 {
            // SAFETY: the array is as long as before.
            unsafe { failed::<L>(recorder, requests) };
        }
    };
    // SAFETY: the array has `count` requests.
    unsafe {
        complete_several::<L>(function, (count, requests), (statuses, length), real, failed_poll, settle)
    }
}

pub(crate) unsafe fn wait_one<L: Language>(
    function: u16,
    request: *mut Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { complete_one::<L>(function, request, None, status, real) }
}

pub(crate) unsafe fn test_one<L: Language>(
    function: u16,
    request: *mut Handle,
    flag: *mut c_int,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { complete_one::<L>(function, request, Some(flag), status, real) }
}

pub(crate) unsafe fn wait_all<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    statuses: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { all::<L>(function, count, requests, statuses, None, real) }
}

pub(crate) unsafe fn test_all<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    flag: *mut c_int,
    statuses: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { all::<L>(function, count, requests, statuses, Some(flag), real) }
}

pub(crate) unsafe fn wait_any<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    index: *mut c_int,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { any::<L>(function, count, requests, index, status, None, real) }
}

pub(crate) unsafe fn test_any<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { any::<L>(function, count, requests, index, status, Some(flag), real) }
}

pub(crate) unsafe fn wait_some<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    completed_count: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { some::<L>(function, count, requests, completed_count, indices, statuses, false, real) }
}

pub(crate) unsafe fn test_some<L: Language>(
    function: u16,
    count: c_int,
    requests: *mut Handle,
    completed_count: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    // SAFETY: the arguments are the program's own.
    unsafe { some::<L>(function, count, requests, completed_count, indices, statuses, true, real) }
}
