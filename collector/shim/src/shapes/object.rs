//! One-sided communication and files: calls on a window or a file, which is as much as a communicator of its own.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{made, not_a_receive, parent_of};
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, recorded, with_status};
use crate::mpi::{Status, read_status};
use crate::process::Process;
use crate::text::Text;
use core::ffi::c_int;
use mpiscope_capture::{Comm, Interval};
use mpiscope_wire::{Asked, Call, CallFlags, FunctionEntry, by_id};

/// A call of the members of a communicator made something for them.
fn adopted<L: Language>(
    recorder: &mut Recorder,
    function: u16,
    (result, at): (c_int, Interval),
    parent: Handle,
    (kind, handle, name): (HandleKind, *mut Handle, String),
) {
    let process = recorder.process;
    let mut call = made(function, at, result);
    let parent = L::handle(HandleKind::Comm, parent);
    let comm = parent_of(recorder, &mut call, parent);
    if let Some(comm) = comm.filter(|_| result == 0) {
        // SAFETY: the call has just set it.
        let handle = unsafe { L::key(&process.library, kind, handle, 0) } as Handle;
        process.adopt_object(kind, process.key(kind, handle), parent, &comm, name);
        recorder.with_object(kind, handle, |thread, _, object| thread.place(&mut call, object));
    }
    recorder.commit(&call);
}

pub(crate) unsafe fn window_new<L: Language>(
    function: u16,
    comm: Handle,
    window: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, called| {
        adopted::<L>(recorder, function, called, comm, (HandleKind::Window, window, String::new()));
    })
}

pub(crate) unsafe fn file_open<L: Language>(
    function: u16,
    comm: Handle,
    name: Text,
    file: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, called| {
        // SAFETY: the program's own, as the standard wants it.
        let name = unsafe { name.read() };
        adopted::<L>(recorder, function, called, comm, (HandleKind::File, file, name));
    })
}

/// Numbers a call that all who share a window or a file make together.
pub(crate) fn count_if_made_by_all(process: &Process, call: &mut Call, object: &Comm) {
    if by_id(call.function).is_some_and(FunctionEntry::is_made_by_all) {
        let number = object.count_collective(process.capture.has_threads());
        call.flags = call.flags.with(CallFlags::COLLECTIVE);
        call.tag = number as i32;
    }
}

/// The arguments of a call on a window or a file.
struct ObjectCall {
    kind: HandleKind,
    object: Handle,
    /// Whom it is for.
    rank: Option<c_int>,
    /// Number and type of the elements.
    moved: Option<(i64, Handle)>,
    request: Option<*mut Handle>,
}

#[inline(never)]
fn commit_object_call<L: Language>(
    recorder: &mut Recorder,
    function: u16,
    (result, at): (c_int, Interval),
    object_call: &ObjectCall,
) {
    let process = recorder.process;
    let mut call = made(function, at, result);
    let mut to = None;
    // Puts and gets name a rank: only what all do is looked up.
    let may_be_of_all = object_call.rank.is_none() && object_call.request.is_none();
    recorder.with_object(
        object_call.kind,
        L::handle(object_call.kind, object_call.object),
        |thread, _, object| {
            thread.place(&mut call, object);
            if may_be_of_all {
                count_if_made_by_all(process, &mut call, object);
            }
            to = object_call.rank.and_then(|rank| object.peer(rank)).map(|peer| peer.world_rank);
        },
    );
    if let Some(rank) = to {
        call.peer = rank;
    }
    // A null target moves nothing, and its type may be none.
    let moved = object_call.moved.filter(|_| result == 0 && (object_call.rank.is_none() || to.is_some()));
    if let Some((count, datatype)) = moved {
        call.bytes = recorder.bytes(count, L::handle(HandleKind::Datatype, datatype));
    }
    if let Some(request) = object_call.request.filter(|_| result == 0) {
        not_a_receive::<L>(recorder, request);
    }
    recorder.commit(&call);
}

pub(crate) unsafe fn window_call<L: Language>(
    function: u16,
    window: Handle,
    rank: Option<c_int>,
    moved: Option<(i64, Handle)>,
    request: Option<*mut Handle>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, called| {
        let object_call = ObjectCall { kind: HandleKind::Window, object: window, rank, moved, request };
        commit_object_call::<L>(recorder, function, called, &object_call);
    })
}

pub(crate) unsafe fn file_call<L: Language>(
    function: u16,
    file: Handle,
    moved: Option<(i64, Handle)>,
    request: Option<*mut Handle>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, called| {
        let object_call = ObjectCall { kind: HandleKind::File, object: file, rank: None, moved, request };
        commit_object_call::<L>(recorder, function, called, &object_call);
    })
}

/// A call whose status has the amount it moved: a read may find less than it asks for.
pub(crate) unsafe fn file_transfer<L: Language>(
    function: u16,
    file: Handle,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
) -> c_int {
    with_status::<L>(
        function,
        || Asked::Nothing,
        status,
        real,
        |recorder, (result, at), status| {
            let process = recorder.process;
            let mut call = made(function, at, result);
            let file = L::handle(HandleKind::File, file);
            recorder.with_object(HandleKind::File, file, |thread, _, object| {
                thread.place(&mut call, object);
                count_if_made_by_all(process, &mut call, object);
            });
            if result == 0 {
                // SAFETY: the call has just filled it.
                let found = unsafe { read_status(&recorder.process.library.family.status, status, 0) };
                call.bytes = found.bytes;
            }
            recorder.commit(&call);
        },
    )
}
