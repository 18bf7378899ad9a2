//! What the glyph of a node shows: a bar for each message that it took in or sent.

use super::graph::Dag;
use mpiscope_model::{Nanoseconds, Rank};

/// A message as the node at one end of it sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The node.
    pub node: u32,
    /// Whether it sent the message.
    pub is_sent: bool,
    /// The rank at the other end.
    pub other: Rank,
    /// The payload.
    pub bytes: u64,
    /// What it took, as its receiver felt it.
    pub t_msg_ns: u64,
    /// The same as a share of the expected transfer time; none where that is unknown.
    pub latency: Option<f64>,
    /// Whether `t_msg_ns` is exact and not an upper bound.
    pub is_exact: bool,
    /// When the send's call began.
    pub send_ns: Nanoseconds,
    /// When the call that completed the receive ended.
    pub recv_ns: Nanoseconds,
}

impl Dag {
    /// By node, the messages that it sent and received: twice the number of each, and one more where it received.
    fn sides_of_nodes(&self) -> Vec<Vec<u32>> {
        let mut of_nodes: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for (&(from, to), id) in self.ends.iter().zip(0..) {
            for (node, side) in [(from, 0), (to, 1)] {
                if node != Self::OUTSIDE {
                    of_nodes[node as usize].push(2 * id + side);
                }
            }
        }
        of_nodes
    }

    /// The bars of all nodes, node by node, in the order of the messages. A node with too many bars keeps the longest;
    /// the choice depends only on the messages. `usually_ns` returns the expected transfer time of a size, between
    /// nodes of the machine or within one.
    #[must_use]
    pub fn bars(&self, most_a_node: usize, usually_ns: impl Fn(bool, u64) -> Option<u64>) -> Vec<Bar> {
        let mut of_nodes = self.sides_of_nodes();
        let message = |side: u32| &self.messages[side as usize / 2];
        let mut bars = Vec::new();
        for (sides, node) in of_nodes.iter_mut().zip(0..) {
            if sides.len() > most_a_node {
                let longest_first = |&side: &u32| (std::cmp::Reverse(message(side).t_msg_ns), side);
                sides.sort_unstable_by_key(longest_first);
                sides.truncate(most_a_node);
            }
            // Received messages, then sent ones, each by its own time.
            let as_it_came = |&side: &u32| {
                let is_sent = side % 2 == 0;
                (is_sent, if is_sent { message(side).send_ns } else { message(side).recv_ns }, side)
            };
            sides.sort_unstable_by_key(as_it_came);
            bars.extend(sides.iter().map(|&side| {
                let message = message(side);
                let is_sent = side % 2 == 0;
                let usually_ns = usually_ns(message.inter, message.bytes);
                Bar {
                    node,
                    is_sent,
                    other: if is_sent { message.dst } else { message.src },
                    bytes: message.bytes,
                    t_msg_ns: message.t_msg_ns,
                    latency: usually_ns.map(|usually_ns| message.t_msg_ns as f64 / usually_ns.max(1) as f64),
                    is_exact: message.exact,
                    send_ns: message.send_ns,
                    recv_ns: message.recv_ns,
                }
            }));
        }
        bars
    }
}
