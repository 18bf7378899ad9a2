//! Who runs replays that do not depend on each other.

use crate::whatif::change::Change;
use crate::whatif::graph::Graph;
use crate::whatif::replay::Outcome;

/// Runs replays, several at once where that is wanted; the outcomes are the same.
pub trait Replayer {
    /// How many replays of a graph run at once.
    fn at_once(&self, graph: &Graph) -> usize;

    /// What replays with each of these changes lead to.
    fn outcomes(&self, graph: &Graph, changes: &[Change]) -> Vec<Outcome>;
}

/// One after the other.
#[derive(Debug, Clone, Copy, Default)]
pub struct InTurn;

impl Replayer for InTurn {
    fn at_once(&self, _: &Graph) -> usize {
        1
    }

    fn outcomes(&self, graph: &Graph, changes: &[Change]) -> Vec<Outcome> {
        changes.iter().map(|change| graph.replay(change)).collect()
    }
}
