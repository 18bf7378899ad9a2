//! Answers to what pages ask about any range of a run: from summaries where they are fine enough, else from the calls.

use crate::arrivals::{Arrivals, Late};
use crate::dependencies::{Dependencies, wanted};
use crate::durations::durations;
use crate::exchange::{
    Answer, DurationsQuestion, Grouping, History, PendingQuestion, Question, RangeCounts, Ranks,
    RowsQuestion, SelectedQuestion, SharesQuestion, TimelineBins,
};
use crate::pending::{self, Unreceived, UnreceivedSends, pending};
use crate::rank_figures::{RankFigures, Sources};
use crate::rank_layout::{LayoutFiles, layouts, rank_layout};
use crate::rank_suggestion::suggestion;
use crate::selected::selected;
use crate::{
    CallDurations, CallSource, Calls, Course, Criteria, LayoutSource, LayoutStore, Messages, Overview,
    PendingMessages, RangeBudget, RangeVerdicts, RankRow, Regions, Remap, RemapSource, Selected, Shares,
    SiteSource,
};
use mpiscope_diagnosis::Version;
use mpiscope_layout::SiteDescription;
use mpiscope_matching::{BINS_PER_OCTAVE, Bins, Density, Durations, UnreceivedSend};
use mpiscope_model::{
    Blame, Call, CommInfo, Coordinate, Function, Message, Nanoseconds, Node, Rank, RankCpus,
};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// The summaries of a run and its calls. Many ask, one adds.
#[derive(Debug)]
pub struct Library {
    overview: Overview,
    /// None until something was judged.
    pub(crate) course: Mutex<Option<Arc<Course>>>,
    range_verdicts: Mutex<Option<Arc<dyn RangeVerdicts>>>,
    pub(crate) regions: Mutex<Regions>,
    pub(crate) source: Box<dyn CallSource>,
    pub(crate) dependencies: Dependencies,
    pub(crate) sites: Option<Box<dyn SiteSource>>,
    pub(crate) communicators: Mutex<Vec<CommInfo>>,
    /// How long the windows of the run are; 0 where nobody said so.
    pub(crate) window_ns: u64,
    remap: Option<Box<dyn RemapSource>>,
    pub(crate) ranks: RankFigures,
    layouts: LayoutFiles,
    /// All functions, where somebody knows them.
    functions: Vec<FunctionName>,
    arrivals: Arrivals,
    unreceived: Unreceived,
}

/// A function that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionName {
    /// Its id.
    pub id: Function,
    /// Its name in C.
    pub name: &'static str,
    /// What it is for, in a word.
    pub family: &'static str,
}

/// Expected transfer times, as they are known now.
#[derive(Debug, Clone)]
pub struct Usual(Option<Arc<Version>>);

impl Usual {
    /// What a message took in shares of that (L); not a number where that is not known.
    #[must_use]
    pub fn latency(&self, message: &Message) -> f64 {
        self.0.as_ref().and_then(|usual| usual.latency(message)).unwrap_or(f64::NAN)
    }
}

impl Library {
    /// A library of calls that are, or will be, in this source.
    #[must_use]
    pub fn new(source: Box<dyn CallSource>) -> Self {
        Self {
            overview: Overview::default(),
            course: Mutex::new(None),
            range_verdicts: Mutex::new(None),
            regions: Mutex::default(),
            source,
            dependencies: Dependencies::default(),
            sites: None,
            communicators: Mutex::default(),
            window_ns: 0,
            remap: None,
            ranks: RankFigures::default(),
            layouts: LayoutFiles::default(),
            functions: Vec::new(),
            arrivals: Arrivals::default(),
            unreceived: Unreceived::default(),
        }
    }

    /// All functions that may be called, by their ids.
    #[must_use]
    pub fn with_functions(mut self, functions: impl Iterator<Item = FunctionName>) -> Self {
        self.functions = functions.collect();
        self.functions.sort_unstable_by_key(|function| function.id);
        self
    }

