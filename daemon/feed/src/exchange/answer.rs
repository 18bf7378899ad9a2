//! What comes back to a question.

use crate::call_sites::{SiteTimes, Sites, SourceText};
use crate::calls::Calls;
use crate::column::{F64Column, U32Column};
use crate::course::RangeBudget;
use crate::criteria::Criteria;
use crate::dependencies::{Cone, Courses, CriticalPath, Dag, GroupGraph, MessageRows, Pairs};
use crate::durations::CallDurations;
use crate::event::Event;
use crate::pending::PendingMessages;
use crate::rank_layout::{Layouts, RankLayout};
use crate::rank_suggestion::Suggestion;
use crate::rank_values::{Landscape, RankMetrics};
use crate::selected::Selected;
use crate::shares::Shares;
use crate::surroundings::Remap;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum AnswerKind {
    Answer,
}

/// What comes back to a question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Answer {
    /// Always `answer`.
    pub kind: AnswerKind,
    /// The number of the question.
    pub id: u32,
    /// What was asked for, under the name of its kind, or why it is not there; nothing where there is nothing to bring back.
    #[serde(flatten)]
    #[cfg_attr(test, ts(skip))]
    pub content: Option<Content>,
}

/// Its size is written first: serde would write a flattened field into a buffer of its own.
impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2 + usize::from(self.content.is_some())))?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("id", &self.id)?;
        if let Some(content) = &self.content {
            content.write(&mut map)?;
        }
        map.end()
    }
}

impl Answer {
    /// An answer to the question with this number.
    #[must_use]
    pub fn new(id: u32, content: Result<Option<Content>, String>) -> Self {
        let content = content.unwrap_or_else(|error| Some(Content::Error(error)));
        Answer { kind: AnswerKind::Answer, id, content }
    }

    /// Why there is no answer, in a sentence.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        if let Some(Content::Error(error)) = &self.content { Some(error) } else { None }
    }
}

/// The kinds of content, and a method for each that takes it out of an answer.
macro_rules! contents {
    ($($(#[$doc:meta])* $kind:ident($content:ty) as $name:ident,)*) => {
        /// What was asked for.
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "snake_case")]
        #[expect(clippy::large_enum_variant, reason = "one is made, sent and dropped at a time")]
        pub enum Content {
            /// Why there is no answer, in a sentence.
            Error(String),
            $($(#[$doc])* $kind($content),)*
        }

        impl Content {
            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    Self::Error(error) => map.serialize_entry("error", error),
                    $(Self::$kind(content) => map.serialize_entry(stringify!($name), content),)*
                }
            }
        }

        impl Answer {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(self) -> Option<$content> {
                    if let Some(Content::$kind(content)) = self.content { Some(content) } else { None }
                }
            )*
        }
    };
}

contents! {
    /// Single calls.
    Calls(Calls) as calls,
    /// Counts over time.
    Timeline(TimelineBins) as timeline,
    /// Counts of a range.
    Count(RangeCounts) as count,
    /// Counts of durations.
    History(History) as history,
    /// How long calls took.
    Durations(CallDurations) as durations,
    /// What ranks' time was spent on.
    Shares(Shares) as shares,
    /// Messages by groups and iterations.
    GroupGraph(GroupGraph) as group_graph,
    /// The critical path.
    Critical(CriticalPath) as critical,
    /// Where time in MPI went.
    Budget(RangeBudget) as budget,
    /// The figures of a selection.
    Selected(Selected) as selected,
    /// What led to what.
    Dag(Dag) as dag,
    /// A past or a future.
    Cone(Cone) as cone,
    /// Who sent to whom.
    Pairs(Pairs) as pairs,
    /// What is in flight at a moment.
    Pending(PendingMessages) as pending,
    /// Single messages.
    Messages(MessageRows) as messages,
    /// How messages went over time.
    Courses(Courses) as courses,
    /// The expected times of messages and collectives.
    Criteria(Criteria) as criteria,
    /// Figures of all ranks.
    RankMetrics(RankMetrics) as rank_metrics,
    /// Where a layout puts all ranks.
    RankLayout(RankLayout) as rank_layout,
    /// The layouts that there are.
    Layouts(Layouts) as layouts,
    /// Time by function and rank.
    Landscape(Landscape) as landscape,
    /// What shows best where ranks stand out.
    Suggestion(Suggestion) as suggestion,
    /// The call sites.
    Sites(Sites) as sites,
    /// What is called from where.
    SiteTimes(SiteTimes) as site_times,
    /// A part of the program's source.
    SourceText(SourceText) as source_text,
    /// A better placement.
    Remap(Remap) as remap,
    /// The nearest call.
    Event(Event) as event,
}

/// How many calls of each function began when.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineBins {
    /// Where the first bin begins.
    pub from_ns: u64,
    /// Where the last one ends.
    pub to_ns: u64,
    /// How many there are, all of one length.
    pub bins: u32,
    /// The functions that occur.
    pub functions: U32Column,
    /// Their counts, all bins of the first function before those of the second.
    pub counts: F64Column,
}

/// How many calls of each function began in a range.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RangeCounts {
    /// The functions that occur.
    pub function: U32Column,
    /// Rows of calls.
    pub calls: F64Column,
}

/// How often calls that ended in a range took how long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct History {
    /// The range.
    pub from_ns: u64,
    /// Its end, outside.
    pub to_ns: u64,
    /// A duration is in bin `floor(bins_per_octave * log2(1 + ns))`.
    pub bins_per_octave: u32,
    /// Ranks that share a row.
    pub ranks_per_row: u32,
    /// The first rank of the cell's row.
    pub row: U32Column,
    /// The cell's function.
    pub function: U32Column,
    /// The cell's bin.
    pub bin: U32Column,
    /// Calls in it.
    pub count: F64Column,
    /// Calls in all.
    pub total: u64,
}
