//! What holds while a window is settled: all that earlier windows taught, the same for all shards.

use super::course::CourseView;
use super::sums::Limits;
use super::versions::Versions;
use crate::evolution::RegionOfRank;
use mpiscope_model::{Nanoseconds, Node};
use std::sync::Arc;

/// What earlier windows taught.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    /// The criteria of each window.
    pub(super) versions: Versions,
    pub(super) course: CourseView,
    /// From which octave of sizes on blocking sends wait for their receives.
    pub(super) blocks_from_octave: Option<u32>,
    /// A better placement.
    pub(super) advised: Option<Arc<[Node]>>,
    /// Regions that are given, and from when on.
    pub(super) regions: Option<(Nanoseconds, Arc<RegionOfRank>)>,
    /// Up to here windows are final.
    pub(super) final_ns: Nanoseconds,
    /// How much memory sums may take.
    pub(super) limits: Limits,
}

mpiscope_model::numbers! {
    Knowledge { versions, course, blocks_from_octave, advised, regions, final_ns, limits }
}
