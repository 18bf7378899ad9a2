//! Which ranks a question is about.

use mpiscope_model::Rank;

/// Ranges of ranks, both ends included; all where none is given.
pub type Ranks = Option<Vec<(Rank, Rank)>>;

/// Whether a rank is one of these.
#[must_use]
pub fn is_among(ranks: Option<&[(Rank, Rank)]>, rank: Rank) -> bool {
    ranks.is_none_or(|ranks| ranks.iter().any(|&(first, last)| (first..=last).contains(&rank)))
}

/// Ranges of plain numbers, as pages and programs have them.
#[must_use]
pub fn rank_ranges(ranges: &[(u32, u32)]) -> Vec<(Rank, Rank)> {
    ranges.iter().map(|&(first, last)| (Rank(first), Rank(last))).collect()
}

/// What two lists of ranges have in common.
#[must_use]
pub fn common_ranks(one: &[(Rank, Rank)], other: &[(Rank, Rank)]) -> Vec<(Rank, Rank)> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|(first, last)| first <= last).collect()
}
