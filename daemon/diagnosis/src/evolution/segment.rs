//! A stretch of a series: its kind, and the windows it keeps.

use super::cuts::Sums;
use super::options::EvolutionOptions;
use super::tally::Tally;
use super::trend::rising;

/// What a stretch of a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Latency rises.
    Growth,
    /// It stays above the average until then.
    Steady,
    /// Neither.
    Rest,
}

impl Kind {
    /// The word for files and pages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Growth => "growth",
            Kind::Steady => "steady",
            Kind::Rest => "rest",
        }
    }
}

/// A window that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The number of the window.
    pub window: u64,
    /// Its messages.
    pub tally: Tally,
    /// The average latency of all messages up to its end.
    pub average: f64,
    /// The version of the partition that it was accounted under.
    pub version: u32,
}

/// A stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// What it is.
    pub kind: Kind,
    /// Its first window.
    pub from: u64,
    /// Its last window.
    pub to: u64,
    /// Windows in it that have exact messages.
    pub windows: u64,
    /// All its messages.
    pub tally: Tally,
    /// By what part latency is greater in the end than in the beginning, by the line through all.
    pub rise: f64,
    /// Windows that are kept, in order: of rest the first, the middle and the last.
    pub kept: Vec<Point>,
}

impl Segment {
    /// Keeps the first, the middle and the last.
    pub(super) fn thin(&mut self) {
        if self.kept.len() > 3 {
            let (first, last) = (self.kept[0], self.kept[self.kept.len() - 1]);
            let middle = nearest(&self.kept, first.window.midpoint(last.window));
            self.kept = vec![first, middle, last];
        }
    }

    /// Takes in the next one; both are rest then.
    pub(super) fn join(&mut self, mut next: Self) {
        self.kind = Kind::Rest;
        self.to = next.to;
        self.windows += next.windows;
        self.tally.merge(&next.tally);
        let (from, to) = (self.kept.first(), next.kept.last());
        self.rise = match (from.and_then(latency), to.and_then(latency)) {
            (Some(from), Some(to)) if from > 0.0 => to / from - 1.0,
            _ => 0.0,
        };
        self.kept.append(&mut next.kept);
        self.thin();
    }
}

fn latency(point: &Point) -> Option<f64> {
    point.tally.latency()
}

fn nearest(points: &[Point], window: u64) -> Point {
    let at = points.partition_point(|point| point.window < window);
    let near = [at.saturating_sub(1), at.min(points.len() - 1)];
    let nearer = near.into_iter().min_by_key(|&at| points[at].window.abs_diff(window));
    points[nearer.unwrap_or(0)]
}

/// A window with exact messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) point: Point,
    /// The logarithm of its latency, and the same without what sticks out for this window alone.
    pub(super) raw: f64,
    pub(super) value: f64,
    /// The average latency of all messages before it, if there were any.
    pub(super) average_before: Option<f64>,
}

/// An open stretch keeps this number of windows at most, evenly spread.
const MOST_KEPT: usize = 64;
/// And of one that is closed.
const MOST_CLOSED: usize = 32;

/// A stretch that may still grow.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    from: u64,
    to: u64,
    windows: u64,
    /// Windows above the average.
    above: u64,
    tally: Tally,
    /// Logarithms of latencies; times are relative to `from`.
    pub(super) sums: Sums,
    average_before: Option<f64>,
    last: Point,
    kept: Vec<Point>,
    /// One of this number of windows is kept.
    every: u64,
    /// What it was found to be when it was cut; what goes on with it does not change that.
    found: Option<Kind>,
}

impl Piece {
    pub(super) fn new(entry: &Entry) -> Self {
        let point = entry.point;
        let mut piece = Self {
            from: point.window,
            to: point.window,
            windows: 0,
            above: 0,
            tally: Tally::default(),
            sums: Sums::default(),
            average_before: entry.average_before,
            last: point,
            kept: Vec::new(),
            every: 1,
            found: None,
        };
        piece.add(entry);
        piece
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        let point = &entry.point;
        self.to = point.window;
        self.above += u64::from(latency(point).is_some_and(|latency| latency > point.average));
        self.tally.merge(&point.tally);
        self.sums.add((point.window - self.from) as f64, entry.value);
        self.last = *point;
        if self.windows.is_multiple_of(self.every) {
            self.kept.push(*point);
            self.thin();
        }
        self.windows += 1;
    }

