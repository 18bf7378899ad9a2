//! The clocks that both sides read: the invariant time-stamp counter where there is one, and the monotonic clock.
#![expect(unsafe_code, reason = "reading clocks")]

use mpiscope_wire::{ClockKind, Knot};

/// The monotonic clock in nanoseconds.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time-stamp counter; the monotonic clock on processors that have none.
#[inline(always)]
#[must_use]
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return monotonic_ns();
}

/// The clock to record with on this machine.
#[must_use]
pub fn best() -> ClockKind {
    if has_invariant_counter() { ClockKind::TimeStampCounter } else { ClockKind::Monotonic }
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

/// Both clocks at the same moment: of several readings the one that was interrupted least.
#[must_use]
pub fn knot() -> Knot {
    let mut best = (u64::MAX, Knot { ticks: 0, monotonic_ns: 0 });
    for _ in 0..5 {
        let before = counter();
        let monotonic_ns = monotonic_ns();
        let width = counter().saturating_sub(before);
        if width < best.0 {
            best = (width, Knot { ticks: before + width / 2, monotonic_ns });
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_on_together() {
        let first = knot();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = knot();
        assert!(second.ticks > first.ticks);
        assert!(second.monotonic_ns - first.monotonic_ns >= 2_000_000);
    }
}
