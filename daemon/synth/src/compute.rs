//! How long ranks compute.

use crate::random::{LogNormal, Purpose, Stream};

/// Some ranks have more to do, or everybody has a part of that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uneven {
    pub(crate) share: f64,
    pub(crate) more: f64,
    pub(crate) drifts: bool,
    /// The same work, evenly spread.
    pub(crate) is_spread: bool,
}

impl Uneven {
    fn factor(&self, rank: u32, ranks: u32, progress: f64) -> f64 {
        let count = some(ranks, self.share);
        if self.is_spread {
            return 1.0 + self.more * f64::from(count) / f64::from(ranks);
        }
        let shift = if self.drifts { (progress * f64::from(ranks)) as u32 % ranks } else { 0 };
        let place = (rank + 2 * ranks - ranks / 3 - shift) % ranks;
        if place < count { 1.0 + self.more } else { 1.0 }
    }
}

/// This share of the ranks, at least one unless it is zero.
pub(crate) fn some(ranks: u32, share: f64) -> u32 {
    if share <= 0.0 { 0 } else { ((f64::from(ranks) * share).round() as u32).clamp(1, ranks) }
}

/// This share of the ranks as neighbours, from a rank with enough others behind it: the first, and the number.
pub(crate) fn block(ranks: u32, from: u32, share: f64) -> (u32, u32) {
    let count = some(ranks, share);
    (from.min(ranks - count), count)
}

/// What there is to compute.
#[derive(Debug)]
pub(crate) struct Work {
    stream: Stream,
    spread: LogNormal,
    ranks: u32,
    steps: u32,
    /// In a step, without noise.
    step_ns: f64,
    uneven: Vec<Uneven>,
    /// How many times as long each rank takes; empty where all take as long.
    slow: Vec<f64>,
}

impl Work {
    pub(crate) fn new(
        (seed, sigma): (u64, f64),
        (ranks, steps): (u32, u32),
        step_ns: f64,
        uneven: Vec<Uneven>,
    ) -> Self {
        let stream = Stream::new(seed, Purpose::Work);
        Self { stream, spread: LogNormal::new(sigma), ranks, steps, step_ns, uneven, slow: Vec::new() }
    }

    /// With ranks that take longer, by a factor for each.
    pub(crate) fn slowed(self, slow: Vec<f64>) -> Self {
        Self { slow, ..self }
    }

    /// A piece of work of somebody by its number, one of several parts of a step.
    #[inline]
    pub(crate) fn piece_ns(&self, rank: u32, piece: (u32, u64), step: u32, parts: u32) -> u64 {
        let noise = f64::from(self.spread.sample(self.stream.word(piece.0, piece.1)));
        let mut ns = self.step_ns / f64::from(parts) * noise;
        for uneven in &self.uneven {
            ns *= uneven.factor(rank, self.ranks, f64::from(step) / f64::from(self.steps));
        }
        if let Some(factor) = self.slow.get(rank as usize) {
            ns *= factor;
        }
        ns as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_work_is_the_same_work() {
        for drifts in [false, true] {
            let uneven = Uneven { share: 0.25, more: 0.5, drifts, is_spread: false };
            let even = Uneven { is_spread: true, ..uneven };
            for progress in [0.0, 0.3, 0.99] {
                let sum = |uneven: Uneven| (0..16).map(|rank| uneven.factor(rank, 16, progress)).sum::<f64>();
                assert!((sum(uneven) - sum(even)).abs() < 1e-9);
            }
        }
        let wandering = Uneven { share: 0.25, more: 0.5, drifts: true, is_spread: false };
        let slow = |progress| (0..16).find(|&rank| wandering.factor(rank, 16, progress) > 1.0);
        assert_ne!(slow(0.0), slow(0.5));
    }
}
