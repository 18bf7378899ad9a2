//! Series of the strongest regions, or pairs of regions; the rest is summed up.

use super::options::EvolutionOptions;
use super::ratios::Ratios;
use super::series::{Series, Window};
use super::tally::Tally;
use std::collections::BTreeMap;

/// Others are counted separately up to this number; beyond it the weaker half is summed up.
const MOST_APART: usize = 4_096;
/// Another one takes the place of a followed one when it has this multiple of its messages.
const CLEARLY: u64 = 2;

/// Series by key. What is followed depends on the windows alone.
#[derive(Debug)]
pub(super) struct Followed<Key> {
    most: usize,
    series: BTreeMap<Key, Series>,
    apart: BTreeMap<Key, Tally>,
    rest: Tally,
}

impl<Key: Ord + Copy> Followed<Key> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, series: BTreeMap::new(), apart: BTreeMap::new(), rest: Tally::default() }
    }

    pub(super) fn push(&mut self, key: Key, window: &Window, ratios: &Ratios, options: EvolutionOptions) {
        if let Some(series) = self.series.get_mut(&key) {
            series.push_with(window, ratios);
            return;
        }
        if self.series.len() >= self.most && !self.makes_room(key, &window.tally) {
            self.apart.entry(key).or_default().merge(&window.tally);
            if self.apart.len() > MOST_APART {
                self.sum_up();
            }
            return;
        }
        if let Some(before) = self.apart.remove(&key) {
            self.rest.merge(&before);
        }
        self.series.entry(key).or_insert_with(|| Series::new(options)).push_with(window, ratios);
    }

    fn makes_room(&mut self, key: Key, now: &Tally) -> bool {
        let messages = self.apart.get(&key).map_or(0, |tally| tally.messages) + now.messages;
        let weakest = self.series.iter().min_by_key(|(key, series)| (series.total().messages, **key));
        let Some((&weakest, series)) = weakest else { return false };
        let makes_room = messages > CLEARLY * series.total().messages;
        if makes_room {
            let total = *series.total();
            self.series.remove(&weakest);
            self.apart.entry(weakest).or_default().merge(&total);
        }
        makes_room
    }

    fn sum_up(&mut self) {
        let mut all: Vec<(u64, Key)> = self.apart.iter().map(|(key, tally)| (tally.messages, *key)).collect();
        all.sort_unstable();
        for (_, key) in &all[..all.len() / 2] {
            if let Some(tally) = self.apart.remove(key) {
                self.rest.merge(&tally);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &Series)> {
        self.series.iter().map(|(key, series)| (*key, series))
    }

    /// What is not followed.
    pub(super) fn others(&self) -> Tally {
        let mut others = self.rest;
        self.apart.values().for_each(|tally| others.merge(tally));
        others
    }
}
