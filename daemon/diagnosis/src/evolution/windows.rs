//! Windows that are not final yet: messages by region, and between regions.

use super::partition::{NOWHERE, Places};
use super::ratios::Ratios;
use super::tally::Tally;
use mpiscope_model::MessageTime;
use mpiscope_model::Rank;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Pairs of regions that are counted separately in a window; messages of further ones are summed up.
const MOST_PAIRS: usize = 1 << 14;

/// The messages of a window within a region, or between two. Ratios take memory with the number of exact messages alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    pub(super) tally: Tally,
    pub(super) ratios: Ratios,
}

mpiscope_model::numbers! { Counted { tally, ratios } }

impl Counted {
    #[inline]
    pub(super) fn exact(&mut self, time: MessageTime) {
        self.tally.exact(time);
        self.ratios.add(time.ratio());
    }

    fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.ratios.merge(&other.ratios);
    }
}

/// The messages of a window. Those of workers add up, if they go by the same partition.
#[derive(Debug, Clone)]
pub(super) struct WindowTallies {
    pub(super) places: Arc<Places>,
    within: Vec<Counted>,
    /// By pair of places, the lower one first: what went either way.
    between: FxHashMap<(u32, u32), Counted>,
    /// Between unknown regions, or pairs that are not counted separately.
    rest: Counted,
}

mpiscope_model::numbers! { WindowTallies { places, within, between, rest } }

impl WindowTallies {
    pub(super) fn new(places: Arc<Places>) -> Self {
        let within = vec![Counted::default(); places.ids.len()];
        Self { places, within, between: FxHashMap::default(), rest: Counted::default() }
    }

    /// Where a message from one rank to another is counted.
    #[inline]
    pub(super) fn counted_mut(&mut self, from: Rank, to: Rank) -> &mut Counted {
        let (from, to) = (self.places.of_rank(from), self.places.of_rank(to));
        if from == to && (from as usize) < self.within.len() {
            return &mut self.within[from as usize];
        }
        self.pair(from.min(to), from.max(to))
    }

    fn pair(&mut self, from: u32, to: u32) -> &mut Counted {
        let is_full = self.between.len() >= MOST_PAIRS && !self.between.contains_key(&(from, to));
        if to == NOWHERE || is_full {
            return &mut self.rest;
        }
        self.between.entry((from, to)).or_default()
    }

    /// Adds those of another worker.
    pub(super) fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.places.ids, other.places.ids, "workers go by the same partition");
        self.within.iter_mut().zip(&other.within).for_each(|(one, other)| one.merge(other));
        for (pair, counted) in &other.between {
            self.pair(pair.0, pair.1).merge(counted);
        }
        self.rest.merge(&other.rest);
    }

    /// Regions in which something was received, in order.
    pub(super) fn within(&self) -> impl Iterator<Item = (u32, &Counted)> {
        let all = self.places.ids.iter().copied().zip(&self.within);
        all.filter(|(_, counted)| !counted.tally.is_empty())
    }

    /// Pairs of regions between which something was received, in order.
    pub(super) fn between(&self) -> Vec<((u32, u32), &Counted)> {
        let id = |place: u32| self.places.ids[place as usize];
        let mut all: Vec<_> =
            self.between.iter().map(|(pair, counted)| ((id(pair.0), id(pair.1)), counted)).collect();
        all.sort_unstable_by_key(|(pair, _)| *pair);
        all
    }

    pub(super) fn rest(&self) -> &Tally {
        &self.rest.tally
    }
}
