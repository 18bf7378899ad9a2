//! A series of windows that cuts itself into segments as they arrive.
//!
//! **The series** is the logarithm of a window's latency; a window without exact messages is passed over. A value
//! beyond its four neighbours, except for one, by more than twice the noise is cut down to that: one window alone, or
//! two, never make or break a segment. The noise is the median difference of consecutive windows (`noise`): neither
//! steps nor slopes count as noise.
//!
//! **Where it is cut**: of all ways to draw the last windows as level and sloping lines, the best one (`cuts`). A cut is
//! made for good when the best way has it and `settled_windows` have come after it; so a growth ends where it is drawn
//! best as something else from there on. The last `MOST_OPEN` windows can be cut, earlier ones only together.
//!
//! **Kinds of stretches**: *growth*, if it has at least `fewest_windows`, its line slopes upward and fits better than
//! a level one by more than chance, rises by at least `least_rise` from end to end, and the test of Mann and Kendall
//! gives chance less than `chance`. Else *steady*, if at least `fewest_windows` of it, and four fifths, are above the
//! average of all messages up to their own end, and its mean exceeds the average before it by `least_above` and by
//! more than chance. Else *rest*. Neighbours of one kind are joined before they are closed, and a short stretch joins
//! a growth or a steady one that it continues.
//!
//! Everything depends on the windows alone, in their order: batches do not matter. A closed segment stays as it is,
//! except for memory: old segments keep three windows. When there are too many, the least important ones become rest
//! and join their neighbours, which is counted.

use super::bands::Bands;
use super::cuts::{Cuts, Sums};
use super::noise::Noise;
use super::options::EvolutionOptions;
use super::ratios::Ratios;
use super::segment::{Entry, Kind, Piece, Point, Segment};
use super::tally::Tally;
use std::collections::VecDeque;

/// A final window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Its number.
    pub number: u64,
    /// Its messages.
    pub tally: Tally,
    /// The version of the partition.
    pub version: u32,
}

/// Windows in which a cut can still be made.
const MOST_OPEN: usize = 128;
/// With fewer windows the noise is unknown.
const FEWEST_KNOWN: u64 = 20;
/// Noise that differs by this part is another noise.
const OTHER_NOISE: f64 = 0.1;
/// A value beyond this multiple of the noise is cut down to that.
const STICKS_OUT: f64 = 2.0;
/// Windows on either side that decide whether a value is an outlier.
const AROUND: usize = 2;
/// Latencies below this are taken for it.
const LEAST_LATENCY: f64 = 1e-3;
/// This number of last segments keeps more than three windows.
const WHOLE_SEGMENTS: usize = 64;
/// The origin of times moves to a later window when they get this large.
const FAR: u64 = 1_024;

/// The series of one region, or of one pair of regions.
#[derive(Debug, Clone)]
pub struct Series {
    options: EvolutionOptions,
    total: Tally,
    noise: Noise,
    /// What is not cut yet: what can only go together, and the last windows.
    absorbed: Option<Piece>,
    recent: VecDeque<Entry>,
    /// The latencies of the last two windows that were absorbed.
    before: [Option<f64>; 2],
    cuts: Cuts,
    /// The window that times are relative to.
    origin: u64,
    /// Cut, and not closed: what comes may be more of the same.
    open_piece: Option<Piece>,
    /// When it is looked at again whether that is so.
    look_at: u64,
    closed: Vec<Segment>,
    joined: u64,
    bands: Bands,
}

impl Series {
    /// A series without windows.
    #[must_use]
    pub fn new(options: EvolutionOptions) -> Self {
        Self {
            options,
            total: Tally::default(),
            noise: Noise::new(),
            absorbed: None,
            recent: VecDeque::new(),
            before: [None; 2],
            cuts: Cuts::new(1.0, Sums::default()),
            origin: 0,
            open_piece: None,
            look_at: 0,
            closed: Vec::new(),
            joined: 0,
            bands: Bands::default(),
        }
    }

