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
//! | `criteria` | | `criteria`: the expected times of messages and collectives |
//! | `rank_metrics` | `from_ns, to_ns, metrics, function, site, phase` | `rank_metrics`: figures of all ranks |
//! | `rank_layout` | `from_ns, to_ns, metrics, function, site, phase, layout, source, is_file` | `rank_layout`: where a layout puts ranks |
//! | `layouts` | | `layouts`: the layouts that there are |
//! | `save_layout` | `source, by, layout` | nothing: keeps layouts with the `recording` or for the `user`, or forgets one |
//! | `suggestion` | `from_ns, to_ns` | `suggestion`: what shows best where ranks stand out |
//! | `landscape` | `from_ns, to_ns, most` | `landscape`: time by function and rank |
//! | `sites` | | `sites`: the call sites |
//! | `site_times` | `from_ns, to_ns, ranks, hidden` | `site_times`: what is called from where |
//! | `source_text` | `site` | `source_text`: the source around a place, for the owner alone |
//! | `remap` | | `remap`: a better placement |
//! | `ping` | | nothing |
//!
//! `ranks` are ranges with both ends included; without them it is all. Of `messages`, `shares`, `critical`, `durations`,
//! `group_graph`, `courses`, `pairs`, `pending`, `selected`, `site_times`, `rank_metrics`, `rank_layout`, `landscape`,
//! `dag` and `past` or `future` a page gets the answer to the newest question of the kind; older ones that are not answered yet
//! get an error. `remap` may take seconds.

mod answer;
mod incoming;
#[cfg(feature = "reading")]
mod outgoing;
mod perspective_message;
#[cfg(test)]
mod tests;

pub use crate::question::{
    ConeQuestion, CoursesQuestion, DagQuestion, DurationsQuestion, EventQuestion, GroupGraphQuestion,
    Grouping, InvalidMessage, LAYOUT_SOURCE_BYTES_MAX, LandscapeQuestion, LayoutQuestion, LayoutSourceChoice,
    MetricsQuestion, PENDING_EDGES_MAX, PENDING_EDGES_USUAL, PendingQuestion, Question, REPLACEABLE, Ranks,
    RowsQuestion, SaveLayoutQuestion, SelectedQuestion, SharesQuestion, common_ranks, is_among, rank_ranges,
};
pub use answer::{Answer, AnswerKind, Content, History, RangeCounts, TimelineBins};
pub use incoming::{
    BINS_MAX, CALLS_MAX, CONE_MESSAGES_MAX, COURSE_BINS_MAX, COURSE_BINS_USUAL, Command, Incoming,
    LinkRequest, MESSAGES_MAX, NODES_MAX, NODES_USUAL, Selection,
};
#[cfg(feature = "reading")]
pub use outgoing::Outgoing;
pub use perspective_message::{Mode, PerspectiveKind, PerspectiveMessage};
