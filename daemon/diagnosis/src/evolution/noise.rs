//! How much a series varies from one window to the next when nothing happens.

/// Bins of an octave, from the least difference that counts.
const BINS_PER_OCTAVE: f64 = 8.0;
const LEAST: f64 = 1e-4;
const BINS: usize = 160;
/// After this number of differences, older ones weigh half.
const MOST: u32 = 4_096;
/// Differences to the window before, and to one that is further away: what follows itself for a while differs little from
/// the window before.
const STEPS: [usize; 2] = [1, 3];
/// The median of the absolute difference of two normal values, for their standard deviation.
const OF_MEDIAN: f64 = 1.0 / (0.674_49 * std::f64::consts::SQRT_2);
/// What follows itself more is no noise.
const MOST_KEPT: f64 = 0.8;
/// Nothing varies less.
const LEAST_SCALE: f64 = 0.01;

/// Differences, by size.
#[derive(Debug, Clone)]
struct Differences {
    bins: Vec<u32>,
    count: u32,
}

impl Differences {
    fn add(&mut self, difference: f64) {
        let bin = ((difference.abs() / LEAST).max(1.0).log2() * BINS_PER_OCTAVE) as usize;
        self.bins[bin.min(BINS - 1)] += 1;
        self.count += 1;
        if self.count >= MOST {
            self.bins.iter_mut().for_each(|count| *count /= 2);
            self.count = self.bins.iter().sum();
        }
    }

    fn median(&self) -> f64 {
        let mut before = 0;
        for (bin, &count) in self.bins.iter().enumerate() {
            // In the middle of the bin, as far as its counts go.
            if count > 0 && 2 * (before + count) >= self.count {
                let part = (f64::from(self.count) / 2.0 - f64::from(before)) / f64::from(count);
                return LEAST * ((bin as f64 + part) / BINS_PER_OCTAVE).exp2();
            }
            before += count;
        }
        0.0
    }
}

/// The scale of the noise: a robust standard deviation, which neither steps nor single outliers change much.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    last: [f64; STEPS[1]],
    seen: u64,
    by_step: [Differences; 2],
}

impl Noise {
    pub(super) fn new() -> Self {
        let none = || Differences { bins: vec![0; BINS], count: 0 };
        Self { last: [0.0; STEPS[1]], seen: 0, by_step: [none(), none()] }
    }

    pub(super) fn add(&mut self, value: f64) {
        for (step, differences) in STEPS.into_iter().zip(&mut self.by_step) {
            if self.seen >= step as u64 {
                let before = self.last[(self.seen as usize - step) % self.last.len()];
                differences.add(value - before);
            }
        }
        let at = self.seen as usize % self.last.len();
        self.last[at] = value;
        self.seen += 1;
    }

    /// How many values it is known from.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// The scale; with few values it may be higher than it seems. A series that follows itself varies more over
    /// stretches than its single windows show: values that keep a share `kept` of the one before have means that vary
    /// like those of values with the root of `(1 + kept) / (1 - kept)` times the scale.
    pub(super) fn scale(&self) -> f64 {
        let [near, far] = [0, 1].map(|step| self.by_step[step].median().max(f64::MIN_POSITIVE));
        // Differences of one step have `1 - kept` of twice the variance, those of three `1 - kept^3`.
        let ratio = (far / near).powi(2);
        let kept = ((4.0 * ratio.max(1.0) - 3.0).sqrt() - 1.0) / 2.0;
        let kept = kept.min(MOST_KEPT);
        let follows = ((1.0 + kept) / (1.0 - kept)).sqrt();
        let doubt = 1.0 + 10.0 / self.seen.max(1) as f64;
        (near.max(far) * OF_MEDIAN * follows * doubt).max(LEAST_SCALE)
    }
}
