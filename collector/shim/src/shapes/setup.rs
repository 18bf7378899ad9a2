//! Start and end of MPI.
#![expect(unsafe_code, reason = "all shapes share one signature; the pointers are the program's")]

use crate::clock;
use crate::local::{enter, timed};
use crate::mpi::Handle;
use crate::process;
use core::ffi::c_int;
use mpiscope_capture::{Interval, Thread};
use mpiscope_ring::State;

/// Only after the real call is there an MPI library to ask.
pub(crate) unsafe fn init(function: u16, real: impl FnOnce() -> c_int) -> c_int {
    clock::choose();
    let (result, at) = timed(real);
    if result == 0
        && process::begin().is_some()
        && let Some(mut entered) = enter()
    {
        entered.work(|recorder| recorder.commit(&Thread::plain(function, at)));
    }
    result
}

pub(crate) unsafe fn finalize(function: u16, real: impl FnOnce() -> c_int) -> c_int {
    let Some(mut entered) = enter() else { return real() };
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        recorder.commit(&Thread::plain(function, at));
        recorder.process.set_state(State::Finalized);
    });
    result
}

/// It does not come back, so it is written before it is made.
pub(crate) unsafe fn abort(function: u16, _: Handle, real: impl FnOnce() -> c_int) -> c_int {
    let Some(mut entered) = enter() else { return real() };
    let now = clock::now();
    entered.work(|recorder| {
        recorder.commit(&Thread::plain(function, Interval { start: now, end: now }));
        recorder.process.set_state(State::Aborted);
    });
    entered.timed(function, real).0
}
