//! How long messages between nodes and collectives took, relative to the expected time, window by window. It shows
//! when there was network contention, and what a message would have taken otherwise.
//!
//! The bulk decides, not the mean: one message in fifty that takes fifty times as long is permanent noise and moves no
//! median. A message of a disturbed window keeps its quantile: it would have taken what the quiet windows have at that
//! quantile.

mod stretches;

pub use stretches::Stretch;

use mpiscope_model::Nanoseconds;
use stretches::NEVER_QUIET;

/// Kinds that are assessed separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Messages between nodes.
    Message,
    /// Parts in collectives.
    Collective,
}

const KINDS: usize = 2;
/// Bins of an octave of the ratio to the expected time, and how many octaves below and in all.
const PER_OCTAVE: f64 = 8.0;
const OCTAVES_BELOW: f64 = 4.0;
const BINS: usize = 112;
/// More windows are joined in pairs.
const MOST_WINDOWS: usize = 2_048;
/// Fewer mean nothing.
const FEWEST: u64 = 30;
/// Windows on either side that are added where one has too few samples.
const REACH: usize = 3;
/// A window is disturbed when its median exceeds the quiet one by this factor, and by this multiple of its own
/// uncertainty.
const CLEARLY: f64 = 1.15;
const DEVIATIONS: f64 = 4.0;

fn place(ratio: f64) -> f64 {
    ((ratio.max(1e-9).log2() + OCTAVES_BELOW) * PER_OCTAVE).clamp(0.0, BINS as f64 - 0.001)
}

fn ratio_at(place: f64) -> f64 {
    (place / PER_OCTAVE - OCTAVES_BELOW).exp2()
}

/// How many lie where.
#[derive(Debug, Clone, Copy)]
struct Counts {
    known: [u32; BINS],
    /// Those that have only an upper bound.
    at_most: [u32; BINS],
}

impl Counts {
    const NONE: Self = Self { known: [0; BINS], at_most: [0; BINS] };

    /// Those whose place is known.
    fn known(&self) -> u64 {
        self.known.iter().map(|&count| u64::from(count)).sum()
    }

    fn join(&mut self, other: &Self) {
        let add = |ours: &mut [u32; BINS], theirs: &[u32; BINS]| {
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = ours.saturating_add(*theirs));
        };
        add(&mut self.known, &other.known);
        add(&mut self.at_most, &other.at_most);
    }

    /// The distribution of all. From the highest down, bounds count by the share of the known ones at or below their
    /// bin: messages that were there before they were waited for count as far as their bound goes.
    fn spread(&self) -> Spread {
        let mut up_to: u64 = self
            .known
            .iter()
            .zip(&self.at_most)
            .map(|(known, most)| u64::from(*known) + u64::from(*most))
            .sum();
        let (mut below, mut shares) = (1.0, [0.0; BINS]);
        let lowest = self.known.iter().position(|&count| count > 0);
        for bin in (0..BINS).rev() {
            let known = u64::from(self.known[bin]);
            let share = if up_to > 0 { below * known as f64 / up_to as f64 } else { 0.0 };
            shares[bin] = if Some(bin) == lowest { below } else { share };
            below -= shares[bin];
            up_to = up_to.saturating_sub(known + u64::from(self.at_most[bin]));
        }
        Spread(shares)
    }
}

/// The share of all in each bin.
#[derive(Debug, Clone, Copy)]
struct Spread([f64; BINS]);

impl Spread {
    /// The place below which a share of all lies.
    fn quantile(&self, share: f64) -> f64 {
        let mut left = share;
        let mut last = 0.0;
        for (bin, &in_bin) in self.0.iter().enumerate() {
            if in_bin > 0.0 {
                if left <= in_bin {
                    return bin as f64 + (left / in_bin).max(0.0);
                }
                last = bin as f64 + 1.0;
            }
            left -= in_bin;
        }
        last
    }

    /// The share of all that lies below a place.
    fn below(&self, place: f64) -> f64 {
        let bin = (place as usize).min(BINS - 1);
        self.0[..bin].iter().sum::<f64>() + self.0[bin] * (place - bin as f64).clamp(0.0, 1.0)
    }
}

