//! Communicators that come and go and get names, windows and files that go, and datatypes that go.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{comm_key, made, not_a_receive, parent_of};
use super::object::count_if_made_by_all;
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{enter, recorded, recorded_asking};
use crate::process;
use crate::text::Text;
use core::ffi::c_int;
use mpiscope_capture::Origin;
use mpiscope_wire::Asked;

pub(crate) unsafe fn comm_new<L: Language>(
    function: u16,
    parent: Handle,
    made_comm: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let asked = || Asked::Members { comm: comm_key::<L>(parent) };
    recorded_asking::<L, _>(function, asked, real, |recorder, (result, at)| {
        let process = recorder.process;
        let mut call = made(function, at, result);
        let parent = parent_of(recorder, &mut call, L::handle(HandleKind::Comm, parent));
        if result == 0
            && let Some(parent) = parent
        {
            // Every member counts, also one that gets no communicator: the numbers go on agreeing.
            let number = parent.count_child();
            // SAFETY: the call has just set it.
            let handle = unsafe { L::key(&process.library, HandleKind::Comm, made_comm, 0) };
            // Written at once: its members are then known even if one of them never uses it.
            if let Some(comm) = process.adopt_comm(handle, Origin::Child(&parent, number)) {
                recorder.thread.define(&comm);
            }
        }
        recorder.commit(&call)
    })
}

/// A call that only the members of the new communicator make: not all of a parent count it, if there is one.
pub(crate) unsafe fn comm_of_members<L: Language>(
    function: u16,
    parent: Option<Handle>,
    made_comm: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let process = recorder.process;
        let mut call = made(function, at, result);
        if let Some(parent) = parent {
            recorder.with_comm(L::handle(HandleKind::Comm, parent), |thread, _, comm| {
                thread.place(&mut call, comm);
            });
        }
        if result == 0 {
            // SAFETY: the call has just set it.
            let handle = unsafe { L::key(&process.library, HandleKind::Comm, made_comm, 0) };
            process.adopt_comm(handle, Origin::Unseen);
        }
        recorder.commit(&call)
    })
}

/// A communicator that may be used only when a request completes, which everybody waits for.
pub(crate) unsafe fn comm_idup<L: Language>(
    function: u16,
    parent: Handle,
    made_comm: *mut Handle,
    request: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let process = recorder.process;
        let mut call = made(function, at, result);
        let parent = L::handle(HandleKind::Comm, parent);
        let comm = parent_of(recorder, &mut call, parent);
        if result == 0 {
            not_a_receive::<L>(recorder, request);
            if let Some(comm) = comm {
                let number = comm.count_child();
                // SAFETY: the call has just set it.
                let handle = unsafe { L::key(&process.library, HandleKind::Comm, made_comm, 0) };
                process.adopt_duplicate(handle, parent, Origin::Child(&comm, number));
            }
        }
        recorder.commit(&call)
    })
}

/// Not recorded as a call: its definition is written at once.
pub(crate) unsafe fn comm_name<L: Language>(comm: Handle, name: Text, real: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the argument is the program's own.
    unsafe { named::<L>(HandleKind::Comm, comm, name, real) }
}

/// The same of a window.
pub(crate) unsafe fn window_name<L: Language>(
    window: Handle,
    name: Text,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the argument is the program's own.
    unsafe { named::<L>(HandleKind::Window, window, name, real) }
}

unsafe fn named<L: Language>(
    kind: HandleKind,
    handle: Handle,
    name: Text,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let result = real();
    entered.work(|recorder| {
        // SAFETY: the program's own, as the standard wants it.
        let name = unsafe { name.read() };
        let process = recorder.process;
        let handle = L::handle(kind, handle);
        let comm = match kind {
            HandleKind::Comm => process.find_comm(handle),
            _ => process.find_object(kind, handle),
        };
        if let Some(comm) = comm.filter(|_| result == 0) {
            comm.set_name(name);
            recorder.thread.name(&mut recorder.ring, &comm);
        }
    });
    result
}

pub(crate) unsafe fn comm_free<L: Language>(
    function: u16,
    comm: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the argument is the program's own.
    unsafe { freed::<L>(function, HandleKind::Comm, comm, real) }
}

pub(crate) unsafe fn window_free<L: Language>(
    function: u16,
    window: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the argument is the program's own.
    unsafe { freed::<L>(function, HandleKind::Window, window, real) }
}

pub(crate) unsafe fn file_close<L: Language>(
    function: u16,
    file: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the argument is the program's own.
    unsafe { freed::<L>(function, HandleKind::File, file, real) }
}

unsafe fn freed<L: Language>(
    function: u16,
    kind: HandleKind,
    object: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let freed = entered.work(|recorder| {
        let process = recorder.process;
        // SAFETY: the pointer is to a handle, which the call will set to null.
        let handle = unsafe { L::key(&process.library, kind, object, 0) } as Handle;
        let key = process.key(kind, handle);
        // Before the call: after it another thread may have the handle for a new one.
        process.forget_comm(key).map(|comm| (key, comm))
    });
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        let mut call = made(function, at, result);
        if let Some((key, comm)) = freed.flatten() {
            if kind != HandleKind::Comm {
                recorder.thread.place(&mut call, &comm);
                count_if_made_by_all(recorder.process, &mut call, &comm);
            }
            if result != 0 {
                recorder.process.restore_comm(key, comm);
            }
        }
        recorder.commit(&call)
    });
    result
}

/// Not recorded: only the sizes that are remembered by handle have to go.
pub(crate) unsafe fn type_free<L: Language>(real: impl FnOnce() -> c_int) -> c_int {
    // Also within another call. Before the real one: after it another thread may have the handle for a new type.
    if L::is_recorded()
        && let Some(process) = process::current()
    {
        process.forget_types();
    }
    real()
}
