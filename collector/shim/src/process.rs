//! What this process is to mpiscope: its ring file, its tables, whether it records.
#![expect(unsafe_code, reason = "asking the system who and where we are")]

use crate::agent;
use crate::calibration_request;
use crate::clock;
use crate::guarded::Guarded;
use crate::mpi::{Library, is_initialized};
use crate::recorded_family;
use crate::recording_cost;
use crate::stderr::{WriteSignalsHeld, write_line};
use crate::thread_pointer;
use mpiscope_capture::{Comms, Origin, Received, Requests, Sites};
use mpiscope_ring::clock::monotonic_ns;
use mpiscope_ring::{Capacities, Identity, InFlightWord, Pause, RingHeader, State, Waker, Writer};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The one process.
static PROCESS: OnceLock<Process> = OnceLock::new();
static STAGE: AtomicU8 = AtomicU8::new(UNSET);

const UNSET: u8 = 0;
const STARTING: u8 = 1;
const RECORDING: u8 = 2;
const OFF: u8 = 3;

/// Rows of folded polls span at most a tenth of a second: a loop is visible while it runs.
const LONGEST_POLL_ROW_NS: f64 = 1e8;

pub(crate) struct Process {
    pub(crate) library: Library,
    pub(crate) capture: mpiscope_capture::Process,
    pub(crate) writer: Writer,
    pub(crate) comms: Mutex<Comms>,
    sites: Mutex<Sites>,
    /// Whether calls have their whole path.
    pub(crate) has_call_paths: bool,
    /// Grows whenever a communicator was made or freed.
    pub(crate) comm_epoch: AtomicU32,
    requests: Guarded<Requests>,
    /// Messages that a probe matched and that were not received yet, by handle.
    messages: Guarded<Requests>,
    /// What will have been received where no status can be trusted to tell, by the post; none where that remains unknown.
    pub(crate) expected: Mutex<HashMap<u64, Option<Received>>>,
    /// Grows whenever a datatype was freed.
    type_epoch: AtomicU32,
    threads: AtomicU64,
    pid: u32,
    /// The header of no ring, for the threads that found none.
    nowhere: RingHeader,
}

pub(crate) fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One line, on stderr, once: why nothing is recorded.
fn say(why: &str) {
    let then = if calibration_request::seconds().is_some() {
        "nothing can be measured"
    } else {
        "the program runs on without being recorded"
    };
    say_line(&format!("{why}; {then}"));
}

/// MPI may be used by sessions, without `MPI_Init`. Such programs are not recorded. The first rank prints this once,
/// where the launcher gives ranks a number.
pub(crate) fn say_session() {
    static SAID: AtomicBool = AtomicBool::new(false);
    let other = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"]
        .iter()
        .find_map(std::env::var_os)
        .is_some_and(|rank| rank != "0");
    let is_asked = std::env::var_os("MPISCOPE_RINGS").is_some();
    let is_news = STAGE.load(Ordering::Acquire) == UNSET && is_asked && !other;
    if is_news && !SAID.swap(true, Ordering::Relaxed) {
        say_line("MPI is used by a session; only what is called from MPI_Init to MPI_Finalize is recorded");
    }
}

/// One line on stderr.
pub(crate) fn say_line(text: &str) {
    write_line(&format!("mpiscope: {text}\n"));
}

/// The process when it records. At the first call it may have to begin.
pub(crate) fn current() -> Option<&'static Process> {
    match STAGE.load(Ordering::Acquire) {
        RECORDING => PROCESS.get(),
        UNSET if is_initialized() => {
            let begun = begin();
            calibration_request::began_late();
            begun.or_else(|| PROCESS.get())
        }
        _ => None,
    }
}

/// Begins to record, once MPI is initialized; `None` when that is no news, or recording stays off.
pub(crate) fn begin() -> Option<&'static Process> {
    if STAGE.compare_exchange(UNSET, STARTING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return None;
    }
    let started =
        std::panic::catch_unwind(start).unwrap_or_else(|_| Err("internal error of the collector".into()));
    match started {
        Ok(Some(process)) => {
            let _ = PROCESS.set(process);
            STAGE.store(RECORDING, Ordering::Release);
            PROCESS.get()
        }
        Ok(None) => {
            STAGE.store(OFF, Ordering::Release);
            None
        }
        Err(why) => {
            STAGE.store(OFF, Ordering::Release);
            say(&why);
            None
        }
    }
}

/// A fault of ours: no more recording.
#[cold]
pub(crate) fn give_up() {
    if STAGE.swap(OFF, Ordering::AcqRel) != OFF {
        say("internal error of the collector");
    }
}

/// Whether recording was switched off, or never began and never will.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    STAGE.load(Ordering::Relaxed) == OFF
}

/// The program wants nothing recorded for a while, or again.
pub(crate) fn pause(paused: bool) {
    if let Some(process) = current() {
        process.writer.pause(Pause::Program, paused);
    }
}

/// In a forked child: the rings belong to the parent.
extern "C" fn leave_in_child() {
    STAGE.store(OFF, Ordering::Release);
    thread_pointer::clear();
}

