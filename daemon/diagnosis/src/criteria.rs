//! Expected times of messages and collectives by size: medians per scope and size, learnt as messages come.
//!
//! One growing state, and immutable versions of it: a window uses the version of the messages that ended before it.

mod bins;
mod line;
mod normal;
mod reference;
mod scope;
mod version;

pub use bins::{bin_sizes, size_bin};
pub use reference::Reference;
pub use scope::Scope;
pub use version::{CollectiveCriterion, CollectiveKey, MessageCriterion, Version};

use bins::class_of;
use hdrhistogram::Histogram;
use normal::Normals;
use rustc_hash::FxHashMap;

/// Samples that make a median.
const ENOUGH_SAMPLES: u64 = 30;
/// After this number of samples in a scope without a full bin, sizes are too many for bins. Before it, a guess would
/// choose which message decided when a call returned.
const MANY_SAMPLES: u64 = 500;
/// Samples beyond these change no median.
const MOST_SAMPLES: u64 = 10_000;
/// Times beyond these seventeen seconds are counted as this.
const LONGEST_NS: u64 = 1 << 34;
/// Kinds of collectives, and bins of messages, that are counted separately; each weighs some 14 kB.
const MOST_KINDS: usize = 1_024;
const MOST_BINS: usize = 3_500;

#[derive(Debug, Clone)]
struct Samples {
    times: Histogram<u32>,
    /// How many there were when the median was last taken.
    taken: u64,
    median_ns: u64,
}

impl Samples {
    fn new() -> Self {
        let times = Histogram::new_with_bounds(1, LONGEST_NS, 2)
            .or_else(|_| Histogram::new(2))
            .unwrap_or_else(|_| unreachable!("two digits up to seconds are bounds that a histogram has"));
        Self { times, taken: 0, median_ns: 0 }
    }

    fn add(&mut self, time_ns: u64) -> bool {
        if self.times.len() < MOST_SAMPLES {
            self.times.saturating_record(time_ns.max(1));
            return true;
        }
        false
    }

    /// A sixteenth more samples came since the median was last taken.
    fn are_more(&self) -> bool {
        self.times.len() >= self.taken + (self.taken / 16).max(1)
    }

    /// Computes the median anew when it is worth it; returns whether it may have changed.
    fn settle(&mut self) -> bool {
        let samples = self.times.len();
        if samples < ENOUGH_SAMPLES || !self.are_more() {
            return false;
        }
        let median_ns = self.times.value_at_quantile(0.5);
        self.taken = samples;
        std::mem::replace(&mut self.median_ns, median_ns) != median_ns
    }
}

/// Samples of neighbouring bins.
#[derive(Debug, Clone)]
struct ClassSamples {
    samples: Samples,
    /// The least bin and the greatest that they are of.
    bins: (u32, u32),
}

impl ClassSamples {
    fn new(bin: u32) -> Self {
        Self { samples: Samples::new(), bins: (bin, bin) }
    }

    fn reach(&mut self, (first, last): (u32, u32)) {
        self.bins = (self.bins.0.min(first), self.bins.1.max(last));
    }
}

/// The operator.
#[derive(Debug, Clone, Default)]
pub struct Criteria {
    messages: [FxHashMap<u32, Samples>; 2],
    /// The first samples of every bin, by class: they serve where no bin of a scope has enough.
    classes: [FxHashMap<u32, ClassSamples>; 2],
    /// Some bin of the scope is full: classes are no longer needed.
    has_bins: [bool; 2],
    collectives: FxHashMap<CollectiveKey, Samples>,
    /// Who got samples since the last version.
    touched: Vec<(Scope, u32)>,
    touched_classes: Vec<(Scope, u32)>,
    touched_collectives: Vec<CollectiveKey>,
    /// How long is normal in quiet windows.
    normals: Normals,
}

impl Criteria {
    /// Learns from an exact message.
    pub fn message(&mut self, scope: Scope, bytes: u64, t_msg_ns: u64) {
        let bin = size_bin(bytes);
        let bins = self.messages[0].len() + self.messages[1].len();
        let of_scope = &mut self.messages[scope as usize];
        if bins >= MOST_BINS && !of_scope.contains_key(&bin) {
            return;
        }
        let samples = of_scope.entry(bin).or_insert_with(Samples::new);
        if samples.times.len() < ENOUGH_SAMPLES && !self.has_bins[scope as usize] {
            let class = class_of(bin);
            let of_class = self.classes[scope as usize].entry(class);
            let of_class = of_class.or_insert_with(|| ClassSamples::new(bin));
            of_class.reach((bin, bin));
            if of_class.samples.add(t_msg_ns) && of_class.samples.are_more() {
                self.touched_classes.push((scope, class));
            }
        }
        if samples.add(t_msg_ns) && samples.are_more() {
            self.touched.push((scope, bin));
        }
    }