    /// Where its calls are made.
    #[must_use]
    pub fn with_sites(mut self, sites: Box<dyn SiteSource>) -> Self {
        self.sites = Some(sites);
        self
    }

    /// Where its ranks had better be.
    #[must_use]
    pub fn with_remap(mut self, remap: Box<dyn RemapSource>) -> Self {
        self.remap = Some(remap);
        self
    }

    /// A file with layouts of its ranks.
    #[must_use]
    pub fn with_layouts(mut self, source: Box<dyn LayoutSource>) -> Self {
        self.layouts.read_from(source);
        self
    }

    /// Where layouts are kept that users save.
    #[must_use]
    pub fn with_layout_store(mut self, store: Box<dyn LayoutStore>) -> Self {
        self.layouts.keep_in(store);
        self
    }

    /// What the site says of the machine that it ran on.
    #[must_use]
    pub fn with_site(mut self, site: SiteDescription) -> Self {
        self.ranks.places.describe(site);
        self
    }

    /// Its messages too, so that it can be said what led to what.
    #[must_use]
    pub fn with_messages(mut self, messages: Messages) -> Self {
        self.dependencies = Dependencies::of(messages);
        self
    }

    /// How long its windows are.
    #[must_use]
    pub fn with_window(mut self, window_ns: u64) -> Self {
        self.window_ns = window_ns;
        self
    }

    /// What is known of its calls as a whole, which whoever adds to their source keeps up.
    #[must_use]
    pub fn with_overview(mut self, overview: Overview) -> Self {
        self.overview = overview;
        self
    }

    /// Calls or messages are added to their source by `add`.
    pub fn arrive(&self, calls: &[Call], messages: &[Message], add: impl FnOnce()) {
        self.arrivals.arrive(calls, messages, add);
        self.dependencies.changed();
    }

    /// From now on readers rely on this: all rows that ended before are known.
    pub fn complete_until(&self, until_ns: Nanoseconds) {
        self.arrivals.complete_until(until_ns);
    }

    /// The last time of the rows that arrived: an ended run may have some after its own end.
    #[must_use]
    pub fn last_ns(&self) -> Nanoseconds {
        self.arrivals.last_ns()
    }

    /// Calls that became known late, after the first `after` of them; at most `most`.
    #[must_use]
    pub fn late_calls(&self, after: u64, most: usize) -> Late<Call> {
        self.arrivals.calls_after(after, most)
    }

    /// Whether a call that became known late, after the first `after` of them, ended in a range, or may have.
    #[must_use]
    pub fn any_late_call(&self, after: u64, range_ns: &Range<Nanoseconds>) -> bool {
        self.arrivals.any_call_after(after, range_ns)
    }

    /// Likewise a message.
    #[must_use]
    pub fn any_late_message(&self, after: u64, range_ns: &Range<Nanoseconds>) -> bool {
        self.arrivals.any_message_after(after, range_ns)
    }

    /// Messages that became known late, after the first `after` of them; at most `most`.
    #[must_use]
    pub fn late_messages(&self, after: u64, most: usize) -> Late<Message> {
        self.arrivals.messages_after(after, most)
    }