    fn thin(&mut self) {
        while self.kept.len() > MOST_KEPT {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.every *= 2;
        }
    }

    pub(super) fn from(&self) -> u64 {
        self.from
    }

    pub(super) fn windows(&self) -> u64 {
        self.windows
    }

    /// Goes on with the next one.
    pub(super) fn append(&mut self, next: &Self) {
        self.to = next.to;
        self.above += next.above;
        self.windows += next.windows;
        self.tally.merge(&next.tally);
        self.sums.append(&next.sums, (next.from - self.from) as f64);
        self.last = next.last;
        self.kept.extend(&next.kept);
        self.thin();
    }

    fn points(&self) -> Vec<Point> {
        let mut points = self.kept.clone();
        if points.last().is_none_or(|point| point.window != self.to) {
            points.push(self.last);
        }
        points
    }

    fn begins(&self) -> f64 {
        self.sums.line().value(0.0)
    }

    fn ends(&self) -> f64 {
        self.sums.line().value((self.to - self.from) as f64)
    }

    fn rise(&self) -> f64 {
        (self.ends() - self.begins()).exp() - 1.0
    }

    /// It is cut, in noise of this scale.
    pub(super) fn find(&mut self, scale: f64, options: &EvolutionOptions) {
        self.found = Some(self.kind(scale, options));
    }

    /// What it is, in noise of this scale.
    fn kind(&self, scale: f64, options: &EvolutionOptions) -> Kind {
        if let Some(found) = self.found {
            return found;
        }
        if self.windows < options.fewest_windows {
            return Kind::Rest;
        }
        if self.sums.line().rises(scale) && self.rise() >= options.least_rise {
            let values: Vec<f64> =
                self.points().iter().filter_map(|point| latency(point).map(f64::ln)).collect();
            if rising(&values) < options.chance {
                return Kind::Growth;
            }
        }
        let above = self.average_before.map_or(f64::NEG_INFINITY, |average| {
            self.sums.line().mean_y - average.max(f64::MIN_POSITIVE).ln()
        });
        let beyond_chance = options.sure * scale / (self.windows as f64).sqrt();
        let is_above = self.above >= options.fewest_windows && 5 * self.above >= 4 * self.windows;
        if is_above && above >= beyond_chance.max(options.least_above.ln_1p()) {
            return Kind::Steady;
        }
        Kind::Rest
    }

    /// Whether the next one is more of the same.
    pub(super) fn goes_on_with(&self, next: &Self, scale: f64, options: &EvolutionOptions) -> bool {
        let kind = self.kind(scale, options);
        let is_short = next.windows < options.fewest_windows;
        match kind {
            Kind::Growth => {
                let is_alike = is_short || next.kind(scale, options) == Kind::Growth;
                let goes_up = next.rise() > -scale && next.begins() >= self.ends() - 2.0 * scale;
                let is_higher = next.sums.line().mean_y >= self.ends();
                is_alike && goes_up && (is_higher || !is_short)
            }
            Kind::Steady => {
                is_short && next.above == next.windows || next.kind(scale, options) == Kind::Steady
            }
            Kind::Rest => next.kind(scale, options) == Kind::Rest,
        }
    }

    pub(super) fn segment(&self, scale: f64, options: &EvolutionOptions) -> Segment {
        let kind = self.kind(scale, options);
        let mut segment = Segment {
            kind,
            from: self.from,
            to: self.to,
            windows: self.windows,
            tally: self.tally,
            rise: self.rise(),
            kept: self.points(),
        };
        if kind == Kind::Rest {
            segment.thin();
        } else if segment.kept.len() > MOST_CLOSED {
            let last = segment.kept[segment.kept.len() - 1];
            let every = segment.kept.len().div_ceil(MOST_CLOSED - 1);
            segment.kept = segment.kept.iter().step_by(every).copied().collect();
            if segment.kept.last().is_none_or(|point| point.window != last.window) {
                segment.kept.push(last);
            }
        }
        segment
    }
}
