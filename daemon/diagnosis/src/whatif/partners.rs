//! With whom a call exchanges messages.

use crate::whatif::call_kind::CallKind;
use crate::whatif::graph::{Edge, Graph, Thread};
use mpiscope_model::Rank;
use std::cmp::Reverse;

/// A wait, or a poll, looks back over this many calls for the sends that it may complete.
const MOST_POSTS: usize = 256;

/// By call, what was sent: messages by sender's call, with the receiver's rank and the bytes.
pub(crate) struct Partners {
    first: Vec<u32>,
    to: Vec<(Rank, u32)>,
}

impl Partners {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut first = vec![0_u32; graph.starts.len() + 1];
        for edge in &graph.edges {
            first[edge.from as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut to = vec![(Rank(0), 0); graph.edges.len()];
        for edge in &graph.edges {
            let at = &mut next[edge.from as usize];
            to[*at as usize] = (graph.rank_of(edge.to), edge.bytes);
            *at += 1;
        }
        Self { first, to }
    }

    pub(crate) fn sent_by(&self, call: usize) -> &[(Rank, u32)] {
        &self.to[self.first[call] as usize..self.first[call + 1] as usize]
    }

    /// The other ranks whose messages a call sent, received, or may have waited for.
    pub(crate) fn peers(&self, graph: &Graph, thread: &Thread, call: usize) -> Peers {
        let mut receivers: Vec<Rank> = self.sent_by(call).iter().map(|(rank, _)| *rank).collect();
        let mut posted: Vec<(Rank, u64)> = Vec::new();
        if matches!(graph.kind(call), CallKind::Wait | CallKind::Poll) {
            // Requests that were posted together may be waited for one by one, and by polls.
            let waits = |before: &usize| graph.kind(*before) == CallKind::Wait;
            let completes = |before: &usize| waits(before) || graph.kind(*before) == CallKind::Poll;
            let before = (thread.calls.start as usize..call).rev().take(MOST_POSTS);
            for post in before.skip_while(completes).take_while(|post| !waits(post)) {
                posted.extend(self.sent_by(post).iter().map(|(rank, _)| (*rank, graph.starts[post])));
            }
        }
        posted.retain(|(rank, _)| *rank != thread.rank);
        receivers.extend(posted.iter().map(|(rank, _)| *rank));
        receivers.retain(|peer| *peer != thread.rank);
        receivers.sort_unstable();
        receivers.dedup();
        let sent = |edge: &Edge| (graph.rank_of(edge.from), graph.starts[edge.from as usize]);
        let mut senders: Vec<(Rank, u64)> = graph.received_by(call).iter().map(sent).collect();
        senders.retain(|(rank, _)| *rank != thread.rank && receivers.binary_search(rank).is_err());
        // The newest message of each.
        senders.sort_unstable_by_key(|(rank, sent_ns)| (*rank, Reverse(*sent_ns)));
        senders.dedup_by_key(|(rank, _)| *rank);
        Peers { receivers, posted, senders }
    }
}

/// The other ranks that a call exchanges messages with.
pub(crate) struct Peers {
    /// Who receives what it sent, or may have waited for.
    pub(crate) receivers: Vec<Rank>,
    /// Who receives what was sent before a wait, and when that was sent.
    pub(crate) posted: Vec<(Rank, u64)>,
    /// Who only sent what it received, and when.
    pub(crate) senders: Vec<(Rank, u64)>,
}

impl Peers {
    pub(crate) fn ranks(&self) -> impl Iterator<Item = Rank> {
        self.receivers.iter().copied().chain(self.senders.iter().map(|(rank, _)| *rank))
    }
}
