//! The criteria of a run as they are learnt, and the version that each window uses.

use crate::criteria::{Criteria, Reference, Version};
use mpiscope_model::Nanoseconds;
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct CriteriaHistory {
    pub(super) learning: Criteria,
    /// Criteria by the time from which they apply; there is always one.
    versions: VecDeque<(Nanoseconds, Arc<Version>)>,
    /// Whether one given version applies throughout.
    is_fixed: bool,
    /// What the learnt criteria are merged with.
    reference: Reference,
}

impl CriteriaHistory {
    pub(super) fn new() -> Self {
        Self {
            learning: Criteria::default(),
            versions: VecDeque::from([(0, Arc::default())]),
            is_fixed: false,
            reference: Reference::None,
        }
    }

    /// Applies a version throughout.
    pub(super) fn fix(&mut self, version: Version) {
        self.versions = VecDeque::from([(0, Arc::new(version))]);
        self.is_fixed = true;
    }

    /// Merges the learnt criteria with these, from a time on.
    pub(super) fn refer_to(&mut self, reference: Reference, from_ns: Nanoseconds) {
        self.reference = reference;
        if !self.is_fixed {
            self.renew(from_ns);
        }
    }

    /// A window has ended: its samples count from then on. Versions that no pending call needs are dropped.
    pub(super) fn close(&mut self, until_ns: Nanoseconds, oldest_ns: Nanoseconds) {
        if !self.is_fixed && self.learning.settle() {
            self.renew(until_ns);
        }
        while self.versions.len() > 2 && self.versions[2].0 <= oldest_ns {
            self.versions.remove(1);
        }
    }

    fn renew(&mut self, from_ns: Nanoseconds) {
        self.versions.push_back((from_ns, Arc::new(self.reference.with(self.learning.version()))));
    }

    pub(super) fn newest(&self) -> &Version {
        let newest = self.versions.back().map(|(_, version)| &**version);
        newest.unwrap_or_else(|| unreachable!("one is always there"))
    }

    /// The version that applied at a time.
    pub(super) fn version_at(&self, time_ns: Nanoseconds) -> Arc<Version> {
        let found = self.versions.iter().rev().find(|(from_ns, _)| *from_ns <= time_ns);
        Arc::clone(&found.unwrap_or(&self.versions[0]).1)
    }
}
