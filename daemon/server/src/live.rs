//! The feed between its one owner and the pages, and the clock that they share.

use crate::stage::Stage;
use mpiscope_feed::{EncodeError, FeedState, JobState, Known, Library, RunSource, Step, Update};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The owner's end. One task or thread has it.
#[derive(Debug)]
pub struct Publisher {
    state: Arc<Mutex<FeedState>>,
    number: watch::Sender<u64>,
    stage: Arc<Stage>,
}

/// The pages' end.
#[derive(Debug, Clone)]
pub struct Source {
    state: Arc<Mutex<FeedState>>,
    number: watch::Receiver<u64>,
    pub(crate) library: Arc<Library>,
    pub(crate) stage: Arc<Stage>,
}

/// Shares a feed, and what can be asked about its run, between one owner and any number of pages.
#[must_use]
pub fn live(state: FeedState, library: Arc<Library>) -> (Publisher, Source) {
    let (sender, receiver) = watch::channel(state.number());
    let stage = Arc::new(Stage::new(known(&state)));
    let state = Arc::new(Mutex::new(state));
    let publisher = Publisher { state: Arc::clone(&state), number: sender, stage: Arc::clone(&stage) };
    (publisher, Source { state, number: receiver, library, stage })
}

impl Publisher {
    /// Takes an update and wakes the pages. Never waits for one of them: the lock is held by them only while they take
    /// a reference, and once for each number while a snapshot is written into memory. Works from any thread.
    pub fn publish(&mut self, update: &Update<'_>) -> u64 {
        let number = lock(&self.state).apply(update);
        self.number.send_if_modified(|current| std::mem::replace(current, number) != number);
        number
    }

    /// Whether any page is open.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.stage.pages() > 0
    }

    /// Whether a page wants calls recorded from now on; none where none said so since this was asked last.
    #[must_use]
    pub fn wanted(&self) -> Option<bool> {
        self.stage.take_wanted()
    }
}

impl Source {
    /// The number of the current state.
    #[must_use]
    pub fn number(&self) -> u64 {
        *self.number.borrow()
    }

    /// Whether any page is open.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.stage.pages() > 0
    }

    /// What a page needs next that has `last`; nothing when it is up to date.
    pub(crate) fn next_after(&self, last: Option<u64>) -> Result<Option<Step>, EncodeError> {
        lock(&self.state).next_after(last)
    }

    /// What there is to be shown.
    pub(crate) fn known(&self) -> Known {
        known(&lock(&self.state))
    }

    /// Returns when there is a newer number than at the last call, or never again once the owner is gone.
    pub(crate) async fn changed(&mut self) {
        if self.number.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn known(state: &FeedState) -> Known {
    let (clock, job) = (state.clock(), state.job());
    let moves = matches!(job.state, JobState::Waiting | JobState::Running);
    Known {
        until_ns: clock.now_ns.saturating_sub(clock.lag_ns) as f64,
        live: moves && job.source == RunSource::Live,
    }
}

/// Returns when the server is to end, or is gone.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender, and with it the server, is gone.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// A panic elsewhere while the lock was held leaves values that are still fine to show.
fn lock(state: &Mutex<FeedState>) -> MutexGuard<'_, FeedState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