    /// The next window, with its latency ratios.
    pub fn push_with(&mut self, window: &Window, ratios: &Ratios) {
        self.bands.push(window.number, &window.tally, ratios);
        self.push(window);
    }

    /// The whole series at one resolution.
    #[must_use]
    pub fn bands(&self) -> &Bands {
        &self.bands
    }

    /// The next window; numbers grow.
    pub(crate) fn push(&mut self, window: &Window) {
        let average_before = self.total.latency();
        self.total.merge(&window.tally);
        let (Some(latency), Some(average)) = (window.tally.latency(), self.total.latency()) else { return };
        let raw = latency.max(LEAST_LATENCY).ln();
        let point = Point { window: window.number, tally: window.tally, average, version: window.version };
        self.noise.add(raw);
        self.recent.push_back(Entry { point, raw, value: raw, average_before });
        let is_known = self.noise.seen() >= FEWEST_KNOWN;
        let scale = self.noise.scale();
        let differs = (scale / self.cuts.scale()).max(self.cuts.scale() / scale) > 1.0 + OTHER_NOISE;
        if differs || window.number - self.origin > FAR {
            self.draw(self.recent.len().saturating_sub(AROUND));
        } else {
            self.add_until(self.recent.len().saturating_sub(AROUND));
        }
        if !is_known {
            return;
        }
        while self.cuts.first_end() + self.options.settled_windows <= self.cuts.len() {
            self.cut((self.cuts.first_end() - self.cuts.first()) as usize);
            self.draw(self.recent.len().saturating_sub(AROUND));
        }
        self.look_at_held();
        while self.recent.len() > MOST_OPEN {
            self.absorb();
            self.cuts.forget_first();
        }
    }

    /// No window comes any more: closes everything.
    pub fn finish(&mut self) {
        self.draw(self.recent.len());
        let is_known = self.noise.seen() >= FEWEST_KNOWN;
        let ends = if is_known { self.cuts.ends() } else { vec![self.cuts.len()] };
        let mut from = self.cuts.first();
        for end in ends {
            self.cut((end - from) as usize);
            from = end;
        }
        if let Some(piece_before) = self.open_piece.take() {
            self.close(&piece_before);
        }
    }

    /// All messages.
    #[must_use]
    pub fn total(&self) -> &Tally {
        &self.total
    }

    /// Closed segments, in order.
    #[must_use]
    pub fn closed(&self) -> &[Segment] {
        &self.closed
    }

    /// What comes after them, as it looks now.
    #[must_use]
    pub fn open(&self) -> Vec<Segment> {
        let mut drawn = Self {
            noise: self.noise.clone(),
            absorbed: self.absorbed.clone(),
            recent: self.recent.clone(),
            cuts: self.cuts.clone(),
            open_piece: self.open_piece.clone(),
            closed: Vec::new(),
            bands: Bands::default(),
            ..*self
        };
        drawn.finish();
        drawn.closed
    }

    /// Former segments that became rest, because there were too many.
    #[must_use]
    pub fn joined(&self) -> u64 {
        self.joined
    }

    /// Draws lines through the first of the last windows, as if for the first time.
    fn draw(&mut self, until: usize) {
        let scale = self.noise.scale();
        self.origin = self.recent.front().map_or(0, |entry| entry.point.window);
        let before = self.absorbed.as_ref().map(|piece| {
            let mut sums = Sums::default();
            sums.append(&piece.sums, piece.from() as f64 - self.origin as f64);
            sums
        });
        self.cuts = Cuts::new(scale, before.unwrap_or_default());
        self.add_until(until);
    }

    fn add_until(&mut self, until: usize) {
        while ((self.cuts.len() - self.cuts.first()) as usize) < until {
            let at = (self.cuts.len() - self.cuts.first()) as usize;
            let value = self.without_outlier(at);
            let entry = &mut self.recent[at];
            entry.value = value;
            self.cuts.add((entry.point.window - self.origin) as f64, value);
        }
    }

