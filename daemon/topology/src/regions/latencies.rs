//! How late messages were, by pair of ranks: lateness can be summed for any regions afterwards.

use super::region::Region;
use mpiscope_model::{MessageTime, Rank};
use rustc_hash::FxHashMap;

/// Pairs that are kept; further ones only count in the total. Some 50 MB.
const MOST_PAIRS: usize = 1 << 20;

/// How late exact messages were.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lateness {
    /// How many there were.
    pub exact: u64,
    /// How many took longer than is normal.
    pub delayed: u64,
    /// How many took longer than expected: about half of them, by the median.
    pub above_expected: u64,
    /// The sum of what they took, each by its criterion.
    pub sum: f64,
}

impl Lateness {
    /// The mean of what they took by their criteria; none where there were none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.exact > 0).then(|| self.sum / self.exact as f64)
    }

    fn add(&mut self, other: Lateness) {
        self.exact += other.exact;
        self.delayed += other.delayed;
        self.above_expected += other.above_expected;
        self.sum += other.sum;
    }
}

/// A message that took exactly the expected time counts as this.
const ONE: f64 = (1_u64 << 20) as f64;

/// Sums of whole numbers: the order of messages does not matter.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    exact: u64,
    delayed: u64,
    above_expected: u64,
    /// In parts of `ONE`.
    sum: u64,
}

mpiscope_model::numbers! { Counted { exact, delayed, above_expected, sum } }

impl Counted {
    fn add(&mut self, other: &Self) {
        self.exact += other.exact;
        self.delayed += other.delayed;
        self.above_expected += other.above_expected;
        self.sum = self.sum.saturating_add(other.sum);
    }

    fn lateness(&self) -> Lateness {
        let Self { exact, delayed, above_expected, sum } = *self;
        Lateness { exact, delayed, above_expected, sum: sum as f64 / ONE }
    }
}

/// By pair, whichever way messages went. Its memory is bounded.
#[derive(Debug, Clone)]
pub struct PairLateness {
    pairs: FxHashMap<(Rank, Rank), Counted>,
    left_out: u64,
    most_pairs: usize,
}

mpiscope_model::numbers! { PairLateness { pairs, left_out, most_pairs } }

impl Default for PairLateness {
    fn default() -> Self {
        Self { pairs: FxHashMap::default(), left_out: 0, most_pairs: MOST_PAIRS }
    }
}

impl PairLateness {
    /// Takes in an exact message.
    pub fn message(&mut self, source: Rank, target: Rank, time: MessageTime) {
        let pair = (source.min(target), source.max(target));
        let (delayed, above_expected) = (time.is_delayed().into(), time.is_above_expected().into());
        let sum = (time.ratio() * ONE).round() as u64;
        self.add(pair, &Counted { exact: 1, delayed, above_expected, sum });
    }

    fn add(&mut self, pair: (Rank, Rank), counted: &Counted) {
        if self.pairs.len() >= self.most_pairs && !self.pairs.contains_key(&pair) {
            self.left_out += counted.exact;
            return;
        }
        self.pairs.entry(pair).or_default().add(counted);
    }

    /// Takes in what another one has taken in.
    pub fn merge(&mut self, other: &Self) {
        other.pairs.iter().for_each(|(&pair, counted)| self.add(pair, counted));
        self.left_out += other.left_out;
    }

    /// All pairs in order.
    #[must_use]
    pub fn pairs(&self) -> Vec<(Rank, Rank, Lateness)> {
        let mut all: Vec<_> =
            self.pairs.iter().map(|(&(one, other), counted)| (one, other, counted.lateness())).collect();
        all.sort_unstable_by_key(|&(one, other, _)| (one, other));
        all
    }

    /// Messages of pairs that were too many.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// What went on within regions, or between two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Exchange {
    /// Messages, however long they took.
    pub messages: u64,
    /// Those with a known lateness.
    pub late: Lateness,
}

/// What went on within each region, and between regions by their places, those that talk most first.
#[must_use]
pub fn exchanges(
    regions: &[Region],
    messages: impl IntoIterator<Item = (Rank, Rank, u64)>,
    late: &[(Rank, Rank, Lateness)],
) -> (Vec<Exchange>, Vec<(usize, usize, Exchange)>) {
    let mut place_of: FxHashMap<Rank, usize> = FxHashMap::default();
    for (place, region) in regions.iter().enumerate() {
        place_of.extend(region.ranks.iter().map(|rank| (*rank, place)));
    }
    let mut within = vec![Exchange::default(); regions.len()];
    let mut between: FxHashMap<(usize, usize), Exchange> = FxHashMap::default();
    let mut at = |one: Rank, other: Rank, add: &mut dyn FnMut(&mut Exchange)| {
        let (Some(&one), Some(&other)) = (place_of.get(&one), place_of.get(&other)) else { return };
        if one == other {
            add(&mut within[one]);
        } else {
            add(between.entry((one.min(other), one.max(other))).or_default());
        }
    };
    for (one, other, count) in messages {
        at(one, other, &mut |exchange| exchange.messages += count);
    }
    // In order, to give sums the same last digit.
    for &(one, other, of_pair) in late {
        at(one, other, &mut |exchange| exchange.late.add(of_pair));
    }
    let mut between: Vec<_> =
        between.into_iter().map(|((one, other), exchange)| (one, other, exchange)).collect();
    between
        .sort_unstable_by_key(|&(one, other, exchange)| (std::cmp::Reverse(exchange.messages), one, other));
    (within, between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_adds_up_for_any_regions() {
        let mut late = PairLateness { most_pairs: 3, ..PairLateness::default() };
        for (source, target, took_ns) in
            [(0, 1, 100), (1, 0, 300), (2, 1, 50), (2, 2, 400), (5, 6, 9), (1, 0, 101)]
        {
            late.message(
                Rank(source),
                Rank(target),
                MessageTime { took_ns, expected_ns: 100, normal_ns: 200 },
            );
        }
        assert_eq!(late.left_out(), 1);
        let regions = [vec![0, 1], vec![2, 3]]
            .map(|ranks| Region { id: ranks[0], ranks: ranks.into_iter().map(Rank).collect() });
        let messages = [(0, 1, 8), (1, 2, 3), (0, 3, 4), (2, 2, 1), (2, 9, 5)]
            .map(|(one, other, count)| (Rank(one), Rank(other), count));
        let pairs: Vec<_> = late
            .pairs()
            .into_iter()
            .map(|(one, other, late)| (one, other, Lateness { sum: (late.sum * 1e4).round() / 1e4, ..late }))
            .collect();
        let (within, between) = exchanges(&regions, messages, &pairs);
        let of = |messages, exact, delayed, above_expected, sum| Exchange {
            messages,
            late: Lateness { exact, delayed, above_expected, sum },
        };
        assert_eq!(within, [of(8, 3, 1, 2, 5.01), of(1, 1, 1, 1, 4.0)]);
        assert_eq!(between, [(0, 1, of(7, 1, 0, 0, 0.5))]);
        assert_eq!(within[0].late.mean(), Some(5.01 / 3.0));
        assert_eq!(Lateness::default().mean(), None);
    }
}
