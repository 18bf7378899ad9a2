//! Messages that are under way from one rank to another, and receives that wait for them.

use super::Simulation;
use crate::network::Flight;
use crate::pattern::RESULT_TAG;
use crate::script::Way;
use std::collections::VecDeque;

/// No receive waits.
const NOT_POSTED: u64 = u64::MAX;

/// A message that was sent before its receive was posted.
#[derive(Debug, Clone, Copy, Default)]
struct Early {
    /// When it is there; when it was sent, of a sender that waits.
    at_ns: u64,
    /// What it takes from when both sides are there; 0 where the sender does not wait.
    takes_ns: u64,
}

/// A direction between two ranks, with a tag.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) tag: i32,
    src_node: u32,
    dst_node: u32,
    pub(crate) sent: u32,
    /// Receives that were posted.
    pub(crate) taken: u32,
    early_count: u32,
    first: Early,
    others: VecDeque<Early>,
    posted_ns: u64,
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

    fn push(&mut self, early: Early) {
        if self.early_count == 0 {
            self.first = early;
        } else {
            self.others.push_back(early);
        }
        self.early_count += 1;
    }

    fn pop(&mut self) -> Option<Early> {
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

impl<const TOLD: bool> Simulation<TOLD> {
    /// A rank sends at a moment; what it sends, in bytes. Where it has to wait for its receive, that is pending.
    #[inline]
    pub(super) fn deposit(&mut self, number: u32, mut at_ns: u64) -> u32 {
        let channel = &mut self.channels[number as usize];
        let nodes = (channel.src_node, channel.dst_node);
        let Flight { bytes, takes_ns, bytes_take_ns } =
            self.plan.wires.flight((number, channel.sent), nodes, at_ns);
        channel.sent += 1;
        channel.sent_bytes += u64::from(bytes);
        let (src, dst) = (channel.src, channel.dst);
        if self.plan.spec.serial_port && nodes.0 != nodes.1 {
            let port_ns = &mut self.ranks[src as usize].port_ns;
            at_ns = at_ns.max(*port_ns);
            *port_ns = at_ns + bytes_take_ns;
        }
        if self.master.deals() && channel.tag == RESULT_TAG {
            self.master.result(at_ns + takes_ns, number, bytes);
            return bytes;
        }
        let waits = u64::from(bytes) > self.plan.spec.eager_limit_bytes;
        if channel.posted_ns == NOT_POSTED {
            if waits {
                channel.push(Early { at_ns, takes_ns });
                self.ranks[src as usize].pending += 1;
            } else {
                channel.push(Early { at_ns: at_ns + takes_ns, takes_ns: 0 });
            }
            return bytes;
        }
        let posted_ns = std::mem::replace(&mut channel.posted_ns, NOT_POSTED);
        let there_ns = if waits { at_ns.max(posted_ns) + takes_ns } else { at_ns + takes_ns };
        if waits {
            let sender = &mut self.ranks[src as usize];
            sender.ready_ns = sender.ready_ns.max(there_ns);
        }
        self.known(dst, there_ns);
        bytes
    }

    /// A rank posts a receive at a moment.
    #[inline]
    pub(super) fn take(&mut self, number: u32, at_ns: u64) {
        let channel = &mut self.channels[number as usize];
        channel.taken += 1;
        let (src, dst) = (channel.src, channel.dst as usize);
        match channel.pop() {
            None => {
                channel.posted_ns = at_ns;
                self.ranks[dst].pending += 1;
            }
            Some(Early { at_ns: there_ns, takes_ns: 0 }) => {
                self.ranks[dst].ready_ns = self.ranks[dst].ready_ns.max(there_ns);
            }
            Some(Early { at_ns: sent_ns, takes_ns }) => {
                let there_ns = sent_ns.max(at_ns) + takes_ns;
                self.ranks[dst].ready_ns = self.ranks[dst].ready_ns.max(there_ns);
                self.known(src, there_ns);
            }
        }
    }
}
