//! What each thread keeps: its ring, its caches, and whether it is already inside a call.
#![expect(unsafe_code, reason = "one pointer a thread, followed only by that thread")]

use crate::calibrate;
use crate::call_path;
use crate::caller;
use crate::clock;
use crate::handle::{Handle, HandleKind};
use crate::language::Language;
use crate::mpi::Status;
use crate::process::{self, Process};
use crate::thread_pointer;
use crate::thread_ring::{InFlight, Ring};
use core::ffi::c_int;
use mpiscope_capture::{Caller, Comm, CommCache, Interval, Posted, Received, Thread};
use mpiscope_wire::{Asked, Call};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const TYPES: usize = 32;

/// The recorder of one thread.
pub(crate) struct Recorder {
    pub(crate) process: &'static Process,
    pub(crate) thread: Thread,
    pub(crate) comms: CommCache,
    pub(crate) ring: Ring,
    /// What the requests of the call at hand are known by, copied before it sets them to null.
    pub(crate) handles: Vec<u64>,
    /// Where several threads call: the receives that these handles had when the call began.
    pub(crate) peeked: Vec<Option<Posted>>,
    /// Receives that the call at hand started, with their handles.
    pub(crate) started: Vec<(u64, Posted)>,
    /// Room for statuses that the program does not want.
    statuses: Vec<u64>,
    /// The size of the datatype that was met last, and those of others: handle, epoch, size.
    last_type: (u64, u32, u64),
    types: [(u64, u32, u64); TYPES],
}

/// All of a thread.
struct Local {
    /// Where on the stack the outermost call is that the thread is in; 0 for none.
    inside: Cell<usize>,
    /// The range of its stack; empty when the system does not report it.
    stack: Range<usize>,
    /// Only of the outermost call.
    recorder: UnsafeCell<Recorder>,
}

thread_local! {
    static BEGINNING: Cell<bool> = const { Cell::new(false) };
    static LAST_WORD: LastWord = const { LastWord };
}

/// Dropped when its thread ends: gives the ring back.
struct LastWord;

impl Drop for LastWord {
    fn drop(&mut self) {
        let local = thread_pointer::get::<Local>();
        thread_pointer::clear();
        if local.is_null() {
            return;
        }
        // SAFETY: made by `Box::into_raw` in `begin`, and taken out of its cell just now.
        let mut local = unsafe { Box::from_raw(local) };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let recorder = local.recorder.get_mut();
            if recorder.process.is_own() {
                recorder.flush();
            }
        }));
    }
}

/// A thread that is inside an outermost call. While it lives, calls that MPI makes of itself are passed through.
pub(crate) struct Entered {
    local: &'static Local,
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        self.local.inside.set(0);
    }
}

/// Enters a call; `None` when it is not to be recorded. Always inline, to keep the mark in the frame of the call:
/// whatever the call calls lies below it on the stack.
#[inline(always)]
pub(crate) fn enter<L: Language>() -> Option<Entered> {
    let (local, caller) = thread_pointer::get_with_caller::<Local>();
    enter_with::<L>(local, caller)
}

/// The same of a call that comes from there.
pub(crate) fn enter_from<L: Language>(caller: u64) -> Option<Entered> {
    enter_with::<L>(thread_pointer::get::<Local>(), caller)
}

#[inline(always)]
fn enter_with<L: Language>(mut local: *mut Local, caller: u64) -> Option<Entered> {
    if !L::is_recorded() {
        return None;
    }
    let mark = MaybeUninit::<u8>::uninit();
    let frame_address = (&raw const mark).addr();
    if local.is_null() {
        local = begin()?;
    }
    // SAFETY: it is this thread's own, and lives until the thread ends.
    let local = unsafe { &*local };
    if local.inside.get() != 0 && !local.was_left(frame_address) {
        return None;
    }
    local.inside.set(frame_address);
    let mut entered = Entered { local };
    if !entered.recorder().thread.come_from(caller) {
        entered.learn(caller);
    }
    Some(entered)
}

