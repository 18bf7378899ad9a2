//! What is known of the calls of a run as a whole: when they began, and how long they took when. One thread adds, many ask.

use mpiscope_matching::{Bins, Density, DensityHistory, DensityKey, Timeline};
use mpiscope_model::{Call, Function, Nanoseconds};
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

/// Sums calls up for somebody else, who adds them to it.
#[derive(Debug)]
pub struct CallCounts {
    /// How many began, by the number of the finest window.
    starts: FxHashMap<(Function, u64), u64>,
    density: DensityHistory,
}

/// What calls add to it, summed up by somebody else.
#[derive(Debug, Default)]
pub struct CallSums {
    starts: Vec<((Function, u64), u64)>,
    chapters: Vec<Chapter>,
}

/// How many calls ended between two times, with this number of ranks in a row.
#[derive(Debug, Default)]
struct Chapter {
    from_ns: Nanoseconds,
    to_ns: Nanoseconds,
    ranks_per_row: u32,
    cells: Vec<(DensityKey, u64)>,
}

mpiscope_model::numbers! { CallSums { starts, chapters } }
mpiscope_model::numbers! { Chapter { from_ns, to_ns, ranks_per_row, cells } }

impl Default for CallCounts {
    fn default() -> Self {
        let OverviewParts { density, .. } = OverviewParts::default();
        Self { starts: FxHashMap::default(), density }
    }
}

impl CallCounts {
    /// Takes in calls.
    pub fn add(&mut self, calls: &[Call]) {
        for call in calls {
            *self.starts.entry((call.function, call.start_ns / WINDOW_NS)).or_default() += 1;
        }
        self.density.calls(calls);
    }

    /// The sums since this was last asked.
    #[must_use]
    pub fn take(&mut self) -> CallSums {
        let density = self.density.take();
        let chapter = |(range, density): (Range<Nanoseconds>, &Density)| Chapter {
            from_ns: range.start,
            to_ns: range.end,
            ranks_per_row: density.ranks_per_row(),
            cells: density.cells(),
        };
        let chapters = density.chapters().filter(|(_, density)| !density.is_empty());
        CallSums { starts: self.starts.drain().collect(), chapters: chapters.map(chapter).collect() }
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
        for &((function, window), calls) in &sums.starts {
            timeline.add(function, window.saturating_mul(WINDOW_NS), calls);
        }
        for Chapter { from_ns, to_ns, ranks_per_row, cells } in &sums.chapters {
            density.add_cells(&(*from_ns..*to_ns), *ranks_per_row, cells.iter().copied());
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;
    use proptest::prelude::*;

    proptest! {
        /// Whoever has few ranks, or has seen little of the run, sums up by smaller rows and chapters than others do.
        #[test]
        fn whoever_sums_up_it_comes_to_the_same(
            calls in proptest::collection::vec(
                (0_u32..3_000, 1_u16..3, 0_u64..200_000_000_000, 0_u64..1_000_000), 0..200),
            readers in 1_u32..4,
            every in 1_usize..20,
        ) {
            let call = |(rank, function, start_ns, ns)| Call {
                rank: Rank(rank), function, start_ns, end_ns: start_ns + ns, ..Call::default()
            };
            let calls: Vec<Call> = calls.into_iter().map(call).collect();
            let (plain, summed) = (Overview::default(), Overview::default());
            plain.add(&calls);
            let mut counts: Vec<CallCounts> = (0..readers).map(|_| CallCounts::default()).collect();
            for calls in calls.chunks(every) {
                for (place, counts) in (0..).zip(&mut counts) {
                    let own: Vec<Call> =
                        calls.iter().filter(|call| call.rank.0 * readers / 3_000 == place).copied().collect();
                    counts.add(&own);
                    summed.add_sums(&counts.take());
                }
            }
            let cells = |overview: &Overview| {
                let (timeline, density) = overview.parts();
                let chapters = density.chapters().map(|(range, of)| (range, of.ranks_per_row(), of.cells()));
                let chapters: Vec<_> = chapters.filter(|(.., cells)| !cells.is_empty()).collect();
                let starts = timeline.cells().into_iter().map(|of| (of.start_ns, of.function, of.calls));
                (starts.collect::<Vec<_>>(), chapters)
            };
            prop_assert_eq!(cells(&summed), cells(&plain));
        }
    }
}
