//! Requests that matter beyond the call that made them, by handle: posted receives, and persistent requests.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A posted receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// Its number among those of the process.
    pub post: u64,
    /// The process's own number of its communicator.
    pub comm: u32,
    /// Whether the record of its posting reached the ring.
    pub recorded: bool,
}

/// What a persistent request does each time it is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// It sends.
    Send {
        /// The process's own number of the communicator.
        comm: u32,
        /// To which rank of it.
        to: i32,
        /// With which tag.
        tag: i32,
        /// How much.
        bytes: u64,
    },
    /// It receives.
    Receive {
        /// The process's own number of the communicator.
        comm: u32,
        /// From which rank of it; none for any.
        source: Option<i32>,
        /// With which tag; -1 for any.
        tag: i32,
    },
}

impl Template {
    fn comm(&self) -> u32 {
        match *self {
            Self::Send { comm, .. } | Self::Receive { comm, .. } => comm,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Request {
    Receive(Posted),
    Persistent { template: Template, active: Option<Posted> },
}

impl Request {
    /// The receive that may complete.
    fn posted(&self) -> Option<Posted> {
        match *self {
            Self::Receive(posted) => Some(posted),
            Self::Persistent { active, .. } => active,
        }
    }
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
    by_handle: HashMap<u64, Request, BuildHasherDefault<HandleHasher>>,
}

impl Requests {
    /// Takes up a posted receive. Returns what had the same handle: a receive that was freed unseen, since live
    /// requests never share one.
    #[inline]
    pub fn insert(&mut self, handle: u64, posted: Posted) -> Option<Posted> {
        self.by_handle.insert(handle, Request::Receive(posted))?.posted()
    }

    /// Takes up a persistent request, likewise.
    pub fn insert_persistent(&mut self, handle: u64, template: Template) -> Option<Posted> {
        self.by_handle.insert(handle, Request::Persistent { template, active: None })?.posted()
    }

    /// What a persistent request does when it is started.
    #[must_use]
    pub fn template(&self, handle: u64) -> Option<Template> {
        match self.by_handle.get(&handle)? {
            Request::Persistent { template, .. } => Some(*template),
            Request::Receive(_) => None,
        }
    }

    /// A persistent receive was started.
    pub fn activate(&mut self, handle: u64, posted: Posted) {
        if let Some(Request::Persistent { active, .. }) = self.by_handle.get_mut(&handle) {
            *active = Some(posted);
        }
    }

    /// The receive of a handle, which completed: taken out, or inactive until it is started again.
    #[inline]
    pub fn complete(&mut self, handle: u64) -> Option<Posted> {
        if self.by_handle.is_empty() {
            return None;
        }
        match self.by_handle.remove(&handle)? {
            Request::Receive(posted) => Some(posted),
            Request::Persistent { template, active } => {
                self.by_handle.insert(handle, Request::Persistent { template, active: None });
                active
            }
        }
    }

    /// The receive of a handle, when it may complete in a call that is about to be made. Where several threads call, the
    /// library may give the handle to another thread's receive before that call has returned.
    #[must_use]
    pub fn peek(&self, handle: u64) -> Option<Posted> {
        self.by_handle.get(&handle)?.posted()
    }

    /// The receive of a handle completed, if it is still this one.
    pub fn complete_this(&mut self, handle: u64, post: u64) {
        if self.peek(handle).is_some_and(|posted| posted.post == post) {
            self.complete(handle);
        }
    }

    /// The handle is no longer what it was: freed, or given to another request. The receive that nobody will see.
    #[inline]
    pub fn forget(&mut self, handle: u64) -> Option<Posted> {
        if self.by_handle.is_empty() { None } else { self.by_handle.remove(&handle)?.posted() }
    }

    /// Whether any of the handles is a receive that may complete.
    #[must_use]
    pub fn any(&self, handles: &[u64]) -> bool {
        !self.by_handle.is_empty() && handles.iter().any(|&handle| self.peek(handle).is_some())
    }

    /// Whether any request is of this communicator.
    #[must_use]
    pub fn any_on(&self, comm: u32) -> bool {
        self.by_handle.values().any(|request| match request {
            Request::Receive(posted) => posted.comm == comm,
            Request::Persistent { template, .. } => template.comm() == comm,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(post: u64) -> Posted {
        Posted { post, comm: 3, recorded: true }
    }

    #[test]
    fn a_handle_that_was_given_again_stays_with_its_new_receive() {
        let mut requests = Requests::default();
        assert!(requests.insert(7, posted(1)).is_none());
        let seen = requests.peek(7).map(|posted| posted.post);
        assert_eq!(requests.insert(7, posted(2)).map(|stale| stale.post), Some(1));
        requests.complete_this(7, seen.unwrap());
        assert_eq!(requests.complete(7).map(|posted| posted.post), Some(2));
        assert!(!requests.any(&[7]));
    }

    #[test]
    fn a_persistent_receive_completes_once_each_time_it_is_started() {
        let mut requests = Requests::default();
        let template = Template::Receive { comm: 3, source: None, tag: -1 };
        requests.insert_persistent(7, template);
        assert_eq!((requests.template(7), requests.any(&[7])), (Some(template), false));
        for post in [4, 9] {
            requests.activate(7, posted(post));
            assert!(requests.any(&[7]));
            assert_eq!(requests.complete(7), Some(posted(post)));
            assert_eq!(requests.complete(7), None, "it is inactive");
        }
        requests.activate(7, posted(11));
        requests.complete_this(7, 9);
        assert_eq!(requests.forget(7), Some(posted(11)));
        assert_eq!(requests.template(7), None);
    }

    #[test]
    fn communicators_are_in_use_by_receives_and_persistent_requests() {
        let mut requests = Requests::default();
        requests.insert(1, posted(1));
        requests.insert_persistent(2, Template::Send { comm: 5, to: 0, tag: 0, bytes: 1 });
        assert_eq!([3, 4, 5].map(|comm| requests.any_on(comm)), [true, false, true]);
    }
}
