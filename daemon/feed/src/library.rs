//! Answers to what pages ask about any range of a run: from summaries where they are fine enough, else from the calls.

use crate::dependencies::Dependencies;
use crate::exchange::{Answer, History, Question, RangeCounts, TimelineBins};
use crate::{Calls, Course, Messages, RangeBudget};
use mpiscope_analysis::{BINS_PER_OCTAVE, Bins, DensityHistory, Durations, Timeline, Version};
use mpiscope_model::{Call, Nanoseconds, Node, Rank};
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The finest windows of the timeline, and how many there are of them.
const WINDOW_NS: u64 = 1_000_000;
const WINDOWS_MAX: usize = 1 << 16;
/// The finest chapters of the density, and how many there are of them.
const CHAPTER_NS: u64 = 250_000_000;
const CHAPTERS_MAX: usize = 64;
/// Rows of ranks.
const ROWS_MAX: u32 = 512;

/// The causes of what could be avoided, as files name them.
const CAUSES: [&str; 4] = ["mapping", "pattern", "background", "cpu"];

/// Where the calls of a run can be read.
pub trait CallSource: Send + Sync + fmt::Debug {
    /// Shows each call of which some part is in a range, once, in any order.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    fn visit(&self, range_ns: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String>;
}

/// The summaries of a run and its calls. Many ask, one adds.
#[derive(Debug)]
pub struct Library {
    summary: Mutex<Summary>,
    /// None until something was judged.
    course: Mutex<Option<Course>>,
    source: Box<dyn CallSource>,
    dependencies: Dependencies,
}

#[derive(Debug)]
struct Summary {
    timeline: Timeline,
    density: DensityHistory,
}

impl Library {
    /// A library of calls that are, or will be, in this source.
    #[must_use]
    pub fn new(source: Box<dyn CallSource>) -> Self {
        let summary = Summary {
            timeline: Timeline::new(WINDOW_NS, WINDOWS_MAX),
            density: DensityHistory::new(CHAPTER_NS, CHAPTERS_MAX, ROWS_MAX),
        };
        Self {
            summary: Mutex::new(summary),
            course: Mutex::new(None),
            source,
            dependencies: Dependencies::default(),
        }
    }

    /// Its messages too, so that it can be said what led to what.
    #[must_use]
    pub fn with_messages(mut self, messages: Messages) -> Self {
        self.dependencies = Dependencies::of(messages);
        self
    }

    /// Messages were added to their source.
    pub fn messages_added(&self) {
        self.dependencies.changed();
    }

    /// Where ranks run.
    pub fn know(&self, ranks: impl Iterator<Item = (Rank, Node)>) {
        self.dependencies.know(ranks);
    }

    /// What messages usually take.
    pub fn judge_by(&self, criteria: Version) {
        self.dependencies.judge_by(criteria);
    }

    /// Counts calls that were added to the source.
    pub fn add(&self, calls: &[Call]) {
        let mut summary = self.summary();
        summary.timeline.calls(calls);
        summary.density.calls(calls);
        self.dependencies.changed();
    }

    /// The run was judged, as far as this goes.
    pub fn judged(&self, course: Course) {
        *self.course.lock().unwrap_or_else(PoisonError::into_inner) = Some(course);
    }

    /// A panic elsewhere while the lock was held leaves counts that are still fine to show.
    fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question; it may read files, so not where others wait.
    #[must_use]
    pub fn answer(&self, id: u32, question: &Question) -> Answer {
        self.answer_while(id, question, &|| true)
    }

    /// Likewise, as long as the answer is wanted; some questions take a while.
    #[must_use]
    pub fn answer_while(&self, id: u32, question: &Question, is_wanted: &dyn Fn() -> bool) -> Answer {
        let mut answer = Answer::to(id);
        let error = match question {
            Question::Ping => None,
            Question::Calls(range, most) => {
                self.calls(range, *most).map(|calls| answer.calls = Some(calls)).err()
            }
            Question::Timeline(range, bins) => {
                self.timeline(range, *bins as usize).map(|bins| answer.timeline = Some(bins)).err()
            }
            Question::Count(range) => self.count(range).map(|count| answer.count = Some(count)).err(),
            Question::Budget(range, ranks) => {
                self.budget(range, ranks.as_deref()).map(|budget| answer.budget = Some(budget)).err()
            }
            Question::Dag(question) => {
                self.dependencies.dag(question, is_wanted).map(|dag| answer.dag = Some(dag)).err()
            }
            Question::Cone(question) => {
                let cone = self.dependencies.cone(question, self.source.as_ref(), is_wanted);
                cone.map(|cone| answer.cone = Some(cone)).err()
            }
            Question::Pairs(range) => {
                self.dependencies.pairs(range, is_wanted).map(|pairs| answer.pairs = Some(pairs)).err()
            }
            Question::History(range) => {
                self.history(range).map(|history| answer.history = Some(history)).err()
            }
        };
        answer.error = error;
        answer
    }