    /// The value of one of the last windows, cut down to the range around it.
    fn without_outlier(&self, at: usize) -> f64 {
        let raw = |at: usize| self.recent.get(at).map(|entry| entry.raw);
        let before = |back: usize| at.checked_sub(back).map_or_else(|| self.before[2 + at - back], raw);
        let around = [before(2), before(1), raw(at + 1), raw(at + 2)];
        let value = self.recent[at].raw;
        let mut known: Vec<f64> = around.iter().flatten().copied().collect();
        if around[1].is_none() || around[2].is_none() {
            return value;
        }
        known.sort_unstable_by(f64::total_cmp);
        // One of four may stick out with it.
        let (lower, upper) = if known.len() == 4 { (1, 2) } else { (0, known.len() - 1) };
        let margin = STICKS_OUT * self.cuts.scale();
        value.clamp(known[lower] - margin, known[upper] + margin)
    }

    /// The earliest of the last windows can only go with what came before it.
    fn absorb(&mut self) {
        let Some(entry) = self.recent.pop_front() else { return };
        self.before = [self.before[1], Some(entry.raw)];
        match &mut self.absorbed {
            Some(piece) => piece.add(&entry),
            None => self.absorbed = Some(Piece::new(&entry)),
        }
    }

    /// Cuts behind this number of last windows.
    fn cut(&mut self, behind: usize) {
        for _ in 0..behind {
            self.absorb();
        }
        let Some(mut piece) = self.absorbed.take() else { return };
        piece.find(self.cuts.scale(), &self.options);
        self.look_at = 2 * self.options.settled_windows;
        match &mut self.open_piece {
            Some(piece_before) if piece_before.goes_on_with(&piece, self.cuts.scale(), &self.options) => {
                piece_before.append(&piece);
            }
            _ => {
                if let Some(piece_before) = self.open_piece.replace(piece) {
                    self.close(&piece_before);
                }
            }
        }
    }

    /// Closes the open piece once it is clear that something else follows.
    fn look_at_held(&mut self) {
        let open = self.absorbed.as_ref().map_or(0, Piece::windows) + self.recent.len() as u64;
        let Some(piece_before) = self.open_piece.as_ref().filter(|_| open >= self.look_at) else { return };
        let first = (self.cuts.first_end() - self.cuts.first()) as usize;
        let mut piece = self.absorbed.clone();
        for entry in self.recent.iter().take(first) {
            match &mut piece {
                Some(piece) => piece.add(entry),
                None => piece = Some(Piece::new(entry)),
            }
        }
        let goes_on =
            piece.is_some_and(|piece| piece_before.goes_on_with(&piece, self.cuts.scale(), &self.options));
        if goes_on {
            self.look_at *= 2;
        } else if let Some(piece_before) = self.open_piece.take() {
            self.close(&piece_before);
        }
    }

    fn close(&mut self, piece: &Piece) {
        self.closed.push(piece.segment(self.cuts.scale(), &self.options));
        if let Some(old) = self.closed.len().checked_sub(WHOLE_SEGMENTS + 1) {
            self.closed[old].thin();
        }
        while self.closed.len() > self.options.most_segments.max(3) {
            self.join_least();
        }
    }

    /// Of the older half of all segments, two that are rest become one, or the one that matters least becomes rest.
    fn join_least(&mut self) {
        let half = &self.closed[..self.closed.len().div_ceil(2).max(2)];
        let are_rest = |pair: &[Segment]| pair.iter().all(|segment| segment.kind == Kind::Rest);
        let at = half.windows(2).position(are_rest).unwrap_or_else(|| {
            let notable = (0..half.len()).filter(|&at| half[at].kind != Kind::Rest);
            let least = notable.min_by_key(|&at| (half[at].tally.delayed, at)).unwrap_or(0);
            self.joined += 1;
            least.min(half.len() - 2)
        });
        let next = self.closed.remove(at + 1);
        self.closed[at].join(next);
    }
}
