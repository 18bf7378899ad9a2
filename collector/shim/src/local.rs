//! What each thread keeps: its ring, its caches, and whether it is already inside a call.
#![expect(unsafe_code, reason = "one pointer a thread, followed only by that thread")]

use crate::clock;
use crate::mpi::{Handle, Status};
use crate::process::{self, Process};
use core::ffi::c_int;
use mpiscope_capture::{Comm, CommCache, Interval, Posted, Sink, Thread};
use mpiscope_ring::Producer;
use mpiscope_wire::{Call, Slot};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const TYPES: usize = 32;

/// The recorder of one thread.
pub(crate) struct Recorder {
    pub(crate) process: &'static Process,
    pub(crate) thread: Thread,
    pub(crate) comms: CommCache,
    pub(crate) ring: Ring,
    /// Handles of the requests of the call at hand, copied before it sets them to null.
    pub(crate) handles: Vec<u64>,
    /// Where several threads call: the receives that these handles had when the call began.
    pub(crate) peeked: Vec<Option<Posted>>,
    /// Room for statuses that the program does not want.
    statuses: Vec<u64>,
    /// Sizes of datatypes: handle, epoch, size.
    types: [(u64, u32, u64); TYPES],
}

/// The ring of a thread, or none when all were taken.
pub(crate) struct Ring {
    number: usize,
    producer: Option<Producer<'static>>,
    process: &'static Process,
}

impl Sink for Ring {
    #[inline]
    fn push(&mut self, before: &[Slot], row: &Slot, calls: u64) -> bool {
        match &mut self.producer {
            Some(producer) => producer.push(before, row, calls),
            None => {
                self.process.writer.count_unrecorded(calls);
                false
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // In a forked child the ring is the parent's.
        if self.producer.take().is_some() && self.process.is_own() {
            self.process.writer.give_back(self.number);
        }
    }
}

thread_local! {
    static RECORDER: Cell<*mut Recorder> = const { Cell::new(core::ptr::null_mut()) };
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static LAST_WORD: LastWord = const { LastWord };
}

/// Dropped when its thread ends: gives the ring back.
struct LastWord;

impl Drop for LastWord {
    fn drop(&mut self) {
        let recorder = RECORDER.replace(core::ptr::null_mut());
        if recorder.is_null() {
            return;
        }
        // SAFETY: made by `Box::into_raw` in `new_recorder`, and taken out of its cell just now.
        let mut recorder = unsafe { Box::from_raw(recorder) };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let Recorder { process, thread, ring, .. } = &mut *recorder;
            if process.is_own() {
                thread.flush(&process.capture, ring);
            }
        }));
    }
}

