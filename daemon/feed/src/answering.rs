//! Answers to what pages ask about any range of a run: from summaries where they are fine enough, else from the calls.

use crate::calls::Calls;
use crate::course::RangeBudget;
use crate::criteria::Criteria;
use crate::durations::{CallDurations, durations};
use crate::exchange::{Answer, Content, History, RangeCounts, TimelineBins};
use crate::library::Library;
use crate::pending::{self, PendingMessages, pending};
use crate::question::{
    DurationsQuestion, Grouping, PendingQuestion, Question, RowsQuestion, SelectedQuestion, SharesQuestion,
    wanted,
};
use crate::rank_figures::Sources;
use crate::rank_layout::{layouts, rank_layout};
use crate::rank_suggestion::suggestion;
use crate::selected::{Selected, selected};
use crate::shares::Shares;
use crate::surroundings::Remap;
use mpiscope_matching::{BINS_PER_OCTAVE, Bins, Density, Durations};
use mpiscope_model::{Blame, Nanoseconds, Rank};
use std::ops::Range;
use std::sync::PoisonError;

impl Library {
    /// Answers a question; it may read files, so not where others wait.
    #[must_use]
    pub fn answer(&self, id: u32, question: &Question) -> Answer {
        self.answer_while(id, question, &|| true)
    }

    /// Likewise, as long as the answer is wanted; some questions take a while.
    #[must_use]
    pub fn answer_while(&self, id: u32, question: &Question, is_wanted: &dyn Fn() -> bool) -> Answer {
        Answer::new(id, self.content(question, is_wanted))
    }

    fn content(&self, question: &Question, is_wanted: &dyn Fn() -> bool) -> Result<Option<Content>, String> {
        // It may have waited for its turn until nobody wants it any more.
        wanted(is_wanted)?;
        let dependencies = &self.dependencies;
        Ok(Some(match question {
            Question::Ping => return Ok(None),
            Question::Calls(question) => Content::Calls(self.calls(question)?),
            Question::Timeline(range, bins) => Content::Timeline(self.timeline(range, *bins as usize)?),
            Question::Count(range) => Content::Count(self.count(range)?),
            Question::History(range) => Content::History(self.history(range)?),
            Question::Durations(question) => Content::Durations(self.durations(question, is_wanted)?),
            Question::GroupGraph(question) => {
                let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let sources = (self.source.as_ref(), &regions);
                Content::GroupGraph(dependencies.group_graph(question, sources, is_wanted)?)
            }
            Question::Critical(range) => {
                let calls = self.overview.starts_between(range).0.values().sum();
                Content::Critical(dependencies.critical(range, (self.source.as_ref(), calls), is_wanted)?)
            }
            Question::Shares(question) => Content::Shares(self.shares(question)?),
            Question::Budget(range, ranks) => Content::Budget(self.budget(range, ranks.as_deref())?),
            Question::Selected(question) => Content::Selected(self.selected(question, is_wanted)?),
            Question::Event(question) => Content::Event(self.source.nearest(question)?.as_ref().into()),
            Question::Messages(question) => Content::Messages(dependencies.rows(question, is_wanted)?),
            Question::Courses(question) => Content::Courses(dependencies.courses(question, is_wanted)?),
            Question::Pairs(range) => Content::Pairs(dependencies.pairs(range, is_wanted)?),
            Question::Pending(question) => Content::Pending(self.pending(question, is_wanted)?),
            Question::Dag(question) => Content::Dag(dependencies.dag(question, is_wanted)?),
            Question::Cone(question) => {
                Content::Cone(dependencies.cone(question, self.source.as_ref(), is_wanted)?)
            }
            Question::RankMetrics(question) => {
                let mut found = self.ranks.metrics(question, &self.sources(), is_wanted)?;
                found.phases = self.phases();
                Content::RankMetrics(found)
            }
            Question::RankLayout(question) => {
                let (ranks, files) = (&self.ranks, &self.layouts);
                Content::RankLayout(rank_layout(question, ranks, files, &self.sources(), is_wanted)?)
            }
            Question::SaveLayout(question) => {
                self.layouts.save(question)?;
                return Ok(None);
            }
            Question::Layouts => Content::Layouts(layouts(&self.ranks, &self.layouts)?),
            Question::Suggestion(range) => {
                Content::Suggestion(suggestion(range, &self.ranks, &self.sources(), is_wanted)?)
            }
            Question::Landscape(question) => {
                Content::Landscape(self.ranks.landscape(question, self.source.as_ref())?)
            }
            Question::Criteria => Content::Criteria(self.criteria()),
            Question::Sites => Content::Sites(self.site_table()?),
            Question::SiteTimes(question) => Content::SiteTimes(self.site_times(question, is_wanted)?),
            Question::SourceText(site) => Content::SourceText(self.source_text(*site)?),
            Question::Remap => Content::Remap(self.remap()?),
        }))
    }

