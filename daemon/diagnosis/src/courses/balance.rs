//! How evenly ranks talked, bin by bin.

use mpiscope_model::Rank;
use mpiscope_topology::Balance;
use rustc_hash::FxHashMap;

/// Ranks that are counted one by one; with 512 bins that is 64 MiB.
const MOST_RANKS: usize = 1 << 15;

/// How evenly ranks talked in a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinBalance {
    /// Their mean deviation in shares of the mean (`AD / mc_avg`); 0 where all are even.
    pub uneven: f64,
    /// The greatest distance of a rank from the mean, in mean deviations (`LB_p`); 0 where all are even.
    pub greatest_load: f64,
    /// Its rank; of several the least.
    pub greatest_rank: Rank,
}

/// Messages that each rank sent and received, by bin.
#[derive(Debug)]
pub(super) struct Balances {
    /// A number for each rank, in the order in which they were met.
    numbers: FxHashMap<Rank, u32>,
    /// By bin and number; as many of each bin as were met until then.
    counts: Vec<Vec<u32>>,
}

impl Balances {
    pub(super) fn new(bins: usize) -> Self {
        Self { numbers: FxHashMap::default(), counts: vec![Vec::new(); bins] }
    }

    /// Counts a message for those of its ends that are wanted. Says whether there was room.
    pub(super) fn add(&mut self, bin: usize, ends: [Option<Rank>; 2]) -> bool {
        let numbers = ends.map(|end| end.map(|rank| self.number(rank)));
        if numbers.contains(&Some(None)) {
            return false;
        }
        let counts = &mut self.counts[bin];
        for number in numbers.into_iter().flatten().flatten() {
            if counts.len() <= number {
                counts.resize(number + 1, 0);
            }
            counts[number] = counts[number].saturating_add(1);
        }
        true
    }

    fn number(&mut self, rank: Rank) -> Option<usize> {
        let next = self.numbers.len();
        if next >= MOST_RANKS && !self.numbers.contains_key(&rank) {
            return None;
        }
        Some(*self.numbers.entry(rank).or_insert(next as u32) as usize)
    }

    pub(super) fn bins(&self) -> Vec<Option<BinBalance>> {
        let mut ranks: Vec<(Rank, u32)> =
            self.numbers.iter().map(|(&rank, &number)| (rank, number)).collect();
        ranks.sort_unstable();
        let of_bin = |counts: &Vec<u32>| {
            let of_rank = |&(rank, number): &(Rank, u32)| {
                let messages = counts.get(number as usize).copied().unwrap_or_default();
                (messages > 0).then_some((rank, u64::from(messages)))
            };
            BinBalance::from_balance(&Balance::from_messages(ranks.iter().filter_map(of_rank)))
        };
        self.counts.iter().map(of_bin).collect()
    }
}

impl BinBalance {
    fn from_balance(balance: &Balance) -> Option<Self> {
        let furthest = balance.furthest()?;
        Some(Self {
            uneven: balance.deviation / balance.mean,
            greatest_load: furthest.load,
            greatest_rank: furthest.rank,
        })
    }
}
