//! What pages may ask about a run: its rows, its call sites, its layouts.

use crate::layout_file::LayoutFilePath;
use crate::segment_cache::SegmentCache;
use crate::sites::SiteList;
use mpiscope_layout::SiteDescription;
use mpiscope_model::{Call, Message};
use mpiscope_placement::Placements;
use mpiscope_recording::Recording;
use std::path::Path;
use std::sync::Arc;

/// Rows that stay in memory for those who look back: of calls, and as many of messages.
pub const CACHE_BYTES: usize = 96 << 20;

/// What can be asked about a run.
#[derive(Debug, Clone)]
pub struct RunData {
    /// Its calls.
    pub calls: SegmentCache<Call>,
    /// Its messages.
    pub messages: SegmentCache<Message>,
    /// Its call sites.
    pub sites: SiteList,
    /// Where its ranks had better be.
    pub placements: Placements,
    /// The layout file of the user, if any.
    pub layout: Option<LayoutFilePath>,
    /// What the site says of its machine.
    pub site: Arc<SiteDescription>,
}

impl RunData {
    /// What is in segments under this folder, with its times as they were recorded.
    #[must_use]
    pub fn new(dir: &Path, cache_bytes_max: usize, placements: Placements) -> Self {
        let calls = SegmentCache::new(dir.to_path_buf(), cache_bytes_max);
        let messages = SegmentCache::new(dir.to_path_buf(), cache_bytes_max);
        Self { calls, messages, sites: SiteList::default(), placements, layout: None, site: Arc::default() }
    }

    /// What is in the segments of a recording.
    #[must_use]
    pub fn of_recording(recording: &Recording, cache_bytes_max: usize, placements: Placements) -> Self {
        let reader = || recording.segment_reader();
        let calls = SegmentCache::from_reader(reader(), recording.call_segments(), cache_bytes_max);
        let messages = SegmentCache::from_reader(reader(), recording.message_segments(), cache_bytes_max);
        Self { calls, messages, sites: SiteList::default(), placements, layout: None, site: Arc::default() }
    }

    /// With what the site says of its machine.
    #[must_use]
    pub fn with_site(self, site: SiteDescription) -> Self {
        Self { site: Arc::new(site), ..self }
    }

    /// With layouts of the user.
    #[must_use]
    pub fn with_layout(self, layout: Option<LayoutFilePath>) -> Self {
        Self { layout, ..self }
    }
}