    /// An exact message took longer than expected by this ratio, or less long.
    pub fn ratio(&mut self, scope: Scope, bytes: u64, ratio: f64) {
        self.normals.message(scope, size_bin(bytes), ratio);
    }

    /// Learns from a part in a collective.
    pub fn collective(&mut self, key: CollectiveKey, operation_ns: u64) {
        if self.collectives.len() >= MOST_KINDS && !self.collectives.contains_key(&key) {
            return;
        }
        let samples = self.collectives.entry(key).or_insert_with(Samples::new);
        if samples.add(operation_ns) && samples.are_more() {
            self.touched_collectives.push(key);
        }
    }

    /// Adds samples learnt elsewhere.
    pub fn merge(&mut self, other: &Self) {
        fn add<K: Copy + Eq + std::hash::Hash>(
            ours: &mut FxHashMap<K, Samples>,
            theirs: &FxHashMap<K, Samples>,
            most: usize,
        ) -> Vec<K> {
            let mut touched = Vec::new();
            for (&key, theirs) in theirs {
                if ours.len() >= most && !ours.contains_key(&key) {
                    continue;
                }
                let samples = ours.entry(key).or_insert_with(Samples::new);
                // Both histograms have the same bounds: adding cannot fail.
                let _ = samples.times.add(&theirs.times);
                touched.push(key);
            }
            touched
        }
        for scope in [Scope::Intra, Scope::Inter] {
            let touched =
                add(&mut self.messages[scope as usize], &other.messages[scope as usize], MOST_BINS / 2);
            self.touched.extend(touched.into_iter().map(|bin| (scope, bin)));
            for (&class, theirs) in &other.classes[scope as usize] {
                let ours = self.classes[scope as usize].entry(class);
                let ours = ours.or_insert_with(|| ClassSamples::new(theirs.bins.0));
                ours.reach(theirs.bins);
                let _ = ours.samples.times.add(&theirs.samples.times);
                self.touched_classes.push((scope, class));
            }
        }
        let touched = add(&mut self.collectives, &other.collectives, MOST_KINDS);
        self.touched_collectives.extend(touched);
    }

    /// Closes a window and computes medians anew; whether any changed, and a new version is worth it.
    pub fn settle(&mut self) -> bool {
        let mut changed = false;
        for (scope, bin) in std::mem::take(&mut self.touched) {
            if let Some(samples) = self.messages[scope as usize].get_mut(&bin) {
                changed |= samples.settle();
                self.has_bins[scope as usize] |= samples.taken > 0;
            }
        }
        for (scope, class) in std::mem::take(&mut self.touched_classes) {
            let of_class = self.classes[scope as usize].get_mut(&class);
            changed |= of_class.is_some_and(|of_class| of_class.samples.settle());
        }
        for key in std::mem::take(&mut self.touched_collectives) {
            changed |= self.collectives.get_mut(&key).is_some_and(Samples::settle);
        }
        changed | self.normals.settle()
    }

    /// Classes of a scope whose sizes are too many for any to be seen often; none while it may only be early.
    fn by_class(&self, scope: Scope) -> impl Iterator<Item = &ClassSamples> {
        let classes = &self.classes[scope as usize];
        let samples: u64 = classes.values().map(|of| of.samples.times.len()).sum();
        let known = move |of: &&ClassSamples| samples >= MANY_SAMPLES && of.samples.taken > 0;
        classes.values().filter(known)
    }

    /// What is known now.
    #[must_use]
    pub fn version(&self) -> Version {
        let mut messages: Vec<MessageCriterion> = Vec::new();
        for scope in [Scope::Intra, Scope::Inter] {
            let criterion = |(bin, last_bin), samples: &Samples| MessageCriterion {
                scope,
                bin,
                last_bin,
                samples: samples.times.len(),
                median_ns: samples.median_ns,
                normal_ns: (self.normals.factor(scope, bin))
                    .map(|factor| (samples.median_ns as f64 * factor) as u64),
            };
            let known = self.messages[scope as usize].iter().filter(|(_, samples)| samples.taken > 0);
            let known: Vec<_> = known.map(|(&bin, samples)| criterion((bin, bin), samples)).collect();
            if known.is_empty() {
                messages.extend(self.by_class(scope).map(|of| criterion(of.bins, &of.samples)));
            }
            messages.extend(known);
        }
        let known = self.collectives.iter().filter(|(_, samples)| samples.taken > 0);
        let collectives = known.map(|(&key, samples)| CollectiveCriterion {
            key,
            samples: samples.times.len(),
            median_ns: samples.median_ns,
        });
        Version::new(messages, collectives.collect())
    }
}

#[cfg(test)]
mod tests;
