//! What a shard hands over to another while a window is settled: the paths of calls whose other side is there, and who
//! entered which collective.

use super::collectives::Entries;
use super::settled_calls::Passed;
use mpiscope_model::Rank;

/// The path to a call that another shard's call waits for.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathTo {
    pub(super) rank: Rank,
    pub(super) thread: u16,
    pub(super) call: Passed,
}

mpiscope_model::numbers! { PathTo { rank, thread, call } }

/// All that goes to one shard at once. The order in which these come in does not matter.
#[derive(Debug, Clone, Default)]
pub struct Pushes {
    pub(super) paths: Vec<PathTo>,
    pub(super) collectives: Vec<Entries>,
}

mpiscope_model::numbers! { Pushes { paths, collectives } }

impl Pushes {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.collectives.is_empty()
    }
}
