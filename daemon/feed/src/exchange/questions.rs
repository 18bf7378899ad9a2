//! What pages ask and command, as it is read.

use super::pending_question::{Grouping, PENDING_EDGES_MAX, PENDING_EDGES_USUAL, PendingQuestion};
use super::rank_questions::{
    LandscapeQuestion, LayoutQuestion, MetricsQuestion, SaveLayoutQuestion, layout_question,
    metrics_question, save_layout_question,
};
use mpiscope_model::{Comm, Function, Nanoseconds, Rank, Site};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The most calls of one answer.
pub const CALLS_MAX: u64 = 200_000;
/// The most messages of one answer.
pub const MESSAGES_MAX: u64 = 200_000;
/// The most calls that a histogram of durations lists, and how many it does where nobody says.
const LISTED_MAX: u64 = 1_000;
/// Likewise.
const LISTED_USUAL: u64 = 100;
/// The most bins of a course of messages, and what it has where nobody says.
pub const COURSE_BINS_MAX: u32 = 512;
/// Likewise.
pub const COURSE_BINS_USUAL: u32 = 128;
/// The most bins of one answer.
pub const BINS_MAX: u32 = 8_192;
/// The most nodes of a dependency graph, and what it has where nobody says.
pub const NODES_MAX: u32 = 10_000;
/// Likewise.
pub const NODES_USUAL: u32 = 5_000;
/// The most rows of a landscape.
const ROWS_MAX: u64 = 1_024;
/// The most messages of a past or a future.
pub const CONE_MESSAGES_MAX: u32 = 50_000;
/// The most ranges of ranks and hidden functions that are kept.
const SELECTED_MAX: usize = 256;

/// What a page sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A question, with the number that its answer bears.
    Ask(u32, Question),
    /// A command.
    Do(Command),
}

/// Ranges of ranks, both ends included; all where none is given.
pub type Ranks = Option<Vec<(Rank, Rank)>>;

/// Whether a rank is one of these.
#[must_use]
pub fn is_among(ranks: Option<&[(Rank, Rank)]>, rank: Rank) -> bool {
    ranks.is_none_or(|ranks| ranks.iter().any(|&(first, last)| (first..=last).contains(&rank)))
}

/// What two lists of ranges have in common.
#[must_use]
pub fn common_ranks(one: &[(Rank, Rank)], other: &[(Rank, Rank)]) -> Vec<(Rank, Rank)> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|(first, last)| first <= last).collect()
}

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
    /// What messages and collectives usually take.
    Criteria,
    /// Where in the program calls are made.
    Sites,
    /// What is called from where.
    SiteTimes(SelectedQuestion),
    /// The source text around a call site.
    SourceText(Site),
    /// A better placement of the ranks.
    Remap,
    /// How many calls of each function began when, in about so many bins of a power of two nanoseconds, whose edges are
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

/// Which calls or messages are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// Whose calls; messages from or to them.
    pub ranks: Ranks,
    /// The most of them.
    pub most: u64,
}

/// Which messages are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoursesQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// Messages from or to these ranks.
    pub ranks: Ranks,
    /// The most bins.
    pub bins: u32,
}

/// Which call is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuestion {
    /// The first that begins after this time.
    pub at_ns: Nanoseconds,
    /// Or the last that begins before it.
    pub is_back: bool,
    /// By one of these ranks.
    pub ranks: Ranks,
    /// Of none of these functions.
    pub hidden: Vec<u32>,
}

/// Which graph of groups is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupGraphQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks that are shown.
    pub ranks: Ranks,
    /// What ranks are grouped by.
    pub by: Grouping,
}

/// Of what it is asked on what time was spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharesQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// From the first to the last of these ranks.
    pub ranks: Ranks,
    /// Consecutive ranks that may be added up.
    pub ranks_per_row: u32,
    /// The most windows.
    pub windows: u32,
}

/// A selection whose figures are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks.
    pub ranks: Ranks,
    /// Functions that are not selected.
    pub hidden: Vec<u32>,
}

/// The calls whose durations are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationsQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks.
    pub ranks: Ranks,
    /// The function; of all where none is given.
    pub function: Option<Function>,
    /// Calls that took so long are listed.
    pub listed_ns: Range<Nanoseconds>,
    /// The most of them.
    pub most: u32,
}

/// Which dependency graph is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DagQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks.
    pub ranks: Ranks,
    /// The most nodes.
    pub most: u32,
}

/// Which past or future is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConeQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// Whose event.
    pub rank: Rank,
    /// Of a past, the last event until then; of a future, the first from then on.
    pub at_ns: Nanoseconds,
    /// Whether it is the future.
    pub is_future: bool,
    /// The most messages.
    pub most: u32,
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

