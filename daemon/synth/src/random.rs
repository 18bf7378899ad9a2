//! Randomness that is looked up instead of drawn: the number of a thing alone decides its value. An additional
//! disturbance therefore changes nothing else.

/// Quantiles of a distribution in its table.
const QUANTILES: usize = 4096;
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads every bit of a word over all of it.
#[inline]
pub(crate) fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A word as a number from 0 to 1, without 1.
#[inline]
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

/// What the randomness is for: streams of different purposes have nothing to do with each other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Work = 1,
    Messages,
    Collectives,
    Traffic,
    Theft,
    Partners,
    Nodes,
    Clocks,
    Trips,
    Start,
}

/// A stream of words by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        Self(mixed(mixed(seed.wrapping_add(GOLDEN)) ^ (purpose as u64).wrapping_mul(GOLDEN)))
    }

    /// The word of a thing of somebody, by its number.
    #[inline]
    pub(crate) fn word(self, who: u32, number: u64) -> u64 {
        mixed(self.0 ^ (u64::from(who) << 40).wrapping_add(number).wrapping_mul(GOLDEN))
    }

    /// The numbers below `count` in an order of this stream.
    pub(crate) fn shuffled(self, who: u32, count: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..count).collect();
        for at in (1..all.len()).rev() {
            let word = self.word(who, at as u64);
            all.swap(at, (word % (at as u64 + 1)) as usize);
        }
        all
    }
}

/// Factors around 1, as quantiles of a log-normal distribution whose median is 1.
#[derive(Debug)]
pub(crate) struct LogNormal(Box<[f32]>);

impl LogNormal {
    pub(crate) fn new(sigma: f64) -> Self {
        Self(normal_quantiles().map(|quantile| (sigma * quantile).exp() as f32).collect())
    }

    #[inline]
    pub(crate) fn sample(&self, word: u64) -> f32 {
        self.0[(word >> 52) as usize]
    }
}

/// The middles of N equal parts of the normal distribution, by walking along its density.
fn normal_quantiles() -> impl Iterator<Item = f64> {
    const STEP: f64 = 1e-3;
    let density = |at: f64| (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (mut at, mut below) = (-6.0, 0.0);
    (0..QUANTILES).map(move |part| {
        let wanted = (part as f64 + 0.5) / QUANTILES as f64;
        while below < wanted && at < 6.0 {
            below += density(at + STEP / 2.0) * STEP;
            at += STEP;
        }
        at - STEP / 2.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        let all: Vec<f64> = normal_quantiles().collect();
        let near = |share: f64, expected: f64| {
            let found = all[(share * QUANTILES as f64) as usize];
            assert!((found - expected).abs() < 0.01, "{share}: {found}");
        };
        near(0.5, 0.0);
        near(0.841_345, 1.0);
        near(0.022_75, -2.0);
        assert!(all.is_sorted());
    }

    #[test]
    fn streams_differ_and_a_shuffle_keeps_all() {
        let one = Stream::new(1, Purpose::Work);
        let words: Vec<u64> = (0..100).map(|at| one.word(3, at)).collect();
        let others: Vec<u64> = (0..100).map(|at| Stream::new(1, Purpose::Messages).word(3, at)).collect();
        assert!(words.iter().all(|word| !others.contains(word)));
        let mut shuffled = one.shuffled(0, 50);
        assert!(!shuffled.is_sorted());
        shuffled.sort_unstable();
        assert_eq!(shuffled, (0..50).collect::<Vec<_>>());
        let mean = words.iter().map(|&word| unit(word)).sum::<f64>() / 100.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
    }
}
