//! What messages of a range say, for those who ask: the messages themselves, how they went, who sent to whom, the
//! dependency graph, and the past or the future of an event.

mod answers;
mod courses;
mod critical;
mod gather;
mod group_graph;
mod messages;
mod pairs;

pub use answers::{Cone, ConeMessages, ConeRanks, Dag, DagBars, DagEdges, DagNodes, DagRanks};

use crate::call_source::CallSource;
use crate::criteria::Criteria;
use crate::message_source::Messages;
use crate::question::{ConeQuestion, CoursesQuestion, DagQuestion, GroupGraphQuestion, RowsQuestion, wanted};
use crate::regions::Regions;
use mpiscope_diagnosis::{Scope, Version};
use mpiscope_model::{Function, Message, Nanoseconds, Node, Rank};
use mpiscope_topology as topology;
use mpiscope_topology::DagScope;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use courses::{CourseSizes, Courses};
pub use critical::CriticalPath;
pub(crate) use gather::Gathered;
pub use group_graph::GroupGraph;
pub use messages::MessageRows;
pub use pairs::Pairs;

/// Answers that are kept for whoever asks the same again.
const KEPT: usize = 4;
/// Messages of one graph, and of one stretch of logical time.
const GRAPH_MESSAGES: usize = 1_000_000;
const TIME_MESSAGES: usize = 500_000;
/// Calls of collectives of one stretch of logical time.
const TIME_CALLS: usize = 500_000;
/// Bars of one answer, and of one node in any case.
const BARS: usize = 100_000;
const BARS_OF_A_NODE: usize = 8;

/// What is known for such answers.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    messages: Option<Messages>,
    hosts: Mutex<BTreeMap<Rank, Node>>,
    criteria: Mutex<ExpectedTimes>,
    /// Grows with whatever may change an answer.
    version: AtomicU64,
    kept: Mutex<VecDeque<(DependencyQuestion, u64, KeptAnswer)>>,
    /// The last stretch that somebody asked about the past or the future in; it is the great part of such an answer.
    time: Mutex<Option<Stretch>>,
}

/// Expected transfer times, as far as that is known.
#[derive(Debug, Clone, Default)]
struct ExpectedTimes {
    criteria: Option<Arc<Version>>,
    /// How often they changed.
    number: u64,
    is_final: bool,
}

/// An answer. The question says of what type.
type KeptAnswer = Arc<dyn Any + Send + Sync>;

