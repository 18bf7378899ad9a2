//! All threads of a run, found by rank and number.

use super::thread::{Thread, ThreadId};
use mpiscope_model::{Activity, Node, Rank};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};

/// The threads, in the order in which they made their first call.
#[derive(Debug, Default)]
pub(super) struct ThreadTable {
    all: Vec<Thread>,
    /// By rank, its first thread.
    first: Vec<Option<ThreadId>>,
    others: FxHashMap<(Rank, u16), ThreadId>,
    nodes: Vec<Node>,
}

impl ThreadTable {
    /// Where each rank runs.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Records where a rank runs, for its threads too.
    pub(super) fn place(&mut self, rank: Rank, node: Node) {
        let at = rank.index();
        if self.nodes.len() <= at {
            self.nodes.resize(at + 1, Node::default());
        }
        self.nodes[at] = node;
        let first = self.first.get(at).copied().flatten();
        let others = self.others.iter().filter(|((of, _), _)| *of == rank).map(|(_, thread)| *thread);
        for thread in first.into_iter().chain(others) {
            self.all[thread as usize].node = node;
        }
    }

    pub(super) fn find(&self, rank: Rank, thread: u16) -> Option<ThreadId> {
        if thread == 0 {
            self.first.get(rank.index()).copied().flatten()
        } else {
            self.others.get(&(rank, thread)).copied()
        }
    }

    /// The thread that made a call; a new one if it is the first.
    pub(super) fn find_or_add(&mut self, activity: &Activity) -> ThreadId {
        let (rank, call) = (activity.rank, activity.call);
        let at = rank.index();
        if call.thread() == 0
            && let Some(&Some(thread)) = self.first.get(at)
        {
            return thread;
        }
        let next = self.all.len() as ThreadId;
        let thread = if call.thread() == 0 {
            if self.first.len() <= at {
                self.first.resize(at + 1, None);
            }
            self.first[at] = Some(next);
            next
        } else {
            *self.others.entry((rank, call.thread())).or_insert(next)
        };
        if thread == next {
            let node = self.nodes.get(at).copied().unwrap_or_default();
            self.all.push(Thread::new(rank, node, call.number()));
        }
        thread
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
