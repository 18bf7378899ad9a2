//! All kinds of questions.

use crate::question::pending::PendingQuestion;
use crate::question::range::{
    ConeQuestion, CoursesQuestion, DagQuestion, DurationsQuestion, EventQuestion, GroupGraphQuestion,
    RowsQuestion, SelectedQuestion, SharesQuestion,
};
use crate::question::rank::{LandscapeQuestion, LayoutQuestion, MetricsQuestion, SaveLayoutQuestion};
use crate::question::ranks::Ranks;
use mpiscope_model::{Nanoseconds, Site};
use std::ops::Range;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The calls that are in a range, also in part, about `most` of them.
    Calls(RowsQuestion),
    /// The messages that are in a range, also in part, at most `most` of them.
    Messages(RowsQuestion),
    /// How messages went over a range.
    Courses(CoursesQuestion),
    /// The nearest call that begins after or before a time.
    Event(EventQuestion),
    /// The expected times of messages and collectives.
    Criteria,
    /// The call sites.
    Sites,
    /// What is called from where.
    SiteTimes(SelectedQuestion),
    /// The source text around a call site.
    SourceText(Site),
    /// A better placement of the ranks.
    Remap,
    /// How many calls of each function began when, in about this number of bins of a power of two nanoseconds, whose edges are
    /// multiples of that and may lie a little outside the range.
    Timeline(Range<Nanoseconds>, u32),
    /// How many calls of each function began in a range, to the nanosecond.
    Count(Range<Nanoseconds>),
    /// How often calls that ended in a range took how long.
    History(Range<Nanoseconds>),
    /// How often calls took how long.
    Durations(DurationsQuestion),
    /// Where time in MPI went in a range; of ranges of ranks, both ends included, or of all.
    Budget(Range<Nanoseconds>, Ranks),
    /// What ranks' time was spent on.
    Shares(SharesQuestion),
    /// Who sent to whom, by groups of ranks and iterations of the main loop.
    GroupGraph(GroupGraphQuestion),
    /// What ended each wait in a range, from its last event backwards.
    Critical(Range<Nanoseconds>),
    /// The figures of a selection.
    Selected(SelectedQuestion),
    /// The dependency graph of a range.
    Dag(DagQuestion),
    /// What led to an event in a range, or what it led to.
    Cone(ConeQuestion),
    /// Who sent to whom in a range.
    Pairs(Range<Nanoseconds>),
    /// What is in flight at a moment.
    Pending(PendingQuestion),
    /// Figures of all ranks.
    RankMetrics(MetricsQuestion),
    /// Where a layout puts all ranks.
    RankLayout(LayoutQuestion),
    /// Keep layouts, or forget one.
    SaveLayout(SaveLayoutQuestion),
    /// The layouts that there are.
    Layouts,
    /// What shows best where ranks stand out.
    Suggestion(Range<Nanoseconds>),
    /// Time by function and rank.
    Landscape(LandscapeQuestion),
    /// Is anybody there?
    Ping,
}

/// Kinds of questions where a page needs no more than the newest answer.
pub const REPLACEABLE: usize = 16;

impl Question {
    /// The number of its kind, where a newer question of one kind takes the place of the one before.
    #[must_use]
    pub fn replaceable(&self) -> Option<usize> {
        match self {
            Question::Dag(_) => Some(0),
            Question::Cone(_) => Some(1),
            Question::Pairs(_) => Some(2),
            Question::Messages(_) => Some(3),
            Question::Courses(_) => Some(4),
            Question::RankMetrics(_) => Some(5),
            Question::RankLayout(_) => Some(6),
            Question::Landscape(_) => Some(7),
            Question::Suggestion(_) => Some(8),
            Question::Selected(_) => Some(9),
            Question::Pending(_) => Some(10),
            Question::Shares(_) => Some(11),
            Question::Critical(_) => Some(12),
            Question::GroupGraph(_) => Some(13),
            Question::Durations(_) => Some(14),
            Question::SiteTimes(_) => Some(15),
            _ => None,
        }
    }
}
