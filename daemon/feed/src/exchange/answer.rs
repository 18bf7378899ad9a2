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
use serde::{Deserialize, Serialize};

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum AnswerKind {
    Answer,
}

/// What comes back to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Answer {
    /// Always `answer`.
    pub kind: AnswerKind,
    /// The number of the question.
    pub id: u32,
    /// Why there is no answer, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Single calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// Counts over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineBins>,
    /// Counts of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<RangeCounts>,
    /// Counts of durations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// How long calls took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durations: Option<CallDurations>,
    /// What ranks' time was spent on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shares>,
    /// Messages by groups and iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_graph: Option<GroupGraph>,
    /// The critical path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical: Option<CriticalPath>,
    /// Where time in MPI went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<RangeBudget>,
    /// The figures of a selection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Selected>,
    /// What led to what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dag: Option<Dag>,
    /// A past or a future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cone: Option<Cone>,
    /// Who sent to whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// What is in flight at a moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingMessages>,
    /// Single messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageRows>,
    /// How messages went over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub courses: Option<Courses>,
    /// The expected times of messages and collectives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Criteria>,
    /// Figures of all ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_metrics: Option<RankMetrics>,
    /// Where a layout puts all ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_layout: Option<RankLayout>,
    /// The layouts that there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<Layouts>,
    /// Time by function and rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landscape: Option<Landscape>,
    /// What shows best where ranks stand out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
    /// The call sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sites: Option<Sites>,
    /// What is called from where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_times: Option<SiteTimes>,
    /// A part of the program's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_text: Option<SourceText>,
    /// A better placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remap: Option<Remap>,
    /// The nearest call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
}

impl Answer {
    /// An answer without anything.
    #[must_use]
    pub fn to(id: u32) -> Self {
        Answer {
            kind: AnswerKind::Answer,
            id,
            error: None,
            calls: None,
            timeline: None,
            count: None,
            history: None,
            durations: None,
            shares: None,
            group_graph: None,
            critical: None,
            budget: None,
            selected: None,
            dag: None,
            cone: None,
            pairs: None,
            pending: None,
            messages: None,
            courses: None,
            criteria: None,
            rank_metrics: None,
            rank_layout: None,
            layouts: None,
            landscape: None,
            suggestion: None,
            sites: None,
            site_times: None,
            source_text: None,
            remap: None,
            event: None,
        }
    }
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
