//! Which functions of the program are on the stack when it calls MPI, by the unwind tables that compilers write.
#![expect(unsafe_code, reason = "the unwinder of the machine, and words of the thread's own stack")]

use core::ffi::{c_int, c_void};
use mpiscope_capture::{Frame, MOST_FRAMES};
use std::ops::Range;

/// What the unwinder hands to its callback.
#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int,
        path: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

const GO_ON: c_int = 0;
const STOP: c_int = 5;

/// The functions that a call came through, the one that makes it first.
pub(crate) struct CallPath {
    /// What the call returns to.
    caller: u64,
    frames: [Frame; MOST_FRAMES],
    len: usize,
}

impl CallPath {
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames[..self.len]
    }

    /// Whether all of it is written in that part of the stack, where it can be read again.
    pub(crate) fn is_within(&self, stack: Range<usize>) -> bool {
        self.frames()
            .iter()
            .all(|frame| stack.contains(&frame.written_at) && read(frame.written_at) == frame.address)
    }
}

/// A word of the thread's own stack.
pub(crate) fn read(at: usize) -> u64 {
    // SAFETY: callers pass words that lie between the call at hand and the end of the thread's stack.
    unsafe { (at as *const u64).read_volatile() }
}

/// Follows the stack from the call that returns to `caller`. Where the unwinder does not get that far, the path is nothing
/// but that call.
pub(crate) fn unwind(caller: u64) -> CallPath {
    let nothing = Frame { address: 0, written_at: 0 };
    let mut path = CallPath { caller, frames: [nothing; MOST_FRAMES], len: 0 };
    // SAFETY: the callback gets the pointer to `path`, which lives as long as the call.
    unsafe { _Unwind_Backtrace(add, (&raw mut path).cast()) };
    if path.len == 0 {
        path.frames[0] = Frame { address: caller, written_at: 0 };
        path.len = 1;
    }
    path
}

unsafe extern "C" fn add(context: *mut Context, path: *mut c_void) -> c_int {
    // SAFETY: `path` is the pointer that `unwind` passed.
    let path = unsafe { &mut *path.cast::<CallPath>() };
    // SAFETY: the context is the unwinder's own.
    let (address, stack) = unsafe { (_Unwind_GetIP(context) as u64, _Unwind_GetCFA(context)) };
    // The innermost functions are ours.
    if path.len == 0 && address != path.caller {
        return GO_ON;
    }
    if path.len == MOST_FRAMES || address == 0 {
        return STOP;
    }
    // A call writes where it returns to just below the stack of its function.
    path.frames[path.len] = Frame { address, written_at: stack.wrapping_sub(size_of::<u64>()) };
    path.len += 1;
    GO_ON
}
