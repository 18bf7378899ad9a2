//! Standard descriptors and signals, where the standard library offers no safe way.
//!
//! The Rust runtime opens `/dev/null` in place of closed standard descriptors and ignores SIGPIPE, and the user's program
//! would inherit the one and lose the other. Here closed descriptors are filled earlier, with files that are closed again
//! in whatever this program starts; and an ignored SIGPIPE is remembered.
#![expect(unsafe_code, reason = "it runs before main, between fork and exec, and changes masks of signals")]

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

static SIGPIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds functions of this type, which run before `main`. This one only makes system calls.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    for number in 0..3 {
        // SAFETY: the call only asks for flags.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            fill();
        }
    }
    // SAFETY: all zeros are a valid value, and the call writes to a local.
    let action = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut action);
        action
    };
    SIGPIPE_WAS_IGNORED.store(action.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
}

/// Opens a file in place of the lowest closed descriptor: no other file gets its number.
fn fill() {
    // SAFETY: the paths are strings of C. Without /dev/null a folder takes what is written, and refuses it.
    unsafe {
        if libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) < 0 {
            libc::open(c"/".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        }
    }
}

/// Starts a command with the disposition of SIGPIPE that this program was started with; otherwise it has the default one.
pub fn pass_on_sigpipe(command: &mut Command) {
    if SIGPIPE_WAS_IGNORED.load(Ordering::Relaxed) {
        // SAFETY: `signal` may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
                Ok(())
            });
        }
    }
}

/// This thread may write to a terminal from the background, even where others are stopped for that (`stty tostop`).
pub fn allow_background_output() {
    // SAFETY: all zeros are valid before the set is emptied, and the mask is this thread's alone.
    unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
    }
}