/// A stretch of logical time, with the version that it was made of.
type Stretch = (Range<Nanoseconds>, u64, Arc<Gathered>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum DependencyQuestion {
    Dag(DagQuestion),
    Cone(ConeQuestion),
    Pairs(Range<Nanoseconds>),
    Messages(RowsQuestion),
    Courses(CoursesQuestion),
    Critical(Range<Nanoseconds>),
    GroupGraph(GroupGraphQuestion),
}

/// A panic elsewhere while the lock was held leaves values that are still fine to show.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Dependencies {
    pub(crate) fn with_messages(messages: Messages) -> Self {
        Self { messages: Some(messages), ..Self::default() }
    }

    /// Something was added to the run.
    pub(crate) fn changed(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn set_rank_nodes(&self, ranks: impl Iterator<Item = (Rank, Node)>) {
        let mut hosts = lock(&self.hosts);
        let mut has_moved = false;
        ranks.for_each(|(rank, node)| has_moved |= hosts.insert(rank, node) != Some(node));
        if has_moved {
            self.changed();
        }
    }

    pub(crate) fn use_criteria(&self, criteria: Version, is_final: bool) {
        let mut known = lock(&self.criteria);
        if known.criteria.as_deref() != Some(&criteria) {
            known.number += 1;
            known.criteria = Some(Arc::new(criteria));
            self.changed();
        }
        known.is_final = is_final;
    }

    /// Grows with whatever may change an answer.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Shows all messages as long as the answer is wanted.
    pub(crate) fn visit(
        &self,
        range_ns: &Range<Nanoseconds>,
        is_wanted: &dyn Fn() -> bool,
        take: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        gather::visit(self.messages()?.source.as_ref(), range_ns, is_wanted, take)
    }

    /// Who waits for whom in a collective.
    pub(crate) fn flow(&self, function: Function) -> Option<mpiscope_model::Flow> {
        self.messages.as_ref().and_then(|messages| (messages.flow)(function))
    }

    /// Where ranks run.
    pub(crate) fn hosts(&self) -> BTreeMap<Rank, Node> {
        lock(&self.hosts).clone()
    }

    pub(crate) fn usual(&self) -> Option<Arc<Version>> {
        lock(&self.criteria).criteria.clone()
    }

    /// The expected times of messages and collectives.
    pub(crate) fn criteria(&self, name: &dyn Fn(Function) -> Option<&'static str>) -> Criteria {
        let ExpectedTimes { criteria, number, is_final } = lock(&self.criteria).clone();
        criteria.map_or_else(Criteria::default, |criteria| {
            Criteria::from_version(number, is_final, &criteria, name)
        })
    }

    pub(crate) fn dag(&self, question: &DagQuestion, is_wanted: &dyn Fn() -> bool) -> Result<Dag, String> {
        self.once(DependencyQuestion::Dag(question.clone()), || self.make_dag(question, is_wanted))
    }

    pub(crate) fn cone(
        &self,
        question: &ConeQuestion,
        calls: &dyn CallSource,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Cone, String> {
        self.once(DependencyQuestion::Cone(question.clone()), || self.make_cone(question, calls, is_wanted))
    }

    pub(crate) fn pairs(
        &self,
        range_ns: &Range<Nanoseconds>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Pairs, String> {
        self.once(DependencyQuestion::Pairs(range_ns.clone()), || {
            let criteria = self.usual();
            pairs::pairs(self.messages()?.source.as_ref(), range_ns, criteria.as_deref(), is_wanted)
        })
    }

    pub(crate) fn critical(
        &self,
        range_ns: &Range<Nanoseconds>,
        source: (&dyn CallSource, u64),
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<CriticalPath, String> {
        self.once(DependencyQuestion::Critical(range_ns.clone()), || {
            critical::critical_path(self.messages()?, range_ns, source, is_wanted)
        })
    }

    pub(crate) fn group_graph(
        &self,
        question: &GroupGraphQuestion,
        sources: (&dyn CallSource, &Regions),
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<GroupGraph, String> {
        self.once(DependencyQuestion::GroupGraph(question.clone()), || {
            let (messages, hosts, criteria) = (self.messages()?.source.as_ref(), self.hosts(), self.usual());
            group_graph::group_graph(question, messages, &hosts, criteria.as_deref(), sources, is_wanted)
        })
    }

    pub(crate) fn rows(
        &self,
        question: &RowsQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<MessageRows, String> {
        self.once(DependencyQuestion::Messages(question.clone()), || {
            let criteria = self.usual();
            messages::messages(self.messages()?.source.as_ref(), question, criteria.as_deref(), is_wanted)
        })
    }

    pub(crate) fn courses(
        &self,
        question: &CoursesQuestion,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Courses, String> {
        self.once(DependencyQuestion::Courses(question.clone()), || {
            courses::courses(self.messages()?.source.as_ref(), question, is_wanted)
        })
    }

    /// What was answered before, as long as nothing was added since, or what is answered now.
    fn once<T: Clone + Send + Sync + 'static>(
        &self,
        asked: DependencyQuestion,
        make: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        // Before anything is read: what is added meanwhile may be missing in the answer.
        let version = self.version.load(Ordering::Acquire);
        if let Some(answer) = self.answered(&asked, version)
            && let Some(answer) = answer.downcast_ref::<T>()
        {
            return Ok(answer.clone());
        }
        let answer = make()?;
        let mut kept = lock(&self.kept);
        kept.push_back((asked, version, Arc::new(answer.clone())));
        while kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(answer)
    }

    /// What was answered to this question before; it then is the newest that is kept. What is older than the run goes.
    fn answered(&self, asked: &DependencyQuestion, version: u64) -> Option<KeptAnswer> {
        let mut kept = lock(&self.kept);
        kept.retain(|(_, of, _)| *of == version);
        let at = kept.iter().position(|(other, ..)| other == asked)?;
        let found = kept.remove(at)?;
        let answer = Arc::clone(&found.2);
        kept.push_back(found);
        Some(answer)
    }

    fn messages(&self) -> Result<&Messages, String> {
        self.messages.as_ref().ok_or_else(|| "the messages of this run cannot be read here".to_owned())
    }

    fn make_dag(&self, question: &DagQuestion, is_wanted: &dyn Fn() -> bool) -> Result<Dag, String> {
        let DagQuestion { range_ns, ranks, most } = question.clone();
        let scope = DagScope { range_ns, ranks, most_nodes: most as usize };
        let (messages, until_ns, unread) =
            gather::earliest(self.messages()?.source.as_ref(), &scope, GRAPH_MESSAGES, is_wanted)?;
        wanted(is_wanted)?;
        let read = DagScope { range_ns: scope.range_ns.start..until_ns, ..scope.clone() };
        let dag = topology::Dag::build(&messages, &read);
        drop(messages);
        wanted(is_wanted)?;
        let criteria = self.usual();
        let usually_ns =
            |inter: bool, bytes: u64| criteria.as_ref()?.message_ns(Scope::between_nodes(inter), bytes);
        let all = dag.messages.len() * 2;
        let most_a_node = if all <= BARS { all } else { (BARS / dag.nodes.len().max(1)).max(BARS_OF_A_NODE) };
        let bars = dag.bars(most_a_node, usually_ns);
        wanted(is_wanted)?;
        let hosts = lock(&self.hosts).clone();
        Ok(Dag::from_graph(&scope, &dag, &bars, &hosts, unread, criteria.is_some()))
    }

    fn make_cone(
        &self,
        question: &ConeQuestion,
        calls: &dyn CallSource,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Cone, String> {
        let gathered = self.time(&question.range_ns, calls, is_wanted)?;
        wanted(is_wanted)?;
        let event = if question.is_future {
            gathered.time.first_from(question.rank, question.at_ns)
        } else {
            gathered.time.last_until(question.rank, question.at_ns)
        };
        let side = if question.is_future { "from then on" } else { "until then" };
        let event = event.ok_or_else(|| {
            format!("rank {} sends and receives nothing {side} in this range", question.rank)
        })?;
        Ok(Cone::from_event(question, &gathered, event))
    }

    fn time(
        &self,
        range_ns: &Range<Nanoseconds>,
        calls: &dyn CallSource,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Arc<Gathered>, String> {
        let version = self.version.load(Ordering::Acquire);
        let kept = lock(&self.time).clone();
        if let Some((_, _, gathered)) = kept.filter(|(of, at, _)| of == range_ns && *at == version) {
            return Ok(gathered);
        }
        let Messages { source, flow } = self.messages()?;
        let messages = gather::all(source.as_ref(), range_ns, TIME_MESSAGES, is_wanted)?;
        let meetings = gather::meetings(calls, *flow, range_ns, TIME_CALLS)?;
        wanted(is_wanted)?;
        let gathered = Arc::new(Gathered::build(&messages, &meetings, range_ns));
        *lock(&self.time) = Some((range_ns.clone(), version, Arc::clone(&gathered)));
        Ok(gathered)
    }
}