    fn sources(&self) -> Sources<'_> {
        Sources { calls: self.source.as_ref(), messages: &self.dependencies, course: self.course_so_far() }
    }

    fn criteria(&self) -> Criteria {
        self.dependencies.criteria(&|function| self.function_name(function))
    }

    fn remap(&self) -> Result<Remap, String> {
        self.remap.as_ref().ok_or("no placement can be advised here")?.remap()
    }

    fn calls(&self, question: &RowsQuestion) -> Result<Calls, String> {
        let RowsQuestion { range_ns, ranks, most } = question;
        // Reads the calls twice, to hold only the kept ones in memory.
        let mut durations = Durations::default();
        self.source.visit_of(range_ns, ranks, &mut |call| durations.add(call))?;
        let sample = durations.sample(*most);
        let mut calls = Calls::empty(range_ns, durations.total(), &sample);
        self.source.visit_of(range_ns, ranks, &mut |call| {
            if sample.keeps(call) {
                calls.push(call);
            }
        })?;
        Ok(calls)
    }

    fn shares(&self, question: &SharesQuestion) -> Result<Shares, String> {
        let course = self.course_so_far().filter(|course| !course.shares.is_empty());
        let course = course.ok_or("what ranks spent their time on is not known here")?;
        Ok(Shares::new(&course.shares, question, course.to_ns))
    }

    fn budget(
        &self,
        range: &Range<Nanoseconds>,
        ranks: Option<&[(Rank, Rank)]>,
    ) -> Result<RangeBudget, String> {
        let course = self.course_so_far().ok_or("where time went is not known yet")?;
        let mut budget = match ranks {
            Some(ranks) => course.of_ranks(range, ranks, Blame::WORDS),
            None => course.over(range, Blame::WORDS),
        };
        let verdicts = self.range_verdicts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        budget.verdict = verdicts.and_then(|verdicts| verdicts.verdict(&budget, &course, ranks));
        Ok(budget)
    }

    fn selected(
        &self,
        question: &SelectedQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Selected, String> {
        let job = self.ranks.counted_rows()?.job();
        let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found =
            selected(question, job, self.source.as_ref(), &self.dependencies, &regions, is_wanted)?;
        match self.budget(&question.range_ns, question.ranks.as_deref()) {
            Ok(budget) => found.budget = Some(budget),
            Err(why) => found.budget_missing = why,
        }
        Ok(found)
    }

    fn pending(
        &self,
        question: &PendingQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<PendingMessages, String> {
        let hosts = self.dependencies.hosts();
        let keys = match question.by {
            Grouping::Node => hosts.into_iter().map(|(rank, node)| (node.0, rank)).collect(),
            Grouping::Rank => hosts.into_keys().map(|rank| (0, rank)).collect(),
            Grouping::Region => {
                let ranks: Vec<Rank> = hosts.into_keys().collect();
                let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
                pending::by_region(&ranks, &regions)
            }
        };
        let unreceived = self.unreceived.newest();
        let (source, most) = (&self.dependencies, pending::MOST_READ);
        pending(question, source, unreceived.as_deref(), keys.into_iter(), most, is_wanted)
    }

    fn timeline(&self, range: &Range<Nanoseconds>, bins: usize) -> Result<TimelineBins, String> {
        let mut counted = Bins::of_a_power(range, bins);
        if !self.overview.fill(&mut counted) {
            self.source.count_starts(&mut counted)?;
        }
        Ok(columns(&counted))
    }

    fn count(&self, range: &Range<Nanoseconds>) -> Result<RangeCounts, String> {
        let (mut counts, edges) = self.overview.starts_between(range);
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

    /// Counts of calls that ended in a range.
    fn density(&self, range: &Range<Nanoseconds>) -> Result<Density, String> {
        let (mut density, edges) = self.overview.densities().between(range);
        for edge in edges {
            // What ended there, as opposed to what was under way there.
            self.source.visit(&edge, &mut |call| {
                if edge.contains(&call.end_ns) {
                    density.add(call);
                }
            })?;
        }
        Ok(density)
    }

    fn durations(
        &self,
        question: &DurationsQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<CallDurations, String> {
        let (_, until_ns, calls) = self.ranks.counted_rows()?.job();
        let run = self.density(&(0..Nanoseconds::MAX))?;
        durations(question, (until_ns, calls), self.source.as_ref(), &run, is_wanted)
    }

    fn history(&self, range: &Range<Nanoseconds>) -> Result<History, String> {
        let density = self.density(range)?;
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

fn columns(bins: &Bins) -> TimelineBins {
    TimelineBins {
        from_ns: bins.from_ns,
        to_ns: bins.to_ns(),
        bins: bins.bins as u32,
        functions: bins.counts.keys().map(|&function| u32::from(function)).collect(),
        counts: bins.counts.values().flatten().copied().collect(),
    }
}
