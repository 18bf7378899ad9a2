//! The clocks of several nodes: what messages say of them while the run goes on, and what is known of them in the end.

use mpiscope_ingest::Ingest;
use mpiscope_ingest::host_clocks::{Bounds, ClockMaps, Violations};
use mpiscope_model::{Message, Node, Rank};
use mpiscope_recording::{Clock, ClockNode, ClockVersion};
use rustc_hash::FxHashMap;

/// What messages between nodes say of their clocks.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    nodes: FxHashMap<Rank, Node>,
    bounds: Bounds,
    violations: Violations,
}

/// What messages say of the clocks, summed up by somebody else.
#[derive(Debug, Default)]
pub(crate) struct ClockSums {
    violations: u64,
    /// When the message was sent and received that took the least, by its nodes and slot.
    least: FxHashMap<(Node, Node, u64), (u64, u64)>,
}

mpiscope_model::numbers! { ClockSums { violations, least } }

impl Clocks {
    /// Where a rank runs.
    pub(crate) fn place(&mut self, rank: Rank, node: Node) {
        self.nodes.insert(rank, node);
    }

    /// Messages, by the clocks as they were known when their calls were published.
    pub(crate) fn messages(&mut self, messages: &[Message]) {
        for message in messages.iter().filter(|message| message.inter) {
            let (Some(&from), Some(&to)) = (self.nodes.get(&message.src), self.nodes.get(&message.dst))
            else {
                continue;
            };
            self.violations.see(message.send_ns, message.recv_ns);
            self.bounds.message(from, to, message.send_ns, message.recv_ns);
        }
    }

    /// Likewise, for somebody else to add.
    pub(crate) fn sum(&self, messages: &[Message], ClockSums { violations: count, least }: &mut ClockSums) {
        let mut violations = Violations::default();
        for message in messages.iter().filter(|message| message.inter) {
            let (Some(&from), Some(&to)) = (self.nodes.get(&message.src), self.nodes.get(&message.dst))
            else {
                continue;
            };
            let (send_ns, recv_ns) = (message.send_ns, message.recv_ns);
            violations.see(send_ns, recv_ns);
            let took = |(send_ns, recv_ns): (u64, u64)| i128::from(recv_ns) - i128::from(send_ns);
            let of_slot = least.entry((from, to, Bounds::slot(recv_ns))).or_insert((send_ns, recv_ns));
            if took((send_ns, recv_ns)) < took(*of_slot) {
                *of_slot = (send_ns, recv_ns);
            }
        }
        *count += violations.count;
    }

    /// Takes in what somebody else has summed up.
    pub(crate) fn add(&mut self, sums: &ClockSums) {
        self.violations.count += sums.violations;
        for (&(from, to, _), &(send_ns, recv_ns)) in &sums.least {
            self.bounds.message(from, to, send_ns, recv_ns);
        }
    }

    /// Messages that end before they begin, by the clocks as they were known then.
    pub(crate) fn violations(&self) -> u64 {
        self.violations.count
    }

    /// The clocks as they are known in the end, and whether it is certain that by them no message ends before it begins.
    pub(crate) fn solve(&mut self, ingest: &Ingest, until_ns: u64) -> (Clock, bool) {
        let clocks = ingest.clocks();
        let first = clocks.iter().map(|&(node, _)| ClockNode { node: node.0, ..ClockNode::default() });
        let first = ClockVersion { version: 0, nodes: real(first.collect()) };
        if clocks.len() < 2 {
            return (Clock { versions: vec![first] }, true);
        }
        let maps = ClockMaps::solve(&clocks, &mut self.bounds, until_ns);
        let nodes = maps.nodes.iter().map(|map| ClockNode {
            node: map.node.0,
            offset_ns: map.ahead_ns,
            drift_ppb: map.faster_ppb,
            uncertainty_ns: map.uncertainty_ns(),
            corrections: map.correction.points().to_vec(),
        });
        let found = ClockVersion { version: 1, nodes: real(nodes.collect()) };
        (Clock { versions: vec![first, found] }, maps.is_free_of_violations)
    }
}

/// The daemon's own host is no node of the job when no rank runs there.
fn real(mut nodes: Vec<ClockNode>) -> Vec<ClockNode> {
    nodes.retain(|node| Node(node.node) != Node::OUTSIDE);
    nodes
}
