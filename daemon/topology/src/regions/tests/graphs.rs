//! Graphs whose regions are known.

use super::super::TalkGraph;
use mpiscope_model::Rank;

/// The graph of these ranks and pairs.
pub(in crate::regions) fn graph_of(
    ranks: impl IntoIterator<Item = u32>,
    pairs: impl IntoIterator<Item = (u32, u32, f64)>,
) -> TalkGraph {
    let pairs = pairs.into_iter().map(|(one, other, weight)| (Rank(one), Rank(other), weight));
    TalkGraph::new(ranks.into_iter().map(Rank), pairs)
}

/// The numbers of the ranks of each region.
pub(in crate::regions) fn numbers(regions: &[Vec<Rank>]) -> Vec<Vec<u32>> {
    regions.iter().map(|region| region.iter().map(|rank| rank.0).collect()).collect()
}

/// Numbers that look like chance.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() * limit as f64) as usize
    }
}

/// What a conjugate-gradient solver sends: four messages with each partner within the row at half the distance each
/// time, and one with whoever has the transposed part.
pub(super) fn cg(ranks: u32) -> TalkGraph {
    let columns = 1_u32 << ranks.ilog2().div_ceil(2);
    let rows = ranks / columns;
    let mut pairs = Vec::new();
    for rank in 0..ranks {
        let mut distance = columns / 2;
        while distance >= 1 {
            // Each pair is named by both.
            pairs.push((rank, rank ^ distance, 2.0));
            distance /= 2;
        }
        let transposed = if rows == columns {
            rank % rows * rows + rank / rows
        } else {
            2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2
        };
        pairs.push((rank, transposed, 0.5));
    }
    graph_of([], pairs)
}

/// A halo exchange on a grid that is closed in no direction.
pub(super) fn halo([x, y, z]: [u32; 3]) -> TalkGraph {
    let rank = |at: [u32; 3]| (at[0] * y + at[1]) * z + at[2];
    let mut pairs = Vec::new();
    for at in (0..x * y * z).map(|rank| [rank / (y * z), rank / z % y, rank % z]) {
        for (axis, length) in [x, y, z].into_iter().enumerate() {
            let mut next = at;
            next[axis] += 1;
            if next[axis] < length {
                pairs.push((rank(at), rank(next), 2.0));
            }
        }
    }
    graph_of([], pairs)
}

/// Communities: within them each rank talks with some ten others, beyond them with less weight.
pub(in super::super) fn planted(
    communities: u32,
    members: u32,
    within: f64,
    beyond: f64,
    seed: u64,
) -> TalkGraph {
    let mut chance = Chance(seed);
    let mut pairs = Vec::new();
    let ranks = communities * members;
    for rank in 0..ranks {
        let first = rank / members * members;
        for _ in 0..5 {
            let partner = first + chance.below(members as usize) as u32;
            pairs.push((rank, partner, within * (0.5 + chance.next())));
        }
        // All of a community reach each other.
        pairs.push((rank, first + (rank + 1 - first) % members, within * (0.5 + chance.next())));
        pairs.push((rank, chance.below(ranks as usize) as u32, beyond * (0.5 + chance.next())));
    }
    graph_of([], pairs)
}
