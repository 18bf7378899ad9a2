//! What is known of the clocks of the nodes.

use super::state::Ingest;
use crate::host_clocks::NodeClock;
use crate::origin::Origin;
use mpiscope_model::{Nanoseconds, Node};
use std::collections::BTreeMap;

impl Ingest {
    /// The clocks of all nodes with ranks; the daemon's own first, with or without ranks.
    #[must_use]
    pub fn clocks(&self) -> Vec<(Node, &NodeClock)> {
        let (own, others) = (&self.origins[0], &self.origins[1..]);
        let own_node = own.number.unwrap_or(Node::OUTSIDE);
        // Of several agents on one host the last knows most.
        let mut others: BTreeMap<Node, &NodeClock> =
            others.iter().filter_map(|origin| Some((origin.number?, &origin.clock))).collect();
        others.remove(&own_node);
        std::iter::once((own_node, &own.clock)).chain(others).collect()
    }

    /// The hosts whose agents have not sent everything, each with the time until which its calls are known.
    pub fn unfinished_hosts(&self) -> impl Iterator<Item = (&str, Option<Nanoseconds>)> {
        let is_unfinished = |origin: &&Origin| origin.identity.is_some() && !origin.is_finished;
        let until_ns = |origin: &Origin| origin.newest_ns().filter(|_| origin.clock.is_known());
        self.origins.iter().filter(is_unfinished).map(move |origin| (&*origin.node, until_ns(origin)))
    }

    /// How far the clock of each node may be from that of the run now, as far as is known.
    #[must_use]
    pub fn clock_uncertainties(&self) -> BTreeMap<Node, u64> {
        let clocks = self.clocks();
        clocks.iter().filter_map(|(node, clock)| Some((*node, clock.newest_uncertainty_ns()?))).collect()
    }
}
