//! A value that threads share, with a lock only where several threads may call MPI at once.
#![expect(unsafe_code, reason = "a lock of its own: programs with one thread pay for none")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The value.
#[derive(Default)]
pub(crate) struct Guarded<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by one thread at a time: by the lock, or by the program's word to MPI.
unsafe impl<T: Send> Sync for Guarded<T> {}

/// Gives the lock back, also when the work panics.
struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T> Guarded<T> {
    /// Works with the value. `threads` tells whether another thread may do so at the same time; without it the program
    /// has promised MPI that its calls, and so these, never overlap.
    #[inline(always)]
    pub(crate) fn with<R>(&self, threads: bool, work: impl FnOnce(&mut T) -> R) -> R {
        let _release = threads.then(|| self.lock());
        // SAFETY: one thread at a time as above, and no work comes back here: calls within calls pass through.
        work(unsafe { &mut *self.value.get() })
    }

    #[cold]
    #[inline(never)]
    fn lock(&self) -> Release<'_> {
        while self.taken.swap(true, Ordering::Acquire) {
            // Whoever has it is done in some nanoseconds, unless it lost its processor.
            std::thread::yield_now();
        }
        Release(&self.taken)
    }
}
