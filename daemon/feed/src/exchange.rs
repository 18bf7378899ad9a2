//! What pages ask and command, and what they get back: protocol version 2.
//!
//! A page sends MessagePack maps: `{ask: ..., id, ...}`, to which an [`Answer`] with the same number comes, and
//! `{do: "live" | "pause" | "play" | "rate" | "seek" | "step" | "select" | "follow", ...}`, which moves the shared clock. Every page hears of
//! each move by a [`PerspectiveMessage`]. `{do: "record", on}` pauses and resumes recording. The owner's pages make links for others with
//! `{do: "issue", label, control, annotate}` and end them with `{do: "revoke", id}`; an [`Access`](crate::Access) answers.
//!
//! | `ask` | with | the answer's |
//! |---|---|---|
//! | `calls` | `from_ns, to_ns, most, ranks` | `calls`: single calls |
//! | `messages` | `from_ns, to_ns, most, ranks` | `messages`: single messages |
//! | `timeline` | `from_ns, to_ns, bins` | `timeline`: how many calls began when |
//! | `count` | `from_ns, to_ns` | `count`: how many calls began |
//! | `durations` | `from_ns, to_ns, ranks, function, low_ns, high_ns, most` | `durations`: how often calls took how long, and the longest between two durations |
//! | `history` | `from_ns, to_ns` | `history`: how often calls took how long |
//! | `courses` | `from_ns, to_ns, bins, ranks` | `courses`: how messages went over time |
//! | `selected` | `from_ns, to_ns, ranks, hidden` | `selected`: the figures of a selection, which all views show |
//! | `shares` | `from_ns, to_ns, ranks, ranks_per_row, bins` | `shares`: what ranks' time was spent on |
//! | `group_graph` | `from_ns, to_ns, ranks, by` | `group_graph`: who sent to whom, by groups and iterations |
//! | `critical` | `from_ns, to_ns` | `critical`: the critical path |
//! | `budget` | `from_ns, to_ns, ranks` | `budget`: where time in MPI went |
//! | `pairs` | `from_ns, to_ns` | `pairs`: who sent to whom |
//! | `pending` | `time_ns, ranks, by, open, most` | `pending`: what is in flight at a moment |
//! | `dag` | `from_ns, to_ns, most, ranks` | `dag`: what led to what |
//! | `past`, `future` | `from_ns, to_ns, most, rank, time_ns` | `cone`: what led to an event, or followed it |
//! | `event` | `time_ns, is_back, ranks, hidden` | `event`: the nearest call after or before a time |
//! | `criteria` | | `criteria`: what messages and collectives usually take |
//! | `rank_metrics` | `from_ns, to_ns, metrics, function, site, phase` | `rank_metrics`: figures of all ranks |
//! | `rank_layout` | `from_ns, to_ns, metrics, function, site, phase, layout, source, is_file` | `rank_layout`: where a layout puts ranks |
//! | `layouts` | | `layouts`: the layouts that there are |
//! | `save_layout` | `source, by, layout` | nothing: keeps layouts with the `recording` or for the `user`, or forgets one |
//! | `suggestion` | `from_ns, to_ns` | `suggestion`: what shows best where ranks stand out |
//! | `landscape` | `from_ns, to_ns, most` | `landscape`: time by function and rank |
//! | `sites` | | `sites`: where in the program calls are made |
//! | `site_times` | `from_ns, to_ns, ranks, hidden` | `site_times`: what is called from where |
//! | `source_text` | `site` | `source_text`: the source around a place, for the owner alone |
//! | `remap` | | `remap`: a better placement |
//! | `ping` | | nothing |
//!
//! `ranks` are ranges with both ends included; without them it is all. Of `messages`, `shares`, `critical`, `durations`,
//! `group_graph`, `courses`, `pairs`, `pending`, `selected`, `site_times`, `rank_metrics`, `rank_layout`, `landscape`,
//! `dag` and `past` or `future` a page gets the answer to the newest question of the kind; older ones that are not answered yet
//! get an error. `remap` may take seconds.

#[cfg(feature = "reading")]
mod outgoing;
mod pending_question;
mod questions;
mod rank_questions;

#[cfg(feature = "reading")]
pub use outgoing::Outgoing;
pub use pending_question::{Grouping, PENDING_EDGES_MAX, PENDING_EDGES_USUAL, PendingQuestion};
pub use questions::{
    BINS_MAX, CALLS_MAX, CONE_MESSAGES_MAX, COURSE_BINS_MAX, COURSE_BINS_USUAL, Command, ConeQuestion,
    CoursesQuestion, DagQuestion, DurationsQuestion, EventQuestion, GroupGraphQuestion, Incoming,
    LinkRequest, MESSAGES_MAX, NODES_MAX, NODES_USUAL, Question, REPLACEABLE, Ranks, RowsQuestion,
    SelectedQuestion, Selection, Senseless, SharesQuestion, common_ranks, is_among,
};
pub use rank_questions::{
    LAYOUT_SOURCE_BYTES_MAX, LandscapeQuestion, LayoutQuestion, LayoutSourceChoice, MetricsQuestion,
    SaveLayoutQuestion,
};

use crate::{
    CallDurations, Calls, Cone, Courses, Criteria, CriticalPath, Dag, Event, F64Column, GroupGraph,
    Landscape, Layouts, MessageRows, Pairs, PendingMessages, RangeBudget, RankLayout, RankMetrics, Remap,
    Selected, Shares, SiteTimes, Sites, SourceText, Suggestion, U32Column,
};
use serde::{Deserialize, Serialize};

/// How the shared clock stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Now, as far as calls are known.
    #[default]
    Live,
    /// It stands.
    Paused,
    /// It runs.
    Playing,
}

/// How the shared clock stands, for pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PerspectiveMessage {
    /// Always `perspective`.
    pub kind: PerspectiveKind,
    /// Grows with every move.
    pub version: u64,
    /// Whether it runs.
    pub mode: Mode,
    /// Where it is.
    pub time_ns: f64,
    /// Seconds of the run a second, while it plays.
    pub rate: f64,
    /// What is selected.
    #[serde(flatten)]
    pub selection: Selection,
    /// Open pages.
    pub pages: u32,
    /// Those that follow.
    pub followers: u32,
}

/// Names the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "there is one")]
pub enum PerspectiveKind {
    Perspective,
}

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
    /// What messages and collectives usually take.
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
    /// Where in the program calls are made.
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

#[cfg(test)]
mod tests;