fn start() -> Result<Option<Process>, String> {
    // A program that was started without mpiscope is none of our business.
    let Some(rings) = std::env::var_os("MPISCOPE_RINGS") else { return Ok(None) };
    // Our panics are caught at every entry; the default hook would write to the program's stderr each time.
    std::panic::set_hook(Box::new(|_| {}));
    let library = Library::find().ok_or("the MPI library is of no known family (Open MPI, MPICH)")?;
    if library.is_spawned() {
        return Err("ranks that MPI_Comm_spawn starts are not recorded".into());
    }
    recorded_family::set(library.family);
    let (identity, ticks_per_ns) = identify(&library)?;
    let rings = Path::new(&rings);
    // On a host of its own nobody has made it yet, and whoever reads it is to be started.
    if std::env::var_os("MPISCOPE_DAEMON").is_some() {
        agent::make_folder(rings)?;
    }
    let writer = make_ring_file(rings, &identity)?;
    if std::env::var_os("MPISCOPE_PAUSED").is_some() {
        writer.pause(Pause::Watcher, true);
    }
    agent::ensure(rings);
    // SAFETY: the handler is a plain function that only stores to atomics.
    unsafe { libc::pthread_atfork(None, None, Some(leave_in_child)) };
    let capture = mpiscope_capture::Process::new((LONGEST_POLL_ROW_NS * ticks_per_ns) as u64);
    if library.has_threads() {
        capture.allow_threads();
    }
    let mut comms = Comms::default();
    let members = library.members(library.comm_world).ok_or("MPI does not tell who is in the world")?;
    comms.insert(library.handle(library.comm_world), &members, Origin::World);
    Ok(Some(Process {
        library,
        capture,
        writer,
        comms: Mutex::new(comms),
        sites: Mutex::default(),
        has_call_paths: std::env::var_os("MPISCOPE_CALL_PATHS").is_some(),
        comm_epoch: AtomicU32::new(1),
        requests: Guarded::default(),
        messages: Guarded::default(),
        expected: Mutex::default(),
        type_epoch: AtomicU32::new(1),
        threads: AtomicU64::new(0),
        pid: std::process::id(),
        nowhere: RingHeader::new(),
    }))
}

/// Who this process is, and how many ticks a nanosecond has.
fn identify(library: &Library) -> Result<(Identity, f64), String> {
    let (rank, world_size) =
        library.place_in(library.comm_world).ok_or("MPI does not tell this process's rank")?;
    let clock = clock::choose();
    let (cost_per_call_ns, ticks_per_ns) = recording_cost::measure(clock);
    let identity = Identity {
        pid: std::process::id(),
        made_ns: monotonic_ns(),
        rank,
        world_size,
        clock,
        cost_per_call_ns,
        library: library.version.clone(),
        node: host_name(),
        constants: [library.family.any_source, library.family.proc_null, library.family.any_tag],
    };
    Ok((identity, ticks_per_ns))
}

fn make_ring_file(rings: &Path, identity: &Identity) -> Result<Writer, String> {
    // A file that may not grow so far (`ulimit -f`) is no reason to end the program.
    let _held = WriteSignalsHeld::new();
    let mut capacities = Capacities::default();
    let slots = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    if let Some(first_slots) = slots("MPISCOPE_RING_SLOTS") {
        capacities.first_slots = first_slots;
        capacities.other_slots = first_slots.min(capacities.other_slots);
    }
    if let Some(other_slots) = slots("MPISCOPE_RING_OTHER_SLOTS") {
        capacities.other_slots = other_slots;
    }
    // The agent rests beside these rings, wherever this one is.
    let waker = || Waker::open(rings).ok();
    let first = match Writer::create(rings, identity, capacities, waker) {
        Ok(writer) => return Ok(writer),
        Err(error) => error,
    };
    // No room in shared memory: a file elsewhere is slower, and better than nothing.
    let Some(spool) = std::env::var_os("MPISCOPE_SPOOL").map(PathBuf::from) else {
        return Err(format!("no place for its ring ({first})"));
    };
    if std::env::var_os("MPISCOPE_DAEMON").is_some() {
        agent::make_folder(&spool)?;
    }
    Writer::create(&spool, identity, capacities, waker)
        .map_err(|second| format!("no place for its ring ({first}; {second})"))
}

pub(crate) fn host_name() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer is valid for its length; the last byte stays zero.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&byte| byte == 0).unwrap_or_default();
    String::from_utf8_lossy(&name[..end]).into_owned()
}

impl Process {
    /// The number of the next thread that calls MPI.
    pub(crate) fn next_thread(&self) -> u64 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether recording goes on, and this is the process that began it: not a child that was forked, by whatever call.
    pub(crate) fn is_own(&self) -> bool {
        !is_off() && !self.is_forked()
    }

    /// Whether this is a child of the process that began recording.
    pub(crate) fn is_forked(&self) -> bool {
        std::process::id() != self.pid
    }

    /// The handle of the communicator of all.
    pub(crate) fn world_handle(&self) -> u64 {
        self.library.handle(self.library.comm_world)
    }

    /// Works with the table of call sites.
    pub(crate) fn sites<T>(&self, work: impl FnOnce(&mut Sites) -> T) -> T {
        work(&mut unpoisoned(&self.sites))
    }

    /// Where threads without a ring write their current call.
    pub(crate) fn nowhere(&self) -> InFlightWord<'_> {
        self.nowhere.in_flight_word()
    }

    #[inline]
    pub(crate) fn comm_epoch(&self) -> u32 {
        self.comm_epoch.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn type_epoch(&self) -> u32 {
        self.type_epoch.load(Ordering::Acquire)
    }

    /// A datatype was freed: its handle may come again with another size.
    pub(crate) fn forget_types(&self) {
        self.type_epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Works with the table of requests.
    #[inline(always)]
    pub(crate) fn requests<T>(&self, work: impl FnOnce(&mut Requests) -> T) -> T {
        self.requests.with(self.capture.has_threads(), work)
    }

    /// Works with the table of matched messages.
    pub(crate) fn messages<T>(&self, work: impl FnOnce(&mut Requests) -> T) -> T {
        self.messages.with(self.capture.has_threads(), work)
    }

    /// Says how the process stands.
    pub(crate) fn set_state(&self, state: State) {
        if !self.is_forked() {
            self.writer.set_state(state);
        }
    }
}
