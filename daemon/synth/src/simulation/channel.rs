//! Messages that are under way from one rank to another, and receives that wait for them.

use crate::script::Way;
use std::collections::VecDeque;

/// No receive waits.
pub(super) const NOT_POSTED: u64 = u64::MAX;

/// A message that was sent before its receive was posted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Early {
    /// When it is there; when it was sent, of a sender that waits.
    pub(super) at_ns: u64,
    /// What it takes from when both sides are there; 0 where the sender does not wait.
    pub(super) takes_ns: u64,
}

/// A direction between two ranks, with a tag.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) tag: i32,
    pub(super) src_node: u32,
    pub(super) dst_node: u32,
    pub(crate) sent: u32,
    /// Receives that were posted.
    pub(crate) taken: u32,
    early_count: u32,
    first: Early,
    others: VecDeque<Early>,
    pub(super) posted_ns: u64,
    pub(crate) sent_bytes: u64,
}

impl Channel {
    pub(super) fn new(way: &Way, node_of: &[u32]) -> Self {
        let Way { src, dst, tag } = *way;
        Self {
            src,
            dst,
            tag,
            src_node: node_of[src as usize],
            dst_node: node_of[dst as usize],
            sent: 0,
            taken: 0,
            early_count: 0,
            first: Early::default(),
            others: VecDeque::new(),
            posted_ns: NOT_POSTED,
            sent_bytes: 0,
        }
    }

    pub(crate) fn is_inter(&self) -> bool {
        self.src_node != self.dst_node
    }

    pub(super) fn push(&mut self, early: Early) {
        if self.early_count == 0 {
            self.first = early;
        } else {
            self.others.push_back(early);
        }
        self.early_count += 1;
    }

    pub(super) fn pop(&mut self) -> Option<Early> {
        self.early_count = self.early_count.checked_sub(1)?;
        let first = self.first;
        if self.early_count > 0
            && let Some(next) = self.others.pop_front()
        {
            self.first = next;
        }
        Some(first)
    }
}
