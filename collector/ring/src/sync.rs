//! Atomics: the real ones, or loom's when every interleaving is tried.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Gives the processor to someone else for a moment.
pub(crate) fn yield_now() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::thread::yield_now();
}

/// Asks for the line of the cache that a value lies in, to be written soon. Nothing waits for it.
#[inline(always)]
#[cfg_attr(
    all(target_arch = "x86_64", not(loom)),
    expect(unsafe_code, reason = "an instruction that the compiler has no name for")
)]
pub(crate) fn fetch_to_write<T>(_value: &T) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint, without any effect that a program could see. Processors that do not know it do nothing.
    unsafe {
        core::arch::asm!(
            "prefetchw byte ptr [{at}]",
            at = in(reg) core::ptr::from_ref(_value),
            options(nostack, preserves_flags, readonly),
        );
    }
}