/// The median of the ratios, in the quietest quarter of the windows and in the whole run.
#[derive(Debug, Clone, Copy)]
struct Medians {
    quiet: f64,
    whole: f64,
}

/// By what factors the times exceed the criteria.
#[derive(Debug, Clone, Copy)]
pub(super) struct Longer {
    /// What is usual.
    pub(super) usual: f64,
    /// What was taken in the whole run in the median by sizes, where any message is exact.
    pub(super) whole: Option<f64>,
}

impl Longer {
    /// Not at all.
    pub(super) const NOT: Self = Self { usual: 1.0, whole: Some(1.0) };

    /// Time of the quietest windows, relative to the criterion. Deciding messages took longer than others, so the
    /// usual time is too long. Where about half of a run was disturbed, the medians by size mix both halves.
    fn level(&self, at: Medians) -> f64 {
        let by_usual = at.quiet * self.usual;
        self.whole.map_or(by_usual, |whole| by_usual.min(at.quiet / at.whole * whole))
    }
}

/// What was seen, window by window.
#[derive(Debug, Clone)]
pub(super) struct RatioCounts {
    width_ns: u64,
    windows: Vec<[Counts; KINDS]>,
    /// Parts in collectives, and how many ranks took part in each: the parts of one collective are as slow as each other.
    parts: (u64, u64),
}

impl RatioCounts {
    pub(super) fn new(width_ns: u64) -> Self {
        Self { width_ns: width_ns.max(1), windows: Vec::new(), parts: (0, 0) }
    }

    /// A message, or a part in a collective, ended then and took so long.
    pub(super) fn add(&mut self, kind: Kind, at_ns: Nanoseconds, took_ns: u64, usual_ns: u64) {
        let bin = place(took_ns as f64 / usual_ns.max(1) as f64) as usize;
        let count = &mut self.window(kind, at_ns).known[bin];
        *count = count.saturating_add(1);
    }

    /// A part in a collective of this number of ranks.
    pub(super) fn add_part(&mut self, ranks: u32, at_ns: Nanoseconds, took_ns: u64, usual_ns: u64) {
        self.parts = (self.parts.0 + 1, self.parts.1 + u64::from(ranks.max(1)));
        self.add(Kind::Collective, at_ns, took_ns, usual_ns);
    }

    /// How many of a kind are as slow as each other, on average.
    fn alike(&self, kind: Kind) -> f64 {
        if kind == Kind::Message { 1.0 } else { self.parts.1 as f64 / self.parts.0.max(1) as f64 }
    }

    /// One was there before it was waited for, and took no longer than this.
    pub(super) fn add_at_most(&mut self, kind: Kind, at_ns: Nanoseconds, at_most_ns: u64, usual_ns: u64) {
        let bin = place(at_most_ns as f64 / usual_ns.max(1) as f64) as usize;
        let count = &mut self.window(kind, at_ns).at_most[bin];
        *count = count.saturating_add(1);
    }

    fn window(&mut self, kind: Kind, at_ns: Nanoseconds) -> &mut Counts {
        while (at_ns / self.width_ns) as usize >= MOST_WINDOWS {
            self.width_ns *= 2;
            let pairs = self.windows.chunks(2).map(|pair| {
                let mut joined = pair[0];
                pair[1..].iter().for_each(|other| {
                    joined.iter_mut().zip(other).for_each(|(ours, theirs)| ours.join(theirs));
                });
                joined
            });
            self.windows = pairs.collect();
        }
        let at = (at_ns / self.width_ns) as usize;
        if self.windows.len() <= at {
            self.windows.resize(at + 1, [Counts::NONE; KINDS]);
        }
        &mut self.windows[at][kind as usize]
    }

    /// A window, with its neighbours where it has too few samples.
    fn around(&self, kind: Kind, at: usize) -> Option<Counts> {
        let mut counts = self.windows.get(at)?[kind as usize];
        for reach in 1..=REACH {
            if counts.known() as f64 >= FEWEST as f64 * self.alike(kind).sqrt() {
                break;
            }
            let near = [at.checked_sub(reach), Some(at + reach)].into_iter().flatten();
            near.filter_map(|at| self.windows.get(at)).for_each(|window| counts.join(&window[kind as usize]));
        }
        (counts.known() >= FEWEST).then_some(counts)
    }

