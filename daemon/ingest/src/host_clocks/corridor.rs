//! The corridor in which the offset of a node runs: intervals at some moments, tightened by each other.
//!
//! An interval carries over to its neighbours at the rate at which the offset can change. Intervals further apart
//! bound that rate: over ten seconds, two round trips of 20 us leave 4 millionths. A real clock wanders with its
//! temperature: the mean rate over a while bounds the rate within only up to that.

use super::interval::{HARD_RATE, Interval, Rate};

/// How far the rate at a moment may be from its mean over a time around it: at once, and more for each second of that
/// time. Crystals in servers change by some tenths of a millionth a degree.
const WANDER: f64 = 2e-6;
const WANDER_A_SECOND: f64 = 0.1e-6;

/// Points over which the rate is evened out.
const MEAN_POINTS: usize = 32;

/// How often rates and intervals tighten each other.
const ROUNDS: u32 = 2;

/// How far a rate may be from its mean over so much time; `scale` grows for a clock that is seen to do worse.
fn wander(span_ns: u64, scale: u32) -> f64 {
    f64::from(scale) * (WANDER + WANDER_A_SECOND * span_ns as f64 / 1e9)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Corridor {
    points: Vec<Interval>,
    /// Between each two points.
    rates: Vec<Rate>,
    scale: u32,
}

impl Corridor {
    /// Tightens intervals that are in order of time. A clock that leaves the allowed rates gets wider ones; `scale` is
    /// the widening so far.
    pub(super) fn new(slots: &[Interval], scale: u32) -> Self {
        let mut scale = scale.max(1);
        loop {
            if let Some((points, rates)) = tightened(slots, scale) {
                return Self { points, rates, scale };
            }
            if f64::from(scale) * WANDER > 2.0 * HARD_RATE {
                break;
            }
            scale *= 2;
        }
        // A clock without a steady rate, as of a virtual machine that was moved. Each interval stands for itself.
        let rates = vec![Rate::HARD; slots.len().saturating_sub(1)];
        Self { points: slots.to_vec(), rates, scale }
    }

    pub(super) fn scale(&self) -> u32 {
        self.scale
    }

    pub(super) fn points(&self) -> &[Interval] {
        &self.points
    }

    /// The offset at a moment; none when there are no points.
    pub(super) fn interval_at(&self, local_ns: u64) -> Option<Interval> {
        let after = self.points.partition_point(|point| point.at_ns <= local_ns);
        let before = after.checked_sub(1).map(|before| &self.points[before]);
        match (before, self.points.get(after)) {
            (Some(before), Some(next)) => {
                let rate = &self.rates[after - 1];
                let (forward, backward) = (before.moved(local_ns, rate), next.moved(local_ns, rate));
                Some(forward.both(&backward).unwrap_or(forward))
            }
            (Some(last), None) => {
                let rate = self.rate_beyond(self.rates.last(), local_ns - last.at_ns);
                Some(last.moved(local_ns, &rate))
            }
            (None, Some(first)) => {
                let rate = self.rate_beyond(self.rates.first(), first.at_ns - local_ns);
                Some(first.moved(local_ns, &rate))
            }
            (None, None) => None,
        }
    }

    /// The rate beyond the first or the last point, up to a moment so far away.
    fn rate_beyond(&self, nearest: Option<&Rate>, span_ns: u64) -> Rate {
        nearest.map_or(Rate::HARD, |rate| rate.widened(wander(span_ns, self.scale)))
    }

    /// The likeliest rate at the last point: the mean over some points before it, as far as that can be.
    pub(super) fn last_rate(&self) -> f64 {
        let (Some(last), Some(rate)) = (self.points.last(), self.rates.last()) else { return 0.0 };
        let before = &self.points[self.points.len().saturating_sub(MEAN_POINTS)];
        let change_ns = last.middle_ns().saturating_sub(before.middle_ns());
        (change_ns as f64 / (last.at_ns - before.at_ns) as f64).clamp(rate.low, rate.high)
    }

    /// The rate from one moment to a later one, between which there is no point. `next` is the number of the first point
    /// after the earlier one.
    pub(super) fn rate(&self, next: usize, span_ns: u64) -> Rate {
        let inside = next.checked_sub(1).and_then(|before| self.rates.get(before)).copied();
        let end = if next == 0 { self.rates.first() } else { self.rates.last() };
        inside.unwrap_or_else(|| self.rate_beyond(end, span_ns))
    }
}

/// Intervals after carrying each over to all others, and the rates between them; none when they contradict each other.
fn tightened(slots: &[Interval], scale: u32) -> Option<(Vec<Interval>, Vec<Rate>)> {
    let mut points = slots.to_vec();
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        rates =
            (1..points.len()).map(|end| rate_between(&points, end - 1, end, scale)).collect::<Vec<Rate>>();
        for at in 1..points.len() {
            points[at] = points[at].both(&points[at - 1].moved(points[at].at_ns, &rates[at - 1]))?;
        }
        for at in (1..points.len()).rev() {
            points[at - 1] = points[at - 1].both(&points[at].moved(points[at - 1].at_ns, &rates[at - 1]))?;
        }
    }
    Some((points, rates))
}

/// The rate between two neighbours, from pairs of points around them that are further and further apart. A pair that
/// contradicts nearer ones is left out: then the clock wanders more than is allowed for over that much time.
fn rate_between(points: &[Interval], begin: usize, end: usize, scale: u32) -> Rate {
    let mut rate = Rate::HARD;
    let mut reach = 0;
    loop {
        let (from, to) = (begin.saturating_sub(reach), (end + reach).min(points.len() - 1));
        let (first, last) = (&points[from], &points[to]);
        let span_ns = last.at_ns - first.at_ns;
        let mean = Rate {
            low: last.low_ns.saturating_sub(first.high_ns) as f64 / span_ns as f64,
            high: last.high_ns.saturating_sub(first.low_ns) as f64 / span_ns as f64,
        };
        let by = wander(span_ns, scale);
        let mean = Rate { low: mean.low - by, high: mean.high + by };
        rate = rate.both(&mean).unwrap_or(rate);
        // Further away, the wander alone gives a wider bound than the one in hand.
        if by > rate.high - rate.low || (from == 0 && to == points.len() - 1) {
            return rate;
        }
        reach = (reach * 2).max(1);
    }
}
