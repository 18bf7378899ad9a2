//! Whether the live analysis is postponed: it is for those who look, and the job needs the CPUs when they are short.

use std::time::{Duration, Instant};

/// For this long after somebody looked, it goes on: a page that is loaded again finds everything.
const AFTER_LOOKING: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Postponing {
    is_postponed: bool,
    /// When somebody looked last.
    watched: Option<Instant>,
}

impl Postponing {
    /// Whether it is postponed now. Once it is, only somebody who looks ends it: to begin means to read the log.
    pub(super) fn is_postponed(&mut self, is_watched: bool, is_crowded: bool) -> bool {
        if is_watched {
            self.watched = Some(Instant::now());
        }
        let was_watched = self.watched.is_some_and(|watched| watched.elapsed() < AFTER_LOOKING);
        self.is_postponed = !is_watched && (self.is_postponed || is_crowded && !was_watched);
        self.is_postponed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_looks_ends_it() {
        let mut postponing = Postponing::default();
        assert!(!postponing.is_postponed(false, false), "CPUs are free");
        assert!(postponing.is_postponed(false, true));
        assert!(postponing.is_postponed(false, false), "to begin again costs more");
        assert!(!postponing.is_postponed(true, true));
        assert!(!postponing.is_postponed(false, true), "somebody looked just now");
    }
}
