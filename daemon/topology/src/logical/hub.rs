//! A collective, as the events of a stretch refer to it.

use mpiscope_model::Flow;
use std::ops::Range;

/// A collective among those of the stretch.
#[derive(Debug, Clone)]
pub(super) struct Hub {
    pub(super) flow: Flow,
    /// The place of the root.
    pub(super) root: Option<u32>,
    /// Its places.
    pub(super) places: Range<u32>,
}
