//! Messages of a window, counted. Sums are of whole numbers, so that they are the same in whatever order they are added.

/// A message that takes exactly what is usual counts as so much.
const ONE: u64 = 1 << 16;

/// Messages within a region, or between two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All that were received.
    pub messages: u64,
    /// Of them, those whose time is known exactly, and what such messages usually take.
    pub exact: u64,
    /// Of the exact ones, those that took longer than usual.
    pub delayed: u64,
    /// The sum of how many times as long as usual they took, in parts of `ONE`.
    latency: u64,
}

impl Tally {
    /// A message that was received.
    #[inline]
    pub fn message(&mut self) {
        self.messages += 1;
    }

    /// It took so long, where it usually takes so long.
    #[inline]
    pub fn exact(&mut self, took_ns: u64, usual_ns: u64) {
        self.exact += 1;
        self.delayed += u64::from(took_ns > usual_ns);
        // Longer than 78 hours is as long as that.
        let latency = (took_ns.min(u64::MAX / ONE) * ONE) / usual_ns.max(1);
        self.latency = self.latency.saturating_add(latency);
    }

    /// Adds those of another worker, or window.
    pub fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.exact += other.exact;
        self.delayed += other.delayed;
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
                tally.exact(took_ns, usual_ns);
            }
            tally
        };
        let whole = sum(&messages);
        let (mut one, other) = (sum(&messages[3..]), sum(&messages[..3]));
        one.merge(&other);
        assert_eq!(one, whole);
        assert_eq!((whole.messages, whole.exact, whole.delayed), (6, 6, 4));
        let some = sum(&messages[..2]);
        assert_eq!((some.latency(), some.exact_share()), (Some(1.75), 1.0));
        assert_eq!(Tally::default().latency(), None);
    }
}
