//! Cuts a series into lines, level or rising or falling, with the least sum of misfit and number of lines. A line must
//! earn its place by more than chance: a search through very many stretches then finds nothing in noise.
//!
//! Positions count the windows since the first that is still here; a cut before it cannot be made any more.

use std::collections::VecDeque;

/// What one line more has to earn, and a sloping one beyond that, in squares of the noise.
const PIECE: f64 = 25.0;
const SLOPE: f64 = 8.0;
/// A sloping line needs this number of windows.
const FEWEST_SLOPING: f64 = 4.0;

/// Sums of values at times, from which lines are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Sums {
    pub(super) fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            x: self.x + other.x,
            y: self.y + other.y,
            xx: self.xx + other.xx,
            xy: self.xy + other.xy,
            yy: self.yy + other.yy,
        }
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            count: self.count - other.count,
            x: self.x - other.x,
            y: self.y - other.y,
            xx: self.xx - other.xx,
            xy: self.xy - other.xy,
            yy: self.yy - other.yy,
        }
    }

    /// The same, with times relative to `by`.
    fn told_from(&self, by: f64) -> Self {
        Self {
            x: self.x - by * self.count,
            xx: self.xx - 2.0 * by * self.x + by * by * self.count,
            xy: self.xy - by * self.y,
            ..*self
        }
    }

    /// Adds those of another stretch, with times relative to `from`.
    pub(super) fn append(&mut self, other: &Self, from: f64) {
        *self = self.plus(&other.told_from(-from));
    }

    pub(super) fn line(&self) -> Line {
        let count = self.count.max(1.0);
        let (mean_x, mean_y) = (self.x / count, self.y / count);
        let level = (self.yy - self.y * mean_y).max(0.0);
        let xx = self.xx - self.x * mean_x;
        if self.count < FEWEST_SLOPING || xx <= 0.0 {
            return Line { mean_x, mean_y, slope: 0.0, level, sloping: level };
        }
        let xy = self.xy - self.x * mean_y;
        Line { mean_x, mean_y, slope: xy / xx, level, sloping: (level - xy * xy / xx).max(0.0) }
    }
}

/// The best line through some values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    mean_x: f64,
    pub(super) mean_y: f64,
    slope: f64,
    /// Squares that a level line leaves, and a sloping one.
    level: f64,
    sloping: f64,
}

impl Line {
    fn cost(&self, noise: f64) -> f64 {
        (self.level / noise).min(self.sloping / noise + SLOPE) + PIECE
    }

    /// Whether it slopes upward, and not by chance.
    pub(super) fn rises(&self, scale: f64) -> bool {
        self.slope > 0.0 && self.level - self.sloping > SLOPE * scale * scale
    }

    pub(super) fn value(&self, x: f64) -> f64 {
        self.mean_y + self.slope * (x - self.mean_x)
    }
}

#[derive(Debug, Clone, Copy)]
struct Best {
    cost: f64,
    /// Where its last line begins; none where that is the beginning.
    from: Option<u64>,
    /// Where its first line ends.
    first: u64,
}

/// The operator.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    /// The square of the noise that lines are held against.
    noise: f64,
    /// The sums before the first position of the open stretch, with times like the others.
    before: Sums,
    /// By position, the sums from the first position to it.
    sums: VecDeque<Sums>,
    best: VecDeque<Best>,
    first: u64,
}

impl Cuts {
    /// Begins anew; `before` are the sums of the earlier windows, with times relative to the new origin.
    pub(super) fn new(scale: f64, before: Sums) -> Self {
        let nothing = Best { cost: 0.0, from: None, first: 0 };
        Self {
            noise: scale * scale,
            before,
            sums: VecDeque::from([Sums::default()]),
            best: VecDeque::from([nothing]),
            first: 0,
        }
    }

    pub(super) fn scale(&self) -> f64 {
        self.noise.sqrt()
    }

    /// The first position that is still here.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// How many windows it knows since it began.
    pub(super) fn len(&self) -> u64 {
        self.first + self.sums.len() as u64 - 1
    }

    pub(super) fn add(&mut self, x: f64, y: f64) {
        let mut now = self.sums[self.sums.len() - 1];
        now.add(x, y);
        let to = self.len() + 1;
        let whole = self.before.plus(&now).line().cost(self.noise);
        let mut best = Best { cost: whole, from: None, first: to };
        // At the first position nothing is cut: what came before it belongs to what comes after.
        for (at, (sums, before)) in self.sums.iter().zip(&self.best).enumerate().skip(1) {
            // Nor where the first line would end at a position that is not here any more.
            if before.cost + PIECE >= best.cost || before.first <= self.first {
                continue;
            }
            let cost = before.cost + now.minus(sums).line().cost(self.noise);
            if cost < best.cost {
                best = Best { cost, from: Some(self.first + at as u64), first: before.first };
            }
        }
        self.sums.push_back(now);
        self.best.push_back(best);
    }

    /// What is at the first position belongs to what came before.
    pub(super) fn forget_first(&mut self) {
        if self.sums.len() > 1 {
            self.sums.pop_front();
            self.best.pop_front();
            self.first += 1;
        }
    }

    /// Where the first line ends, in the best way to draw all.
    pub(super) fn first_end(&self) -> u64 {
        self.best.back().map_or(0, |best| best.first)
    }

    /// Where all lines end, in order.
    pub(super) fn ends(&self) -> Vec<u64> {
        let mut ends = Vec::new();
        let mut to = Some(self.len()).filter(|to| *to > 0);
        while let Some(end) = to {
            ends.push(end);
            let at = end.checked_sub(self.first).and_then(|at| self.best.get(at as usize));
            to = at.and_then(|best| best.from);
        }
        ends.reverse();
        ends
    }
}
