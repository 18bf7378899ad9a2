//! What the time of a message or collective is made of.

use super::causes::Cause;
use crate::criteria::{Scope, Version};

/// Consecutive pieces that fill a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pieces([(Cause, u64); 4]);

impl Pieces {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cause, u64)> {
        self.0.into_iter().filter(|(_, ns)| *ns > 0)
    }

    /// All of one cause.
    pub(super) fn only(cause: Cause, ns: u64) -> Self {
        Self([(cause, ns), (cause, 0), (cause, 0), (cause, 0)])
    }

    /// What the advised placement would save.
    pub(super) fn saved_ns(&self) -> u64 {
        self.iter().filter(|(cause, _)| *cause == Cause::Saved).map(|(_, ns)| ns).sum()
    }

    /// Its excess over the expected time.
    pub(super) fn excess_ns(&self) -> u64 {
        let is_excess = |cause| matches!(cause, Cause::Excess | Cause::ExcessInside);
        self.iter().filter(|(cause, _)| is_excess(*cause)).map(|(_, ns)| ns).sum()
    }

    /// So much of the excess was for want of a core.
    pub(super) fn without_core(mut self, mut ns: u64) -> Self {
        let total_ns = ns;
        for (cause, of) in &mut self.0 {
            if matches!(cause, Cause::Excess | Cause::ExcessInside) {
                let part_ns = ns.min(*of);
                (*of, ns) = (*of - part_ns, ns - part_ns);
            }
        }
        // The last is only used where nothing is known.
        debug_assert_eq!(self.0[3].1, 0);
        self.0[3] = (Cause::CpuWait, total_ns - ns);
        self
    }

    /// The time of a message: the expected time within a node, the inter-node cost, and the rest. With `saved` the
    /// advised placement would save it the inter-node cost.
    pub(super) fn of_message(version: &Version, inter: bool, saved: bool, bytes: u64, time_ns: u64) -> Self {
        let intra_ns = version.message_ns(Scope::Intra, bytes);
        if !inter {
            let Some(criterion_ns) = intra_ns else { return Self::only(Cause::Unknown, time_ns) };
            let base_ns = time_ns.min(criterion_ns);
            return Self([
                (Cause::Base, base_ns),
                (Cause::ExcessInside, time_ns - base_ns),
                (Cause::Excess, 0),
                (Cause::Unknown, 0),
            ]);
        }
        let Some(criterion_ns) = version.message_ns(Scope::Inter, bytes) else {
            let base_ns = intra_ns.map_or(0, |intra_ns| time_ns.min(intra_ns));
            let unknown = (Cause::Unknown, time_ns - base_ns);
            return Self([(Cause::Base, base_ns), unknown, (Cause::Excess, 0), (Cause::Excess, 0)]);
        };
        let usual_ns = time_ns.min(criterion_ns);
        // Without messages within nodes, the inter-node cost is unknown.
        let base_ns = intra_ns.map_or(usual_ns, |intra_ns| time_ns.min(intra_ns));
        let distance_ns = usual_ns.saturating_sub(base_ns);
        let distance = if saved { Cause::Saved } else { Cause::Distance };
        let excess_ns = time_ns - base_ns - distance_ns;
        Self([
            (Cause::Base, base_ns),
            (distance, distance_ns),
            (Cause::Excess, excess_ns),
            (Cause::Unknown, 0),
        ])
    }

    /// The time of a collective after the last entry that was waited for.
    pub(super) fn of_collective(criterion_ns: Option<u64>, time_ns: u64) -> Self {
        let operation_ns = criterion_ns.map_or(time_ns, |criterion_ns| time_ns.min(criterion_ns));
        Self([
            (Cause::Operation, operation_ns),
            (Cause::Excess, time_ns - operation_ns),
            (Cause::Other, 0),
            (Cause::Unknown, 0),
        ])
    }
}
