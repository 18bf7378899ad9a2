//! The final clock of one node.

use mpiscope_model::{Correction, Nanoseconds, Node};

/// The clock of one node in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeMap {
    /// The node.
    pub node: Node,
    /// How far its clock is ahead of the reference's at the start of the run.
    pub ahead_ns: i64,
    /// How much faster it goes on the whole, in parts per billion.
    pub faster_ppb: f64,
    /// The correction of published times.
    pub correction: Correction,
    /// How far corrected times are from the truth at most, each from a time on.
    pub uncertainties: Vec<(Nanoseconds, u64)>,
    /// The time between its first and its last round trip.
    pub(super) known_ns: (Nanoseconds, Nanoseconds),
}

impl NodeMap {
    /// The greatest error of a published time after correction.
    #[must_use]
    pub fn uncertainty_at(&self, told_ns: Nanoseconds) -> u64 {
        let after = self.uncertainties.partition_point(|&(from_ns, _)| from_ns <= told_ns);
        self.uncertainties.get(after.saturating_sub(1)).map_or(0, |&(_, uncertainty_ns)| uncertainty_ns)
    }

    /// The most that any time between its first and its last round trip is from the truth.
    #[must_use]
    pub fn uncertainty_ns(&self) -> u64 {
        let (begin_ns, end_ns) = self.known_ns;
        let first = self.uncertainties.partition_point(|&(from_ns, _)| from_ns <= begin_ns).saturating_sub(1);
        let inside = self.uncertainties[first..].iter().take_while(|&&(from_ns, _)| from_ns <= end_ns);
        inside.map(|&(_, uncertainty_ns)| uncertainty_ns).max().unwrap_or(0)
    }
}
