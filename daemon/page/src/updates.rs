//! What was added to the page's timeline since it was last told.

use mpiscope_engine::WindowCell;
use mpiscope_feed::TimelineIncrement;
use mpiscope_model::Function;
use rustc_hash::FxHashMap;

/// What was added since it was last taken.
pub struct Increments {
    window_ns: u64,
    calls: FxHashMap<(u64, Function), u64>,
}

impl Increments {
    /// Nothing yet, for windows of this length.
    #[must_use]
    pub fn new(window_ns: u64) -> Self {
        Self { window_ns: window_ns.max(1), calls: FxHashMap::default() }
    }

    /// Takes in what was counted for the recording's windows; the page wants all ranks together.
    pub fn add(&mut self, cells: &[WindowCell]) {
        for ((window, _, function), totals) in cells {
            *self.calls.entry((*window, *function)).or_default() += totals.calls;
        }
    }

    /// What was added since this was last asked.
    pub fn take(&mut self) -> Vec<TimelineIncrement> {
        let increment = |((window, function), calls)| TimelineIncrement {
            start_ns: window * self.window_ns,
            function,
            calls,
        };
        std::mem::take(&mut self.calls).into_iter().map(increment).collect()
    }
}
