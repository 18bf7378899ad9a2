//! Open connections that are no feed: a bounded number. Strangers give way to newcomers.
//!
//! In: connections as they are accepted. Out: the right to be served, which ends when another needs it more. Anyone on this
//! machine can open connections and leave them idle; they must never keep out somebody who knows the token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// To show the token, before a connection has to give way: many programs may connect at once.
const GRACE: Duration = Duration::from_millis(500);

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    slots: Arc<Semaphore>,
    /// Those that have not shown the token, oldest first; each gets a signal when it has to close.
    strangers: Mutex<VecDeque<(Instant, Arc<Notify>)>>,
}

/// The right of one connection to be served; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    must_close: Arc<Notify>,
    _slot: OwnedSemaphorePermit,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { slots: Arc::new(Semaphore::new(most)), strangers: Mutex::default() })
    }

    /// Admits a connection. Where there is no room, the stranger that came first has to close; without strangers there is
    /// none for it either.
    pub(crate) async fn admit(self: &Arc<Self>) -> Option<Place> {
        let slot = match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(slot) => slot,
            Err(_) => {
                let (since, _) = self.strangers().front().cloned()?;
                let free = Arc::clone(&self.slots).acquire_owned();
                match timeout_at(since + GRACE, free).await {
                    Ok(slot) => slot.ok()?,
                    Err(_) => {
                        // Those that were admitted first may have shown it meanwhile.
                        let (_, oldest) = self.strangers().pop_front()?;
                        oldest.notify_one();
                        Arc::clone(&self.slots).acquire_owned().await.ok()?
                    }
                }
            }
        };
        let must_close = Arc::new(Notify::new());
        self.strangers().push_back((Instant::now(), Arc::clone(&must_close)));
        Some(Place { connections: Arc::clone(self), must_close, _slot: slot })
    }

    /// Waits until all connections are closed.
    pub(crate) async fn all_closed(&self, most: u32) {
        let _ = self.slots.acquire_many(most).await;
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<(Instant, Arc<Notify>)>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Somebody on this connection knows the token: it stays until it closes by itself.
    pub(crate) fn keep(&self) {
        self.connections.strangers().retain(|(_, other)| !Arc::ptr_eq(other, &self.must_close));
    }

    /// Waits until it has to close for another connection.
    pub(crate) async fn must_close(&self) {
        self.must_close.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.keep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_stranger_gives_way() {
        let connections = Connections::new(2);
        let known = connections.admit().await.unwrap();
        known.keep();
        let stranger = connections.admit().await.unwrap();
        let newcomer = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { connections.admit().await }
        });
        stranger.must_close().await;
        drop(stranger);
        let newcomer = newcomer.await.unwrap().unwrap();
        newcomer.keep();
        // Nobody is turned out who knows the token.
        assert!(connections.admit().await.is_none());
        drop(known);
        assert!(connections.admit().await.is_some());
        assert!(connections.strangers().is_empty());
    }
}