#[cold]
#[inline(never)]
fn begin() -> Option<*mut Local> {
    // Finding out who we are calls MPI functions, which must not come back here.
    if process::is_off() || BEGINNING.replace(true) {
        return None;
    }
    let made = catch_unwind(|| {
        let process = process::current()?;
        // SAFETY: the call has no arguments and cannot fail.
        let thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
        let thread = process.next_thread();
        let mut calls = Thread::new(thread, thread_id);
        // To know it already when this thread's first call on it does not return.
        if let Some(world) = process.comm_by_index(0) {
            calls.define(&world);
        }
        let recorder = Recorder {
            process,
            thread: calls,
            comms: CommCache::default(),
            ring: Ring::claim(process, thread),
            handles: Vec::new(),
            peeked: Vec::new(),
            started: Vec::new(),
            statuses: Vec::new(),
            last_type: (0, 0, 0),
            types: [(0, 0, 0); TYPES],
        };
        let local = Local { inside: Cell::new(0), stack: stack(), recorder: UnsafeCell::new(recorder) };
        let local = Box::into_raw(Box::new(local));
        thread_pointer::set(local);
        // Late in the life of a thread there is no last word any more; the ring then goes with the process.
        let _ = LAST_WORD.try_with(|_| {});
        Some(local)
    });
    BEGINNING.set(false);
    calibrate::if_late();
    made.unwrap_or_else(|_| {
        process::give_up();
        None
    })
}

fn stack() -> Range<usize> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the call fills the attributes, or reports that it did not.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return 0..0;
    }
    let (mut lowest, mut bytes) = (core::ptr::null_mut(), 0);
    // SAFETY: the attributes were filled, and are given back after their last use.
    let failed = unsafe {
        let failed = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut bytes);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        failed
    };
    if failed == 0 { lowest.addr()..lowest.addr().saturating_add(bytes) } else { 0..0 }
}

impl Local {
    /// Whether a `longjmp` left the thread's call, which gives no notice: a call at this depth of the stack is not
    /// below it and cannot be within it. A program that jumps and goes on deeper in its stack is noticed at its next
    /// call that is not as deep. On other stacks (signals, coroutines) positions mean nothing.
    #[cold]
    #[inline(never)]
    fn was_left(&self, frame_address: usize) -> bool {
        let outer = self.inside.get();
        let left =
            frame_address >= outer && self.stack.contains(&frame_address) && self.stack.contains(&outer);
        if left {
            // SAFETY: who else referred to it was on the part of the stack that is gone.
            unsafe { (*self.recorder.get()).ring.leave() };
        }
        left
    }
}

/// Makes a real call that is not entered between two looks at the clock.
pub(crate) fn timed(call: impl FnOnce() -> c_int) -> (c_int, Interval) {
    let start = clock::now();
    let result = call();
    (result, Interval { start, end: clock::now() })
}

impl Recorder {
    /// Takes note of the path to the call, unless it is known. Addresses by themselves are never cached where paths are
    /// recorded, so every call comes here.
    fn learn_path(&mut self, address: u64, stack: &Range<usize>) {
        let Self { process, thread, ring, .. } = self;
        let caller = Caller { address, stack: thread_pointer::stack() };
        // On other stacks (signals, coroutines) what was there may be gone.
        let is_on_stack = stack.contains(&caller.stack);
        if is_on_stack && thread.come_along(caller, call_path::read) {
            return;
        }
        let path = call_path::unwind(address);
        let is_lasting = is_on_stack && path.is_within(caller.stack..stack.end);
        let known_as = is_lasting.then_some(caller);
        process.sites(|sites| thread.learn_path(sites, ring, (known_as, path.frames()), caller::locate));
    }
}

impl Entered {
    #[inline(always)]
    fn recorder(&mut self) -> &mut Recorder {
        // SAFETY: only the outermost call of a thread is entered, and this borrows it.
        unsafe { &mut *self.local.recorder.get() }
    }

    /// Takes note of where the program calls from, when that place is new.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, caller: u64) {
        let stack = self.local.stack.clone();
        self.work(|recorder| {
            let Recorder { process, thread, ring, .. } = recorder;
            // Without a reader, nothing needs to be looked up at every call.
            if ring.is_paused() {
                return;
            }
            if process.has_call_paths {
                return recorder.learn_path(caller, &stack);
            }
            process.sites(|sites| thread.learn(sites, ring, caller, caller::locate));
        });
    }

    /// Makes the real call between two looks at the clock, and lets it be seen meanwhile.
    #[inline(always)]
    pub(crate) fn timed(&mut self, function: u16, call: impl FnOnce() -> c_int) -> (c_int, Interval) {
        self.timed_asking(function, Asked::Nothing, call)
    }

    /// The same for a call whose peer is known.
    #[inline(always)]
    pub(crate) fn timed_asking(
        &mut self,
        function: u16,
        asked: Asked,
        call: impl FnOnce() -> c_int,
    ) -> (c_int, Interval) {
        let Recorder { thread, ring, .. } = self.recorder();
        let start = clock::now();
        // Dropped also when an exception passes.
        let in_flight = InFlight::enter(ring, (function, thread.site()), start, asked);
        let result = call();
        let end = clock::now();
        drop(in_flight);
        (result, Interval { start, end })
    }

    /// The same of a call that may be a poll. One that has `failed` in a loop of such is taken note of at once, and not timed:
    /// nothing is left to be recorded.
    #[inline(always)]
    pub(crate) fn timed_poll(
        &mut self,
        function: u16,
        asked: Asked,
        call: impl FnOnce() -> c_int,
        failed: impl FnOnce(c_int) -> bool,
    ) -> (c_int, Option<Interval>) {
        let Recorder { process, thread, ring, .. } = self.recorder();
        let start = clock::now();
        let in_flight = InFlight::enter(ring, (function, thread.site()), start, asked);
        let result = call();
        if failed(result) && thread.polls_on(&process.capture, function, start) {
            return (result, None);
        }
        let end = clock::now();
        drop(in_flight);
        (result, Some(Interval { start, end }))
    }

    /// Does work of ours; a fault in it ends recording and nothing else.
    #[inline]
    pub(crate) fn work<T>(&mut self, work: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        let recorder = self.recorder();
        match catch_unwind(AssertUnwindSafe(move || work(recorder))) {
            Ok(done) => Some(done),
            Err(_) => {
                process::give_up();
                None
            }
        }
    }
}

