//! Which part of a run a graph is made of.

use mpiscope_model::{Message, Nanoseconds, Rank};
use std::ops::Range;

/// What a graph is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DagScope {
    /// Events in this stretch.
    pub range_ns: Range<Nanoseconds>,
    /// On these ranks, ranges with both ends included; on all where none is given.
    pub ranks: Option<Vec<(Rank, Rank)>>,
    /// The most nodes. Where there would be more the stretch ends before the first that has no room.
    pub most_nodes: usize,
}

impl DagScope {
    /// Whether a rank is meant.
    #[must_use]
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.iter().any(|&(from, to)| (from..=to).contains(&rank)))
    }

    /// The first moment within the stretch at which a message does something on a rank that is meant.
    #[must_use]
    pub fn first_ns(&self, message: &Message) -> Option<Nanoseconds> {
        let event = |rank, at_ns| (self.range_ns.contains(&at_ns) && self.has(rank)).then_some(at_ns);
        let [send, receive] = [event(message.src, message.send_ns), event(message.dst, message.recv_ns)];
        send.into_iter().chain(receive).min()
    }
}
