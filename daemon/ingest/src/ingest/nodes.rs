//! What is known of the nodes: their clocks, and whether they are heard of.

use super::Ingest;
use crate::alignment::NodeClock;
use crate::origin::Origin;
use mpiscope_model::Node;
use std::collections::{BTreeMap, BTreeSet};

impl Ingest {
    /// The clocks of all nodes of which ranks are known, by node; the daemon's own first, with or without ranks.
    #[must_use]
    pub fn clocks(&self) -> Vec<(Node, &NodeClock)> {
        let mut clocks: Vec<(Node, &NodeClock)> = Vec::new();
        // Of several agents on one host the last knows most.
        let others = self.origins.iter().enumerate().skip(1).rev();
        for (agent, origin) in self.origins.iter().enumerate().take(1).chain(others) {
            let info =
                self.infos.iter().find(|((of, _), _)| *of as usize == agent).map(|(_, info)| info.node);
            let node = info.filter(|node| clocks.iter().all(|(known, _)| known != node));
            if let Some(node) = node.or((agent == 0).then_some(Node::MAX)) {
                clocks.push((node, &origin.clock));
            }
        }
        clocks
    }

    /// How far the clock of each node may be from that of the run now, as far as is known: the node's last agent, as in
    /// [`Ingest::clocks`]. It looks at all that is known of each: for figures to be shown, at most once a second.
    #[must_use]
    pub fn clock_uncertainties(&self) -> BTreeMap<Node, u64> {
        let mut uncertainties = BTreeMap::new();
        for (node, origin) in self.agents_of_nodes() {
            if let Some(uncertainty_ns) = origin.clock.newest_uncertainty_ns() {
                uncertainties.insert(node, uncertainty_ns);
            }
        }
        uncertainties
    }

    /// The nodes of which an agent is not heard.
    #[must_use]
    pub fn silent_nodes(&self) -> BTreeSet<Node> {
        self.agents_of_nodes().filter(|(_, origin)| origin.is_silent).map(|(node, _)| node).collect()
    }

    /// Agents whose ranks are known, in order, each with its node.
    fn agents_of_nodes(&self) -> impl Iterator<Item = (Node, &Origin)> {
        let nodes: BTreeMap<u32, Node> =
            self.infos.iter().map(|((agent, _), info)| (*agent, info.node)).collect();
        nodes.into_iter().filter_map(|(agent, node)| Some((node, self.origins.get(agent as usize)?)))
    }
}
