//! What pages ask and command, and what they get back: protocol version 2.
//!
//! A page sends MessagePack maps: `{ask: "calls" | "timeline" | "count" | "history" | "budget" | "pairs" | "dag" | "past" |
//! "future" | "ping", id, ...}`, to which an [`Answer`] with the same number comes, and `{do: "live" | "pause" | ...}`, which moves the shared clock. Every page hears of
//! each move by a [`PerspectiveMessage`].

use crate::message::Message;
use crate::{Calls, Cone, Dag, F64Column, Pairs, RangeBudget, U32Column};
use mpiscope_model::{Nanoseconds, Rank};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The most calls of one answer.
pub const CALLS_MAX: u64 = 200_000;
/// The most bins of one answer.
pub const BINS_MAX: u32 = 8_192;
/// The most nodes of a dependency graph, and what it has where nobody says.
pub const NODES_MAX: u32 = 10_000;
/// Likewise.
pub const NODES_USUAL: u32 = 5_000;
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

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The calls of which some part is in a range, about so many at the most.
    Calls(Range<Nanoseconds>, u64),
    /// How many calls of each function began when, in about so many bins of a power of two nanoseconds, whose edges are
    /// multiples of that and may lie a little outside the range.
    Timeline(Range<Nanoseconds>, u32),
    /// How many calls of each function began in a range, to the nanosecond.
    Count(Range<Nanoseconds>),
    /// How often calls that ended in a range took how long.
    History(Range<Nanoseconds>),
    /// Where time in MPI went in a range; of ranges of ranks, both ends included, or of all.
    Budget(Range<Nanoseconds>, Option<Vec<(u32, u32)>>),
    /// The dependency graph of a range.
    Dag(DagQuestion),
    /// What led to an event in a range, or what it led to.
    Cone(ConeQuestion),
    /// Who sent to whom in a range.
    Pairs(Range<Nanoseconds>),
    /// Is anybody there?
    Ping,
}

/// Which dependency graph is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DagQuestion {
    /// The range.
    pub range_ns: Range<Nanoseconds>,
    /// The ranks, ranges with both ends included; all where none is given.
    pub ranks: Option<Vec<(Rank, Rank)>>,
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

/// Kinds of questions of which a page needs no more than the newest answer.
pub const REPLACEABLE: usize = 3;

