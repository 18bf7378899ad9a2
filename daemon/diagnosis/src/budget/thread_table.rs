//! All threads of a run, found by rank and number.

use super::thread::{Thread, ThreadId};
use mpiscope_model::{CallId, Node, Rank};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};

/// The threads, in the order in which they were first heard of.
#[derive(Debug, Default)]
pub(super) struct ThreadTable {
    all: Vec<Thread>,
    /// By rank, its first thread.
    first: Vec<Option<ThreadId>>,
    others: FxHashMap<(Rank, u16), ThreadId>,
    nodes: Vec<Node>,
    /// The threads by rank and number.
    in_order: Vec<ThreadId>,
}

impl ThreadTable {
    /// Where each rank runs.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Records where a rank runs.
    pub(super) fn place(&mut self, rank: Rank, node: Node) {
        let at = rank.index();
        if self.nodes.len() <= at {
            self.nodes.resize(at + 1, Node::default());
        }
        self.nodes[at] = node;
    }

    pub(super) fn find(&self, rank: Rank, thread: u16) -> Option<ThreadId> {
        if thread == 0 {
            self.first.get(rank.index()).copied().flatten()
        } else {
            self.others.get(&(rank, thread)).copied()
        }
    }

    /// The thread that made a call; a new one if it is the first.
    pub(super) fn find_or_add(&mut self, rank: Rank, call: CallId) -> ThreadId {
        self.find_or_make(rank, call.thread(), || Thread::new(rank, call.thread(), call.number()))
    }

    /// A thread that a message names; a new one if nothing was heard of it yet.
    pub(super) fn find_or_expect(&mut self, rank: Rank, thread: u16, is_remote: bool) -> ThreadId {
        let make = || if is_remote { Thread::remote(rank, thread) } else { Thread::new(rank, thread, 0) };
        self.find_or_make(rank, thread, make)
    }

    fn find_or_make(&mut self, rank: Rank, number: u16, make: impl FnOnce() -> Thread) -> ThreadId {
        let at = rank.index();
        if number == 0
            && let Some(&Some(thread)) = self.first.get(at)
        {
            return thread;
        }
        let next = self.all.len() as ThreadId;
        let thread = if number == 0 {
            if self.first.len() <= at {
                self.first.resize(at + 1, None);
            }
            self.first[at] = Some(next);
            next
        } else {
            *self.others.entry((rank, number)).or_insert(next)
        };
        if thread == next {
            let key = |&thread: &ThreadId| (self.all[thread as usize].rank, self.all[thread as usize].thread);
            let place = self.in_order.partition_point(|thread| key(thread) < (rank, number));
            self.in_order.insert(place, thread);
            self.all.push(make());
        }
        thread
    }

    /// Does something with all threads, by rank and number.
    pub(super) fn for_each_in_order(&mut self, mut each: impl FnMut(&mut Thread)) {
        self.in_order.iter().for_each(|&thread| each(&mut self.all[thread as usize]));
    }

    /// Whether a rank has more than its first thread.
    pub(super) fn has_others(&self, rank: Rank) -> bool {
        self.others.keys().any(|(other, _)| *other == rank)
    }
}

impl Deref for ThreadTable {
    type Target = [Thread];

    fn deref(&self) -> &[Thread] {
        &self.all
    }
}

impl DerefMut for ThreadTable {
    fn deref_mut(&mut self) -> &mut [Thread] {
        &mut self.all
    }
}
