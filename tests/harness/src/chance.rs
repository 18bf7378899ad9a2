//! Chance that is the same each time, and another with another seed.

/// The environment variable with another seed than the usual one.
const SEED: &str = "MPISCOPE_SEED";
const USUAL: u64 = 1;

/// Numbers without any order that a test would see.
#[derive(Debug, Clone)]
pub struct Chance(fastrand::Rng);

impl Chance {
    /// Those of the seed that the environment names, and of the test's own name.
    #[must_use]
    pub fn for_test(test: &str) -> Self {
        let seed = std::env::var(SEED).ok().and_then(|word| word.parse().ok()).unwrap_or(USUAL);
        let name = test.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        println!("{SEED}={seed}");
        Self(fastrand::Rng::with_seed(seed.rotate_left(32) ^ name))
    }

    /// A number below this one, which is not zero.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end.max(1))
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn all_numbers_come_and_each_time_the_same() {
        let draw = |name| {
            let mut chance = Chance::for_test(name);
            (0..200).map(|_| chance.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(draw("one"), draw("one"));
        assert_ne!(draw("one"), draw("other"));
        assert!((0..10).all(|number| draw("one").contains(&number)));
    }
}
