//! The course of a run as seen by a first pass: when there was network contention, and which ranks had more to compute.
//! The last pass assesses each moment by the time before and after it. Until then only the past counts.

use super::measure::Measure;
use super::quiet::{Hindrance, Kind, Longer, RatioCounts, Stretch};
use super::work::{Uneven, Work};
use crate::criteria::{CollectiveKey, Version};
use mpiscope_model::{Function, Nanoseconds, Rank};
use rustc_hash::FxHashMap;

/// Kinds of collectives that are counted separately.
const MOST_COLLECTIVES: usize = 1_024;

/// What was seen of it.
#[derive(Debug, Clone)]
pub struct Course {
    seen: RatioCounts,
    work: Work,
    messages: Measure,
    collectives: FxHashMap<CollectiveKey, Measure>,
    hindrance: Hindrance,
    uneven: Uneven,
    /// It was seen in an earlier pass.
    is_given: bool,
    /// Number of windows at the last assessment of the network.
    windows: u64,
    assessed_windows: u64,
}

impl Course {
    pub(super) fn new(width_ns: u64) -> Self {
        Self {
            seen: RatioCounts::new(width_ns),
            work: Work::new(width_ns),
            messages: Measure::default(),
            collectives: FxHashMap::default(),
            hindrance: Hindrance::default(),
            uneven: Uneven::default(),
            is_given: false,
            windows: 0,
            assessed_windows: 0,
        }
    }

    /// The run has ended. `learnt` are its own criteria, the other ones those that now apply.
    pub(super) fn over(mut self, learnt: &Version, criteria: &Version) -> Self {
        let [whole, collectives] = learnt.longer_than(criteria);
        let longer = Longer { usual: self.messages.longer_than(criteria), whole };
        self.hindrance = self.seen.assess(longer, collectives);
        self.uneven = self.work.assess();
        self.is_given = true;
        self
    }

    /// A window is over.
    pub(super) fn close(&mut self, until_ns: Nanoseconds) {
        if self.is_given {
            return;
        }
        self.messages.close();
        self.collectives.values_mut().for_each(Measure::close);
        self.windows += 1;
        // Looking at all windows again costs as much as there are.
        if self.windows >= self.assessed_windows + self.assessed_windows / 16 {
            self.hindrance = self.seen.assess(Longer::NOT, Some(1.0));
            self.assessed_windows = self.windows;
        }
        self.uneven = self.work.assess_now(until_ns);
    }

    /// A message between nodes took this long; returns what a quiet network would have saved it.
    pub(super) fn message(&mut self, at_ns: Nanoseconds, bytes: u64, took_ns: u64) -> u64 {
        if !self.is_given {
            self.messages.add(bytes, took_ns);
        }
        let Some(usual_ns) = self.messages.usual_ns(bytes) else { return 0 };
        if !self.is_given {
            self.seen.add(Kind::Message, at_ns, took_ns, usual_ns);
        }
        self.hindrance.spared_ns(Kind::Message, at_ns, took_ns, usual_ns)
    }

    /// Likewise a part in a collective.
    pub(super) fn collective(&mut self, at_ns: Nanoseconds, key: CollectiveKey, took_ns: u64) -> u64 {
        if !self.is_given
            && (self.collectives.len() < MOST_COLLECTIVES || self.collectives.contains_key(&key))
        {
            self.collectives.entry(key).or_default().add(0, took_ns);
        }
        let usual_ns = self.collectives.get(&key).and_then(|measure| measure.usual_ns(0));
        let Some(usual_ns) = usual_ns else { return 0 };
        if !self.is_given {
            self.seen.add_part(key.ranks, at_ns, took_ns, usual_ns);
        }
        self.hindrance.spared_ns(Kind::Collective, at_ns, took_ns, usual_ns)
    }

    /// A message between nodes was there before it was waited for, after so long at most.
    pub(super) fn arrived(&mut self, at_ns: Nanoseconds, bytes: u64, at_most_ns: u64) {
        if let Some(usual_ns) = self.messages.usual_ns(bytes).filter(|_| !self.is_given) {
            self.seen.add_at_most(Kind::Message, at_ns, at_most_ns, usual_ns);
        }
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

    /// A rank computed for this long; returns what balanced work would have saved it.
    pub(super) fn worked(
        &mut self,
        rank: Rank,
        (from_ns, to_ns): (Nanoseconds, Nanoseconds),
        worked_ns: u64,
        next: Function,
    ) -> u64 {
        if !self.is_given {
            self.work.add(rank, from_ns, to_ns, worked_ns, next);
        }
        (worked_ns as f64 * self.uneven.share(rank, from_ns, to_ns, next)) as u64
    }

    pub(super) fn network(&self) -> Vec<Stretch> {
        self.hindrance.stretches()
    }

    pub(super) fn is_varied(&self) -> bool {
        self.hindrance.is_varied()
    }
}
