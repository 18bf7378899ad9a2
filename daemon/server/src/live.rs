//! The feed between its one owner and the pages.

use mpiscope_feed::{EncodeError, FeedState, Step, Update};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The owner's end. One task or thread has it.
#[derive(Debug)]
pub struct Publisher {
    state: Arc<Mutex<FeedState>>,
    number: watch::Sender<u64>,
}

/// The pages' end.
#[derive(Debug, Clone)]
pub struct Source {
    state: Arc<Mutex<FeedState>>,
    number: watch::Receiver<u64>,
}

/// Shares a feed between one owner and any number of pages.
#[must_use]
pub fn live(state: FeedState) -> (Publisher, Source) {
    let (sender, receiver) = watch::channel(state.number());
    let state = Arc::new(Mutex::new(state));
    (Publisher { state: Arc::clone(&state), number: sender }, Source { state, number: receiver })
}

impl Publisher {
    /// Takes an update and wakes the pages. Never waits for one of them: the lock is held by them only while they take
    /// a reference, and once for each number while a snapshot is written into memory. Works from any thread.
    pub fn publish(&mut self, update: &Update<'_>) -> u64 {
        let number = lock(&self.state).apply(update);
        self.number.send_if_modified(|current| std::mem::replace(current, number) != number);
        number
    }
}

impl Source {
    /// The number of the current state.
    #[must_use]
    pub fn number(&self) -> u64 {
        *self.number.borrow()
    }

    /// What a page needs next that has `last`; nothing when it is up to date.
    pub(crate) fn next_after(&self, last: Option<u64>) -> Result<Option<Step>, EncodeError> {
        lock(&self.state).next_after(last)
    }

    /// Returns when there is a newer number than at the last call, or never again once the owner is gone.
    pub(crate) async fn changed(&mut self) {
        if self.number.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
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
