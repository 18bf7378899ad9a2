//! The corridor in which the offset of a node runs: intervals at some moments, tightened by each other.
//!
//! An interval carries over to its neighbours at the rate at which the offset can change. That rate is itself bounded
//! by intervals further apart: over ten seconds, two round trips of 20 us leave 4 millionths. What a clock really does
//! wanders with its temperature, so a mean rate over a while bounds the rate within by so much and no better.

use super::interval::{HARD_RATE, Interval, Rate};

/// How far the rate at a moment may be from its mean over a time around it: at once, and more for each second of that
/// time. Crystals in servers change by some tenths of a millionth a degree.
const WANDER: f64 = 2e-6;
const WANDER_A_SECOND: f64 = 0.1e-6;

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
    /// Tightens intervals that are in order of time. A clock that contradicts what is allowed for is allowed more, and
    /// `scale` says how much was needed up to now.
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
        // No clock that keeps to any rate: a virtual machine that was moved, say. Each interval stands for itself.
        let rates = vec![Rate::HARD; slots.len().saturating_sub(1)];
        Self { points: slots.to_vec(), rates, scale }
    }

    pub(super) fn scale(&self) -> u32 {
        self.scale
    }

    pub(super) fn points(&self) -> &[Interval] {
        &self.points
    }

    /// The moments of the points after one moment and before another.
    pub(super) fn between(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = u64> + '_ {
        let begin = self.points.partition_point(|point| point.at_ns <= from_ns);
        self.points[begin..].iter().map(|point| point.at_ns).take_while(move |&at_ns| at_ns < to_ns)
    }

    /// The offset at a moment; none when there are no points.
    pub(super) fn at(&self, local_ns: u64) -> Option<Interval> {
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

    /// The rate at the last point.
    pub(super) fn last_rate(&self) -> Rate {
        self.rates.last().copied().unwrap_or(Rate::HARD)
    }

    /// By how much the offset changes at least and at most from one moment to a later one.
    pub(super) fn change(&self, from_ns: u64, to_ns: u64) -> (i64, i64) {
        let (mut least_ns, mut most_ns, mut at_ns) = (0_i64, 0_i64, from_ns);
        let mut next = self.points.partition_point(|point| point.at_ns <= from_ns);
        while at_ns < to_ns {
            let until_ns = self.points.get(next).map_or(to_ns, |point| point.at_ns.min(to_ns));
            let rate = match next.checked_sub(1) {
                None => self.rate_beyond(self.rates.first(), until_ns - at_ns),
                Some(before) => {
                    let inside = self.rates.get(before).copied();
                    inside.unwrap_or_else(|| self.rate_beyond(self.rates.last(), until_ns - at_ns))
                }
            };
            let (least, most) = rate.change(until_ns - at_ns);
            (least_ns, most_ns) = (least_ns.saturating_add(least), most_ns.saturating_add(most));
            (at_ns, next) = (until_ns, next + 1);
        }
        (least_ns, most_ns)
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
        // Further away, the wander alone says less than what is known.
        if by > rate.high - rate.low || (from == 0 && to == points.len() - 1) {
            return rate;
        }
        reach = (reach * 2).max(1);
    }
}
