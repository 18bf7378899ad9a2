//! What METIS proposes: parts about as large as the nodes.

use super::graph::Graph;
use metis::option::{Seed, UFactor};
use metis::{Graph as MetisGraph, Idx, Real};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// METIS draws its random numbers from the process and sets signal handlers (SIGTERM, SIGABRT) while it works, so one
/// call at a time: else results would depend on each other, and a handler could be put back in the wrong order.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// While this is held no other thread calls METIS.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The weights of all ends of edges together stay about below this: METIS counts in 32 bits.
const MOST_WEIGHT: f64 = (1 << 30) as f64;

/// How METIS goes about it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// It halves, and halves again.
    Recursive,
    /// Into all parts at once.
    Multiway,
}

/// A graph as METIS takes it.
pub(super) struct Library {
    parts: Idx,
    offsets: Vec<Idx>,
    ends: Vec<Idx>,
    weights: Vec<Idx>,
    shares: Vec<Real>,
}

impl Library {
    pub(super) fn new(graph: &Graph, sizes: &[usize]) -> Self {
        let ranks = graph.ranks();
        let edges = || (0..ranks).flat_map(|rank| graph.edges_of(rank));
        let total: f64 = edges().map(|edge| graph.messages(edge) as f64).sum();
        let scale = (MOST_WEIGHT / total.max(1.0)).min(1.0);
        // Every edge weighs something: none is forgotten.
        let weigh = |messages: u64| ((messages as f64 * scale) as Idx).max(1);
        let mut offsets = vec![0];
        for rank in 0..ranks {
            offsets.push(offsets[rank] + graph.edges_of(rank).len() as Idx);
        }
        Self {
            parts: sizes.len() as Idx,
            offsets,
            ends: edges().map(|edge| edge.to as Idx).collect(),
            weights: edges().map(|edge| weigh(graph.messages(edge))).collect(),
            shares: sizes.iter().map(|&size| (size as f64 / ranks as f64) as Real).collect(),
        }
    }

    /// A part for each rank, with METIS's own beginning or another; none where METIS has no answer.
    pub(super) fn partition(&self, way: Way, seed: Option<Idx>) -> Option<Vec<u32>> {
        if self.ends.is_empty() {
            return None;
        }
        let mut parts = vec![0; self.offsets.len() - 1];
        let graph = MetisGraph::new(1, self.parts, &self.offsets, &self.ends).ok()?;
        let graph = graph.set_adjwgt(&self.weights).set_tpwgts(&self.shares);
        let graph = graph.set_option(UFactor(1));
        let graph = match seed {
            Some(seed) => graph.set_option(Seed(seed)),
            None => graph,
        };
        let alone = alone();
        let answer = match way {
            Way::Recursive => graph.part_recursive(&mut parts),
            Way::Multiway => graph.part_kway(&mut parts),
        };
        drop(alone);
        answer.ok()?;
        let in_range = |part: Idx| u32::try_from(part).ok().filter(|_| part < self.parts);
        parts.into_iter().map(in_range).collect()
    }
}
