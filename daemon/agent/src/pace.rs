//! When an agent looks at its rings: often while ranks come and rings fill, and else as rarely as it may.

use std::time::{Duration, Instant};

/// New ring files are looked for so often while ranks gather, and when none has come for a while.
const SCAN_EVERY: Duration = Duration::from_millis(10);
const SCAN_FOR_MORE_EVERY: Duration = Duration::from_millis(25);
pub(super) const GATHERING: Duration = Duration::from_secs(2);

/// What decides when the next pass is.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Whether a writer has called since the last pass.
    is_called: bool,
    /// Whether one has that may not be known yet.
    is_expecting: bool,
    passed: Option<Instant>,
    /// When the last ring file was found.
    found: Option<Instant>,
}

impl Pace {
    pub(super) fn is_called(&self) -> bool {
        self.is_called
    }

    /// A writer has called, perhaps one that is not known yet.
    pub(super) fn call(&mut self) {
        self.is_called = true;
    }

    /// A ring file was found at this moment.
    pub(super) fn find(&mut self, at: Instant) {
        self.found = Some(at);
    }

    /// A pass begins. Says how often to look for new ring files.
    pub(super) fn begin_pass(&mut self) -> Duration {
        self.passed = Some(Instant::now());
        self.is_expecting |= std::mem::take(&mut self.is_called);
        if self.is_hurried() { SCAN_EVERY } else { SCAN_FOR_MORE_EVERY }
    }

    /// A scan begins: the ring file of whoever called until now will be found.
    pub(super) fn begin_scan(&mut self) {
        self.is_expecting = false;
    }

    /// How long to rest at the most until the next pass, if what is little may wait for so long.
    pub(super) fn left(&self, most: Duration) -> Duration {
        self.passed.map_or(Duration::ZERO, |passed| self.patience(most).saturating_sub(passed.elapsed()))
    }

    /// Whether what is little has waited for long enough.
    pub(super) fn is_over(&self, most: Duration) -> bool {
        self.passed.is_none_or(|passed| passed.elapsed() >= self.patience(most))
    }

    /// Not longer than new ring files are to be looked for.
    fn patience(&self, most: Duration) -> Duration {
        if self.is_hurried() { most.min(SCAN_EVERY) } else { most }
    }

    /// Whether ranks are still to come or came just now, or one called that may not be known yet.
    fn is_hurried(&self) -> bool {
        self.is_expecting || self.found.is_none_or(|found| found.elapsed() < GATHERING)
    }
}