/// A move of the shared clock, or of what it shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Back to now.
    Live,
    /// Stop.
    Pause,
    /// Run, at this number of seconds of the run a second; backward when negative.
    Play(f64),
    /// The speed from now on, and how long calls take to fade, whether it plays or not.
    Rate(f64),
    /// Go there.
    Seek(f64),
    /// Go on by so much and stop.
    Step(f64),
    /// What is selected.
    Select(Selection),
    /// Whether this page follows the shared clock.
    Follow(bool),
    /// Whether calls are to be recorded from now on.
    Record(bool),
    /// A link for somebody else.
    Issue(LinkRequest),
    /// The end of the link of this number.
    Revoke(u32),
}

/// The link that an owner asks for. Its holder may read in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRequest {
    /// Whom it is for.
    pub label: String,
    /// Whether its holder may move the shared clock and pause recording.
    pub can_control: bool,
    /// Whether its holder may add notes, series, messages and panels.
    pub can_annotate: bool,
}

/// What is selected, for all views.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Selection {
    /// A range of time.
    pub range_ns: Option<(f64, f64)>,
    /// Ranges of ranks, both ends included.
    pub ranks: Option<Vec<(u32, u32)>>,
    /// Functions that are not shown.
    pub hidden: Vec<u32>,
}

/// Why what a page sent makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Senseless(pub String);

#[derive(Deserialize, Default)]
#[serde(default)]
struct Plain {
    ask: Option<String>,
    #[serde(rename = "do")]
    command: Option<String>,
    id: u32,
    from_ns: f64,
    to_ns: f64,
    most: f64,
    bins: f64,
    ranks_per_row: f64,
    rate: f64,
    low_ns: f64,
    high_ns: f64,
    time_ns: f64,
    rank: u32,
    by_ns: f64,
    range_ns: Option<(f64, f64)>,
    is_back: bool,
    ranks: Ranks,
    hidden: Vec<u32>,
    follow: bool,
    on: bool,
    by: String,
    open: Vec<(u32, u32)>,
    metrics: Vec<String>,
    function: Option<u32>,
    site: Option<u32>,
    phase: Option<u32>,
    layout: String,
    source: Option<String>,
    is_file: bool,
    label: String,
    control: bool,
    annotate: bool,
}

impl Incoming {
    /// Reads what a page sent.
    ///
    /// # Errors
    /// When it is no message of this protocol.
    pub fn decode(bytes: &[u8]) -> Result<Self, Senseless> {
        let plain: Plain = rmp_serde::from_slice(bytes).map_err(|error| Senseless(error.to_string()))?;
        match (plain.ask.as_deref(), plain.command.as_deref()) {
            (Some(ask), None) => Ok(Incoming::Ask(plain.id, plain.question(ask)?)),
            (None, Some(command)) => Ok(Incoming::Do(match command {
                "live" => Command::Live,
                "pause" => Command::Pause,
                "play" => Command::Play(finite(plain.rate)?),
                "rate" => Command::Rate(finite(plain.rate)?),
                "seek" => Command::Seek(finite(plain.time_ns)?),
                "step" => Command::Step(finite(plain.by_ns)?),
                "select" => Command::Select(plain.selection()?),
                "follow" => Command::Follow(plain.follow),
                "record" => Command::Record(plain.on),
                "issue" => Command::Issue(LinkRequest {
                    label: plain.label,
                    can_control: plain.control,
                    can_annotate: plain.annotate,
                }),
                "revoke" => Command::Revoke(plain.id),
                other => return Err(Senseless(format!("there is no command {other:?}"))),
            })),
            _ => Err(Senseless("a message either asks or does".to_owned())),
        }
    }
}

impl Plain {
    fn range(&self) -> Range<Nanoseconds> {
        time(self.from_ns)..time(self.to_ns).max(time(self.from_ns))
    }

    fn metrics_question(&self, range_ns: Range<Nanoseconds>) -> Result<MetricsQuestion, Senseless> {
        metrics_question(range_ns, &self.metrics, (self.function, self.site, self.phase.map(Comm)))
    }

    fn selected_question(&self, range_ns: Range<Nanoseconds>) -> SelectedQuestion {
        SelectedQuestion { range_ns, ranks: self.ranks.clone(), hidden: self.hidden.clone() }
    }

