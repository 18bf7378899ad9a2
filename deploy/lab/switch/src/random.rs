//! Random numbers that are the same in every run: the losses of a link can be predicted.

/// Lots drawn one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Between 0 and 1, and neither: logarithms and negative powers of it are finite.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what a float holds exactly")]
    pub(crate) fn fraction(&mut self) -> f64 {
        ((self.0.u64(..) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Of the normal distribution with mean 0 and deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.fraction().ln()).sqrt() * (std::f64::consts::TAU * self.fraction()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_as_they_should_be_and_come_again() {
        let (mut random, mut again) = (Random::new(7), Random::new(7));
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / 20_000.0;
        let fractions: Vec<f64> = (0..20_000).map(|_| random.fraction()).collect();
        assert!(fractions.iter().all(|one| *one > 0.0 && *one < 1.0));
        assert!((mean(&fractions) - 0.5).abs() < 0.01);
        assert!(fractions.iter().all(|one| *one == again.fraction()));
        let normal: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let squares: Vec<f64> = normal.iter().map(|one| one * one).collect();
        assert!(mean(&normal).abs() < 0.03 && (mean(&squares) - 1.0).abs() < 0.05);
    }
}
