//! The past and the future of an event.

use super::events::{Endpoint, NOWHERE};
use super::time::{EventId, LogicalTime};
use mpiscope_model::Nanoseconds;
use std::ops::Range;

/// The past or the future of an event: of each rank, the events up to one, or from one on. The event itself is part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cone {
    /// Its events, a range for each of [`LogicalTime::ranks`]; empty where a rank has none.
    pub events: Vec<Range<u32>>,
    /// Where it was not looked at closely, for whatever lies there is part of it: before this moment in the past of an
    /// event, from this moment on in its future.
    pub beyond_ns: Option<Nanoseconds>,
}

impl Cone {
    /// Whether an event is part of it.
    #[must_use]
    pub fn contains(&self, EventId(event): EventId) -> bool {
        // Ranges follow each other as the ranks do.
        let at = self.events.partition_point(|of_rank| of_rank.end <= event);
        self.events.get(at).is_some_and(|of_rank| of_rank.contains(&event))
    }

    /// How many events are part of it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.events.iter().map(Range::len).sum()
    }
}

/// A walk along what leads to what.
struct Walk<'a> {
    time: &'a LogicalTime,
    /// By rank: for the past the end of the cone, for the future its beginning.
    found: Vec<u32>,
    /// Places of collectives whose other side was looked at: how far, by collective.
    seen: Vec<u32>,
    stack: Vec<Range<u32>>,
}

impl LogicalTime {
    /// The vector of an event: how many events of each rank led to it, itself included.
    #[must_use]
    pub fn vector(&self, event: EventId) -> Vec<u32> {
        self.past(event).events.iter().map(|of_rank| of_rank.len() as u32).collect()
    }

    /// Whether one event led to another.
    #[must_use]
    pub fn precedes(&self, one: EventId, other: EventId) -> bool {
        let place = self.rank_of[one.0 as usize] as usize;
        if place == self.rank_of[other.0 as usize] as usize {
            return one < other;
        }
        let mut walk = self.back_from(other);
        if walk.found[place] > one.0 {
            return true;
        }
        let not_before = if self.is_backward { 0 } else { self.events.at_ns[one.0 as usize] };
        walk.back(not_before, |found| found[place] > one.0);
        walk.found[place] > one.0
    }

    /// Whether neither led to the other.
    #[must_use]
    pub fn concurrent(&self, one: EventId, other: EventId) -> bool {
        one != other && !self.precedes(one, other) && !self.precedes(other, one)
    }

    /// All that led to an event.
    #[must_use]
    pub fn past(&self, event: EventId) -> Cone {
        let mut walk = self.back_from(event);
        let place = self.rank_of[event.0 as usize] as usize;
        let cut = self.cuts.before(place, event.0);
        walk.back(0, |_| false);
        let ranges = (0..).zip(&walk.found).map(|(at, &end)| self.events.starts[at]..end).collect();
        let first = |cut: usize| {
            self.cuts.enters_of(cut).iter().map(|&event| self.events.at_ns[event as usize]).min()
        };
        Cone { events: ranges, beyond_ns: cut.and_then(first) }
    }

    /// All that an event led to.
    #[must_use]
    pub fn future(&self, event: EventId) -> Cone {
        let place = self.rank_of[event.0 as usize] as usize;
        let cut = self.cuts.after(place, event.0);
        let found = match cut {
            Some(cut) => self.cuts.exits_of(cut).to_vec(),
            None => self.events.starts[1..].to_vec(),
        };
        let mut walk = Walk { time: self, found, seen: vec![NOWHERE; self.hubs.len()], stack: Vec::new() };
        walk.reach_forward(event.0);
        walk.forward();
        let ranges = (0..).zip(&walk.found).map(|(at, &start)| start..self.events.starts[at + 1]).collect();
        let last =
            |cut: usize| self.cuts.exits_of(cut).iter().map(|&event| self.events.at_ns[event as usize]).max();
        Cone { events: ranges, beyond_ns: cut.and_then(last) }
    }

    /// A walk back from an event, which begins with what lies before the last cut.
    fn back_from(&self, event: EventId) -> Walk<'_> {
        let place = self.rank_of[event.0 as usize] as usize;
        let found = match self.cuts.before(place, event.0) {
            Some(cut) => self.cuts.enters_of(cut).iter().map(|enter| enter + 1).collect(),
            None => self.events.starts[..self.events.ranks.len()].to_vec(),
        };
        let mut walk = Walk { time: self, found, seen: vec![0; self.hubs.len()], stack: Vec::new() };
        walk.reach_back(event.0);
        walk
    }
}

impl Walk<'_> {
    fn reach_back(&mut self, event: u32) {
        let found = &mut self.found[self.time.rank_of[event as usize] as usize];
        if event >= *found {
            self.stack.push(*found..event + 1);
            *found = event + 1;
        }
    }

    /// Goes on until there is no more or until that is enough. What lies before a moment leads to nothing that is asked for.
    fn back(&mut self, not_before_ns: Nanoseconds, is_enough: impl Fn(&[u32]) -> bool) {
        let time = self.time;
        while let Some(events) = self.stack.pop() {
            for event in events.rev() {
                if time.events.at_ns[event as usize] < not_before_ns {
                    break;
                }
                match time.events.endpoint(event) {
                    Endpoint::Send(_) | Endpoint::Enter(_) => {}
                    _ if time.is_loose(event) => {}
                    Endpoint::Receive(id) => {
                        let send = time.events.sends[id as usize];
                        if send != NOWHERE {
                            self.reach_back(send);
                        }
                    }
                    Endpoint::Exit(place) => self.back_through(place),
                }
            }
            if is_enough(&self.found) {
                return;
            }
        }
    }

    /// The members of one collective are awaited from the first one on: those before need no second look.
    fn back_through(&mut self, place: u32) {
        let awaited = self.time.awaited(place);
        let seen = &mut self.seen[self.time.hub_of[place as usize] as usize];
        let new = awaited.start.max(*seen)..awaited.end;
        *seen = awaited.end.max(*seen);
        for other in new {
            let enter = self.time.events.enters[other as usize];
            if enter != NOWHERE {
                self.reach_back(enter);
            }
        }
    }

    fn reach_forward(&mut self, event: u32) {
        let found = &mut self.found[self.time.rank_of[event as usize] as usize];
        if event < *found {
            self.stack.push(event..*found);
            *found = event;
        }
    }

    fn forward(&mut self) {
        let time = self.time;
        while let Some(events) = self.stack.pop() {
            for event in events {
                match time.events.endpoint(event) {
                    Endpoint::Receive(_) | Endpoint::Exit(_) => {}
                    Endpoint::Send(id) => {
                        let receive = time.events.receives[id as usize];
                        if receive != NOWHERE && !time.is_loose(receive) {
                            self.reach_forward(receive);
                        }
                    }
                    Endpoint::Enter(place) => self.forward_through(place),
                }
            }
        }
    }

    /// Members wait up to the last one: those after it need no second look.
    fn forward_through(&mut self, place: u32) {
        let waiting = self.time.waiting(place);
        let seen = &mut self.seen[self.time.hub_of[place as usize] as usize];
        let new = waiting.start..waiting.end.min(*seen);
        if waiting.is_empty() {
            return;
        }
        *seen = waiting.start.min(*seen);
        for other in new {
            let exit = self.time.events.exits[other as usize];
            if exit != NOWHERE && !self.time.is_loose(exit) {
                self.reach_forward(exit);
            }
        }
    }
}
