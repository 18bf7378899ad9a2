//! What goes from worker to worker, and where to.

use crate::sent::{Rows, Sent};
use mpiscope_diagnosis::Owners;
use mpiscope_matching::{Link, Matched};
use mpiscope_model::{Activity, Collected, CommInfo, Event, Node, Rank, Scheduling, numbers};
use timely::communication::Push;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;

/// A window of the run, by its number: the time of the dataflow.
pub(crate) type Window = u64;

/// The worker that decides what all do next.
pub(crate) const CENTER: usize = 0;

/// The worker of a process that reads batches: at the center's another than the center, which has more to do than the others.
pub(crate) fn reader(threads: usize) -> usize {
    usize::from(threads > 1)
}

/// The worker to which a rank's calls, channels and counts belong.
pub(crate) fn owner(rank: Rank, owners: Owners) -> usize {
    usize::from(owners.shard(rank))
}

/// Something for a worker, by its number.
pub(crate) type To<T> = (usize, Sent<T>);

/// Where ranks run.
pub(crate) type Places = Vec<(Rank, Node)>;

/// The parts of a batch that a worker needs for its calls.
#[derive(Clone, Default)]
pub(crate) struct News {
    /// Whose process fed it.
    pub(crate) process: usize,
    pub(crate) places: Places,
    pub(crate) comms: Vec<CommInfo>,
    pub(crate) activities: Rows<Activity>,
    pub(crate) collected: Rows<Collected>,
    pub(crate) scheduling: Rows<Scheduling>,
    /// The last window in which an event of it is.
    pub(crate) last_event: Option<Window>,
    /// After it, windows before this one are complete.
    pub(crate) complete: Window,
}

numbers! { News { process, places, comms, activities, collected, scheduling, last_event, complete } }

/// Events of a batch that concern the channels of a worker.
#[derive(Clone, Default)]
pub(crate) struct Events {
    /// Whose process fed them: those of the center's come before those that others feed at the same place.
    pub(crate) process: usize,
    pub(crate) rows: Rows<Event>,
}

numbers! { Events { process, rows } }

/// A container with room for one item. The usual one has room for many, and each window or batch fills its own.
pub(crate) fn hold_single<T>(item: T) -> Vec<T> {
    vec![item]
}

/// The messages of a window whose receivers belong to one worker, those of each receiver in the order of its channels. All
/// of them go to that worker, and to another those that its ranks sent.
#[derive(Clone, Default)]
pub(crate) struct Messages {
    messages: Rows<mpiscope_model::Message>,
    links: Rows<Link>,
    uncertain: u64,
}

numbers! { Messages { messages, links, uncertain } }

impl From<Matched> for Messages {
    fn from(matched: Matched) -> Self {
        let Matched { messages, links, uncertain } = matched;
        Self { messages: Rows(messages), links: Rows(links), uncertain }
    }
}

impl From<Messages> for Matched {
    fn from(of: Messages) -> Self {
        Self { messages: of.messages.0, links: of.links.0, uncertain: of.uncertain }
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
