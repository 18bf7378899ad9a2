//! Communicators that come and go, and datatypes that go.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{comm_key, finish, made};
use crate::language::{Kind, Language};
use crate::local::{enter, recorded_asking};
use crate::mpi::Handle;
use crate::process;
use core::ffi::c_int;
use mpiscope_wire::Asked;
use std::sync::Arc;

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
        let parent = recorder.with_comm(L::handle(Kind::Comm, parent), |thread, _, comm| {
            thread.place(&mut call, comm);
            Arc::clone(comm)
        });
        if result == 0
            && let Some(parent) = parent
        {
            // Every member counts, also one that gets no communicator, so that the numbers go on agreeing.
            let number = parent.count_child();
            // SAFETY: the call has just set it.
            let handle = unsafe { L::key(&process.library, Kind::Comm, made_comm, 0) };
            // Told at once, so that who its members are is known also where one of them never uses it.
            if let Some(comm) = process.adopt_comm(handle, &parent, number) {
                recorder.thread.define(&comm);
            }
        }
        recorder.commit(&call)
    })
}

pub(crate) unsafe fn comm_free<L: Language>(
    function: u16,
    comm: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let freed = entered.work(|recorder| {
        let process = recorder.process;
        // SAFETY: the pointer is to a communicator, which the call will set to null.
        let handle = unsafe { L::key(&process.library, Kind::Comm, comm, 0) };
        // Before the call: after it another thread may have the handle for a new one.
        process.forget_comm(handle).map(|comm| (handle, comm))
    });
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        if let Some((handle, comm)) = freed.flatten().filter(|_| result != 0) {
            recorder.process.restore_comm(handle, comm);
        }
        finish(recorder, function, at, result)
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
