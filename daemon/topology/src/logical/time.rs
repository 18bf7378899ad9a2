//! The events of a stretch of time, and what leads to what among them.

use super::cuts::Cuts;
use super::events::{Endpoint, Events, Meeting, NOWHERE, in_order};
use super::hub::Hub;
use mpiscope_model::{Flow, Message, Nanoseconds, Rank};
use std::ops::Range;

/// An event among those of a stretch: a number that grows with the clock of its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogicalEventKind {
    /// The call that sends a message begins; which of [`LogicalTime::messages`].
    Send(u32),
    /// The call that completes a receive ends.
    Receive(u32),
    /// A collective is entered; which of the meetings.
    Enter(u32),
    /// It returns.
    Exit(u32),
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalEvent {
    /// Whose.
    pub rank: Rank,
    /// Its number among those of its rank in the stretch, from 0.
    pub number: u32,
    /// When.
    pub at_ns: Nanoseconds,
    /// What it is.
    pub kind: LogicalEventKind,
}

/// The events of a stretch of time and what leads to what among them.
#[derive(Debug, Clone, Default)]
pub struct LogicalTime {
    pub(super) messages: Vec<Message>,
    pub(super) events: Events,
    /// At which place among the ranks each event is.
    pub(super) rank_of: Vec<u32>,
    pub(super) hubs: Vec<Hub>,
    /// The collective of each place in one.
    pub(super) hub_of: Vec<u32>,
    pub(super) cuts: Cuts,
    /// Receives and returns that nothing leads to, since by the clocks each would lead to itself; in order.
    pub(super) loose: Vec<u32>,
    /// Whether something ends before that which leads to it, by the clocks.
    pub(super) is_backward: bool,
}

impl LogicalTime {
    /// The events that lie in a stretch of time. What has one end in it has one event.
    #[must_use]
    pub fn build(messages: &[Message], meetings: &[Meeting], range_ns: &Range<Nanoseconds>) -> Self {
        let messages = in_order(messages);
        let events = Events::collect(&messages, meetings, range_ns, |_| true);
        let mut rank_of = vec![0; events.count()];
        for place in 0..events.ranks.len() {
            let of_rank = events.of_place(place);
            rank_of[of_rank.start as usize..of_rank.end as usize].fill(place as u32);
        }
        let (mut hubs, mut hub_of) = (Vec::with_capacity(meetings.len()), Vec::new());
        for meeting in meetings {
            let first = hub_of.len() as u32;
            let root = meeting.members.iter().position(|member| Some(member.rank) == meeting.root);
            hub_of.extend(std::iter::repeat_n(hubs.len() as u32, meeting.members.len()));
            let places = first..hub_of.len() as u32;
            hubs.push(Hub { flow: meeting.flow, root: root.map(|at| first + at as u32), places });
        }
        let mut time = Self {
            messages,
            events,
            rank_of,
            hubs,
            hub_of,
            cuts: Cuts::default(),
            loose: Vec::new(),
            is_backward: false,
        };
        time.is_backward = time.is_any_backward();
        if time.is_backward {
            time.loose = time.untangled().1;
        }
        time.cuts = Cuts::build(&time.events, &time.hubs, &time.rank_of, |event| time.is_loose(event));
        time
    }

