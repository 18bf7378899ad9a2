//! What is known of a run, its summaries and its calls, for answers to what pages ask about any range of it.

use crate::arrivals::{Arrivals, Late};
use crate::call_sites::SiteSource;
use crate::call_source::CallSource;
use crate::course::{Course, RangeVerdicts};
use crate::dependencies::Dependencies;
use crate::message_source::Messages;
use crate::overview::Overview;
use crate::pending::{Unreceived, UnreceivedSends};
use crate::question::Ranks;
use crate::rank_figures::RankFigures;
use crate::rank_layout::{LayoutFiles, LayoutSource, LayoutStore};
use crate::regions::{Region, Regions};
use crate::rows::RankRow;
use crate::surroundings::RemapSource;
use mpiscope_diagnosis::Version;
use mpiscope_layout::SiteDescription;
use mpiscope_matching::UnreceivedSend;
use mpiscope_model::{Call, CommInfo, Coordinate, Function, Message, Nanoseconds, Node, Rank, RankCpus};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// The summaries of a run and its calls. Many ask, one adds.
#[derive(Debug)]
pub struct Library {
    pub(crate) overview: Overview,
    /// None before the first diagnosis.
    pub(crate) course: Mutex<Option<Arc<Course>>>,
    pub(crate) range_verdicts: Mutex<Option<Arc<dyn RangeVerdicts>>>,
    pub(crate) regions: Mutex<Regions>,
    pub(crate) source: Box<dyn CallSource>,
    pub(crate) dependencies: Dependencies,
    pub(crate) sites: Option<Box<dyn SiteSource>>,
    pub(crate) communicators: Mutex<Vec<CommInfo>>,
    /// How long the windows of the run are; 0 where nobody said so.
    pub(crate) window_ns: u64,
    pub(crate) remap: Option<Box<dyn RemapSource>>,
    pub(crate) ranks: RankFigures,
    pub(crate) layouts: LayoutFiles,
    /// All functions, where somebody knows them.
    functions: Vec<FunctionName>,
    arrivals: Arrivals,
    pub(crate) unreceived: Unreceived,
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

    /// Its messages too, for questions about what led to what.
    #[must_use]
    pub fn with_messages(mut self, messages: Messages) -> Self {
        self.dependencies = Dependencies::with_messages(messages);
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

    /// Calls or messages, in pieces, are added to their source by `add`.
    pub fn arrive(&self, calls: &[&[Call]], messages: &[&[Message]], add: impl FnOnce()) {
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
        regions.regions.iter().find(|region| region.id == id).map(Region::ranges)
    }

    /// The sends that nobody was seen to receive, where all receives that ended before a time are known. Some may be left
    /// out.
    pub fn set_unreceived_sends(&self, sends: Vec<UnreceivedSend>, left_out: u64, until_ns: Nanoseconds) {
        self.unreceived.set(UnreceivedSends { until_ns, sends, left_out });
    }

    /// Where ranks run.
    pub fn set_rank_nodes(&self, ranks: impl Iterator<Item = (Rank, Node)>) {
        self.dependencies.set_rank_nodes(ranks);
    }

    /// What is counted of each rank, of how many ranks, until when.
    pub fn set_rank_rows(&self, rows: Vec<RankRow>, ranks: u32, until_ns: Nanoseconds) {
        self.ranks.set_rows(rows, ranks, until_ns);
    }

    /// Where ranks are in the grids of communicators: all of it; the first ones stay the same.
    pub fn set_grid(&self, all: &[Coordinate]) {
        self.ranks.set_grid(all);
    }

    /// The names of nodes, by number, and which CPUs ranks are bound to.
    pub fn set_placement<'a>(
        &self,
        nodes: impl Iterator<Item = &'a str>,
        ranks: impl Iterator<Item = (Rank, &'a RankCpus)>,
    ) {
        self.ranks.places.set(nodes, ranks);
    }

    /// Expected transfer times, by the whole run or until now.
    pub fn use_criteria(&self, criteria: Version, is_final: bool) {
        self.dependencies.use_criteria(criteria, is_final);
    }

    /// Which ranks are a region.
    pub fn set_regions(&self, regions: &Regions) {
        let mut known = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(regions);
        self.ranks.places.set_regions(regions);
    }

    /// Where time went until now.
    pub fn set_course(&self, course: Course) {
        let before = self.course.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(course));
        // Not under the lock.
        drop(before);
    }

    /// Who gives the verdict on parts of what is known of the course.
    pub fn set_range_verdicts(&self, verdicts: Arc<dyn RangeVerdicts>) {
        let before = self.range_verdicts.lock().unwrap_or_else(PoisonError::into_inner).replace(verdicts);
        // Not under the lock.
        drop(before);
    }

    /// The course of the run, as it is known now.
    pub(crate) fn course_so_far(&self) -> Option<Arc<Course>> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