/// Makes a call and records what it led to.
#[inline(always)]
pub(crate) fn recorded<L: Language, T>(
    function: u16,
    real: impl FnOnce() -> c_int,
    record: impl FnOnce(&mut Recorder, (c_int, Interval)) -> T,
) -> c_int {
    recorded_asking::<L, T>(function, || Asked::Nothing, real, record)
}

/// The same for a call whose peer is known.
#[inline(always)]
pub(crate) fn recorded_asking<L: Language, T>(
    function: u16,
    asked: impl FnOnce() -> Asked,
    real: impl FnOnce() -> c_int,
    record: impl FnOnce(&mut Recorder, (c_int, Interval)) -> T,
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real() };
    let (result, at) = entered.timed_asking(function, asked(), real);
    entered.work(|recorder| record(recorder, (result, at)));
    result
}

/// The same of a call that gives one status, which is ours where the program does not want it.
#[inline(always)]
pub(crate) fn with_status<L: Language>(
    function: u16,
    asked: impl FnOnce() -> Asked,
    status: *mut Status,
    real: impl FnOnce(*mut Status) -> c_int,
    record: impl FnOnce(&mut Recorder, (c_int, Interval), *mut Status),
) -> c_int {
    let Some(mut entered) = enter::<L>() else { return real(status) };
    let status = entered.work(|recorder| recorder.status::<L>(status, 1)).unwrap_or(status);
    let (result, at) = entered.timed_asking(function, asked(), || real(status));
    entered.work(|recorder| record(recorder, (result, at), status));
    result
}

/// What completed is no receive with a status: a collective or a partitioned receive, as part of the call at hand.
#[cold]
#[inline(never)]
pub(crate) fn collected(
    process: &crate::process::Process,
    thread: &mut Thread,
    comms: &mut CommCache,
    ring: &mut Ring,
    posted: Posted,
) {
    let index = posted.comm_index();
    let Some(comm) = comms.get_by_index(index, || process.comm_by_index(index)) else { return };
    if let Some((_, number)) = posted.as_collective() {
        if posted.is_recorded() {
            thread.collected(ring, comm, number);
        }
    } else if let Some(expected) = process::unpoisoned(&process.expected).remove(&posted.post) {
        match expected {
            Some(received) => thread.completed(&process.capture, ring, comm, Some(&posted), &received),
            // It took an unknown message.
            None => thread.freed(ring, &posted),
        }
    }
}

impl Recorder {
    /// The communicator of a handle, and the parts of the recorder that go on working beside it.
    #[inline]
    pub(crate) fn with_comm<T>(
        &mut self,
        handle: Handle,
        work: impl FnOnce(&mut Thread, &mut Ring, &Arc<Comm>) -> T,
    ) -> Option<T> {
        let process = self.process;
        let find = || process.find_comm(handle);
        let comm = self.comms.get(process.library.handle(handle), process.comm_epoch(), find)?;
        Some(work(&mut self.thread, &mut self.ring, comm))
    }

    /// The window or file of a handle, likewise.
    pub(crate) fn with_object<T>(
        &mut self,
        kind: HandleKind,
        handle: Handle,
        work: impl FnOnce(&mut Thread, &mut Ring, &Arc<Comm>) -> T,
    ) -> Option<T> {
        let process = self.process;
        let find = || process.find_object(kind, handle);
        let comm = self.comms.get(process.key(kind, handle), process.comm_epoch(), find)?;
        Some(work(&mut self.thread, &mut self.ring, comm))
    }