    /// Shows each call of some ranks that overlaps a range, in any order.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    pub fn visit_calls(
        &self,
        range_ns: &Range<Nanoseconds>,
        ranks: &Ranks,
        visitor: &mut dyn FnMut(&Call),
    ) -> Result<(), String> {
        self.source.visit_of(range_ns, ranks, visitor)
    }

    /// Shows the messages that overlap a range, and maybe others, in any order.
    ///
    /// # Errors
    /// One sentence when they cannot be read.
    pub fn visit_messages(
        &self,
        range_ns: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]),
    ) -> Result<(), String> {
        self.dependencies.visit(range_ns, &|| true, &mut |messages| {
            visitor(messages);
            ControlFlow::Continue(())
        })
    }

    /// Expected transfer times.
    #[must_use]
    pub fn usual(&self) -> Usual {
        Usual(self.dependencies.usual())
    }

    /// All functions that may be called, where that is known.
    #[must_use]
    pub fn functions(&self) -> &[FunctionName] {
        &self.functions
    }

    /// The ranks of a region.
    #[must_use]
    pub fn ranks_of_region(&self, id: u32) -> Option<Vec<(Rank, Rank)>> {
        let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        regions.regions.iter().find(|region| region.id == id).map(|region| region.ranks.clone())
    }

    /// The sends that nobody was seen to receive, where all receives that ended before a time are known. Some may be left
    /// out.
    pub fn know_unreceived(&self, sends: Vec<UnreceivedSend>, left_out: u64, until_ns: Nanoseconds) {
        self.unreceived.know(UnreceivedSends { until_ns, sends, left_out });
    }

    /// Where ranks run.
    pub fn know(&self, ranks: impl Iterator<Item = (Rank, Node)>) {
        self.dependencies.know(ranks);
    }

    /// What is counted of each rank, of how many ranks, until when.
    pub fn know_figures(&self, rows: Vec<RankRow>, ranks: u32, until_ns: Nanoseconds) {
        self.ranks.know(rows, ranks, until_ns);
    }

    /// Where ranks are in the grids of communicators: all of it; the first ones stay the same.
    pub fn know_grid(&self, all: &[Coordinate]) {
        self.ranks.know_grid(all);
    }

    /// The names of nodes, by number, and which CPUs ranks are bound to.
    pub fn know_places<'a>(
        &self,
        nodes: impl Iterator<Item = &'a str>,
        ranks: impl Iterator<Item = (Rank, &'a RankCpus)>,
    ) {
        self.ranks.places.know(nodes, ranks);
    }

    /// What messages usually take, by the whole run or until now.
    pub fn judge_by(&self, criteria: Version, is_final: bool) {
        self.dependencies.judge_by(criteria, is_final);
    }

    /// Which ranks are a region.
    pub fn know_regions(&self, regions: &Regions) {
        let mut known = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(regions);
        self.ranks.places.know_regions(regions);
    }

    /// Where time went until now.
    pub fn know_course(&self, course: Course) {
        let before = self.course.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(course));
        // Not under the lock.
        drop(before);
    }

    /// Who gives the verdict on parts of what is known of the course.
    pub fn know_range_verdicts(&self, verdicts: Arc<dyn RangeVerdicts>) {
        let before = self.range_verdicts.lock().unwrap_or_else(PoisonError::into_inner).replace(verdicts);
        // Not under the lock.
        drop(before);
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
        answer.error = self.fill(&mut answer, question, is_wanted).err();
        answer
    }

    fn fill(
        &self,
        answer: &mut Answer,
        question: &Question,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        // It may have waited for its turn until nobody wants it any more.
        wanted(is_wanted)?;
        let dependencies = &self.dependencies;
        match question {
            Question::Ping => {}
            Question::Calls(question) => answer.calls = Some(self.calls(question)?),
            Question::Timeline(range, bins) => answer.timeline = Some(self.timeline(range, *bins as usize)?),
            Question::Count(range) => answer.count = Some(self.count(range)?),
            Question::History(range) => answer.history = Some(self.history(range)?),
            Question::Durations(question) => {
                answer.durations = Some(self.durations(question, is_wanted)?);
            }
            Question::GroupGraph(question) => {
                let regions = self.regions.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let sources = (self.source.as_ref(), &regions);
                answer.group_graph = Some(dependencies.group_graph(question, sources, is_wanted)?);
            }
            Question::Critical(range) => {
                let calls = self.overview.starts_between(range).0.values().sum();
                let source = (self.source.as_ref(), calls);
                answer.critical = Some(dependencies.critical(range, source, is_wanted)?);
            }
            Question::Shares(question) => answer.shares = Some(self.shares(question)?),
            Question::Budget(range, ranks) => answer.budget = Some(self.budget(range, ranks.as_deref())?),
            Question::Selected(question) => answer.selected = Some(self.selected(question, is_wanted)?),
            Question::Event(question) => {
                answer.event = Some(self.source.nearest(question)?.as_ref().into());
            }
            Question::Messages(question) => answer.messages = Some(dependencies.rows(question, is_wanted)?),
            Question::Courses(question) => answer.courses = Some(dependencies.courses(question, is_wanted)?),
            Question::Pairs(range) => answer.pairs = Some(dependencies.pairs(range, is_wanted)?),
            Question::Pending(question) => answer.pending = Some(self.pending(question, is_wanted)?),
            Question::Dag(question) => answer.dag = Some(dependencies.dag(question, is_wanted)?),
            Question::Cone(question) => {
                answer.cone = Some(dependencies.cone(question, self.source.as_ref(), is_wanted)?);
            }
            Question::RankMetrics(question) => {
                let mut found = self.ranks.metrics(question, &self.sources(), is_wanted)?;
                found.phases = self.phases();
                answer.rank_metrics = Some(found);
            }
            Question::RankLayout(question) => {
                let (ranks, files) = (&self.ranks, &self.layouts);
                answer.rank_layout = Some(rank_layout(question, ranks, files, &self.sources(), is_wanted)?);
            }
            Question::SaveLayout(question) => self.layouts.save(question)?,
            Question::Layouts => answer.layouts = Some(layouts(&self.ranks, &self.layouts)?),
            Question::Suggestion(range) => {
                answer.suggestion = Some(suggestion(range, &self.ranks, &self.sources(), is_wanted)?);
            }
            Question::Landscape(question) => {
                answer.landscape = Some(self.ranks.landscape(question, self.source.as_ref())?);
            }
            Question::Criteria => answer.criteria = Some(self.criteria()),
            Question::Sites => answer.sites = Some(self.site_table()?),
            Question::SiteTimes(question) => answer.site_times = Some(self.site_times(question, is_wanted)?),
            Question::SourceText(site) => answer.source_text = Some(self.source_text(*site)?),
            Question::Remap => answer.remap = Some(self.remap()?),
        }
        Ok(())
    }

    fn sources(&self) -> Sources<'_> {
        Sources { calls: self.source.as_ref(), messages: &self.dependencies, course: self.known_course() }
    }

    fn criteria(&self) -> Criteria {
        let find = |id: Function| {
            let at = self.functions.binary_search_by_key(&id, |function| function.id).ok()?;
            Some(self.functions[at].name)
        };
        self.dependencies.criteria(&find)
    }

    fn remap(&self) -> Result<Remap, String> {
        self.remap.as_ref().ok_or("no placement can be advised here")?.remap()
    }

    fn calls(&self, question: &RowsQuestion) -> Result<Calls, String> {
        let RowsQuestion { range_ns, ranks, most } = question;
        // Twice, so that there is never more in memory than what is kept.
        let mut durations = Durations::default();
        self.source.visit_of(range_ns, ranks, &mut |call| durations.add(call))?;
        let sample = durations.sample(*most);
        let mut calls = Calls::of(range_ns, durations.total(), &sample);
        self.source.visit_of(range_ns, ranks, &mut |call| {
            if sample.keeps(call) {
                calls.push(call);
            }
        })?;
        Ok(calls)
    }

    /// The course of the run, as it is known now.
    pub(crate) fn known_course(&self) -> Option<Arc<Course>> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn shares(&self, question: &SharesQuestion) -> Result<Shares, String> {
        let course = self.known_course().filter(|course| !course.shares.is_empty());
        let course = course.ok_or("what ranks spent their time on is not known here")?;
        Ok(Shares::new(&course.shares, question, course.to_ns))
    }

    fn budget(
        &self,
        range: &Range<Nanoseconds>,
        ranks: Option<&[(u32, u32)]>,
    ) -> Result<RangeBudget, String> {
        let course = self.known_course().ok_or("where time went was not judged yet")?;
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
        let job = self.ranks.known()?.job();
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
            Grouping::Node => hosts.into_iter().map(|(rank, node)| (node, rank)).collect(),
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
        let (_, until_ns, calls) = self.ranks.known()?.job();
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