    fn calls(&self, range: &Range<Nanoseconds>, most: u64) -> Result<Calls, String> {
        // Twice, so that there is never more in memory than what is kept.
        let mut durations = Durations::default();
        self.source.visit(range, &mut |call| durations.add(call))?;
        let sample = durations.sample(most);
        let mut calls = Calls::of(range, durations.total(), &sample);
        self.source.visit(range, &mut |call| {
            if sample.keeps(call) {
                calls.push(call);
            }
        })?;
        Ok(calls)
    }

    fn budget(
        &self,
        range: &Range<Nanoseconds>,
        ranks: Option<&[(u32, u32)]>,
    ) -> Result<RangeBudget, String> {
        let course = self.course.lock().unwrap_or_else(PoisonError::into_inner);
        let course = course.as_ref().ok_or("where time went was not judged yet")?;
        Ok(match ranks {
            Some(ranks) => course.of_ranks(range, ranks, CAUSES),
            None => course.over(range, CAUSES),
        })
    }

    fn timeline(&self, range: &Range<Nanoseconds>, bins: usize) -> Result<TimelineBins, String> {
        let (summed, window_ns) = {
            let summary = self.summary();
            (summary.timeline.bins(range, bins), summary.timeline.window_ns())
        };
        if let Some(bins) = summed {
            return Ok(columns(&bins, window_ns));
        }
        let mut counted = Bins::over(range, bins);
        self.source.visit(&(range.start..counted.to_ns()), &mut |call| {
            counted.add(call.function, call.start_ns, 1);
        })?;
        Ok(columns(&counted, 0))
    }

    fn count(&self, range: &Range<Nanoseconds>) -> Result<RangeCounts, String> {
        let (mut counts, edges) = self.summary().timeline.between(range);
        for edge in edges {
            self.source.visit(&edge, &mut |call| {
                if edge.contains(&call.start_ns) {
                    *counts.entry(call.function).or_default() += 1;
                }
            })?;
        }
        Ok(RangeCounts {
            function: counts.keys().map(|&function| u32::from(function)).collect(),
            calls: counts.into_values().collect(),
        })
    }

    fn history(&self, range: &Range<Nanoseconds>) -> Result<History, String> {
        // A clone, so that whoever adds does not wait while chapters are summed up.
        let history = self.summary().density.clone();
        let (mut density, edges) = history.between(range);
        for edge in edges {
            // What ended there, as opposed to what was under way there.
            self.source.visit(&edge, &mut |call| {
                if edge.contains(&call.end_ns) {
                    density.add(call);
                }
            })?;
        }
        let cells = density.cells();
        Ok(History {
            from_ns: range.start,
            to_ns: range.end,
            bins_per_octave: BINS_PER_OCTAVE,
            ranks_per_row: density.ranks_per_row(),
            row: cells.iter().map(|(key, _)| key.row * density.ranks_per_row()).collect(),
            function: cells.iter().map(|(key, _)| u32::from(key.function)).collect(),
            bin: cells.iter().map(|(key, _)| u32::from(key.bin)).collect(),
            count: cells.iter().map(|&(_, count)| count).collect(),
            total: density.total(),
        })
    }
}

fn columns(bins: &Bins, window_ns: u64) -> TimelineBins {
    TimelineBins {
        from_ns: bins.from_ns,
        to_ns: bins.to_ns(),
        bins: bins.bins as u32,
        functions: bins.counts.keys().map(|&function| u32::from(function)).collect(),
        counts: bins.counts.values().flatten().copied().collect(),
        window_ns,
    }
}
