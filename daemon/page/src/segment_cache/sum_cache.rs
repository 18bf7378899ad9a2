//! Sums of row groups that were asked for before, as many as there is space for.

use mpiscope_feed::SiteSum;
use mpiscope_feed::exchange::{Ranks, is_among};
use mpiscope_model::{Function, Rank, Site};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;

/// Rows that are read to answer one question, about a second's worth.
const ROWS_AT_ONCE: u64 = 4 << 20;
/// Sums of selections of ranks that are kept.
const SELECTED_BYTES: usize = 64 << 20;
/// Sums by rank that are kept.
const RANKED_BYTES: usize = 64 << 20;

/// A segment's file, and the number of a row group in it.
pub(super) type GroupKey = (String, usize);
/// Of the calls of a row group by a selection of ranks.
pub(super) type Selected = Arc<[(Option<Site>, Function, SiteSum)]>;
/// Of the calls of a row group.
pub(super) type Ranked = Arc<[(Rank, Option<Site>, Function, SiteSum)]>;

/// How much is read and kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumLimits {
    pub(super) rows_at_once: u64,
    pub(super) selected_bytes: usize,
    pub(super) ranked_bytes: usize,
}

impl Default for SumLimits {
    fn default() -> Self {
        Self { rows_at_once: ROWS_AT_ONCE, selected_bytes: SELECTED_BYTES, ranked_bytes: RANKED_BYTES }
    }
}

/// The sums of row groups that were asked for.
#[derive(Debug, Default)]
pub(super) struct SumCache {
    pub(super) limits: SumLimits,
    /// By selection of ranks, the newest use last.
    pub(super) selections: VecDeque<Selection>,
    /// By row group, the oldest first: other selections of ranks are made from them.
    ranked: VecDeque<(GroupKey, Ranked)>,
    numbers: FxHashMap<GroupKey, u64>,
    /// How many of `ranked` were dropped.
    dropped: u64,
    pub(super) ranked_bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct Selection {
    ranks: Ranks,
    pub(super) files: FxHashMap<String, FxHashMap<usize, Selected>>,
    pub(super) bytes: usize,
}

impl SumCache {
    /// The sums of a selection, which is the one of the newest use from now on.
    fn selection(&mut self, ranks: &Ranks) -> &mut Selection {
        let at = self.selections.iter().position(|selection| selection.ranks == *ranks);
        let selection = at.and_then(|at| self.selections.remove(at));
        self.selections.push_back(
            selection.unwrap_or_else(|| Selection { ranks: ranks.clone(), ..Selection::default() }),
        );
        let newest = self.selections.len() - 1;
        &mut self.selections[newest]
    }

    /// Those of a row group, if they are known.
    pub(super) fn selected(&mut self, ranks: &Ranks, key: &GroupKey) -> Option<Selected> {
        if let Some(known) = self.selection(ranks).files.get(&key.0).and_then(|groups| groups.get(&key.1)) {
            return Some(Arc::clone(known));
        }
        let at = self.numbers.get(key)? - self.dropped;
        let selected = of_ranks(&self.ranked[at as usize].1, ranks);
        self.keep(ranks, key, &selected);
        Some(selected)
    }

    /// Keeps sums of a selection, in place of those of other selections; returns whether there is space for them.
    pub(super) fn keep(&mut self, ranks: &Ranks, key: &GroupKey, selected: &Selected) -> bool {
        let bytes = size_of_val::<[_]>(selected) + size_of::<(GroupKey, Selected)>();
        let all = |kept: &Self| kept.selections.iter().map(|selection| selection.bytes).sum::<usize>();
        self.selection(ranks);
        while all(self) + bytes > self.limits.selected_bytes && self.selections.len() > 1 {
            self.selections.pop_front();
        }
        if all(self) + bytes > self.limits.selected_bytes {
            return false;
        }
        let selection = self.selection(ranks);
        let groups = selection.files.entry(key.0.clone()).or_default();
        if groups.insert(key.1, Arc::clone(selected)).is_none() {
            selection.bytes += bytes;
        }
        true
    }

    pub(super) fn keep_ranked(&mut self, key: &GroupKey, ranked: Ranked) {
        if self.numbers.contains_key(key) {
            return;
        }
        self.numbers.insert(key.clone(), self.dropped + self.ranked.len() as u64);
        self.ranked_bytes += size_of_val::<[_]>(&ranked);
        self.ranked.push_back((key.clone(), ranked));
        while self.ranked_bytes > self.limits.ranked_bytes
            && let Some((key, oldest)) = self.ranked.pop_front()
        {
            self.numbers.remove(&key);
            self.ranked_bytes -= size_of_val::<[_]>(&oldest);
            self.dropped += 1;
        }
    }

    /// Forgets segments that are gone: a run that keeps only its newest part drops some all the time.
    pub(super) fn retain(&mut self, files: &FxHashSet<String>) {
        for selection in &mut self.selections {
            selection.files.retain(|file, _| files.contains(file));
            let kept = selection.files.values().flat_map(FxHashMap::values);
            selection.bytes =
                kept.map(|selected| size_of_val::<[_]>(selected) + size_of::<(GroupKey, Selected)>()).sum();
        }
    }
}

pub(super) fn of_ranks(ranked: &Ranked, ranks: &Ranks) -> Selected {
    let mut sums: FxHashMap<(Option<Site>, Function), SiteSum> = FxHashMap::default();
    for &(rank, site, function, sum) in ranked.iter() {
        if is_among(ranks.as_deref(), rank) {
            sums.entry((site, function)).or_default().add(sum);
        }
    }
    sums.into_iter().map(|((site, function), sum)| (site, function, sum)).collect()
}
