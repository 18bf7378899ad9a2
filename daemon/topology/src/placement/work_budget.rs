//! How much a search for a better placement may look at.

use super::graph::Graph;

/// Work left to do: about one for each edge that is looked at. Work and not time: the same traffic gives the same
/// advice on any machine.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    left: i64,
    size: i64,
    ranks: i64,
}

impl Budget {
    /// For a graph of this size.
    pub(super) fn build(graph: &Graph) -> Self {
        Self { left: 0, size: (graph.ends() + graph.ranks()) as i64, ranks: graph.ranks() as i64 }
    }

    /// For exchanges from one beginning.
    pub(super) fn for_exchange(&self) -> Self {
        Self { left: 2_000_000 + 100 * self.size, ..*self }
    }

    /// For the search on the best of them: some hundredths of a second for 2,048 ranks, a second for 16,384, and not much
    /// more for any number.
    pub(super) fn for_search(&self) -> Self {
        let by_ranks = (self.ranks * self.ranks / 2).min(300_000_000);
        let to_begin = (20_000 * self.ranks).min(5_000_000);
        Self { left: to_begin + 200 * self.size + by_ranks, ..*self }
    }

    pub(super) fn spend(&mut self, work: usize) {
        self.left -= work as i64;
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left <= 0
    }
}
