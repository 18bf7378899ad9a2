//! How much of a run was recorded. Findings are shares of that.

use crate::ending::MOST_MISSING;
use mpiscope_model::{Gap, Nanoseconds};

/// From when on a run was seen, and when not.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedTime {
    /// Nothing is known of what came before.
    pub(crate) from_ns: Nanoseconds,
    /// Recording was off.
    pub(crate) gaps: Vec<Gap>,
    /// The share of its calls that were lost.
    pub(crate) lost_share: f64,
}

impl RecordedTime {
    /// Which share of all calls was lost.
    pub(super) fn share(lost: u64, seen: u64) -> f64 {
        lost as f64 / lost.saturating_add(seen).max(1) as f64
    }

    /// What is left of a confidence where calls were lost: nothing where there is no verdict any more.
    pub(super) fn sure(&self, confidence: f64) -> f64 {
        confidence * (1.0 - self.lost_share / MOST_MISSING).max(0.0)
    }

    /// How much of a stretch was.
    pub(super) fn length_ns(&self, from_ns: Nanoseconds, to_ns: Nanoseconds) -> u64 {
        recorded_ns(self.gaps.iter().copied(), from_ns.max(self.from_ns), to_ns)
    }
}

/// How much of a stretch was recorded, where recording was off in these gaps.
#[must_use]
pub fn recorded_ns(gaps: impl IntoIterator<Item = Gap>, from_ns: Nanoseconds, to_ns: Nanoseconds) -> u64 {
    let off_ns = gaps.into_iter().map(|gap| {
        let until_ns = gap.until_ns.unwrap_or(Nanoseconds::MAX).min(to_ns);
        until_ns.saturating_sub(gap.from_ns.max(from_ns))
    });
    to_ns.saturating_sub(from_ns).saturating_sub(off_ns.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_off_was_not_seen() {
        let gap = |from_ns, until_ns| Gap { from_ns, until_ns };
        let seen = RecordedTime {
            from_ns: 10,
            gaps: vec![gap(0, Some(15)), gap(40, Some(50)), gap(90, None)],
            lost_share: 0.0,
        };
        assert_eq!(seen.length_ns(0, 100), 65);
        assert_eq!((seen.length_ns(45, 60), seen.length_ns(41, 49), seen.length_ns(95, 99)), (10, 0, 0));
        assert_eq!(RecordedTime::default().length_ns(3, 10), 7);
    }

    #[test]
    fn what_was_lost_is_a_share_of_all() {
        assert_eq!(
            (RecordedTime::share(0, 0), RecordedTime::share(3, 1), RecordedTime::share(5, 0)),
            (0.0, 0.75, 1.0)
        );
        let seen = |lost, calls| RecordedTime {
            lost_share: RecordedTime::share(lost, calls),
            ..RecordedTime::default()
        };
        assert_eq!(
            (seen(0, 900).sure(0.8), seen(50, 950).sure(0.8), seen(900, 100).sure(0.8)),
            (0.8, 0.4, 0.0)
        );
    }
}
