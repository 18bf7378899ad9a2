//! What holds while a window is settled: all that earlier windows taught, the same for all shards.

use super::course::CourseView;
use super::versions::Versions;
use mpiscope_model::Node;
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
}