    /// The communicator of this process's number, likewise.
    #[inline(always)]
    pub(crate) fn with_comm_index<T>(
        &mut self,
        index: u32,
        work: impl FnOnce(&mut Thread, &mut Ring, &Comm) -> T,
    ) -> Option<T> {
        let process = self.process;
        let comm = self.comms.get_by_index(index, || process.comm_by_index(index))?;
        Some(work(&mut self.thread, &mut self.ring, comm))
    }

    /// A posted receive completed, as part of the call at hand.
    #[inline(always)]
    pub(crate) fn completed(&mut self, posted: &Posted, received: &Received) {
        let Self { process, thread, comms, ring, .. } = self;
        if let Some(comm) = comms.get_by_index(posted.comm, || process.comm_by_index(posted.comm)) {
            thread.completed(&process.capture, ring, comm, Some(posted), received);
        } else {
            collected(process, thread, comms, ring, *posted);
        }
    }

    /// A posted receive was freed, as part of the call at hand.
    pub(crate) fn freed(&mut self, posted: &Posted) {
        self.thread.freed(&mut self.ring, posted);
    }

    /// The request of a receive is another's now. With several threads that receive may just be completing in one.
    #[inline]
    pub(crate) fn displaced(&mut self, stale: Option<Posted>) {
        if let Some(stale) = stale.filter(|_| !self.process.capture.has_threads()) {
            self.freed(&stale);
        }
    }

    /// Writes the call that was put together.
    #[inline]
    pub(crate) fn commit(&mut self, call: &Call) -> bool {
        self.thread.commit(&self.process.capture, &mut self.ring, call)
    }

    /// Writes the folded polls.
    pub(crate) fn flush(&mut self) {
        self.thread.flush(&self.process.capture, &mut self.ring);
    }

    /// A poll that found nothing.
    #[inline]
    pub(crate) fn failed_poll(&mut self, function: u16, at: Interval) {
        self.thread.failed_poll(&self.process.capture, &mut self.ring, function, at);
    }

    /// The bytes of `count` elements of a type.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, count: i64, datatype: Handle) -> u64 {
        if count <= 0 {
            return 0;
        }
        let (key, epoch) = (self.process.library.handle(datatype), self.process.type_epoch());
        let (known, since, size) = self.last_type;
        let size = if known == key && since == epoch { size } else { self.type_size(datatype, key, epoch) };
        mpiscope_capture::bytes(count, size)
    }

    /// The size of a datatype that is not the last one.
    #[inline(never)]
    fn type_size(&mut self, datatype: Handle, key: u64, epoch: u32) -> u64 {
        let library = &self.process.library;
        let entry = &mut self.types[(key ^ key >> 5 ^ key >> 9) as usize % TYPES];
        if entry.0 != key || entry.1 != epoch {
            let (mask, lasting) = library.family.lasting_types;
            let size = library.type_size(datatype);
            if key & mask != lasting {
                return size;
            }
            *entry = (key, epoch, size);
        }
        self.last_type = *entry;
        entry.2
    }

    /// Copies what the requests of an array are known by.
    ///
    /// # Safety
    /// The array has this number of elements.
    #[inline]
    pub(crate) unsafe fn copy_handles<L: Language>(&mut self, count: c_int, array: *const Handle) {
        let library = &self.process.library;
        self.handles.clear();
        let count = usize::try_from(count).unwrap_or_default();
        // SAFETY: by the caller's word.
        self.handles.extend((0..count).map(|at| unsafe { L::key(library, HandleKind::Request, array, at) }));
    }

    /// Forgets those receives among the copied handles that `gone` names by place and handle.
    pub(crate) fn give_up_requests(&mut self, gone: impl Fn(usize, u64) -> bool) {
        let Self { process, thread, ring, handles, .. } = self;
        for (at, &handle) in handles.iter().enumerate() {
            if gone(at, handle)
                && let Some(posted) = process.requests(|requests| requests.forget(handle))
            {
                thread.freed(ring, &posted);
            }
        }
    }

    /// The status to pass to MPI: the program's, or ours where the program does not want one and we do.
    #[inline]
    pub(crate) fn status<L: Language>(&mut self, status: *mut Status, count: usize) -> *mut Status {
        if !L::is_ignored(&self.process.library, status) {
            return status;
        }
        let words = (self.process.library.family.status.bytes * count).div_ceil(8);
        if self.statuses.len() < words {
            self.statuses.resize(words, 0);
        }
        self.statuses.as_mut_ptr().cast()
    }
}
