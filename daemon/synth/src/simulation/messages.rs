//! Sending and receiving: what a rank then waits for.

use super::channel::{Early, NOT_POSTED};
use super::job::Simulation;
use crate::network::Flight;
use crate::pattern::RESULT_TAG;

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
        self.complete(dst, there_ns);
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
                self.complete(src, there_ns);
            }
        }
    }
}