/// A thread that is inside an outermost call. While it lives, calls that MPI makes of itself are passed through.
pub(crate) struct Entered {
    recorder: &'static mut Recorder,
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Enters a call; `None` when it is not to be recorded.
#[inline]
pub(crate) fn enter() -> Option<Entered> {
    if INSIDE.get() {
        return None;
    }
    let mut recorder = RECORDER.get();
    if recorder.is_null() {
        recorder = new_recorder()?;
    }
    // SAFETY: the pointer is this thread's own, and `INSIDE` keeps a second reference from being made.
    let recorder = unsafe { &mut *recorder };
    if recorder.process.is_off() {
        return None;
    }
    INSIDE.set(true);
    Some(Entered { recorder })
}

#[cold]
fn new_recorder() -> Option<*mut Recorder> {
    // Finding out who we are calls MPI functions, which must not come back here.
    INSIDE.set(true);
    let made = catch_unwind(|| {
        let process = process::current()?;
        // SAFETY: the call has no arguments and cannot fail.
        let thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
        let (number, producer) = process.writer.claim().unzip();
        let recorder = Recorder {
            process,
            thread: Thread::new(process.next_thread(), thread_id),
            comms: CommCache::default(),
            ring: Ring { number: number.unwrap_or_default(), producer, process },
            handles: Vec::new(),
            peeked: Vec::new(),
            statuses: Vec::new(),
            types: [(0, 0, 0); TYPES],
        };
        let recorder = Box::into_raw(Box::new(recorder));
        RECORDER.set(recorder);
        // Late in the life of a thread there is no last word any more; the ring then goes with the process.
        let _ = LAST_WORD.try_with(|_| {});
        Some(recorder)
    });
    INSIDE.set(false);
    made.unwrap_or_else(|_| {
        process::give_up();
        None
    })
}

/// Makes the real call between two looks at the clock.
#[inline(always)]
pub(crate) fn timed(call: impl FnOnce() -> c_int) -> (c_int, Interval) {
    let start = clock::now();
    let result = call();
    (result, Interval { start, end: clock::now() })
}

impl Entered {
    /// Does work of ours; a fault in it ends recording and nothing else.
    #[inline]
    pub(crate) fn work<T>(&mut self, work: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        let recorder = &mut *self.recorder;
        match catch_unwind(AssertUnwindSafe(move || work(recorder))) {
            Ok(done) => Some(done),
            Err(_) => {
                process::give_up();
                None
            }
        }
    }
}

impl Recorder {
    /// The communicator of a handle, and the parts of the recorder that go on working beside it.
    #[inline]
    pub(crate) fn with_comm<T>(
        &mut self,
        handle: Handle,
        work: impl FnOnce(&mut Thread, &'static Process, &Arc<Comm>) -> T,
    ) -> Option<T> {
        let process = self.process;
        let find = || process.find_comm(handle);
        let comm = self.comms.get(process.library.handle(handle), process.comm_epoch(), find)?;
        Some(work(&mut self.thread, process, comm))
    }

    /// Writes the call that was put together.
    #[inline]
    pub(crate) fn commit(&mut self, call: &Call) -> bool {
        self.thread.commit(&self.process.capture, &mut self.ring, call)
    }

    /// A poll that found nothing.
    #[inline]
    pub(crate) fn failed_poll(&mut self, function: u16, at: Interval) {
        self.thread.failed_poll(&self.process.capture, &mut self.ring, function, at);
    }

    /// The bytes of `count` elements of a type.
    #[inline]
    pub(crate) fn bytes(&mut self, count: c_int, datatype: Handle) -> u64 {
        if count <= 0 {
            return 0;
        }
        let library = &self.process.library;
        let key = library.handle(datatype);
        let epoch = self.process.type_epoch();
        let entry = &mut self.types[(key ^ key >> 5 ^ key >> 9) as usize % TYPES];
        if entry.0 != key || entry.1 != epoch {
            *entry = (key, epoch, library.type_size(datatype));
        }
        mpiscope_capture::bytes(i64::from(count), entry.2)
    }

    /// Copies the handles of an array of requests.
    ///
    /// # Safety
    /// The array has so many elements.
    #[inline]
    pub(crate) unsafe fn copy_handles(&mut self, count: c_int, requests: *const Handle) {
        let library = &self.process.library;
        self.handles.clear();
        let count = usize::try_from(count).unwrap_or_default();
        // SAFETY: by the caller's word.
        self.handles.extend((0..count).map(|at| unsafe { library.read_handle(requests, at) }));
    }

    /// Forgets those receives among the copied handles that `gone` names by place and handle.
    pub(crate) fn give_up_requests(&mut self, gone: impl Fn(usize, u64) -> bool) {
        let Self { process, thread, handles, .. } = self;
        for (_, &handle) in handles.iter().enumerate().filter(|(at, handle)| gone(*at, **handle)) {
            if let Some(posted) = process.requests(|requests| requests.remove(handle)) {
                thread.freed(&posted);
            }
        }
    }

    /// The status to pass to MPI: the program's, or ours where the program does not want one and we do.
    #[inline]
    pub(crate) fn status(&mut self, status: *mut Status, count: usize) -> *mut Status {
        if !self.process.library.is_ignored(status) {
            return status;
        }
        let words = (self.process.library.family.status.bytes * count).div_ceil(8);
        if self.statuses.len() < words {
            self.statuses.resize(words, 0);
        }
        self.statuses.as_mut_ptr().cast()
    }
}
