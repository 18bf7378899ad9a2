//! Start and end of MPI.
#![expect(unsafe_code, reason = "all shapes share one signature; the pointers are the program's")]

use crate::agent;
use crate::calibrate;
use crate::clock;
use crate::language::Language;
use crate::local::{enter, enter_from, recorded_asking, timed};
use crate::process::{self, Process};
use crate::thread_pointer;
use core::ffi::c_int;
use mpiscope_capture::{Interval, Thread};
use mpiscope_ring::State;
use mpiscope_wire::Asked;

/// Only after the real call is there an MPI library to ask. In whatever language the program calls, the innermost of our
/// functions that its call goes through begins.
pub(crate) unsafe fn init<L: Language>(function: u16, real: impl FnOnce() -> c_int) -> c_int {
    let (_, caller) = thread_pointer::get_with_caller::<()>();
    clock::choose();
    let (result, at) = timed(real);
    if result == 0
        && process::begin().is_some()
        && let Some(mut entered) = enter_from::<L>(caller)
    {
        entered.work(|recorder| recorder.commit(&Thread::plain(function, at)));
    }
    if result == 0 {
        calibrate::instead_of_the_program();
    }
    result
}

pub(crate) unsafe fn finalize<L: Language>(function: u16, real: impl FnOnce() -> c_int) -> c_int {
    // Also where the program has paused recording: how it ended is part of every run.
    process::pause(false);
    // Everybody of the world, which every process makes first.
    let asked = || Asked::Members { comm: process::current().map_or(0, Process::world_handle) };
    recorded_asking::<L, _>(function, asked, real, |recorder, (_, at)| {
        recorder.commit(&Thread::plain(function, at));
        recorder.process.set_state(State::Finalized);
        agent::ensure_at_end();
    })
}

/// It does not come back, so it is written before it is made.
pub(crate) unsafe fn abort<L: Language>(function: u16, real: impl FnOnce() -> c_int) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let now = clock::now();
    entered.work(|recorder| {
        recorder.commit(&Thread::plain(function, Interval { start: now, end: now }));
        recorder.process.set_state(State::Aborted);
        agent::ensure_at_end();
    });
    entered.timed(function, real).0
}