    /// Assesses all windows; the arguments are the factors by which times exceed the criteria. Without criteria for
    /// collectives, these count as disturbed as messages are when both are at their quietest: collectives are made of
    /// messages.
    pub(super) fn assess(&self, messages: Longer, collectives: Option<f64>) -> Hindrance {
        let messages = self.of_kind(Kind::Message, |at| messages.level(at));
        let level = messages.level;
        let collectives = self
            .of_kind(Kind::Collective, |at| collectives.map_or(level, |factor| at.quiet / at.whole * factor));
        Hindrance { width_ns: self.width_ns, of: [messages, collectives] }
    }

    /// What the quietest quarter of the windows counted.
    fn quietest(&self, kind: Kind, all: &[Option<(u64, Spread)>]) -> Counts {
        let median = |(at, of): (usize, &Option<(u64, Spread)>)| Some((of.as_ref()?.1.quantile(0.5), at));
        let mut levels: Vec<(f64, usize)> = all.iter().enumerate().filter_map(median).collect();
        levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut quiet = Counts::NONE;
        for &(_, at) in &levels[..levels.len().div_ceil(4)] {
            quiet.join(&self.windows[at][kind as usize]);
        }
        quiet
    }

    /// `level_of` gives the time of the quietest windows relative to the criterion.
    fn of_kind(&self, kind: Kind, level_of: impl Fn(Medians) -> f64) -> KindWindows {
        let spread = |counts: Counts| (counts.known(), counts.spread());
        let all: Vec<Option<(u64, Spread)>> =
            (0..self.windows.len()).map(|at| self.around(kind, at).map(spread)).collect();
        let quiet = self.quietest(kind, &all);
        if quiet.known() < FEWEST {
            return KindWindows::default();
        }
        let quiet = quiet.spread();
        let quiet_place = quiet.quantile(0.5);
        // A run that is slow even at its quietest is compared with the criterion.
        let mut whole = Counts::NONE;
        self.windows.iter().for_each(|window| whole.join(&window[kind as usize]));
        let whole = ratio_at(whole.spread().quantile(0.5));
        let level = level_of(Medians { quiet: ratio_at(quiet_place), whole });
        let shift = if level > NEVER_QUIET { level.log2() * PER_OCTAVE } else { 0.0 };
        let alike = self.alike(kind);
        let maps = all.iter().map(|counts| {
            let (known, spread) = counts.as_ref()?;
            let width = spread.quantile(0.75) - spread.quantile(0.25);
            let uncertain = 0.93 * width.max(1.0) / (*known as f64 / alike).max(1.0).sqrt();
            let above = spread.quantile(0.5) - (quiet_place - shift);
            let is_disturbed = above > CLEARLY.log2() * PER_OCTAVE + DEVIATIONS * uncertain;
            is_disturbed.then(|| {
                let undisturbed = |place: f64| quiet.quantile(spread.below(place)) - shift;
                let would = (0..=BINS).map(|place| undisturbed(place as f64) as f32).collect();
                Disturbed { would, times: (above / PER_OCTAVE).exp2() }
            })
        });
        let maps: Vec<_> = maps.collect();
        let times = |counts: &(u64, Spread)| ratio_at(counts.1.quantile(0.5)) / ratio_at(quiet_place - shift);
        let times: Vec<Option<f64>> = all.iter().map(|counts| counts.as_ref().map(times)).collect();
        let is_varied = comes_and_goes(&times.iter().copied().flatten().collect::<Vec<f64>>());
        KindWindows { maps, times, is_varied, level, quiet: ratio_at(quiet_place - shift) }
    }
}

