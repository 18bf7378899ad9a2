//! Counts of the messages of a window. Sums are of whole numbers: their order does not matter.

use mpiscope_model::MessageTime;

/// A message with exactly the expected time counts as this.
const ONE: u64 = 1 << 16;

/// Messages within a region, or between two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All that were received.
    pub messages: u64,
    /// Those with an exact transfer time, and their expected transfer times.
    pub exact: u64,
    /// Of the exact ones, those that took longer than is normal.
    pub delayed: u64,
    /// Of the exact ones, those that took longer than expected.
    pub above_expected: u64,
    /// The sum of how many times as long as usual they took, in parts of `ONE`.
    latency: u64,
}

mpiscope_model::numbers! { Tally { messages, exact, delayed, above_expected, latency } }

impl Tally {
    /// A message that was received.
    #[inline]
    pub fn message(&mut self) {
        self.messages += 1;
    }

    /// It took this long, with this expected transfer time.
    #[inline]
    pub fn exact(&mut self, time: MessageTime) {
        self.exact += 1;
        self.delayed += u64::from(time.is_delayed());
        self.above_expected += u64::from(time.is_above_expected());
        // Longer than 78 hours is as long as that.
        let latency = (time.took_ns.min(u64::MAX / ONE) * ONE) / time.expected_ns.max(1);
        self.latency = self.latency.saturating_add(latency);
    }

    /// Adds those of another worker, or window.
    pub fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.exact += other.exact;
        self.delayed += other.delayed;
        self.above_expected += other.above_expected;
        self.latency = self.latency.saturating_add(other.latency);
    }

    /// How many times as long as usual the exact ones took on average: the region's latency. None where there are none.
    #[must_use]
    pub fn latency(&self) -> Option<f64> {
        (self.exact > 0).then(|| self.latency as f64 / ONE as f64 / self.exact as f64)
    }

    /// The share of exact ones among all.
    #[must_use]
    pub fn exact_share(&self) -> f64 {
        self.exact as f64 / self.messages.max(1) as f64
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_messages_does_not_matter_and_nothing_overflows() {
        let messages = [(300, 100), (50, 100), (7, 3), (100, 100), (1, 0), (u64::MAX, 1 << 40)];
        let sum = |of: &[(u64, u64)]| {
            let mut tally = Tally::default();
            for &(took_ns, usual_ns) in of {
                tally.message();
                tally.exact(MessageTime { took_ns, expected_ns: usual_ns, normal_ns: 3 * usual_ns });
            }
            tally
        };
        let whole = sum(&messages);
        let (mut one, other) = (sum(&messages[3..]), sum(&messages[..3]));
        one.merge(&other);
        assert_eq!(one, whole);
        assert_eq!((whole.messages, whole.exact, whole.delayed, whole.above_expected), (6, 6, 2, 4));
        let some = sum(&messages[..2]);
        assert_eq!((some.latency(), some.exact_share()), (Some(1.75), 1.0));
        assert_eq!(Tally::default().latency(), None);
    }
}