    /// The messages in the order of their sends; events bear their numbers.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How many events there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.events.count()
    }

    /// The ranks that have events, in order.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.events.ranks
    }

    /// The events of a rank, in order.
    pub fn of_rank(&self, rank: Rank) -> impl Iterator<Item = EventId> + use<> {
        let events = self.events.place_of(rank).map_or(0..0, |place| self.events.of_place(place));
        events.map(EventId)
    }

    /// An event.
    #[must_use]
    pub fn event(&self, EventId(event): EventId) -> LogicalEvent {
        let place = self.rank_of[event as usize] as usize;
        let hub = |id: u32| self.hub_of[id as usize];
        LogicalEvent {
            rank: self.events.ranks[place],
            number: event - self.events.starts[place],
            at_ns: self.events.at_ns[event as usize],
            kind: match self.events.endpoint(event) {
                Endpoint::Send(id) => LogicalEventKind::Send(id),
                Endpoint::Receive(id) => LogicalEventKind::Receive(id),
                Endpoint::Enter(id) => LogicalEventKind::Enter(hub(id)),
                Endpoint::Exit(id) => LogicalEventKind::Exit(hub(id)),
            },
        }
    }

    /// The last event of a rank that is no later than a moment.
    #[must_use]
    pub fn last_until(&self, rank: Rank, at_ns: Nanoseconds) -> Option<EventId> {
        let of_rank = self.events.of_place(self.events.place_of(rank)?);
        let later = self.first_at(of_rank.clone(), |event_ns| event_ns > at_ns);
        (later > of_rank.start).then(|| EventId(later - 1))
    }

    /// The first event of a rank that is no earlier than a moment.
    #[must_use]
    pub fn first_from(&self, rank: Rank, at_ns: Nanoseconds) -> Option<EventId> {
        let of_rank = self.events.of_place(self.events.place_of(rank)?);
        let found = self.first_at(of_rank.clone(), |event_ns| event_ns >= at_ns);
        (found < of_rank.end).then_some(EventId(found))
    }

    pub(super) fn first_at(&self, events: Range<u32>, is_there: impl Fn(Nanoseconds) -> bool) -> u32 {
        let times = &self.events.at_ns[events.start as usize..events.end as usize];
        events.start + times.partition_point(|&at_ns| !is_there(at_ns)) as u32
    }

    /// Receives and returns from collectives that by the clocks would have led to themselves. They are taken as led to by
    /// nothing but their own rank.
    #[must_use]
    pub fn contradictions(&self) -> usize {
        self.loose.len()
    }

    /// How many collectives are cuts.
    #[must_use]
    pub fn cuts(&self) -> usize {
        self.cuts.count()
    }

    /// The bytes that it keeps beside the messages themselves.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.rank_of.len() + self.hub_of.len() + self.loose.len();
        self.events.bytes() + 4 * words + size_of_val(self.hubs.as_slice()) + self.cuts.bytes()
    }

    pub(super) fn is_loose(&self, event: u32) -> bool {
        !self.loose.is_empty() && self.loose.binary_search(&event).is_ok()
    }

    /// Shows the places whose entering leads to the return at a place of a collective.
    pub(super) fn awaited(&self, place: u32) -> Range<u32> {
        let hub = &self.hubs[self.hub_of[place as usize] as usize];
        let root = |root: u32| root..root + 1;
        match hub.flow {
            Flow::All => hub.places.clone(),
            Flow::FromRoot => hub.root.map_or(0..0, root),
            Flow::ToRoot if hub.root == Some(place) => hub.places.clone(),
            Flow::ToRoot => 0..0,
            Flow::FromLower => hub.places.start..place + 1,
        }
    }

    /// Shows the places whose return is led to by entering at a place of a collective.
    pub(super) fn waiting(&self, place: u32) -> Range<u32> {
        let hub = &self.hubs[self.hub_of[place as usize] as usize];
        match hub.flow {
            Flow::All => hub.places.clone(),
            Flow::FromRoot if hub.root == Some(place) => hub.places.clone(),
            Flow::FromRoot => 0..0,
            Flow::ToRoot => hub.root.map_or(0..0, |root| root..root + 1),
            Flow::FromLower => place..hub.places.end,
        }
    }

    fn is_any_backward(&self) -> bool {
        let at_ns = |event: u32| self.events.at_ns[event as usize];
        let sides = self.events.sends.iter().zip(&self.events.receives);
        let is_backward = |(&send, &receive): (&u32, &u32)| {
            send != NOWHERE && receive != NOWHERE && at_ns(receive) < at_ns(send)
        };
        sides.clone().any(is_backward) || self.hubs.iter().any(|hub| self.is_hub_backward(hub))
    }

    fn is_hub_backward(&self, hub: &Hub) -> bool {
        let at_ns = |event: u32| (event != NOWHERE).then(|| self.events.at_ns[event as usize]);
        let enter_ns = |place: u32| at_ns(self.events.enters[place as usize]);
        let exit_ns = |place: u32| at_ns(self.events.exits[place as usize]);
        let last = hub.places.clone().filter_map(enter_ns).max();
        match hub.flow {
            Flow::All => {
                hub.places.clone().filter_map(exit_ns).min().zip(last).is_some_and(|(exit, last)| exit < last)
            }
            Flow::FromRoot => {
                let first = hub.places.clone().filter_map(exit_ns).min();
                first.zip(hub.root.and_then(enter_ns)).is_some_and(|(exit, root)| exit < root)
            }
            Flow::ToRoot => hub.root.and_then(exit_ns).zip(last).is_some_and(|(exit, last)| exit < last),
            Flow::FromLower => {
                let mut latest = 0;
                hub.places.clone().any(|place| {
                    latest = latest.max(enter_ns(place).unwrap_or_default());
                    exit_ns(place).is_some_and(|exit| exit < latest)
                })
            }
        }
    }
}
