//! What the thread that brings frames shares with the one that reads rings.

use super::spool::Spool;
use mpiscope_link::{Outbox, Parcel};
use mpiscope_wire::Flight;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No frame is the last yet.
const OPEN: u64 = u64::MAX;

pub(crate) struct Shared {
    spool: Spool,
    flights: Mutex<Option<Vec<Flight>>>,
    is_over: AtomicBool,
    is_on: AtomicBool,
    /// The number after the last frame, or [`OPEN`].
    last: AtomicU64,
    heard: Mutex<Instant>,
}

impl Shared {
    pub(crate) fn new(spool: Spool, is_on: bool) -> Self {
        Self {
            spool,
            flights: Mutex::new(None),
            is_over: AtomicBool::new(false),
            is_on: AtomicBool::new(is_on),
            last: AtomicU64::new(OPEN),
            heard: Mutex::new(Instant::now()),
        }
    }

    /// Whether the daemon has said that the command is over.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Whether the daemon wants calls recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// For how long nothing was heard of the daemon.
    pub(crate) fn silence(&self) -> Duration {
        unpoisoned(&self.heard).elapsed()
    }

    /// Marks what was sent until now as the last, if all of it is in the spool. Returns whether it is.
    pub(crate) fn close(&self) -> bool {
        let is_settled = self.spool.is_settled();
        if is_settled {
            self.last.store(self.spool.next(), Ordering::Release);
        }
        is_settled
    }

    /// What no folder takes is kept in memory.
    pub(crate) fn keep_in_memory(&self) -> anyhow::Result<()> {
        self.spool.keep_in_memory()
    }

    /// More comes after all.
    pub(crate) fn reopen(&self) {
        self.last.store(OPEN, Ordering::Release);
    }

    /// The calls that are in flight now.
    pub(crate) fn tell_flights(&self, calls: Vec<Flight>) {
        *unpoisoned(&self.flights) = Some(calls);
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outbox for Shared {
    fn take(&self, from: u64, most_bytes: usize) -> std::io::Result<Option<Parcel>> {
        self.spool.take(from, most_bytes)
    }

    fn acknowledged(&self, next: u64) {
        self.spool.acknowledged(next);
    }

    fn heard(&self) {
        *unpoisoned(&self.heard) = Instant::now();
    }

    fn flights(&self) -> Option<Vec<Flight>> {
        unpoisoned(&self.flights).take()
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    fn switch(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Release);
    }

    fn last(&self) -> Option<u64> {
        Some(self.last.load(Ordering::Acquire)).filter(|&last| last != OPEN)
    }
}
