//! Ticks: the invariant time-stamp counter where there is one, else the monotonic clock in nanoseconds.
#![expect(unsafe_code, reason = "reading clocks")]

use mpiscope_wire::ClockKind;
use std::sync::atomic::{AtomicBool, Ordering};

static COUNTER: AtomicBool = AtomicBool::new(false);

/// The monotonic clock in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Ticks now.
#[inline(always)]
pub(crate) fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if COUNTER.load(Ordering::Relaxed) {
        // SAFETY: every x86-64 processor has the instruction.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    monotonic_ns()
}

/// Chooses the clock, once, before anything is recorded.
pub(crate) fn choose() -> ClockKind {
    let counter = has_invariant_counter();
    COUNTER.store(counter, Ordering::Relaxed);
    if counter { ClockKind::TimeStampCounter } else { ClockKind::Monotonic }
}

#[cfg(target_arch = "x86_64")]
fn has_invariant_counter() -> bool {
    use core::arch::x86_64::__cpuid;
    const INVARIANT: u32 = 1 << 8;
    let invariant = __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & INVARIANT != 0;
    // A kernel that found the counters of its processors to differ uses another clock.
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let distrusted = source.is_ok_and(|name| matches!(name.trim(), "hpet" | "acpi_pm" | "jiffies"));
    invariant && !distrusted
}

#[cfg(not(target_arch = "x86_64"))]
fn has_invariant_counter() -> bool {
    false
}
