//! The clock that all pages share, and who follows it.

use mpiscope_feed::exchange::{Command, Mode, PerspectiveMessage};
use mpiscope_feed::{Perspective, RunEdge};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// The clock with its pages.
#[derive(Debug)]
pub(crate) struct Stage {
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
    begun: Instant,
}

#[derive(Debug)]
struct Inner {
    perspective: Perspective,
    pages: u32,
    followers: u32,
    /// Whether a page wants calls recorded, until the owner has heard it.
    wanted: Option<bool>,
}

/// One open page; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    stage: &'a Stage,
    follows: bool,
}

impl Stage {
    pub(crate) fn new(known: RunEdge) -> Self {
        let inner = Inner { perspective: Perspective::new(known), pages: 0, followers: 0, wanted: None };
        Self { inner: Mutex::new(inner), changes: watch::Sender::new(0), begun: Instant::now() }
    }

    /// A panic elsewhere while the lock was held leaves a clock that still goes.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wall_ms(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() * 1e3
    }

    fn tell(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Tells of moves.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// A page opens; it follows.
    pub(crate) fn enter(&self) -> Seat<'_> {
        let mut inner = self.lock();
        inner.pages += 1;
        inner.followers += 1;
        drop(inner);
        self.tell();
        Seat { stage: self, follows: true }
    }

    /// Does what a page wants.
    pub(crate) fn command(&self, command: Command, known: RunEdge) {
        self.lock().perspective.command(command, self.wall_ms(), known);
        self.tell();
    }

    /// A page wants calls recorded from now on, or not.
    pub(crate) fn want(&self, is_on: bool) {
        self.lock().wanted = Some(is_on);
    }

    /// What a page wanted, once.
    pub(crate) fn take_wanted(&self) -> Option<bool> {
        self.lock().wanted.take()
    }

    /// Stops the clock where there is no more to show.
    pub(crate) fn look_after(&self, known: RunEdge) {
        let moved = self.lock().perspective.look_after(self.wall_ms(), known);
        if moved {
            self.tell();
        }
    }

    pub(crate) fn pages(&self) -> u32 {
        self.lock().pages
    }

    pub(crate) fn is_playing(&self) -> bool {
        self.lock().perspective.is_playing()
    }

    /// Where the clock is, whether it moves by itself, and how often it went elsewhere without passing what lies between:
    /// all of one moment.
    pub(crate) fn moment(&self, known: RunEdge) -> (f64, bool, u64) {
        let inner = self.lock();
        let message = inner.perspective.message(self.wall_ms(), known, inner.pages, inner.followers);
        (message.time_ns, message.mode != Mode::Paused, inner.perspective.jumps())
    }

    /// What pages receive.
    pub(crate) fn message(&self, known: RunEdge) -> PerspectiveMessage {
        let inner = self.lock();
        inner.perspective.message(self.wall_ms(), known, inner.pages, inner.followers)
    }
}

impl Seat<'_> {
    /// The page follows, or lets go.
    pub(crate) fn follow(&mut self, follow: bool) {
        let mut inner = self.stage.lock();
        match (self.follows, follow) {
            (true, false) => inner.followers -= 1,
            (false, true) => inner.followers += 1,
            _ => return,
        }
        self.follows = follow;
        drop(inner);
        self.stage.tell();
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut inner = self.stage.lock();
        inner.pages -= 1;
        inner.followers -= u32::from(self.follows);
        drop(inner);
        self.stage.tell();
    }
}
