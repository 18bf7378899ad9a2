//! Starts the agent of this node when there is none: the first rank does it, or any rank that finds it ended.
//!
//! The program must not notice. A helper starts the agent. It shares our memory for a moment, and no signal reports
//! its end: the program's `wait` and its handler of SIGCHLD never see a child of ours. Nothing of the program's memory
//! is copied, which matters where its network may not be copied.
#![expect(unsafe_code, reason = "starting a process that is nobody's child")]

use mpiscope_ring::clock::monotonic_ns;
use mpiscope_ring::{AGENT_LOCK, AGENT_LOCK_VARIABLE, SERVED_BY_DAEMON, own_folder};
use std::ffi::{CStr, CString, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stack for each of both helpers: they only make system calls.
const STACK_BYTES: usize = 64 << 10;
/// After the agent was looked for, it is not looked for again for so long.
const LOOK_EVERY_NS: u64 = 500_000_000;
/// Where the agent finds the file with the lock.
const LOCK_NUMBER: i32 = 3;

static START: OnceLock<Start> = OnceLock::new();
static LOOKED_NS: AtomicU64 = AtomicU64::new(0);

/// What it takes to start an agent, read from the environment once: later, other threads may change that.
struct Start {
    rings: PathBuf,
    /// The agent's program; none where the ranks are not to start it.
    program: Option<CString>,
    environment: Vec<CString>,
}

/// Makes the folder of the rings on a host that does not have it yet.
pub(crate) fn make_folder(rings: &Path) -> Result<(), String> {
    own_folder(rings).map_err(|error| format!("no folder for its ring ({}: {error})", rings.display()))
}

/// Starts the agent if this host has none.
pub(crate) fn ensure(rings: &Path) {
    let start = START.get_or_init(|| Start {
        rings: rings.to_path_buf(),
        program: std::env::var_os("MPISCOPE_AGENT").and_then(|program| c_string(program.as_bytes())),
        environment: environment(),
    });
    LOOKED_NS.store(monotonic_ns(), Ordering::Relaxed);
    // What does not work here costs the recording of this host until another rank finds it possible.
    let _ = start.run();
}

/// The last entry of a rank: somebody has to read it.
#[cold]
pub(crate) fn ensure_at_end() {
    if let Some(start) = START.get() {
        let _ = start.run();
    }
}

/// Looks for the agent again, unless that was done just now. Called when a ring seems to have no reader.
#[cold]
pub(crate) fn revive() {
    let now = monotonic_ns();
    let looked = LOOKED_NS.load(Ordering::Relaxed);
    let due = now.saturating_sub(looked) > LOOK_EVERY_NS;
    if due
        && LOOKED_NS.compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        && let Some(start) = START.get()
    {
        let _ = start.run();
    }
}

impl Start {
    fn run(&self) -> Option<()> {
        let program = self.program.as_ref()?;
        if self.rings.join(SERVED_BY_DAEMON).exists() || collects_orphans() {
            return None;
        }
        let lock = std::fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(self.rings.join(AGENT_LOCK))
            .ok()?;
        // Whoever has it is the agent, or is just starting it. It goes over to the agent with the open file.
        lock.try_lock().ok()?;
        launch(program, &self.environment, &lock.into())
    }
}

/// Whether orphans become children of this process, which might wait for them for ever.
fn collects_orphans() -> bool {
    let mut collects: libc::c_int = 0;
    // SAFETY: the call writes one number into a local.
    let asked = unsafe { libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut collects) };
    std::process::id() == 1 || asked == 0 && collects != 0
}

fn c_string(text: &[u8]) -> Option<CString> {
    CString::new(text).ok()
}

/// All that the helpers need, made before there are any.
struct Plan {
    program: *const libc::c_char,
    arguments: [*const libc::c_char; 3],
    environment: Vec<*const libc::c_char>,
    lock: i32,
    stack: *mut libc::c_void,
}

fn environment() -> Vec<CString> {
    let kept = std::env::vars_os().filter(|(name, _)| name != "LD_PRELOAD" && name != AGENT_LOCK_VARIABLE);
    let line =
        |(name, value): (OsString, OsString)| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat());
    let mut all: Vec<CString> = kept.filter_map(line).collect();
    all.extend(c_string(format!("{AGENT_LOCK_VARIABLE}={LOCK_NUMBER}").as_bytes()));
    all
}

fn launch(program: &CStr, environment: &[CString], lock: &OwnedFd) -> Option<()> {
    let mut pointers: Vec<*const libc::c_char> = environment.iter().map(|line| line.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let mut stacks = vec![0_u128; 2 * STACK_BYTES / size_of::<u128>()];
    // SAFETY: both offsets lie within or right behind the allocation; stacks grow downwards.
    let (inner, outer) = unsafe {
        let bottom = stacks.as_mut_ptr().cast::<u8>();
        (bottom.add(STACK_BYTES).cast(), bottom.add(2 * STACK_BYTES).cast())
    };
    let plan = Plan {
        program: program.as_ptr(),
        arguments: [program.as_ptr(), c"agent".as_ptr(), std::ptr::null()],
        environment: pointers,
        lock: lock.as_raw_fd(),
        stack: inner,
    };
    // SAFETY: signals are blocked, and no handler of the program runs on a helper's stack. The helper shares our
    // memory, and this thread is suspended until it has ended; it makes system calls only, and what it points to
    // outlives it. It ends without a signal to us and is collected by its own number alone.
    unsafe {
        let errno = *libc::__errno_location();
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK;
        let helper = libc::clone(detach, outer, flags, (&raw const plan).cast_mut().cast());
        if helper > 0 {
            while libc::waitpid(helper, std::ptr::null_mut(), libc::__WALL) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        *libc::__errno_location() = errno;
        (helper > 0).then_some(())
    }
}

/// The first helper: leaves the program's session and starts the second, which has no parent to wait for it.
extern "C" fn detach(plan: *mut libc::c_void) -> i32 {
    // SAFETY: the plan outlives us; see `launch`.
    unsafe {
        libc::setsid();
        let stack = (*plan.cast::<Plan>()).stack;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(become_agent, stack, flags, plan);
        libc::_exit(0)
    }
}

/// The second helper: puts off all that was the program's and becomes the agent.
extern "C" fn become_agent(plan: *mut libc::c_void) -> i32 {
    // SAFETY: the plan outlives us; files, mask and folder are our own since we were made.
    unsafe {
        let plan = &*plan.cast::<Plan>();
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        // Out of the way of the numbers that are given out now.
        let lock = libc::fcntl(plan.lock, libc::F_DUPFD, 10);
        if nothing < 0 || lock < 0 {
            libc::_exit(126);
        }
        for number in 0..3 {
            libc::dup2(nothing, number);
        }
        libc::dup2(lock, LOCK_NUMBER);
        // Pipes of the program that stayed open would keep its launcher from seeing their end.
        if libc::syscall(libc::SYS_close_range, LOCK_NUMBER + 1, libc::c_int::MAX, 0) != 0 {
            (LOCK_NUMBER + 1..4096).for_each(|number| {
                libc::close(number);
            });
        }
        // The rank may be bound to a processor of its own: the agent should not be there.
        let everywhere = [u64::MAX; 128];
        libc::sched_setaffinity(0, size_of_val(&everywhere), everywhere.as_ptr().cast());
        // One who ignores the end of its children does not hear of it either.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::chdir(c"/".as_ptr());
        libc::execve(plan.program, plan.arguments.as_ptr(), plan.environment.as_ptr());
        libc::_exit(127)
    }
}