impl Question {
    /// The number of its kind, where a newer question of one kind takes the place of the one before.
    #[must_use]
    pub fn replaceable(&self) -> Option<usize> {
        match self {
            Question::Dag(_) => Some(0),
            Question::Cone(_) => Some(1),
            Question::Pairs(_) => Some(2),
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
    /// Run, at so many seconds of the run a second; backward when negative.
    Play(f64),
    /// Go there.
    Seek(f64),
    /// Go on by so much and stop.
    Step(f64),
    /// What is selected.
    Select(Selection),
    /// Whether this page follows the shared clock.
    Follow(bool),
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
    rate: f64,
    time_ns: f64,
    rank: u32,
    by_ns: f64,
    range_ns: Option<(f64, f64)>,
    ranks: Option<Vec<(u32, u32)>>,
    hidden: Vec<u32>,
    follow: bool,
}

impl Incoming {
    /// Reads what a page sent.
    ///
    /// # Errors
    /// When it is no message of this protocol.
    pub fn decode(bytes: &[u8]) -> Result<Self, Senseless> {
        let plain: Plain = rmp_serde::from_slice(bytes).map_err(|error| Senseless(error.to_string()))?;
        let range = || time(plain.from_ns)..time(plain.to_ns).max(time(plain.from_ns));
        match (plain.ask.as_deref(), plain.command.as_deref()) {
            (Some(ask), None) => {
                let question = match ask {
                    "calls" => Question::Calls(range(), (plain.most as u64).clamp(1, CALLS_MAX)),
                    "timeline" => Question::Timeline(range(), (plain.bins as u32).clamp(1, BINS_MAX)),
                    "count" => Question::Count(range()),
                    "history" => Question::History(range()),
                    "budget" => {
                        let range = range();
                        limited(plain.ranks.as_ref().map_or(0, Vec::len))?;
                        Question::Budget(range, plain.ranks)
                    }
                    "dag" => Question::Dag(plain.dag(range())?),
                    "pairs" => Question::Pairs(range()),
                    "past" | "future" => Question::Cone(ConeQuestion {
                        range_ns: range(),
                        rank: plain.rank,
                        at_ns: time(plain.time_ns),
                        is_future: ask == "future",
                        most: (plain.most as u32).clamp(1, CONE_MESSAGES_MAX),
                    }),
                    "ping" => Question::Ping,
                    other => return Err(Senseless(format!("there is no question {other:?}"))),
                };
                Ok(Incoming::Ask(plain.id, question))
            }
            (None, Some(command)) => Ok(Incoming::Do(match command {
                "live" => Command::Live,
                "pause" => Command::Pause,
                "play" => Command::Play(finite(plain.rate)?),
                "seek" => Command::Seek(finite(plain.time_ns)?),
                "step" => Command::Step(finite(plain.by_ns)?),
                "select" => Command::Select(plain.selection()?),
                "follow" => Command::Follow(plain.follow),
                other => return Err(Senseless(format!("there is no command {other:?}"))),
            })),
            _ => Err(Senseless("a message either asks or does".to_owned())),
        }
    }
}

impl Plain {
    fn dag(&self, range_ns: Range<Nanoseconds>) -> Result<DagQuestion, Senseless> {
        if self.ranks.as_ref().is_some_and(|ranks| ranks.len() > SELECTED_MAX) {
            return Err(Senseless(format!("at most {SELECTED_MAX} ranges of ranks can be asked for")));
        }
        let most = if self.most >= 1.0 { (self.most as u32).min(NODES_MAX) } else { NODES_USUAL };
        Ok(DagQuestion { range_ns, ranks: self.ranks.clone(), most })
    }

    fn selection(self) -> Result<Selection, Senseless> {
        let range_ns = match self.range_ns {
            Some((from, to)) => Some((finite(from)?, finite(to)?)),
            None => None,
        };
        limited(self.ranks.as_ref().map_or(0, Vec::len))?;
        limited(self.hidden.len())?;
        Ok(Selection { range_ns, ranks: self.ranks, hidden: self.hidden })
    }
}

fn limited(selected: usize) -> Result<(), Senseless> {
    if selected > SELECTED_MAX {
        return Err(Senseless(format!("at most {SELECTED_MAX} ranges and functions can be selected")));
    }
    Ok(())
}

fn finite(number: f64) -> Result<f64, Senseless> {
    if number.is_finite() { Ok(number) } else { Err(Senseless("a number is missing".to_owned())) }
}

/// Not a number and what is negative are the start.
fn time(ns: f64) -> Nanoseconds {
    ns.max(0.0) as Nanoseconds
}

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
    /// Where time in MPI went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<RangeBudget>,
    /// What led to what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dag: Option<Dag>,
    /// A past or a future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cone: Option<Cone>,
    /// Who sent to whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
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
            budget: None,
            dag: None,
            cone: None,
            pairs: None,
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
    /// Bin `b` has durations of which `floor(bins_per_octave * log2(1 + ns))` is `b`.
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

/// Something that a page or an outside view receives.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Outgoing {
    /// How the shared clock stands.
    Perspective(PerspectiveMessage),
    /// An answer.
    Answer(Box<Answer>),
    /// The state of the run, or what changed in it.
    State(Box<Message>),
}

impl Outgoing {
    /// Reads what the server sent.
    ///
    /// # Errors
    /// When it is no message of this protocol.
    pub fn decode(bytes: &[u8]) -> Result<Self, Senseless> {
        rmp_serde::from_slice(bytes).map_err(|error| Senseless(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
