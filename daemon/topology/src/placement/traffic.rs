//! Who talked with whom: pairs of ranks with their messages and bytes, whichever way they went.

use mpiscope_model::{Message, Node, Rank};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Pairs that are kept: beyond it the half with the fewest messages is left out. It fills a table of hashes just to where
/// it would grow.
const MOST_PAIRS: usize = (4 << 20) / 8 * 7;

/// Messages and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flow {
    /// How many.
    pub messages: u64,
    /// What they carried.
    pub bytes: u64,
}

mpiscope_model::numbers! { Flow { messages, bytes } }

impl Flow {
    fn add(&mut self, other: Flow) {
        self.messages = self.messages.saturating_add(other.messages);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The traffic between ranks. It takes in messages as they come; those of a rank to itself never leave its node and are
/// not kept. Its memory is bounded, at some 100 MB.
#[derive(Debug, Clone)]
pub struct Traffic {
    pairs: FxHashMap<(Rank, Rank), Flow>,
    left_out: Flow,
    most_pairs: usize,
}

mpiscope_model::numbers! { Traffic { pairs, left_out, most_pairs } }

impl Default for Traffic {
    fn default() -> Self {
        Self::with_most_pairs(MOST_PAIRS)
    }
}

impl Traffic {
    pub(super) fn with_most_pairs(most_pairs: usize) -> Self {
        Self { pairs: FxHashMap::default(), left_out: Flow::default(), most_pairs }
    }

    /// Takes in messages.
    pub fn feed(&mut self, messages: &[Message]) {
        for message in messages {
            self.add(message.src, message.dst, Flow { messages: 1, bytes: message.bytes });
        }
    }

    /// Takes in what two ranks sent each other.
    pub fn add(&mut self, one: Rank, other: Rank, flow: Flow) {
        if one == other {
            return;
        }
        let pair = (one.min(other), one.max(other));
        if self.pairs.len() >= self.most_pairs && !self.pairs.contains_key(&pair) {
            self.leave_out_half();
        }
        self.pairs.entry(pair).or_default().add(flow);
    }

    /// Takes in what another one has left out.
    pub fn leave_out(&mut self, flow: Flow) {
        self.left_out.add(flow);
    }

    /// Takes in what another one has taken in.
    pub fn merge(&mut self, other: &Traffic) {
        for (&(one, two), &flow) in &other.pairs {
            self.add(one, two, flow);
        }
        self.left_out.add(other.left_out);
    }

    /// The pairs with their flows, each once, in no order.
    pub fn pairs(&self) -> impl Iterator<Item = (Rank, Rank, Flow)> + '_ {
        self.pairs.iter().map(|(&(one, other), &flow)| (one, other, flow))
    }

    /// What was left out because there were too many pairs.
    #[must_use]
    pub fn left_out(&self) -> Flow {
        self.left_out
    }

    /// What goes from node to node when ranks are placed so. Ranks without a place are not counted.
    #[must_use]
    pub fn between_nodes(&self, node_of_rank: &[Node]) -> Flow {
        let mut between = Flow::default();
        for (one, other, flow) in self.pairs() {
            let place = |rank: Rank| node_of_rank.get(rank.index());
            if let (Some(one_node), Some(other_node)) = (place(one), place(other))
                && one_node != other_node
            {
                between.add(flow);
            }
        }
        between
    }

    fn leave_out_half(&mut self) {
        let mut order: Vec<_> =
            self.pairs().map(|(one, other, flow)| (Reverse(flow.messages), one, other)).collect();
        let kept = order.len() / 2;
        if kept < order.len() {
            order.select_nth_unstable(kept);
        }
        for &(_, one, other) in &order[kept..] {
            if let Some(flow) = self.pairs.remove(&(one, other)) {
                self.left_out.add(flow);
            }
        }
    }
}
