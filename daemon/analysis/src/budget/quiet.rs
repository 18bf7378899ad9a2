//! How long messages between nodes and collectives took for what they usually take, window by window: so that it is seen
//! when the network was disturbed, and what a message would have taken when it was not.
//!
//! The bulk tells, not the mean: one message in fifty that takes fifty times as long is noise that is always there, and
//! moves no median. In a disturbed window a message that is slower than so many of its window would have been slower
//! than as many of the quiet ones.

use mpiscope_model::Nanoseconds;

/// What is judged apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Messages between nodes.
    Message,
    /// Parts in collectives.
    Collective,
}

const KINDS: usize = 2;
/// Bins of an octave of the ratio to what is usual, and how many octaves below and in all.
const PER_OCTAVE: f64 = 8.0;
const OCTAVES_BELOW: f64 = 4.0;
const BINS: usize = 112;
/// More windows are joined in pairs.
const MOST_WINDOWS: usize = 2_048;
/// Fewer say nothing.
const FEWEST: u64 = 30;
/// Windows on either side that are asked where one says too little.
const REACH: usize = 3;
/// A window is disturbed when its median is so many times the quiet one, and so many times its own uncertainty above.
const CLEARLY: f64 = 1.15;
const DEVIATIONS: f64 = 4.0;

type Counts = [u32; BINS];

fn place(ratio: f64) -> f64 {
    ((ratio.max(1e-9).log2() + OCTAVES_BELOW) * PER_OCTAVE).clamp(0.0, BINS as f64 - 0.001)
}

fn ratio_at(place: f64) -> f64 {
    (place / PER_OCTAVE - OCTAVES_BELOW).exp2()
}

fn sum(counts: &Counts) -> u64 {
    counts.iter().map(|&count| u64::from(count)).sum()
}

fn join(ours: &mut Counts, theirs: &Counts) {
    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = ours.saturating_add(*theirs));
}

/// The place below which a share of all lies.
fn quantile(counts: &Counts, share: f64) -> f64 {
    let mut left = share * sum(counts) as f64;
    for (bin, &count) in counts.iter().enumerate() {
        let count = f64::from(count);
        if count > 0.0 && left <= count {
            return bin as f64 + (left / count).max(0.0);
        }
        left -= count;
    }
    BINS as f64
}

/// The share of all that lies below a place.
fn share_below(counts: &Counts, place: f64) -> f64 {
    let bin = (place as usize).min(BINS - 1);
    let below: u64 = counts[..bin].iter().map(|&count| u64::from(count)).sum();
    let here = f64::from(counts[bin]) * (place - bin as f64).clamp(0.0, 1.0);
    (below as f64 + here) / (sum(counts) as f64).max(1.0)
}

/// What was seen, window by window.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    width_ns: u64,
    windows: Vec<[Counts; KINDS]>,
}

impl Seen {
    pub(super) fn new(width_ns: u64) -> Self {
        Self { width_ns: width_ns.max(1), windows: Vec::new() }
    }

    /// A message, or a part in a collective, ended then and took so long.
    pub(super) fn add(&mut self, kind: Kind, at_ns: Nanoseconds, took_ns: u64, usual_ns: u64) {
        while (at_ns / self.width_ns) as usize >= MOST_WINDOWS {
            self.width_ns *= 2;
            let pairs = self.windows.chunks(2).map(|pair| {
                let mut joined = pair[0];
                pair[1..].iter().for_each(|other| {
                    joined.iter_mut().zip(other).for_each(|(ours, theirs)| join(ours, theirs));
                });
                joined
            });
            self.windows = pairs.collect();
        }
        let at = (at_ns / self.width_ns) as usize;
        if self.windows.len() <= at {
            self.windows.resize(at + 1, [[0; BINS]; KINDS]);
        }
        let bin = place(took_ns as f64 / usual_ns.max(1) as f64) as usize;
        let count = &mut self.windows[at][kind as usize][bin];
        *count = count.saturating_add(1);
    }

    /// A window, with its neighbours where it says too little.
    fn around(&self, kind: Kind, at: usize) -> Option<Counts> {
        let mut counts = self.windows.get(at)?[kind as usize];
        for reach in 1..=REACH {
            if sum(&counts) >= FEWEST {
                break;
            }
            let near = [at.checked_sub(reach), Some(at + reach)].into_iter().flatten();
            near.filter_map(|at| self.windows.get(at))
                .for_each(|window| join(&mut counts, &window[kind as usize]));
        }
        (sum(&counts) >= FEWEST).then_some(counts)
    }

    /// What the windows say. What messages, and collectives, take in the median over the run is by such factors longer than
    /// what it is judged by.
    pub(super) fn judged(&self, factors: [f64; KINDS]) -> Hindrance {
        let kinds = [Kind::Message, Kind::Collective];
        let of = kinds.map(|kind| self.of_kind(kind, factors[kind as usize]));
        Hindrance { width_ns: self.width_ns, of }
    }

