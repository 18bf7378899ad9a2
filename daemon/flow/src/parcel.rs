//! What goes from worker to worker, and where to.

use crate::plain::{
    ActivityRow, CollectedRow, CommRow, EventRow, LinkRow, MessageRow, NodeRow, RankRow, SchedulingRow,
    renamed,
};
use mpiscope_diagnosis::Owners;
use mpiscope_matching::Matched;
use mpiscope_model::Rank;
use serde::{Deserialize, Serialize};
use timely::communication::Push;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;

/// A window of the run, by its number: the time of the dataflow.
pub(crate) type Window = u64;

/// The worker that decides what all do next.
pub(crate) const CENTER: usize = 0;

/// The worker that reads batches: another of the center's process than the center, which has more to do than the others.
pub(crate) fn reader(threads: usize) -> usize {
    usize::from(threads > 1)
}

/// The worker to which a rank's calls, channels and counts belong.
pub(crate) fn owner(rank: Rank, owners: Owners) -> usize {
    usize::from(owners.shard(rank))
}

/// Where a rank runs, for one of the workers.
pub(crate) type Place = (usize, RankRow, NodeRow);

/// The parts of a batch that a worker needs for its calls.
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

/// An event on its way to the owner of a rank.
pub(crate) type ToOwner = (RankRow, EventRow);

/// The messages of a window whose receivers belong to one worker, those of each receiver in the order of its channels. All
/// of them go to that worker, and to another those that its ranks sent.
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

/// Hands on what is addressed to a worker by its number, each item in a container of its own.
pub(crate) struct Addressed;

impl<T> Distributor<Vec<(usize, T)>> for Addressed {
    fn partition<C: Clone, P: Push<Message<C, Vec<(usize, T)>>>>(
        &mut self,
        container: &mut Vec<(usize, T)>,
        time: &C,
        pushers: &mut [P],
    ) {
        for (to, item) in container.drain(..) {
            hand_on(&mut hold_single((to, item)), time, &mut pushers[to]);
        }
    }

    fn flush<C: Clone, P: Push<Message<C, Vec<(usize, T)>>>>(&mut self, _time: &C, _pushers: &mut [P]) {}
}

/// To the worker that it is addressed to.
pub(crate) fn addressed() -> DistributorPact<impl FnOnce(usize) -> Addressed> {
    DistributorPact(|_peers| Addressed)
}

/// Hands on rows to the owners of their ranks. Containers are as large as batches: none waits to be filled. Rows out
/// equal rows counted in: if a row went twice, windows would seem complete that are not.
pub(crate) struct ToOwners<T, F> {
    rank_of: F,
    owners: Owners,
    parts: Vec<Vec<T>>,
}

impl<T, F: Fn(&T) -> Rank> Distributor<Vec<T>> for ToOwners<T, F> {
    fn partition<C: Clone, P: Push<Message<C, Vec<T>>>>(
        &mut self,
        container: &mut Vec<T>,
        time: &C,
        pushers: &mut [P],
    ) {
        if let [only] = pushers {
            hand_on(container, time, only);
            return;
        }
        for row in container.drain(..) {
            self.parts[owner((self.rank_of)(&row), self.owners)].push(row);
        }
        for (part, pusher) in self.parts.iter_mut().zip(pushers).filter(|(part, _)| !part.is_empty()) {
            hand_on(part, time, pusher);
        }
    }

    fn flush<C: Clone, P: Push<Message<C, Vec<T>>>>(&mut self, _time: &C, _pushers: &mut [P]) {}
}

/// To the owners of ranks.
pub(crate) fn to_owners<T, F: Fn(&T) -> Rank>(
    owners: Owners,
    rank_of: F,
) -> DistributorPact<impl FnOnce(usize) -> ToOwners<T, F>> {
    DistributorPact(move |peers| ToOwners {
        rank_of,
        owners,
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
