//! What goes from worker to worker, and where to.

use crate::plain::{
    ActivityRow, CollectedRow, CommRow, EventRow, LinkRow, MessageRow, SchedulingRow, renamed,
};
use mpiscope_analysis::Matched;
use mpiscope_model::{Node, Rank};
use serde::{Deserialize, Serialize};
use timely::communication::Push;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;

/// A window of the run, by its number: the time of the dataflow.
pub(crate) type Window = u64;

/// The worker that judges.
pub(crate) const JUDGE: usize = 0;

/// The worker that reads batches: another than the one that judges, which has most to do.
pub(crate) fn reader(peers: usize) -> usize {
    usize::from(peers > 1)
}

/// Workers to which ranks belong: all but the one that judges, if there are others.
pub(crate) fn keepers(peers: usize) -> usize {
    peers.saturating_sub(1).max(1)
}

/// The worker to which a rank's channels and counts belong.
pub(crate) fn keeper(rank: Rank, peers: usize) -> usize {
    usize::from(peers > 1) + rank as usize % keepers(peers)
}

/// Where a rank runs, for one of the workers.
pub(crate) type Place = (usize, Rank, Node);

/// What the judge learns of a batch as it comes.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct News {
    pub(crate) places: Vec<(Rank, Node)>,
    pub(crate) comms: Vec<CommRow>,
    pub(crate) activities: Vec<ActivityRow>,
    pub(crate) collected: Vec<CollectedRow>,
    pub(crate) scheduling: Vec<SchedulingRow>,
    /// The last window in which an event of it is.
    pub(crate) last_event: Option<Window>,
    /// After it, windows before this one are complete.
    pub(crate) complete: Window,
}

/// An event on its way to the keeper of a rank.
pub(crate) type ToKeeper = (Rank, EventRow);

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

/// To the worker that judges.
pub(crate) fn to_judge() -> DistributorPact<impl FnOnce(usize) -> ToOne> {
    DistributorPact(|_peers| ToOne(JUDGE))
}

/// Hands on rows to the keepers of their ranks. Containers are as large as batches, so none waits to be filled. What goes out
/// is what was counted as it came in: would a row go twice, windows would seem to be complete that are not.
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
            hand_on(container, time, &mut pushers[keeper(0, peers)]);
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
