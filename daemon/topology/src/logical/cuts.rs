//! Collectives that everyone waits for everyone in.

use super::events::{Events, NOWHERE};
use super::hub::Hub;
use mpiscope_model::Flow;

/// The cuts of a stretch, each after the one before it on every rank.
#[derive(Debug, Clone, Default)]
pub(super) struct Cuts {
    ranks: usize,
    /// Where each rank entered and returned, all ranks of the first cut before those of the second.
    enters: Vec<u32>,
    exits: Vec<u32>,
}

impl Cuts {
    /// The collectives that cut a stretch. What is loose is led to by nothing but its own rank.
    pub(super) fn build(
        events: &Events,
        hubs: &[Hub],
        rank_of: &[u32],
        is_loose: impl Fn(u32) -> bool,
    ) -> Self {
        let ranks = events.ranks.len();
        let mut found: Vec<(Vec<u32>, Vec<u32>)> = hubs
            .iter()
            .filter(|hub| hub.flow == Flow::All && hub.places.len() == ranks)
            .filter_map(|hub| {
                let places = hub.places.start as usize..hub.places.end as usize;
                let sorted = |side: &[u32]| {
                    let mut sorted = side.to_vec();
                    sorted.sort_unstable();
                    sorted
                };
                let (enters, exits) = (sorted(&events.enters[places.clone()]), sorted(&events.exits[places]));
                let is_of =
                    |(at, event): (usize, &u32)| *event != NOWHERE && rank_of[*event as usize] as usize == at;
                let is_whole = enters.iter().enumerate().all(is_of) && exits.iter().enumerate().all(is_of);
                // While one thread is in it another may send to a rank that has not entered yet.
                let is_alone = |(enter, exit): (&u32, &u32)| enter + 1 == *exit && !is_loose(*exit);
                let is_sound = is_whole && enters.iter().zip(&exits).all(is_alone);
                is_sound.then_some((enters, exits))
            })
            .collect();
        found.sort_unstable();
        let mut cuts = Self { ranks, ..Self::default() };
        for (enters, exits) in found {
            cuts.enters.extend(enters);
            cuts.exits.extend(exits);
        }
        cuts
    }

    pub(super) fn count(&self) -> usize {
        self.exits.len().checked_div(self.ranks).unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.enters.as_slice()) + size_of_val(self.exits.as_slice())
    }

    pub(super) fn enters_of(&self, cut: usize) -> &[u32] {
        &self.enters[cut * self.ranks..(cut + 1) * self.ranks]
    }

    pub(super) fn exits_of(&self, cut: usize) -> &[u32] {
        &self.exits[cut * self.ranks..(cut + 1) * self.ranks]
    }

    /// The last cut that a rank had returned from with an event.
    pub(super) fn before(&self, place: usize, event: u32) -> Option<usize> {
        self.first(|cut| self.exits_of(cut)[place] > event).checked_sub(1)
    }

    /// The first cut that a rank enters with an event or later.
    pub(super) fn after(&self, place: usize, event: u32) -> Option<usize> {
        let found = self.first(|cut| self.enters_of(cut)[place] >= event);
        (found < self.count()).then_some(found)
    }

    fn first(&self, is_there: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low.midpoint(high);
            if is_there(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }
}
