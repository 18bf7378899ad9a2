//! Calls that move no data, queries, and control calls.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use super::message::{finish, made};
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::local::{Recorder, enter, recorded};
use crate::process;
use crate::text;
use core::ffi::{c_int, c_void};
use mpiscope_wire::Asked;

pub(crate) unsafe fn plain<L: Language>(
    function: u16,
    comm: Option<Handle>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    recorded::<L, _>(function, real, |recorder, (result, at)| {
        let mut call = made(function, at, result);
        if let Some(comm) = comm {
            recorder.with_comm(L::handle(HandleKind::Comm, comm), |thread, _, comm| {
                thread.place(&mut call, comm);
            });
        }
        recorder.commit(&call)
    })
}

/// A call that asks and returns at once. What it finds, another call completes.
pub(crate) unsafe fn poll<L: Language>(
    function: u16,
    flag: *const c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    // SAFETY: the call has just set it.
    let failed_poll = |result| result == 0 && unsafe { *flag } == 0;
    let (result, at) = entered.timed_poll(function, Asked::Nothing, real, failed_poll);
    let Some(at) = at else { return result };
    entered.work(|recorder| {
        if failed_poll(result) {
            recorder.failed_poll(function, at);
        } else {
            finish(recorder, function, at, result);
        }
    });
    result
}

/// Without `MPI_Init` the library reports neither the number of ranks nor this process's own.
pub(crate) unsafe fn session_init<L: Language>(
    function: u16,
    _session: *mut Handle,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: it has no arguments of the program's.
    let result = unsafe { plain::<L>(function, None, real) };
    if result == 0 {
        process::say_session();
    }
    result
}

/// 0 pauses recording, 1 and 2 resume it. Other levels may come with a name: positive ones begin a phase of that name,
/// negative ones end it.
pub(crate) unsafe fn pcontrol<L: Language>(
    function: u16,
    level: c_int,
    name: Option<*mut c_void>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let mut entered = enter::<L>();
    if L::is_recorded() && matches!(level, 1 | 2) {
        // Polls until here were made while nothing was recorded.
        entered.as_mut().map(|entered| entered.work(Recorder::flush));
        process::pause(false);
    }
    let Some(mut entered) = entered else { return real() };
    let (result, at) = entered.timed(function, real);
    entered.work(|recorder| {
        let mut call = made(function, at, result);
        call.tag = level;
        // Whether nobody promises a name, and it must be read with care.
        let name = name.filter(|_| !matches!(level, 0..=2)).and_then(|name| text::perhaps(name));
        if let Some(phase) = name.and_then(|name| recorder.process.phase(&name)) {
            recorder.thread.place(&mut call, &phase);
        }
        recorder.commit(&call);
        if level == 0 {
            process::pause(true);
        }
    });
    result
}
