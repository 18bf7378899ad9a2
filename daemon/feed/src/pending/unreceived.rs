//! Sends of a run that goes on and that nobody was seen to receive: they are in no message yet.

use mpiscope_matching::UnreceivedSend;
use mpiscope_model::{Comm, Message, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// All of them at a moment of the run.
#[derive(Debug, Default)]
pub(crate) struct UnreceivedSends {
    /// Receives that ended before this are known.
    pub(crate) until_ns: Nanoseconds,
    pub(crate) sends: Vec<UnreceivedSend>,
    /// Further ones, which are only counted.
    pub(crate) left_out: u64,
}

/// The newest of these; none where nobody knows them. Many ask, one replaces.
#[derive(Debug, Default)]
pub(crate) struct Unreceived(Mutex<Option<Arc<UnreceivedSends>>>);

impl Unreceived {
    pub(crate) fn set(&self, sends: UnreceivedSends) {
        // A panic elsewhere while the lock was held leaves a value that is still fine.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(sends));
    }

    pub(crate) fn newest(&self) -> Option<Arc<UnreceivedSends>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

type Key = (Rank, Rank, i32, Comm, Nanoseconds);

/// Sends that are to be counted unless their message was counted.
#[derive(Debug, Default)]
pub(super) struct Uncounted(FxHashMap<Key, (u64, u64)>);

impl Uncounted {
    pub(super) fn from_sends(sends: impl Iterator<Item = UnreceivedSend>) -> Self {
        let mut all = Self::default();
        for send in sends {
            let (count, bytes) =
                all.0.entry((send.src, send.dst, send.tag, send.comm, send.send_ns)).or_default();
            (*count, *bytes) = (*count + 1, send.bytes);
        }
        all
    }

    /// Its receive became known after these were.
    pub(super) fn is_received(&mut self, message: &Message) {
        if self.0.is_empty() {
            return;
        }
        let key = (message.src, message.dst, message.tag, message.comm, message.send_ns);
        if let Some((count, _)) = self.0.get_mut(&key) {
            *count = count.saturating_sub(1);
        }
    }

    /// Those that are left, in any order.
    pub(super) fn into_messages(self) -> impl Iterator<Item = Message> {
        self.0.into_iter().flat_map(|((src, dst, tag, comm, send_ns), (count, bytes))| {
            let message = Message { src, dst, tag, comm, bytes, send_ns, ..Message::default() };
            (0..count).map(move |_| message)
        })
    }
}
