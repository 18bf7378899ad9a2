//! What is known of the clocks of the nodes.

use super::Ingest;
use crate::alignment::NodeClock;
use mpiscope_model::Node;
use std::collections::BTreeMap;

impl Ingest {
    /// The clocks of all nodes with ranks; the daemon's own first, with or without ranks.
    #[must_use]
    pub fn clocks(&self) -> Vec<(Node, &NodeClock)> {
        let (own, others) = (&self.origins[0], &self.origins[1..]);
        let own_node = own.number.unwrap_or(Node::MAX);
        // Of several agents on one host the last knows most.
        let mut others: BTreeMap<Node, &NodeClock> =
            others.iter().filter_map(|origin| Some((origin.number?, &origin.clock))).collect();
        others.remove(&own_node);
        std::iter::once((own_node, &own.clock)).chain(others).collect()
    }

    /// How far the clock of each node may be from that of the run now, as far as is known.
    #[must_use]
    pub fn clock_uncertainties(&self) -> BTreeMap<Node, u64> {
        let clocks = self.clocks();
        clocks.iter().filter_map(|(node, clock)| Some((*node, clock.newest_uncertainty_ns()?))).collect()
    }
}
