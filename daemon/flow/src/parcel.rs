//! What goes from worker to worker, and where to.

use crate::plain::{
    ActivityRow, CollectedRow, CommRow, EventRow, LinkRow, MessageRow, NodeRow, RankRow, SchedulingRow,
    renamed,
};
use mpiscope_matching::Matched;
use mpiscope_model::Rank;
use serde::{Deserialize, Serialize};
use timely::communication::Push;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;

/// A window of the run, by its number: the time of the dataflow.
pub(crate) type Window = u64;

/// The worker that computes the budget.
pub(crate) const BUDGET_WORKER: usize = 0;

/// The worker that reads batches: another than the budget worker, which is the busiest.
pub(crate) fn reader(peers: usize) -> usize {
    usize::from(peers > 1)
}

/// Workers that own ranks: all but the budget worker, if there are others.
pub(crate) fn keepers(peers: usize) -> usize {
    peers.saturating_sub(1).max(1)
}

/// The worker to which a rank's channels and counts belong.
pub(crate) fn keeper(rank: Rank, peers: usize) -> usize {
    usize::from(peers > 1) + rank.index() % keepers(peers)
}

/// Where a rank runs, for one of the workers.
pub(crate) type Place = (usize, RankRow, NodeRow);

/// The parts of a batch that the budget needs at once.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct News {
    pub(crate) places: Vec<(RankRow, NodeRow)>,
    pub(crate) comms: Vec<CommRow>,
    pub(crate) activities: Vec<ActivityRow>,
    pub(crate) collected: Vec<CollectedRow>,
    pub(crate) scheduling: Vec<SchedulingRow>,
    /// The last window in which an event of it is.
    pub(crate) last_event: Option<Window>,
    /// After it, windows before this one are complete.
    pub(crate) complete: Window,
}

/// A container with room for one item. The usual one has room for many, and each window or batch fills its own.
pub(crate) fn hold_single<T>(item: T) -> Vec<T> {
    vec![item]
}

/// An event on its way to the keeper of a rank.
pub(crate) type ToKeeper = (RankRow, EventRow);

/// The messages of a window whose receivers belong to one worker, those of each receiver in the order of its channels.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Messages {
    messages: Vec<MessageRow>,
    links: Vec<LinkRow>,
    uncertain: u64,
}

impl From<Matched> for Messages {
    fn from(matched: Matched) -> Self {
        let Matched { messages, links, uncertain } = matched;
        Self { messages: renamed(messages), links: renamed(links), uncertain }
    }
}

impl From<Messages> for Matched {
    fn from(of: Messages) -> Self {
        Self { messages: renamed(of.messages), links: renamed(of.links), uncertain: of.uncertain }
    }
}

/// Hands on a container. What was written as bytes is still in it afterwards, and must not go twice.
fn hand_on<C: Default, T: Clone>(container: &mut C, time: &T, pusher: &mut impl Push<Message<T, C>>) {
    Message::push_at(container, time.clone(), pusher);
    *container = C::default();
}

/// Hands on whole containers to one worker.
pub(crate) struct ToOne(usize);

impl<C: Default> Distributor<C> for ToOne {
    fn partition<T: Clone, P: Push<Message<T, C>>>(
        &mut self,
        container: &mut C,
        time: &T,
        pushers: &mut [P],
    ) {
        hand_on(container, time, &mut pushers[self.0]);
    }

    fn flush<T: Clone, P: Push<Message<T, C>>>(&mut self, _time: &T, _pushers: &mut [P]) {}
}

/// To the budget worker.
pub(crate) fn to_budget_worker() -> DistributorPact<impl FnOnce(usize) -> ToOne> {
    DistributorPact(|_peers| ToOne(BUDGET_WORKER))
}

/// Hands on rows to the keepers of their ranks. Containers are as large as batches: none waits to be filled. Rows out
/// equal rows counted in: if a row went twice, windows would seem complete that are not.
pub(crate) struct ToKeepers<T, F> {
    rank_of: F,
    parts: Vec<Vec<T>>,
}

impl<T, F: Fn(&T) -> Rank> Distributor<Vec<T>> for ToKeepers<T, F> {
    fn partition<C: Clone, P: Push<Message<C, Vec<T>>>>(
        &mut self,
        container: &mut Vec<T>,
        time: &C,
        pushers: &mut [P],
    ) {
        let peers = pushers.len();
        if keepers(peers) == 1 {
            hand_on(container, time, &mut pushers[keeper(Rank(0), peers)]);
            return;
        }
        for row in container.drain(..) {
            self.parts[keeper((self.rank_of)(&row), peers)].push(row);
        }
        for (part, pusher) in self.parts.iter_mut().zip(pushers).filter(|(part, _)| !part.is_empty()) {
            hand_on(part, time, pusher);
        }
    }

    fn flush<C: Clone, P: Push<Message<C, Vec<T>>>>(&mut self, _time: &C, _pushers: &mut [P]) {}
}

/// To the keepers of ranks.
pub(crate) fn to_keepers<T, F: Fn(&T) -> Rank>(
    rank_of: F,
) -> DistributorPact<impl FnOnce(usize) -> ToKeepers<T, F>> {
    DistributorPact(move |peers| ToKeepers {
        rank_of,
        parts: std::iter::repeat_with(Vec::new).take(peers).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is one for each window with messages, and for each batch.
    #[test]
    fn a_container_of_one_item_has_no_room_for_more() {
        assert_eq!(hold_single(Messages::default()).capacity(), 1);
        assert_eq!(hold_single(News::default()).capacity(), 1);
    }
}
