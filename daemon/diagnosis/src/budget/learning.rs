//! What windows teach those after them: criteria, from which size on sends block, and the course of the run.

use super::course::Course;
use super::knowledge::Knowledge;
use super::observation::{Observation, Observed};
use super::thresholds::Thresholds;
use super::versions::Versions;
use super::work::Work;
use crate::criteria::{Criteria, Reference, Version};
use mpiscope_model::Nanoseconds;

/// Learns from what calls showed.
#[derive(Debug)]
pub(super) struct Learning {
    pub(super) criteria: Criteria,
    /// Whether one given version applies throughout.
    is_fixed: bool,
    /// What the learnt criteria are merged with.
    reference: Reference,
    thresholds: Thresholds,
    pub(super) course: Course,
}

impl Learning {
    pub(super) fn new(window_ns: u64) -> Self {
        Self {
            criteria: Criteria::default(),
            is_fixed: false,
            reference: Reference::None,
            thresholds: Thresholds::default(),
            course: Course::new(window_ns),
        }
    }

    /// Applies a version throughout.
    pub(super) fn fix(&mut self, version: Version, knowledge: &mut Knowledge) {
        knowledge.versions = Versions::only(version);
        self.is_fixed = true;
    }

    /// Merges the learnt criteria with these, from a time on.
    pub(super) fn refer_to(&mut self, reference: Reference, from_ns: Nanoseconds, knowledge: &mut Knowledge) {
        self.reference = reference;
        if !self.is_fixed {
            self.renew(from_ns, knowledge);
        }
    }

    /// Uses the course of an earlier pass.
    pub(super) fn follow_course(&mut self, course: Course, knowledge: &mut Knowledge) {
        self.course = course;
        knowledge.course = self.course.view();
    }

    /// What calls of a thread showed in the window at hand.
    pub(super) fn take(&mut self, observed: &Observed) {
        observed.all.iter().for_each(|observation| self.observe(observation));
    }

    fn observe(&mut self, observation: &Observation) {
        match *observation {
            Observation::Message { scope, bytes, took_ns, ratio } => {
                self.criteria.message(scope, bytes, took_ns);
                if let Some(ratio) = ratio {
                    self.criteria.ratio(scope, bytes, ratio);
                }
            }
            Observation::Collective { key, took_ns } => self.criteria.collective(key, took_ns),
            Observation::LateReceive { bytes, has_waited } => self.thresholds.learn(bytes, has_waited),
            Observation::Flight { at_ns, bytes, took_ns } => self.course.message(at_ns, bytes, took_ns),
            Observation::Arrived { at_ns, bytes, at_most_ns } => {
                self.course.arrived(at_ns, bytes, at_most_ns);
            }
            Observation::Part { at_ns, key, took_ns } => self.course.collective(at_ns, key, took_ns),
        }
    }

    /// The window has ended: what it taught holds for those after it. Calls that ended before `oldest_ns` are settled.
    pub(super) fn close(
        &mut self,
        until_ns: Nanoseconds,
        oldest_ns: Nanoseconds,
        work: &Work,
        knowledge: &mut Knowledge,
    ) {
        knowledge.blocks_from_octave = self.thresholds.settle();
        self.course.close(until_ns, work);
        knowledge.course = self.course.view();
        if !self.is_fixed && self.criteria.settle() {
            self.renew(until_ns, knowledge);
        }
        knowledge.versions.forget(oldest_ns);
    }

    fn renew(&mut self, from_ns: Nanoseconds, knowledge: &mut Knowledge) {
        knowledge.versions.add(from_ns, self.reference.with(self.criteria.version()));
    }
}
