//! What pages ask and command, as it is read.

use crate::question::{
    ConeQuestion, CoursesQuestion, DagQuestion, DurationsQuestion, EventQuestion, GroupGraphQuestion,
    Grouping, InvalidMessage, LandscapeQuestion, LayoutQuestion, MetricsQuestion, PENDING_EDGES_MAX,
    PENDING_EDGES_USUAL, PendingQuestion, Question, Ranks, RowsQuestion, SelectedQuestion, SharesQuestion,
    function_number, layout_question, metrics_question, rank_ranges, save_layout_question,
};
use mpiscope_model::{Comm, Nanoseconds, Rank, Site};
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
    ranks: Option<Vec<(u32, u32)>>,
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
    pub fn decode(bytes: &[u8]) -> Result<Self, InvalidMessage> {
        let plain: Plain = rmp_serde::from_slice(bytes).map_err(|error| InvalidMessage(error.to_string()))?;
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
                other => return Err(InvalidMessage(format!("there is no command {other:?}"))),
            })),
            _ => Err(InvalidMessage("a message either asks or does".to_owned())),
        }
    }
}

impl Plain {
    fn range(&self) -> Range<Nanoseconds> {
        time(self.from_ns)..time(self.to_ns).max(time(self.from_ns))
    }

    fn ranks(&self) -> Ranks {
        self.ranks.as_deref().map(rank_ranges)
    }

    fn metrics_question(&self, range_ns: Range<Nanoseconds>) -> Result<MetricsQuestion, InvalidMessage> {
        metrics_question(range_ns, &self.metrics, (self.function, self.site.map(Site), self.phase.map(Comm)))
    }

    fn selected_question(&self, range_ns: Range<Nanoseconds>) -> SelectedQuestion {
        SelectedQuestion { range_ns, ranks: self.ranks(), hidden: self.hidden.clone() }
    }

    fn event_question(&self) -> EventQuestion {
        EventQuestion {
            at_ns: time(self.time_ns),
            is_back: self.is_back,
            ranks: self.ranks(),
            hidden: self.hidden.clone(),
        }
    }

    fn durations_question(&self, range_ns: Range<Nanoseconds>) -> DurationsQuestion {
        DurationsQuestion {
            range_ns,
            ranks: self.ranks(),
            function: self.function.map(function_number),
            listed_ns: time(self.low_ns)..time(self.high_ns),
            most: limit(self.most, LISTED_USUAL, LISTED_MAX) as u32,
        }
    }

    fn shares_question(&self, range_ns: Range<Nanoseconds>) -> SharesQuestion {
        SharesQuestion {
            range_ns,
            ranks: self.ranks(),
            ranks_per_row: (self.ranks_per_row as u32).max(1),
            windows: (self.bins as u32).clamp(1, BINS_MAX),
        }
    }

    fn pending_question(&self) -> Result<PendingQuestion, InvalidMessage> {
        let most = limit(self.most, PENDING_EDGES_USUAL, PENDING_EDGES_MAX);
        PendingQuestion::checked(time(self.time_ns), self.ranks(), &self.by, &self.open, most)
    }

    fn layout_question(&self, range_ns: Range<Nanoseconds>) -> Result<LayoutQuestion, InvalidMessage> {
        let events = self.metrics_question(range_ns)?;
        layout_question(self.source.clone(), self.is_file, self.layout.clone(), events)
    }

    fn cone_question(&self, range_ns: Range<Nanoseconds>, is_future: bool) -> ConeQuestion {
        ConeQuestion {
            range_ns,
            rank: Rank(self.rank),
            at_ns: time(self.time_ns),
            is_future,
            most: (self.most as u32).clamp(1, CONE_MESSAGES_MAX),
        }
    }

    fn question(&self, ask: &str) -> Result<Question, InvalidMessage> {
        limited(self.ranks.as_ref().map_or(0, Vec::len))?;
        limited(self.hidden.len())?;
        let (range_ns, ranks) = (self.range(), || self.ranks());
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
            "event" => Question::Event(self.event_question()),
            "timeline" => Question::Timeline(range_ns, (self.bins as u32).clamp(1, BINS_MAX)),
            "count" => Question::Count(range_ns),
            "history" => Question::History(range_ns),
            "durations" => Question::Durations(self.durations_question(range_ns)),
            "budget" => Question::Budget(range_ns, ranks()),
            "shares" => Question::Shares(self.shares_question(range_ns)),
            "selected" => Question::Selected(self.selected_question(range_ns)),
            "site_times" => Question::SiteTimes(self.selected_question(range_ns)),
            "source_text" => Question::SourceText(Site(self.site.unwrap_or(u32::MAX))),
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
            "pending" => Question::Pending(self.pending_question()?),
            "rank_metrics" => Question::RankMetrics(self.metrics_question(range_ns)?),
            "rank_layout" => Question::RankLayout(self.layout_question(range_ns)?),
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
            "past" => Question::Cone(self.cone_question(range_ns, false)),
            "future" => Question::Cone(self.cone_question(range_ns, true)),
            "criteria" => Question::Criteria,
            "sites" => Question::Sites,
            "remap" => Question::Remap,
            "ping" => Question::Ping,
            other => return Err(InvalidMessage(format!("there is no question {other:?}"))),
        })
    }

    fn selection(self) -> Result<Selection, InvalidMessage> {
        Selection { range_ns: self.range_ns, ranks: self.ranks, hidden: self.hidden }.checked()
    }
}

impl Selection {
    /// It, if it makes sense.
    ///
    /// # Errors
    /// When it is too large to be kept, or a number is missing.
    pub fn checked(self) -> Result<Self, InvalidMessage> {
        if let Some((from_ns, to_ns)) = self.range_ns {
            finite(from_ns).and(finite(to_ns))?;
        }
        limited(self.ranks.as_ref().map_or(0, Vec::len))?;
        limited(self.hidden.len())?;
        Ok(self)
    }
}

fn limited(selected: usize) -> Result<(), InvalidMessage> {
    if selected > SELECTED_MAX {
        return Err(InvalidMessage(format!("at most {SELECTED_MAX} ranges and functions can be selected")));
    }
    Ok(())
}

/// How many are asked for; the usual number where nobody says.
fn limit(asked: f64, usual: u64, most: u64) -> u64 {
    if asked >= 1.0 { (asked as u64).min(most) } else { usual }
}

fn finite(number: f64) -> Result<f64, InvalidMessage> {
    if number.is_finite() { Ok(number) } else { Err(InvalidMessage("a number is missing".to_owned())) }
}

/// Not a number and what is negative are the start.
fn time(ns: f64) -> Nanoseconds {
    ns.max(0.0) as Nanoseconds
}
