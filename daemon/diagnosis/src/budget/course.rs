//! The course of a run as seen by a first pass: when there was network contention, and which ranks had more to compute.
//! The last pass assesses each moment by the time before and after it. Until then only the past counts.

use super::measure::{Measure, UsualTimes};
use super::quiet::{Hindrance, Kind, Longer, RatioCounts, Stretch};
use super::work::{Uneven, Work};
use crate::criteria::{CollectiveKey, Version};
use mpiscope_model::{Function, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Kinds of collectives that are counted separately.
const MOST_COLLECTIVES: usize = 1_024;

/// What was seen of it.
#[derive(Debug, Clone)]
pub struct Course {
    seen: RatioCounts,
    messages: Measure,
    collectives: FxHashMap<CollectiveKey, Measure>,
    view: CourseView,
    /// Number of windows at the last assessment of the network.
    windows: u64,
    assessed_windows: u64,
}

/// What calls are assessed by while a window is settled.
#[derive(Debug, Clone, Default)]
pub(super) struct CourseView {
    messages: UsualTimes,
    collectives: Arc<FxHashMap<CollectiveKey, UsualTimes>>,
    hindrance: Arc<Hindrance>,
    uneven: Arc<Uneven>,
    /// It was seen in an earlier pass.
    is_given: bool,
}

mpiscope_model::numbers! { CourseView { messages, collectives, hindrance, uneven, is_given } }

impl Course {
    pub(super) fn new(width_ns: u64) -> Self {
        Self {
            seen: RatioCounts::new(width_ns),
            messages: Measure::default(),
            collectives: FxHashMap::default(),
            view: CourseView::default(),
            windows: 0,
            assessed_windows: 0,
        }
    }

    /// The run has ended. `learnt` are its own criteria, the other ones those that now apply.
    pub(super) fn over(mut self, learnt: &Version, criteria: &Version, work: &Work) -> Self {
        let [whole, collectives] = learnt.longer_than(criteria);
        let longer = Longer { usual: self.messages.longer_than(criteria), whole };
        self.view = CourseView {
            messages: self.messages.usual().clone(),
            collectives: Arc::new(self.usual_of_collectives()),
            hindrance: Arc::new(self.seen.assess(longer, collectives)),
            uneven: Arc::new(work.assess()),
            is_given: true,
        };
        self
    }

    /// What calls are assessed by.
    pub(super) fn view(&self) -> CourseView {
        self.view.clone()
    }

    fn usual_of_collectives(&self) -> FxHashMap<CollectiveKey, UsualTimes> {
        let known = self.collectives.iter().filter(|(_, measure)| measure.usual().is_known());
        known.map(|(key, measure)| (*key, measure.usual().clone())).collect()
    }

    /// A window is over.
    pub(super) fn close(&mut self, until_ns: Nanoseconds, work: &Work) {
        if self.view.is_given {
            return;
        }
        if self.messages.close() {
            self.view.messages = self.messages.usual().clone();
        }
        let more = self.collectives.values_mut().filter_map(|measure| measure.close().then_some(())).count();
        if more > 0 {
            self.view.collectives = Arc::new(self.usual_of_collectives());
        }
        self.windows += 1;
        // Looking at all windows again costs as much as there are.
        if self.windows >= self.assessed_windows + self.assessed_windows / 16 {
            self.view.hindrance = Arc::new(self.seen.assess(Longer::NOT, Some(1.0)));
            self.assessed_windows = self.windows;
        }
        self.view.uneven = Arc::new(work.assess_now(until_ns));
    }

    /// A message between nodes took this long.
    pub(super) fn message(&mut self, at_ns: Nanoseconds, bytes: u64, took_ns: u64) {
        self.messages.add(bytes, took_ns);
        if let Some(usual_ns) = self.messages.usual().usual_ns(bytes) {
            self.seen.add(Kind::Message, at_ns, took_ns, usual_ns);
        }
    }

    /// Likewise a part in a collective.
    pub(super) fn collective(&mut self, at_ns: Nanoseconds, key: CollectiveKey, took_ns: u64) {
        if self.collectives.len() < MOST_COLLECTIVES || self.collectives.contains_key(&key) {
            self.collectives.entry(key).or_default().add(0, took_ns);
        }
        let usual_ns = self.collectives.get(&key).and_then(|measure| measure.usual().usual_ns(0));
        if let Some(usual_ns) = usual_ns {
            self.seen.add_part(key.ranks, at_ns, took_ns, usual_ns);
        }
    }

    /// A message between nodes was there before it was waited for, after so long at most.
    pub(super) fn arrived(&mut self, at_ns: Nanoseconds, bytes: u64, at_most_ns: u64) {
        if let Some(usual_ns) = self.messages.usual().usual_ns(bytes) {
            self.seen.add_at_most(Kind::Message, at_ns, at_most_ns, usual_ns);
        }
    }

    pub(super) fn network(&self) -> Vec<Stretch> {
        self.view.hindrance.stretches()
    }

    pub(super) fn is_varied(&self) -> bool {
        self.view.hindrance.is_varied()
    }
}

impl CourseView {
    /// Whether nothing more is learnt: it was seen in an earlier pass.
    pub(super) fn is_given(&self) -> bool {
        self.is_given
    }

    /// What a quiet network would have saved a message between nodes.
    pub(super) fn spared_of_message_ns(&self, at_ns: Nanoseconds, bytes: u64, took_ns: u64) -> u64 {
        let Some(usual_ns) = self.messages.usual_ns(bytes) else { return 0 };
        self.hindrance.spared_ns(Kind::Message, at_ns, took_ns, usual_ns)
    }

    /// Likewise a part in a collective.
    pub(super) fn spared_of_collective_ns(
        &self,
        at_ns: Nanoseconds,
        key: &CollectiveKey,
        took_ns: u64,
    ) -> u64 {
        let Some(usual_ns) = self.collectives.get(key).and_then(|usual| usual.usual_ns(0)) else { return 0 };
        self.hindrance.spared_ns(Kind::Collective, at_ns, took_ns, usual_ns)
    }

    /// Time of a message between nodes in a quiet network, as a share of the criterion. Criteria are medians of a few
    /// messages of a size each, and most of these may have been disturbed.
    pub(super) fn quiet_ns(&self, at_ns: Nanoseconds, bytes: u64, criterion_ns: u64) -> u64 {
        if !self.is_given || self.hindrance.slowed(at_ns) <= 1.0 {
            return criterion_ns;
        }
        let quiet_ns = self.messages.usual_ns(bytes).and_then(|usual_ns| self.hindrance.quiet_ns(usual_ns));
        quiet_ns.map_or(criterion_ns, |quiet_ns| quiet_ns.clamp(1, criterion_ns.max(1)))
    }

    /// How many times as long as in quiet windows messages between nodes take.
    pub(super) fn slowed(&self, at_ns: Nanoseconds) -> f64 {
        self.hindrance.slowed(at_ns)
    }

    /// What balanced work would have saved a rank that computed for so much of a time.
    pub(super) fn balanced_ns(
        &self,
        rank: Rank,
        (from_ns, to_ns): (Nanoseconds, Nanoseconds),
        worked_ns: u64,
        next: Function,
    ) -> u64 {
        (worked_ns as f64 * self.uneven.share(rank, from_ns, to_ns, next)) as u64
    }
}
