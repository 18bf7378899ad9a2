//! The clocks that both sides read: the invariant time-stamp counter where there is one, and the monotonic clock.
#![expect(unsafe_code, reason = "reading clocks")]

use mpiscope_wire::{ClockKind, ClockSample};
use std::sync::atomic::{AtomicI64, Ordering};

/// For tests alone: makes clocks go wrong. Hosts and how much faster their clocks go, in parts per billion, such as
/// `node2=50000,node3=-50000`.
pub const DRIFT_VARIABLE: &str = "MPISCOPE_TEST_CLOCK_DRIFT";

/// The monotonic clock in nanoseconds.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let true_ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    let drift_ppb = drift_ppb();
    if drift_ppb == 0 { true_ns } else { drifted(true_ns, drift_ppb) }
}

fn drifted(true_ns: u64, drift_ppb: i64) -> u64 {
    let more_ns = i128::from(true_ns) * i128::from(drift_ppb) / 1_000_000_000;
    true_ns.saturating_add_signed(more_ns as i64)
}

/// How much faster this host's clock is to go.
#[inline]
fn drift_ppb() -> i64 {
    static DRIFT: AtomicI64 = AtomicI64::new(i64::MIN);
    let known = DRIFT.load(Ordering::Relaxed);
    if known != i64::MIN {
        return known;
    }
    let drift_ppb = wanted_drift_ppb().unwrap_or_default();
    DRIFT.store(drift_ppb, Ordering::Relaxed);
    drift_ppb
}

#[cold]
fn wanted_drift_ppb() -> Option<i64> {
    let hosts = std::env::var(DRIFT_VARIABLE).ok()?;
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let mut hosts = hosts.split(',').filter_map(|host| host.split_once('='));
    hosts.find(|(name, _)| *name == own.trim())?.1.parse().ok()
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
pub fn clock_sample() -> ClockSample {
    let mut best = (u64::MAX, ClockSample { ticks: 0, monotonic_ns: 0 });
    for _ in 0..5 {
        let before = counter();
        let monotonic_ns = monotonic_ns();
        let width = counter().saturating_sub(before);
        if width < best.0 {
            best = (width, ClockSample { ticks: before + width / 2, monotonic_ns });
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_drifts_gains_or_loses_in_proportion() {
        let hour_ns = 3_600_000_000_000;
        assert_eq!(drifted(hour_ns, 50_000), hour_ns + 180_000_000);
        assert_eq!(drifted(hour_ns, -50_000), hour_ns - 180_000_000);
    }

    #[test]
    fn both_clocks_go_on_together() {
        let first = clock_sample();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = clock_sample();
        assert!(second.ticks > first.ticks);
        assert!(second.monotonic_ns - first.monotonic_ns >= 2_000_000);
    }
}
