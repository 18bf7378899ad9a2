//! What is certain of an offset at one moment, and how it carries over to other moments.

/// No clock that anyone disciplines goes faster or slower by more than this: the kernel allows no more.
pub(super) const HARD_RATE: f64 = 500e-6;

/// The bound from a round trip between a node and the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// The node's clock in its middle.
    pub local_ns: u64,
    /// What is to be added to the node's clock to get the reference's, at that moment.
    pub offset_ns: i64,
    /// Half of what it took. The true offset is no further away.
    pub uncertainty_ns: u64,
}

/// Bounds of the rate at which an offset changes, in nanoseconds a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rate {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Rate {
    pub(super) const HARD: Self = Self { low: -HARD_RATE, high: HARD_RATE };

    pub(super) fn widened(&self, by: f64) -> Self {
        Self { low: (self.low - by).max(-HARD_RATE), high: (self.high + by).min(HARD_RATE) }
    }

    /// What both allow; none when they exclude each other.
    pub(super) fn both(&self, other: &Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// The least and the greatest change of the offset in this time; rounded outward.
    pub(super) fn change(&self, span_ns: u64) -> (i64, i64) {
        let span = span_ns as f64;
        ((self.low * span).floor() as i64, (self.high * span).ceil() as i64)
    }
}

/// An offset that is certain to lie between two values when the node's clock shows `at_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) at_ns: u64,
    pub(super) low_ns: i64,
    pub(super) high_ns: i64,
}

impl Interval {
    pub(super) fn from_trip(trip: &RoundTrip) -> Self {
        // While it was under way, the offset itself changed a little.
        let half = trip.uncertainty_ns.saturating_add(trip.uncertainty_ns / 1_000).saturating_add(1);
        Self {
            at_ns: trip.local_ns,
            low_ns: trip.offset_ns.saturating_sub_unsigned(half),
            high_ns: trip.offset_ns.saturating_add_unsigned(half),
        }
    }

    pub(super) fn width_ns(&self) -> u64 {
        self.high_ns.abs_diff(self.low_ns)
    }

    pub(super) fn middle_ns(&self) -> i64 {
        self.low_ns + (self.high_ns.saturating_sub(self.low_ns)) / 2
    }

    /// Its bound at another moment.
    pub(super) fn moved(&self, to_ns: u64, rate: &Rate) -> Self {
        let (low_ns, high_ns) = if to_ns >= self.at_ns {
            let (least_ns, most_ns) = rate.change(to_ns - self.at_ns);
            (self.low_ns.saturating_add(least_ns), self.high_ns.saturating_add(most_ns))
        } else {
            let (least_ns, most_ns) = rate.change(self.at_ns - to_ns);
            (self.low_ns.saturating_sub(most_ns), self.high_ns.saturating_sub(least_ns))
        };
        Self { at_ns: to_ns, low_ns, high_ns }
    }

    /// The intersection of both; none when they exclude each other.
    pub(super) fn both(&self, other: &Self) -> Option<Self> {
        let (low_ns, high_ns) = (self.low_ns.max(other.low_ns), self.high_ns.min(other.high_ns));
        (low_ns <= high_ns).then_some(Self { at_ns: self.at_ns, low_ns, high_ns })
    }

    /// Two intervals of about one time as one, at the moment of the narrower, where little has to be carried over.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let (narrow, wide) = if self.width_ns() <= other.width_ns() { (self, other) } else { (other, self) };
        narrow.both(&wide.moved(narrow.at_ns, &Rate::HARD)).unwrap_or(*narrow)
    }
}
