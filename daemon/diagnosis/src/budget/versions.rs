//! The version of the criteria that each window uses.

use crate::criteria::Version;
use mpiscope_model::Nanoseconds;
use std::collections::VecDeque;
use std::sync::Arc;

/// Criteria by the time from which they apply; there is always one.
#[derive(Debug, Clone)]
pub(super) struct Versions(VecDeque<(Nanoseconds, Arc<Version>)>);

mpiscope_model::numbers! { Versions(all) }

impl Default for Versions {
    fn default() -> Self {
        Self(VecDeque::from([(0, Arc::default())]))
    }
}

impl Versions {
    /// One that applies throughout.
    pub(super) fn only(version: Version) -> Self {
        Self(VecDeque::from([(0, Arc::new(version))]))
    }

    /// A version that applies from a time on.
    pub(super) fn add(&mut self, from_ns: Nanoseconds, version: Version) {
        self.0.push_back((from_ns, Arc::new(version)));
    }

    /// Drops those that no call needs any more that ended after a time.
    pub(super) fn forget(&mut self, oldest_ns: Nanoseconds) {
        while self.0.len() > 2 && self.0[2].0 <= oldest_ns {
            self.0.remove(1);
        }
    }

    pub(super) fn newest(&self) -> &Version {
        let newest = self.0.back().map(|(_, version)| &**version);
        newest.unwrap_or_else(|| unreachable!("one is always there"))
    }

    /// The version that applied at a time.
    pub(super) fn version_at(&self, time_ns: Nanoseconds) -> Arc<Version> {
        let found = self.0.iter().rev().find(|(from_ns, _)| *from_ns <= time_ns);
        Arc::clone(&found.unwrap_or(&self.0[0]).1)
    }
}
