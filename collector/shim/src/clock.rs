//! Ticks: the clock that was chosen for this machine.

use mpiscope_ring::clock::{best, counter, monotonic_ns};
use mpiscope_wire::ClockKind;
use std::sync::atomic::{AtomicBool, Ordering};

static COUNTER: AtomicBool = AtomicBool::new(false);

/// Ticks now.
#[inline(always)]
pub(crate) fn now() -> u64 {
    if COUNTER.load(Ordering::Relaxed) { counter() } else { slow() }
}

/// Without a counter. Out of line, to keep the common path small.
#[cold]
#[inline(never)]
fn slow() -> u64 {
    monotonic_ns()
}

/// Chooses the clock, once, before anything is recorded.
pub(crate) fn choose() -> ClockKind {
    let clock = best();
    COUNTER.store(clock == ClockKind::TimeStampCounter, Ordering::Relaxed);
    clock
}
