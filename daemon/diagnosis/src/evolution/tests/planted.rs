//! Growth and steady stretches planted in noise, and how many of them are found.

use super::*;

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.next()
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.next()).cos()
    }
}

/// What varies a window's latency when nothing happens.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Normal,
    /// One in twenty-five windows is up to five times as long.
    Outliers,
    /// A window keeps three tenths of the one before.
    Following,
}

const NOISES: [Noise; 3] = [Noise::Normal, Noise::Outliers, Noise::Following];

/// A series whose truth is known.
struct Planted {
    latencies: Vec<f64>,
    truth: Vec<(Kind, usize, usize)>,
    noise: Noise,
    scale: f64,
    before: f64,
    random: Random,
}

impl Planted {
    fn new(seed: u64, noise: Noise) -> Self {
        let mut random = Random(seed);
        let scale = random.between(0.02, 0.08);
        Self { latencies: Vec::new(), truth: Vec::new(), noise, scale, before: 0.0, random }
    }

    fn push(&mut self, level: f64) {
        let fresh = self.random.normal();
        let wave = match self.noise {
            Noise::Following => {
                self.before = 0.3 * self.before + fresh * 0.91_f64.sqrt();
                self.before
            }
            _ => fresh,
        };
        let mut latency = level * (self.scale * wave).exp();
        if self.noise == Noise::Outliers && self.random.next() < 0.04 {
            latency *= self.random.between(1.0, 5.0);
        }
        self.latencies.push(latency);
    }

    fn flat(&mut self, windows: usize) {
        (0..windows).for_each(|_| self.push(1.0));
    }

    /// A stretch that goes beyond the noise by so much at least.
    fn plant(&mut self) {
        let windows = self.random.between(5.0, 61.0) as usize;
        let from = self.latencies.len();
        let to = from + windows - 1;
        let average = self.latencies.iter().sum::<f64>() / from as f64;
        if self.random.next() < 0.5 {
            // What the noise is as large as is no rise for anybody.
            let least = (8.0 * self.scale).max(0.3);
            let rise = self.random.between(least, least + 2.0);
            (0..windows).for_each(|at| self.push(1.0 + rise * at as f64 / (windows - 1) as f64));
            self.truth.push((Kind::Growth, from, to));
        } else {
            let least = (4.0 * self.scale).max(0.2);
            let above = self.random.between(least, least + 2.0);
            (0..windows).for_each(|_| self.push(average * (1.0 + above)));
            self.truth.push((Kind::Steady, from, to));
        }
    }

    fn with_some(seed: u64, noise: Noise) -> Self {
        let mut planted = Self::new(seed, noise);
        let some = planted.random.between(1.0, 5.0) as usize;
        let quiet = planted.random.between(40.0, 120.0) as usize;
        planted.flat(quiet);
        for _ in 0..some {
            planted.plant();
            let quiet = planted.random.between(40.0, 120.0) as usize;
            planted.flat(quiet);
        }
        planted
    }
}

/// A series in which something is planted.
pub(super) fn latencies(seed: u64) -> Vec<f64> {
    Planted::with_some(seed, NOISES[seed as usize % NOISES.len()]).latencies
}

fn notable(series: &Series) -> Vec<(Kind, usize, usize)> {
    let reported = series.closed().iter().filter(|segment| segment.kind != Kind::Rest);
    reported.map(|segment| (segment.kind, segment.from as usize, segment.to as usize)).collect()
}

/// Whether they are the same: at least half of what either covers is covered by both.
fn is_same(one: &(Kind, usize, usize), other: &(Kind, usize, usize)) -> bool {
    let both = (one.2.min(other.2) + 1).saturating_sub(one.1.max(other.1));
    let either = one.2.max(other.2) + 1 - one.1.min(other.1);
    one.0 == other.0 && 2 * both >= either
}

#[derive(Debug, Default)]
struct Score {
    planted: [usize; 2],
    found: [usize; 2],
    reported: [usize; 2],
    right: [usize; 2],
}

impl Score {
    fn new(series: u64, noise: Noise, first_seed: u64) -> Self {
        let mut score = Self::default();
        let place = |kind: Kind| usize::from(kind == Kind::Steady);
        for seed in first_seed..first_seed + series {
            let planted = Planted::with_some(seed, noise);
            let reported = notable(&super::series(&planted.latencies, EvolutionOptions::default()));
            for truth in &planted.truth {
                score.planted[place(truth.0)] += 1;
                score.found[place(truth.0)] += usize::from(reported.iter().any(|one| is_same(one, truth)));
            }
            for one in &reported {
                score.reported[place(one.0)] += 1;
                score.right[place(one.0)] +=
                    usize::from(planted.truth.iter().any(|truth| is_same(one, truth)));
            }
        }
        score
    }

    fn recall(&self, kind: usize) -> f64 {
        self.found[kind] as f64 / self.planted[kind].max(1) as f64
    }

    fn precision(&self, kind: usize) -> f64 {
        self.right[kind] as f64 / self.reported[kind].max(1) as f64
    }
}

/// Number of flat series in which something is reported.
fn alarms(series: u64, noise: Noise, windows: usize, first_seed: u64) -> usize {
    let is_alarm = |seed| {
        let mut planted = Planted::new(seed, noise);
        // Any noise, not only such that something could be found in.
        planted.scale = planted.random.between(0.01, 0.5);
        planted.flat(windows);
        !notable(&super::series(&planted.latencies, EvolutionOptions::default())).is_empty()
    };
    (first_seed..first_seed + series).filter(|&seed| is_alarm(seed)).count()
}

fn table(series: u64, first_seed: u64) {
    for noise in NOISES {
        let score = Score::new(series, noise, first_seed);
        let figures = [score.recall(0), score.precision(0), score.recall(1), score.precision(1)];
        println!(
            "{noise:?}: of {:?} planted, growth recall {:.3} precision {:.3}, steady recall {:.3} precision {:.3}",
            score.planted, figures[0], figures[1], figures[2], figures[3]
        );
        assert!(figures.into_iter().all(|figure| figure >= 0.9), "{noise:?} {score:?}");
    }
    for noise in NOISES {
        for windows in [30, 300, 1_000] {
            let alarms = alarms(series, noise, windows, first_seed);
            println!(
                "{noise:?}: something reported in {alarms} of {series} flat series of {windows} windows"
            );
            assert!(100 * alarms as u64 <= series, "{noise:?} {windows}");
        }
    }
}

/// With `deploy/test --full` of more series, which no rule was made by.
#[test]
fn what_is_planted_is_found_and_little_else() {
    let is_full = std::env::var_os("MPISCOPE_FULL").is_some_and(|value| !value.is_empty());
    if is_full { table(1_000, 1 << 32) } else { table(200, 1) }
}
