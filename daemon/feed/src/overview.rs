//! What is known of the calls of a run as a whole: when they began, and how long they took when. One thread adds, many ask.

use mpiscope_matching::{Bins, DensityHistory, Timeline, duration_bin};
use mpiscope_model::{Call, Function, Nanoseconds, Rank};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The finest windows of the timeline, and how many there are of them. Powers of two fit into each other.
const WINDOW_NS: u64 = 1 << 20;
const WINDOWS_MAX: usize = 1 << 16;
/// The finest chapters of the density, and how many there are of them.
const CHAPTER_NS: u64 = 250_000_000;
const CHAPTERS_MAX: usize = 64;
/// Rows of ranks.
const ROWS_MAX: u32 = 512;

/// Shared between who adds and who asks.
#[derive(Debug, Clone, Default)]
pub struct Overview(Arc<Mutex<OverviewParts>>);

#[derive(Debug)]
struct OverviewParts {
    timeline: Timeline,
    density: DensityHistory,
}

impl Default for OverviewParts {
    fn default() -> Self {
        Self {
            timeline: Timeline::new(WINDOW_NS, WINDOWS_MAX),
            density: DensityHistory::new(CHAPTER_NS, CHAPTERS_MAX, ROWS_MAX),
        }
    }
}

/// What calls add to it, summed up by somebody else.
#[derive(Debug, Default)]
pub struct CallSums {
    /// How many began, by the number of the finest window.
    starts: FxHashMap<(Function, u64), u64>,
    /// How many ended, by the number of the finest chapter, and the bin of how long they took.
    durations: FxHashMap<(u64, Rank, (Function, u16)), u64>,
}

mpiscope_model::numbers! { CallSums { starts, durations } }

impl CallSums {
    /// Takes in calls.
    pub fn add(&mut self, calls: &[Call]) {
        for call in calls {
            *self.starts.entry((call.function, call.start_ns / WINDOW_NS)).or_default() += 1;
            let bin = duration_bin(call.each_ns());
            let key = (call.end_ns / CHAPTER_NS, call.rank, (call.function, bin));
            *self.durations.entry(key).or_default() += 1;
        }
    }
}

impl Overview {
    /// A panic elsewhere while the lock was held leaves counts that are still fine to show.
    fn lock(&self) -> MutexGuard<'_, OverviewParts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in calls.
    pub fn add(&self, calls: &[Call]) {
        let mut known = self.lock();
        known.timeline.calls(calls);
        known.density.calls(calls);
    }

    /// Takes in calls that were summed up.
    pub fn add_sums(&self, sums: &CallSums) {
        let OverviewParts { timeline, density } = &mut *self.lock();
        for (&(function, window), &calls) in &sums.starts {
            timeline.add(function, window.saturating_mul(WINDOW_NS), calls);
        }
        for (&(chapter, rank, of), &calls) in &sums.durations {
            density.add(rank, chapter.saturating_mul(CHAPTER_NS), of, calls);
        }
    }

    /// How many calls began when and ended when after how long, for those who keep it; a copy.
    #[must_use]
    pub fn parts(&self) -> (Timeline, DensityHistory) {
        let known = self.lock();
        (known.timeline.clone(), known.density.clone())
    }

    /// Takes in what another one knew.
    pub fn restore(&self, restore: impl FnOnce(&mut Timeline, &mut DensityHistory)) {
        let OverviewParts { timeline, density } = &mut *self.lock();
        restore(timeline, density);
    }

    /// Forgets all: it will be taken in again.
    pub fn clear(&self) {
        *self.lock() = OverviewParts::default();
    }

    /// Counts into bins; says whether that was possible.
    pub(crate) fn fill(&self, bins: &mut Bins) -> bool {
        self.lock().timeline.fill(bins)
    }

    pub(crate) fn starts_between(
        &self,
        range: &Range<Nanoseconds>,
    ) -> (BTreeMap<Function, u64>, Vec<Range<Nanoseconds>>) {
        self.lock().timeline.between(range)
    }

    /// A copy: whoever adds does not wait while chapters are summed up.
    pub(crate) fn densities(&self) -> DensityHistory {
        self.lock().density.clone()
    }
}
