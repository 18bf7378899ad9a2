//! Receives that were posted and not yet seen to complete, by request handle.

use crate::comms::Comm;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A posted receive.
#[derive(Debug, Clone)]
pub struct Posted {
    /// Its number among those of the process.
    pub post: u64,
    /// Where.
    pub comm: Arc<Comm>,
    /// Whether the record of its posting reached the ring.
    pub recorded: bool,
}

/// Handles are addresses or small numbers: one multiplication spreads them.
#[derive(Debug, Default)]
struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The table. It grows with the requests that are outstanding at once, not with the run.
#[derive(Debug, Default)]
pub struct Requests {
    posted: HashMap<u64, Posted, BuildHasherDefault<HandleHasher>>,
}

impl Requests {
    /// Takes up a posted receive. Returns what had the same handle: a receive that was freed unseen, since live
    /// receives never share one.
    pub fn insert(&mut self, handle: u64, posted: Posted) -> Option<Posted> {
        self.posted.insert(handle, posted)
    }

    /// Takes out the receive of a handle, when it completed.
    #[inline]
    pub fn remove(&mut self, handle: u64) -> Option<Posted> {
        if self.posted.is_empty() { None } else { self.posted.remove(&handle) }
    }

    /// The receive of a handle, when it may complete in a call that is about to be made. Where several threads call, the
    /// library may give the handle to another thread's receive before that call has returned.
    #[must_use]
    pub fn peek(&self, handle: u64) -> Option<Posted> {
        self.posted.get(&handle).cloned()
    }

    /// Takes out the receive of a handle if it is still this one.
    pub fn remove_this(&mut self, handle: u64, post: u64) {
        if self.posted.get(&handle).is_some_and(|posted| posted.post == post) {
            self.posted.remove(&handle);
        }
    }

    /// Whether any of the handles is a posted receive.
    #[must_use]
    pub fn any(&self, handles: &[u64]) -> bool {
        !self.posted.is_empty() && handles.iter().any(|handle| self.posted.contains_key(handle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comms::{Comms, Members, Origin};

    #[test]
    fn a_handle_that_was_given_again_stays_with_its_new_receive() {
        let members = Members { own: vec![0], own_rank: 0, remote: None };
        let comm = Comms::default().insert(1, &members, Origin::World);
        let posted = |post| Posted { post, comm: Arc::clone(&comm), recorded: true };
        let mut requests = Requests::default();
        assert!(requests.insert(7, posted(1)).is_none());
        let seen = requests.peek(7).map(|posted| posted.post);
        assert_eq!(requests.insert(7, posted(2)).map(|stale| stale.post), Some(1));
        requests.remove_this(7, seen.unwrap());
        assert_eq!(requests.remove(7).map(|posted| posted.post), Some(2));
        assert!(!requests.any(&[7]));
    }
}