/// Whether windows with these slowdowns are disturbed only part of the time. Others use a network for a while, or they
/// do not. What flickers from window to window, or mostly lies between, is noise.
fn comes_and_goes(times: &[f64]) -> bool {
    let some = (times.len() / 10).max(1);
    let disturbed: Vec<bool> = times.iter().map(|&times| times > COMES_AND_GOES).collect();
    let clearly = disturbed.iter().filter(|&&is_disturbed| is_disturbed).count();
    let between = times.iter().filter(|times| (CLEARLY..=COMES_AND_GOES).contains(*times)).count();
    if clearly < some || clearly + some > times.len() || between > clearly {
        return false;
    }
    let turns = disturbed.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
    // By chance there would be twice as many.
    let share = clearly as f64 / times.len() as f64;
    turns <= share * (1.0 - share) * times.len() as f64
}

/// A window with this slowdown was certainly disturbed. A smaller one proves nothing: the assumed slowness selects the
/// deciding message, and a slight slowness therefore feeds itself for a while.
const COMES_AND_GOES: f64 = 2.0;

/// A window.
#[derive(Debug, Clone)]
struct Disturbed {
    /// Where a message at each place would have been.
    would: Box<[f32]>,
    /// How many times as long messages took.
    times: f64,
}

mpiscope_model::numbers! { Disturbed { would, times } }

/// By window; none in windows that are not disturbed.
#[derive(Debug, Clone, Default)]
struct KindWindows {
    maps: Vec<Option<Disturbed>>,
    /// How many times as long as quiet ones all windows take; none where too little was seen.
    times: Vec<Option<f64>>,
    is_varied: bool,
    /// Time of the quietest windows, relative to the criterion.
    level: f64,
    /// The median ratio when it is quiet; none where unknown.
    quiet: f64,
}

mpiscope_model::numbers! { KindWindows { maps, times, is_varied, level, quiet } }

/// When there was network contention, and how much.
#[derive(Debug, Clone, Default)]
pub(super) struct Hindrance {
    width_ns: u64,
    of: [KindWindows; KINDS],
}

mpiscope_model::numbers! { Hindrance { width_ns, of } }

impl Hindrance {
    /// What a message would have been spared without the disturbance of its time.
    pub(super) fn spared_ns(&self, kind: Kind, at_ns: Nanoseconds, took_ns: u64, usual_ns: u64) -> u64 {
        if took_ns == 0 {
            return 0;
        }
        let Some(Disturbed { would: map, .. }) = self.disturbed(kind, at_ns) else { return 0 };
        let unit_ns = usual_ns.max(1) as f64;
        let seen = place(took_ns as f64 / unit_ns);
        let bin = seen as usize;
        let part = seen - bin as f64;
        let would = f64::from(map[bin]) * (1.0 - part) + f64::from(map[bin + 1]) * part;
        let would_ns = ratio_at(would) * unit_ns;
        took_ns.saturating_sub(would_ns as u64)
    }

    fn disturbed(&self, kind: Kind, at_ns: Nanoseconds) -> Option<&Disturbed> {
        let of = &self.of[kind as usize].maps;
        // The present uses the last known window.
        let at = (at_ns.checked_div(self.width_ns)? as usize).min(of.len().saturating_sub(1));
        of.get(at)?.as_ref()
    }

    /// How many times as long as in quiet windows messages took.
    pub(super) fn slowed(&self, at_ns: Nanoseconds) -> f64 {
        self.disturbed(Kind::Message, at_ns).map_or(1.0, |of| of.times)
    }

    /// What a message takes in the median when the network is quiet.
    pub(super) fn quiet_ns(&self, usual_ns: u64) -> Option<u64> {
        let ratio = self.of[Kind::Message as usize].quiet;
        (ratio > 0.0).then_some((usual_ns as f64 * ratio) as u64)
    }

    /// Whether there was network contention only part of the time.
    pub(super) fn is_varied(&self) -> bool {
        self.deciding().is_varied
    }

    /// When it was quiet and when not.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        let of = self.deciding();
        stretches::from_times(self.width_ns, &of.times)
    }

    /// The kind that shows how the network is: messages, or collectives where there are no messages.
    fn deciding(&self) -> &KindWindows {
        let [messages, collectives] = &self.of;
        if messages.maps.is_empty() { collectives } else { messages }
    }
}

#[cfg(test)]
mod tests;