    fn of_kind(&self, kind: Kind, factor: f64) -> OfKind {
        let all: Vec<Option<Counts>> = (0..self.windows.len()).map(|at| self.around(kind, at)).collect();
        let mut levels: Vec<(f64, usize)> = all
            .iter()
            .enumerate()
            .filter_map(|(at, counts)| Some((quantile(counts.as_ref()?, 0.5), at)))
            .collect();
        levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut quiet: Counts = [0; BINS];
        for &(_, at) in &levels[..levels.len().div_ceil(4)] {
            join(&mut quiet, &self.windows[at][kind as usize]);
        }
        if sum(&quiet) < FEWEST {
            return OfKind::default();
        }
        let quiet_place = quantile(&quiet, 0.5);
        // A run that is slow even when it is at its quietest is held against what it is judged by.
        let mut whole: Counts = [0; BINS];
        self.windows.iter().for_each(|window| join(&mut whole, &window[kind as usize]));
        let level = ratio_at(quiet_place) / ratio_at(quantile(&whole, 0.5)) * factor;
        let shift = if level > NEVER_QUIET { level.log2() * PER_OCTAVE } else { 0.0 };
        let maps = all.iter().map(|counts| {
            let counts = counts.as_ref()?;
            let width = quantile(counts, 0.75) - quantile(counts, 0.25);
            let uncertain = 0.93 * width.max(1.0) / (sum(counts) as f64).sqrt();
            let above = quantile(counts, 0.5) - (quiet_place - shift);
            let is_disturbed = above > CLEARLY.log2() * PER_OCTAVE + DEVIATIONS * uncertain;
            is_disturbed.then(|| {
                let undisturbed = |place: f64| quantile(&quiet, share_below(counts, place)) - shift;
                (0..=BINS).map(|place| undisturbed(place as f64) as f32).collect::<Box<[f32]>>()
            })
        });
        let maps: Vec<_> = maps.collect();
        let is_varied = maps.iter().flatten().next().is_some();
        OfKind { maps, is_varied }
    }
}

/// A run that takes so many times as long as a good one was never quiet.
const NEVER_QUIET: f64 = 1.5;

/// By window, where a message at each place would have been; none in windows that are not disturbed.
#[derive(Debug, Clone, Default)]
struct OfKind {
    maps: Vec<Option<Box<[f32]>>>,
    is_varied: bool,
}

/// When the network was disturbed, and how much.
#[derive(Debug, Clone, Default)]
pub(super) struct Hindrance {
    width_ns: u64,
    of: [OfKind; KINDS],
}

impl Hindrance {
    /// What a message would have been spared without the disturbance of its time.
    pub(super) fn spared_ns(&self, kind: Kind, at_ns: Nanoseconds, took_ns: u64, usual_ns: u64) -> u64 {
        if self.width_ns == 0 || took_ns == 0 {
            return 0;
        }
        let of = &self.of[kind as usize].maps;
        // Now is judged by the last window that is known.
        let at = ((at_ns / self.width_ns) as usize).min(of.len().saturating_sub(1));
        let Some(Some(map)) = of.get(at) else { return 0 };
        let unit_ns = usual_ns.max(1) as f64;
        let seen = place(took_ns as f64 / unit_ns);
        let bin = seen as usize;
        let part = seen - bin as f64;
        let would = f64::from(map[bin]) * (1.0 - part) + f64::from(map[bin + 1]) * part;
        let would_ns = ratio_at(would) * unit_ns;
        took_ns.saturating_sub(would_ns as u64)
    }

    /// Whether the network was disturbed at some times and not at others.
    pub(super) fn is_varied(&self) -> bool {
        self.of.iter().any(|of| of.is_varied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten windows of a hundred messages, of which some take longer by a factor.
    fn seen(factor: impl Fn(usize, u64) -> f64) -> Hindrance {
        let mut seen = Seen::new(1000);
        for window in 0..10 {
            for number in 0..100 {
                let took_ns = ((900 + 2 * number) as f64 * factor(window, number)) as u64;
                seen.add(Kind::Message, window as u64 * 1000 + number, took_ns, 1000);
            }
        }
        seen.judged([1.0; KINDS])
    }

    #[test]
    fn a_disturbed_window_would_have_been_like_a_quiet_one() {
        let found = seen(|window, _| if window >= 6 { 4.0 } else { 1.0 });
        assert!(found.is_varied());
        assert_eq!(found.spared_ns(Kind::Message, 2_500, 4000, 1000), 0);
        let spared_ns = found.spared_ns(Kind::Message, 7_500, 4000, 1000);
        assert!((2_900..3_100).contains(&spared_ns), "{spared_ns}");
        assert_eq!(found.spared_ns(Kind::Collective, 7_500, 4000, 1000), 0);
    }

    #[test]
    fn a_tail_that_is_always_there_is_no_disturbance() {
        let found =
            seen(|window, number| if (number + window as u64).is_multiple_of(20) { 300.0 } else { 1.0 });
        assert!(!found.is_varied());
        assert!((0..10).all(|window| found.spared_ns(Kind::Message, window * 1000, 300_000, 1000) == 0));
    }

    #[test]
    fn a_run_that_was_never_quiet_is_held_against_a_good_one() {
        let mut seen = Seen::new(1000);
        (0..1000).for_each(|at| seen.add(Kind::Message, at * 10, 1000, 1000));
        assert_eq!(seen.judged([1.0; KINDS]).spared_ns(Kind::Message, 500, 1000, 1000), 0);
        let spared_ns = seen.judged([4.0; KINDS]).spared_ns(Kind::Message, 500, 1000, 1000);
        assert!((725..775).contains(&spared_ns), "{spared_ns}");
    }
}
