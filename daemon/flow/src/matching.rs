//! Matching, each worker the channels of its own receivers.

use crate::parcel::{Events, Messages, Places, To, Window, addressed, owner};
use crate::sent::Sent;
use crate::worker_figures::WorkerFigures;
use mpiscope_diagnosis::Owners;
use mpiscope_matching::{Matched, Matcher, MatchingLimits, WindowEvents};
use mpiscope_model::Event;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::{Capability, Operator};

/// What is known of a window that is not complete.
struct Open {
    capability: Capability<Window>,
    events: Vec<Events>,
}

impl Open {
    /// All of them. Where several processes feed the same rank, the center's has what came first.
    fn events(mut self) -> WindowEvents {
        self.events.sort_by_key(|events| events.process);
        let mut all = WindowEvents::default();
        self.events.iter().for_each(|events| all.add(&events.rows.0));
        all
    }
}

/// The operator: events in, each window's messages out when all of its events are in.
pub(crate) fn matching<'scope>(
    events: StreamVec<'scope, Window, To<Events>>,
    places: StreamVec<'scope, Window, To<Places>>,
    owners: Owners,
    kept: Rc<RefCell<WorkerFigures>>,
) -> StreamVec<'scope, Window, To<Messages>> {
    let (peers, own) = (events.scope().peers(), events.scope().index());
    events.binary_frontier(places, addressed(), addressed(), "match", move |_capability, _info| {
        let mut channels = OwnChannels::new(peers, kept);
        let mut open: BTreeMap<Window, Open> = BTreeMap::new();
        let mut is_finished = false;
        move |(events, events_frontier), (places, places_frontier), output| {
            events.for_each(|capability, events| {
                let of = open
                    .entry(*capability.time())
                    .or_insert_with(|| Open { capability: capability.retain(0), events: Vec::new() });
                of.events.extend(events.drain(..).map(|(_, events)| events.value));
            });
            places.for_each(|capability, places| {
                channels
                    .to_place
                    .extend(places.drain(..).map(|(_, places)| (*capability.time(), places.value)));
            });
            let is_open =
                |window: &Window| events_frontier.less_equal(window) || places_frontier.less_equal(window);
            while let Some(first) = open.first_entry().filter(|first| !is_open(first.key())) {
                let (window, open) = first.remove_entry();
                let capability = open.capability.clone();
                let matched = channels.feed(window, open.events());
                if !matched.messages.is_empty() {
                    let mut messages = messages_for(matched, own, owners);
                    output.session(&capability).give_container(&mut messages);
                }
            }
            if events_frontier.is_empty() && places_frontier.is_empty() && !is_finished {
                is_finished = true;
                channels.finish();
            }
        }
    })
}

/// The messages of a window for each worker: all for that of their receivers, and for another those that its ranks sent.
fn messages_for(matched: Matched, own: usize, owners: Owners) -> Vec<To<Messages>> {
    let mut for_senders: BTreeMap<usize, Matched> = BTreeMap::new();
    for (message, link) in matched.messages.iter().zip(&matched.links) {
        let sender = owner(message.src, owners);
        if sender != own {
            let of_sender = for_senders.entry(sender).or_default();
            of_sender.messages.push(*message);
            of_sender.links.push(*link);
        }
    }
    let all = for_senders.into_iter().chain([(own, matched)]);
    all.map(|(worker, matched)| (worker, Sent::new(Messages::from(matched)))).collect()
}

/// Matches the messages of the receivers of one worker.
struct OwnChannels {
    matcher: Matcher,
    /// Ranks that are not on their nodes yet.
    to_place: Vec<(Window, Places)>,
    /// The events of the window at hand.
    now: Vec<Event>,
    kept: Rc<RefCell<WorkerFigures>>,
}

impl OwnChannels {
    /// The limits are shared by all `peers` workers.
    fn new(peers: usize, kept: Rc<RefCell<WorkerFigures>>) -> Self {
        let MatchingLimits { pending, pairs } = MatchingLimits::default();
        let limits = MatchingLimits { pending: pending / peers, pairs: pairs / peers };
        Self { matcher: Matcher::new(limits).with_links(), to_place: Vec::new(), now: Vec::new(), kept }
    }

    /// Takes in all events of a window.
    fn feed(&mut self, window: Window, mut events: WindowEvents) -> Matched {
        self.place(window);
        self.now.clear();
        events.take(&mut self.now);
        let matched = self.matcher.feed(&self.now);
        self.kept.borrow_mut().matched(&matched);
        matched
    }

    fn finish(&mut self) {
        self.place(Window::MAX);
        let matched = self.matcher.finish();
        self.kept.borrow_mut().matched(&matched);
        self.kept.borrow_mut().unmatched(&self.matcher);
    }

    /// Places ranks on nodes, as known until a window.
    fn place(&mut self, until: Window) {
        let Self { matcher, to_place, .. } = self;
        to_place.retain(|(window, places)| {
            let is_due = *window <= until;
            if is_due {
                places.iter().for_each(|(rank, node)| matcher.place(*rank, *node));
            }
            !is_due
        });
    }
}
