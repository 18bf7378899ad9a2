//! One order of all events in which whatever led to an event stands before it.

use super::events::{Endpoint, NOWHERE};
use super::time::{EventId, LogicalTime};
use mpiscope_model::Flow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where events stand that have their turn.
struct Turns<'a> {
    time: &'a LogicalTime,
    /// The next event of each rank.
    next: Vec<u32>,
    is_done: Vec<bool>,
    /// Of each collective, the first place that has still to be entered.
    missing: Vec<u32>,
    ready: BinaryHeap<Reverse<(u64, u32)>>,
}

impl LogicalTime {
    /// All events, whatever led to one before it; otherwise by time.
    #[must_use]
    pub fn in_order(&self) -> Vec<EventId> {
        self.untangled().0
    }

    /// Likewise, and the events for which what leads to them was not waited for, since it never would have come.
    pub(super) fn untangled(&self) -> (Vec<EventId>, Vec<u32>) {
        let mut turns = Turns {
            time: self,
            next: self.events.starts[..self.events.ranks.len()].to_vec(),
            is_done: vec![false; self.count()],
            missing: self.hubs.iter().map(|hub| hub.places.start).collect(),
            ready: BinaryHeap::new(),
        };
        (0..self.hubs.len()).for_each(|hub| turns.count_entered(hub));
        let ranks = self.events.ranks.len() as u32;
        (0..ranks).for_each(|rank| turns.look_at(rank));
        let (mut order, mut loose) = (Vec::with_capacity(self.count()), Vec::new());
        while order.len() < self.count() {
            let rank = match turns.ready.pop() {
                Some(Reverse((_, rank))) => rank,
                None => {
                    let left = (0..ranks).filter(|&rank| turns.next_of(rank).is_some());
                    let time = |&rank: &u32| {
                        turns.next_of(rank).map(|event| (self.events.at_ns[event as usize], rank))
                    };
                    let Some(earliest) = left.min_by_key(time) else { break };
                    loose.extend(turns.next_of(earliest));
                    earliest
                }
            };
            if let Some(event) = turns.next_of(rank) {
                order.push(EventId(event));
                turns.take(rank, event);
            }
        }
        loose.sort_unstable();
        (order, loose)
    }
}

impl Turns<'_> {
    fn next_of(&self, rank: u32) -> Option<u32> {
        let next = self.next[rank as usize];
        (next < self.time.events.starts[rank as usize + 1]).then_some(next)
    }

    /// Lets the next event of a rank have its turn if nothing that leads to it is missing.
    fn look_at(&mut self, rank: u32) {
        let Some(event) = self.next_of(rank) else { return };
        let time = self.time;
        let is_ready = match time.events.endpoint(event) {
            Endpoint::Send(_) | Endpoint::Enter(_) => true,
            _ if time.is_loose(event) => true,
            Endpoint::Receive(id) => self.is_in(time.events.sends[id as usize]),
            Endpoint::Exit(place) => self.is_met(place),
        };
        if is_ready {
            self.ready.push(Reverse((time.events.at_ns[event as usize], rank)));
        }
    }

    /// What never comes is not waited for.
    fn is_in(&self, event: u32) -> bool {
        event == NOWHERE || self.is_done[event as usize]
    }

    fn is_met(&self, place: u32) -> bool {
        let awaited = self.time.awaited(place);
        match awaited.len() {
            0 => true,
            1 => self.is_in(self.time.events.enters[awaited.start as usize]),
            _ => self.missing[self.time.hub_of[place as usize] as usize] >= awaited.end,
        }
    }

    fn count_entered(&mut self, hub: usize) {
        let end = self.time.hubs[hub].places.end;
        let mut missing = self.missing[hub];
        while missing < end && self.is_in(self.time.events.enters[missing as usize]) {
            missing += 1;
        }
        self.missing[hub] = missing;
    }

    fn take(&mut self, rank: u32, event: u32) {
        let time = self.time;
        self.is_done[event as usize] = true;
        self.next[rank as usize] = event + 1;
        match time.events.endpoint(event) {
            Endpoint::Send(id) => self.look_at_owner(time.events.receives[id as usize], rank),
            Endpoint::Enter(place) => self.entered(place, rank),
            Endpoint::Receive(_) | Endpoint::Exit(_) => {}
        }
        self.look_at(rank);
    }

    /// Looks at those of a collective who need not wait any more, since a rank entered at a place.
    fn entered(&mut self, place: u32, rank: u32) {
        let hub = self.time.hub_of[place as usize] as usize;
        let before = self.missing[hub];
        self.count_entered(hub);
        let after = self.missing[hub];
        let of = &self.time.hubs[hub];
        let is_whole = before < after && after == of.places.end;
        let freed = match of.flow {
            Flow::All if is_whole => of.places.clone(),
            Flow::ToRoot if is_whole => of.root.map_or(0..0, |root| root..root + 1),
            Flow::FromRoot => self.time.waiting(place),
            Flow::FromLower => before..after,
            Flow::All | Flow::ToRoot => 0..0,
        };
        for other in freed {
            self.look_at_owner(self.time.events.exits[other as usize], rank);
        }
    }

    /// Looks at the rank of an event if that is its next one; the rank it waited for looks at itself.
    fn look_at_owner(&mut self, event: u32, but: u32) {
        if event == NOWHERE {
            return;
        }
        let owner = self.time.rank_of[event as usize];
        if owner != but && self.next[owner as usize] == event {
            self.look_at(owner);
        }
    }
}
