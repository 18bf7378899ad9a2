//! A better placement of ranks on their nodes: ranks that exchange much come onto one node.
//!
//! METIS proposes groups of ranks, each as large as a node. Other proposals are today's placement, the ranks in their
//! order, and groups that grow from a rank. All are brought to exactly the sizes of the nodes and improved by
//! exchanging ranks; the search goes on from the best, and its result counts only when it is better than today's
//! placement. Everything is bounded by work and not by time, and starts from fixed numbers: the same traffic gives the
//! same advice.

mod capacities;
mod graph;
mod grow;
mod labels;
mod library;
mod parts;
mod pool;
mod random;
mod refine;
#[cfg(test)]
mod tests;
mod traffic;
mod work_budget;

pub use traffic::{Flow, Traffic};

use graph::Graph;
use library::{Library, Way};
use mpiscope_model::Node;
use parts::Parts;
use refine::Refiner;
use work_budget::Budget;

/// METIS divides into this number of parts fast enough to run several times.
const CHEAP_PARTS: usize = 32;

/// Where ranks had better be, and what that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The node of each rank; as today where nothing can be gained.
    pub node_of_rank: Vec<Node>,
    /// Messages between nodes as ranks are placed today.
    pub inter_messages_before: u64,
    /// As they would be with this placement; never more.
    pub inter_messages_after: u64,
    /// Bytes between nodes as ranks are placed today.
    pub inter_bytes_before: u64,
    /// As they would be with this placement.
    pub inter_bytes_after: u64,
}

impl Advice {
    /// Whether ranks should be placed otherwise than today.
    #[must_use]
    pub fn gains(&self) -> bool {
        (self.inter_messages_after, self.inter_bytes_after)
            < (self.inter_messages_before, self.inter_bytes_before)
    }
}

/// The number of ranks on each node.
#[must_use]
pub fn capacities(node_of_rank: &[Node], nodes: usize) -> Vec<usize> {
    let mut capacities = vec![0; nodes];
    for &node in node_of_rank {
        if let Some(capacity) = capacities.get_mut(node.index()) {
            *capacity += 1;
        }
    }
    capacities
}

/// The placement with the fewest messages between nodes that was found, with `capacities` ranks on each node. Among
/// placements with as many messages the one with fewer bytes is better. If today's placement does not match the
/// capacities, it stays as it is.
#[must_use]
pub fn advise(traffic: &Traffic, node_of_rank: &[Node], capacities: &[usize]) -> Advice {
    let before = traffic.between_nodes(node_of_rank);
    let found = search(traffic, node_of_rank, capacities, before);
    let better = found.map(|placement| (traffic.between_nodes(&placement), placement));
    let (after, placement) = match better {
        Some((after, placement)) if (after.messages, after.bytes) < (before.messages, before.bytes) => {
            (after, placement)
        }
        _ => (before, node_of_rank.to_vec()),
    };
    Advice {
        node_of_rank: placement,
        inter_messages_before: before.messages,
        inter_messages_after: after.messages,
        inter_bytes_before: before.bytes,
        inter_bytes_after: after.bytes,
    }
}

/// The best placement that was found; none where no other is worth a look.
fn search(traffic: &Traffic, today: &[Node], capacities: &[usize], before: Flow) -> Option<Vec<Node>> {
    let fits = self::capacities(today, capacities.len()) == capacities
        && today.iter().all(|&node| node.index() < capacities.len());
    let used: Vec<usize> = (0..capacities.len()).filter(|&node| capacities[node] > 0).collect();
    let sizes: Vec<usize> = used.iter().map(|&node| capacities[node]).collect();
    if !fits || before.messages == 0 || sizes.iter().all(|&size| size == 1) {
        return None;
    }
    // Nodes without ranks take no part.
    let mut part_of_node = vec![0; capacities.len()];
    for (part, &node) in used.iter().enumerate() {
        part_of_node[node] = part as u32;
    }
    let today: Vec<u32> = today.iter().map(|&node| part_of_node[node.index()]).collect();
    let graph = Graph::build(traffic, today.len());
    let best = best_parts(&graph, &today, &sizes);
    let labelled = labels::label(&best, &today, &sizes);
    Some(labelled.into_iter().map(|part| Node(used[part as usize] as u32)).collect())
}

/// The best of several beginnings, improved.
fn best_parts(graph: &Graph, today: &[u32], sizes: &[usize]) -> Vec<u32> {
    let budget = Budget::build(graph);
    let mut refiner = Refiner::new(graph, sizes.len());
    let mut best = Parts::new(today.to_vec(), sizes.len());
    refiner.exchange(&mut best, &mut budget.for_exchange());
    let mut least = graph.cut(&best.part_of);
    for begin in beginnings(graph, sizes) {
        let mut parts = Parts::new(begin, sizes.len());
        refiner.exchange(&mut parts, &mut budget.for_exchange());
        let cut = graph.cut(&parts.part_of);
        if cut < least {
            (best, least) = (parts, cut);
        }
    }
    refiner.search(&mut best, &mut budget.for_search());
    best.part_of
}

/// Placements to begin from, each exactly as large as the nodes.
fn beginnings<'a>(graph: &'a Graph, sizes: &'a [usize]) -> impl Iterator<Item = Vec<u32>> + 'a {
    let library = Library::new(graph, sizes);
    let mut ways = vec![(Way::Recursive, None), (Way::Multiway, None)];
    if sizes.len() <= CHEAP_PARTS {
        ways.extend((1..=2).flat_map(|seed| [(Way::Recursive, Some(seed)), (Way::Multiway, Some(seed))]));
    }
    let proposed = ways.into_iter().filter_map(move |(way, seed)| library.partition(way, seed));
    let repaired = proposed.map(|mut parts| {
        capacities::repair(graph, &mut parts, sizes);
        parts
    });
    [grow::in_order(sizes), grow::grown(graph, sizes)].into_iter().chain(repaired)
}
