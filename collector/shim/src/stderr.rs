//! One line on the program's stderr, which must not stop, end or hold up the program.
#![expect(unsafe_code, reason = "signals are masked and a descriptor is written that is not ours")]

use std::sync::atomic::{AtomicBool, Ordering};

const STDERR: i32 = 2;
/// Signals by which a write ends or stops a program: nobody reads the pipe, the file may not grow, the terminal belongs to
/// the foreground.
const OF_WRITES: [i32; 3] = [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGTTOU];

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds functions of this type, which run when the library is loaded. This one asks for flags.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

/// Where stderr is closed at the beginning, its number may become that of a file of the program.
extern "C" fn on_load() {
    // SAFETY: the call only asks for flags.
    let is_closed = unsafe { libc::fcntl(STDERR, libc::F_GETFD) } < 0;
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Holds back the signals of writes in this thread; those that came meanwhile are forgotten.
pub(crate) struct WriteSignalsHeld {
    before: libc::sigset_t,
    pending: libc::sigset_t,
}

impl WriteSignalsHeld {
    pub(crate) fn new() -> Self {
        // SAFETY: all zeros are valid before the sets are written, and the mask is this thread's alone.
        unsafe {
            let mut blocked = Self { before: std::mem::zeroed(), pending: std::mem::zeroed() };
            libc::sigpending(&raw mut blocked.pending);
            let signals = set_of(&OF_WRITES);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, &raw mut blocked.before);
            blocked
        }
    }
}

impl Drop for WriteSignalsHeld {
    fn drop(&mut self) {
        // SAFETY: the sets are valid, and the mask becomes what it was. A signal that waited before goes on waiting.
        unsafe {
            let errno = *libc::__errno_location();
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            for signal in OF_WRITES {
                if libc::sigismember(&raw const self.pending, signal) == 0 {
                    let signal = set_of(&[signal]);
                    libc::sigtimedwait(&raw const signal, std::ptr::null_mut(), &raw const at_once);
                }
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
            *libc::__errno_location() = errno;
        }
    }
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: all zeros are valid before the set is emptied.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for &signal in signals {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

/// Writes a line, or drops it where that would take time.
pub(crate) fn write_line(line: &str) {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return;
    }
    let _held = WriteSignalsHeld::new();
    let (bytes, count) = (line.as_ptr().cast(), line.len());
    // SAFETY: the buffer is valid for its length, the path is a string of C, and only what was opened here is closed.
    // A failed write cannot be reported.
    unsafe {
        let errno = *libc::__errno_location();
        let mut found: libc::stat = std::mem::zeroed();
        if libc::fstat(STDERR, &raw mut found) == 0 {
            match found.st_mode & libc::S_IFMT {
                libc::S_IFREG => {
                    libc::write(STDERR, bytes, count);
                }
                libc::S_IFSOCK => {
                    libc::send(STDERR, bytes, count, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
                }
                _ => write_if_ready(bytes, count),
            }
        }
        *libc::__errno_location() = errno;
    }
}

/// Writes to a pipe or a device. The program shares what is open there, so it must not be made non-blocking; it is opened
/// once more instead.
///
/// # Safety
/// The buffer must be valid for its length.
unsafe fn write_if_ready(bytes: *const libc::c_void, count: usize) {
    // SAFETY: see above.
    unsafe {
        let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
        let own = libc::open(c"/proc/self/fd/2".as_ptr(), flags);
        if own >= 0 {
            libc::write(own, bytes, count);
            libc::close(own);
            return;
        }
        let mut ready = libc::pollfd { fd: STDERR, events: libc::POLLOUT, revents: 0 };
        if libc::poll(&raw mut ready, 1, 0) == 1 && ready.revents & libc::POLLOUT != 0 {
            libc::write(STDERR, bytes, count);
        }
    }
}