    fn question(&self, ask: &str) -> Result<Question, Senseless> {
        limited(self.ranks.as_ref().map_or(0, Vec::len))?;
        limited(self.hidden.len())?;
        let (range_ns, ranks) = (self.range(), || self.ranks.clone());
        Ok(match ask {
            "calls" => {
                let most = (self.most as u64).clamp(1, CALLS_MAX);
                Question::Calls(RowsQuestion { range_ns, ranks: ranks(), most })
            }
            "messages" => {
                let most = limit(self.most, MESSAGES_MAX, MESSAGES_MAX);
                Question::Messages(RowsQuestion { range_ns, ranks: ranks(), most })
            }
            "courses" => {
                let bins = limit(self.bins, COURSE_BINS_USUAL.into(), COURSE_BINS_MAX.into()) as u32;
                Question::Courses(CoursesQuestion { range_ns, ranks: ranks(), bins })
            }
            "event" => Question::Event(EventQuestion {
                at_ns: time(self.time_ns),
                is_back: self.is_back,
                ranks: ranks(),
                hidden: self.hidden.clone(),
            }),
            "timeline" => Question::Timeline(range_ns, (self.bins as u32).clamp(1, BINS_MAX)),
            "count" => Question::Count(range_ns),
            "history" => Question::History(range_ns),
            "durations" => Question::Durations(DurationsQuestion {
                range_ns,
                ranks: ranks(),
                function: self.function.map(function),
                listed_ns: time(self.low_ns)..time(self.high_ns),
                most: limit(self.most, LISTED_USUAL, LISTED_MAX) as u32,
            }),
            "budget" => Question::Budget(range_ns, ranks()),
            "shares" => Question::Shares(SharesQuestion {
                range_ns,
                ranks: ranks(),
                ranks_per_row: (self.ranks_per_row as u32).max(1),
                windows: (self.bins as u32).clamp(1, BINS_MAX),
            }),
            "selected" => Question::Selected(self.selected_question(range_ns)),
            "site_times" => Question::SiteTimes(self.selected_question(range_ns)),
            "source_text" => Question::SourceText(self.site.unwrap_or(Site::MAX)),
            "dag" => {
                let most = limit(self.most, NODES_USUAL.into(), NODES_MAX.into()) as u32;
                Question::Dag(DagQuestion { range_ns, ranks: ranks(), most })
            }
            "critical" => Question::Critical(range_ns),
            "group_graph" => {
                let by = Grouping::named(&self.by)?;
                Question::GroupGraph(GroupGraphQuestion { range_ns, ranks: ranks(), by })
            }
            "pairs" => Question::Pairs(range_ns),
            "pending" => {
                let most = limit(self.most, PENDING_EDGES_USUAL, PENDING_EDGES_MAX);
                let at_ns = time(self.time_ns);
                Question::Pending(PendingQuestion::checked(at_ns, ranks(), &self.by, &self.open, most)?)
            }
            "rank_metrics" => Question::RankMetrics(self.metrics_question(range_ns)?),
            "rank_layout" => {
                let events = self.metrics_question(range_ns)?;
                let (source, name) = (self.source.clone(), self.layout.clone());
                Question::RankLayout(layout_question(source, self.is_file, name, events)?)
            }
            "save_layout" => {
                let text = self.source.clone().unwrap_or_default();
                Question::SaveLayout(save_layout_question(&self.by, text, self.layout.clone())?)
            }
            "layouts" => Question::Layouts,
            "suggestion" => Question::Suggestion(range_ns),
            "landscape" => {
                let most_rows = limit(self.most, ROWS_MAX, ROWS_MAX) as u32;
                Question::Landscape(LandscapeQuestion { range_ns, most_rows })
            }
            "past" | "future" => Question::Cone(ConeQuestion {
                range_ns,
                rank: self.rank,
                at_ns: time(self.time_ns),
                is_future: ask == "future",
                most: (self.most as u32).clamp(1, CONE_MESSAGES_MAX),
            }),
            "criteria" => Question::Criteria,
            "sites" => Question::Sites,
            "remap" => Question::Remap,
            "ping" => Question::Ping,
            other => return Err(Senseless(format!("there is no question {other:?}"))),
        })
    }

    fn selection(self) -> Result<Selection, Senseless> {
        Selection { range_ns: self.range_ns, ranks: self.ranks, hidden: self.hidden }.checked()
    }
}

impl Selection {
    /// It, if it makes sense.
    ///
    /// # Errors
    /// When it is too large to be kept, or a number is missing.
    pub fn checked(self) -> Result<Self, Senseless> {
        if let Some((from_ns, to_ns)) = self.range_ns {
            finite(from_ns).and(finite(to_ns))?;
        }
        limited(self.ranks.as_ref().map_or(0, Vec::len))?;
        limited(self.hidden.len())?;
        Ok(self)
    }
}

fn limited(selected: usize) -> Result<(), Senseless> {
    if selected > SELECTED_MAX {
        return Err(Senseless(format!("at most {SELECTED_MAX} ranges and functions can be selected")));
    }
    Ok(())
}

/// How many are asked for; the usual number where nobody says.
fn limit(asked: f64, usual: u64, most: u64) -> u64 {
    if asked >= 1.0 { (asked as u64).min(most) } else { usual }
}

/// A number that no function has is that of none.
pub(super) fn function(id: u32) -> Function {
    Function::try_from(id).unwrap_or(Function::MAX)
}

fn finite(number: f64) -> Result<f64, Senseless> {
    if number.is_finite() { Ok(number) } else { Err(Senseless("a number is missing".to_owned())) }
}

/// Not a number and what is negative are the start.
fn time(ns: f64) -> Nanoseconds {
    ns.max(0.0) as Nanoseconds
}
