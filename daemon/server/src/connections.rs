//! Open connections that are no feed: a bounded number. Strangers give way to newcomers.
//!
//! In: connections as they are accepted. Out: the right to be served, which ends when another needs it more. Anyone on this
//! machine can open connections and leave them idle; they must never keep out somebody who knows the token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    slots: Arc<Semaphore>,
    most: u32,
    /// Those that have not shown the token, oldest first; each gets a signal when it has to close.
    strangers: Mutex<VecDeque<Arc<Notify>>>,
}

/// The right of one connection to be served; it ends when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    must_close: Arc<Notify>,
    _slot: OwnedSemaphorePermit,
}

impl Connections {
    pub(crate) fn new(most: u32) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(most as usize));
        Arc::new(Self { slots, most, strangers: Mutex::default() })
    }

    /// Admits a connection. If all are taken, the stranger that came first has to close for it, at once: whoever waits here
    /// keeps out all who come later. If there are no strangers, it is not admitted.
    pub(crate) async fn admit(self: &Arc<Self>) -> Option<Place> {
        let slot = match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(slot) => slot,
            Err(_) => {
                if !self.close_oldest_stranger() {
                    return None;
                }
                Arc::clone(&self.slots).acquire_owned().await.ok()?
            }
        };
        let must_close = Arc::new(Notify::new());
        self.strangers().push_back(Arc::clone(&must_close));
        Some(Place { connections: Arc::clone(self), must_close, _slot: slot })
    }

    /// Has the stranger that came first close; `false` if there is none.
    pub(crate) fn close_oldest_stranger(&self) -> bool {
        let oldest = self.strangers().pop_front();
        oldest.inspect(|oldest| oldest.notify_one()).is_some()
    }

    /// Waits until all connections are closed.
    pub(crate) async fn all_closed(&self) {
        let _ = self.slots.acquire_many(self.most).await;
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<Notify>>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Somebody on this connection knows the token: it stays until it closes by itself.
    pub(crate) fn keep(&self) {
        self.connections.strangers().retain(|other| !Arc::ptr_eq(other, &self.must_close));
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

    /// However many idle connections there are: this runtime has no clock that anybody could wait for.
    #[test]
    fn nobody_waits_for_idle_connections() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let connections = Connections::new(8);
            for _ in 0..1_000 {
                let idle = connections.admit().await.unwrap();
                tokio::spawn(async move { idle.must_close().await });
            }
            let known = connections.admit().await.unwrap();
            known.keep();
            assert_eq!(connections.strangers().len(), 7);
        });
    }
}
