//! What a client receives.

use crate::finding::Finding;
use crate::panel::PanelAdded;
use crate::request::{Right, Selection};
use crate::second_run::{OwnTimes, Recording, SecondRun};
use crate::window_columns::WindowColumns;
use serde::{Deserialize, Serialize};

/// One message to a client: a map whose `kind` says which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reply {
    /// Answers the first message, and comes again when more ranks or hosts of a live run are known.
    Welcome(Welcome),
    /// The shared clock or the selection moved.
    Clock(Clock),
    /// A subscription is accepted.
    Subscribed(Subscribed),
    /// Rows of a subscription.
    Batch(Batch),
    /// The shared clock was moved: rows between are left out.
    Jump(Jump),
    /// A subscription is at its end: of a recording, or of a run that ended.
    End(End),
    /// The verdict, as it is now.
    Verdict(Verdict),
    /// Another client waits until this one has drawn what it has; to be answered with `drawn`.
    Barrier(BarrierWaits),
    /// A barrier of this client is over.
    Passed(Passed),
    /// An annotation was added, by this or another client, or was there before.
    Annotation(Annotation),
    /// An annotation was removed.
    Removed(Removed),
    /// Points were added to a series.
    Series(Series),
    /// A message of another client.
    #[serde(rename = "said")]
    ClientMessage(ClientMessage),
    /// A panel of this client is on the page.
    Panel(PanelAdded),
    /// A request could not be carried out. The connection goes on.
    Failed(Failed),
}

/// The greeting: what a client learns about the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Welcome {
    /// [`crate::VERSION`].
    pub protocol: u32,
    /// The client's number, by which others can tell it something.
    pub client: u64,
    /// What its token lets it do.
    pub rights: Vec<Right>,
    /// The command that was run.
    pub command: String,
    /// Ranks of the job.
    pub ranks: u32,
    /// Hosts, with their ranks.
    pub nodes: Vec<Node>,
    /// All functions that can occur.
    pub functions: Vec<Function>,
    /// Whether the run goes on.
    pub is_live: bool,
    /// How long the run took, where it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_ns: Option<f64>,
    /// The shared clock.
    pub clock: Clock,
    /// Recording B, where two are replayed together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Box<SecondRun>>,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Node {
    /// Its number.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Ranges of its ranks, both ends included.
    pub ranks: Vec<(u32, u32)>,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Function {
    /// As columns have it.
    pub id: u32,
    /// Its name in C.
    pub name: String,
    /// What it is for, in a word.
    pub family: String,
}

/// Whether the shared clock moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It follows the run.
    #[default]
    Live,
    /// It stands.
    Paused,
    /// It runs.
    Playing,
}

/// The shared clock and what is selected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clock {
    /// Grows with every move.
    pub version: u64,
    /// Whether it runs.
    pub mode: Mode,
    /// Where it is.
    pub time_ns: f64,
    /// Seconds of the run a second, while it plays.
    pub rate: f64,
    /// Up to when calls are known.
    pub until_ns: f64,
    /// What is selected.
    #[serde(flatten)]
    pub selection: Selection,
    /// Open pages.
    pub pages: u32,
    /// Other programs that are connected, this one included.
    pub clients: u32,
}

/// A subscription that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Subscribed {
    /// Its number.
    pub id: u32,
    /// What of the filter is not known yet in a run that goes on, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Rows of a subscription, in the order of time, or in reverse.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Batch {
    /// The subscription.
    pub id: u32,
    /// Between this time and `to_ns`, which lies before it where the direction is backward, all rows are here.
    pub from_ns: f64,
    /// The rows of the subscription are complete up to here. Of one moment that a batch does not hold, several batches
    /// in a row end at it.
    pub to_ns: f64,
    /// Rows at the beginning of this batch that became known late: their time was passed before. A batch with any has
    /// no others.
    #[serde(default)]
    pub late: u32,
    /// Rows that were left out before this batch because the client was too slow for its pace.
    #[serde(default)]
    pub missed: u64,
    /// Calls, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Box<CallColumns>>,
    /// Messages, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Box<MessageColumns>>,
    /// Windows, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<Box<WindowColumns>>,
    /// Findings, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// The recording that the rows are from, where two are replayed together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// Of recording B: when the rows were in its own time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<OwnTimes>>,
}

impl Batch {
    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        let calls = self.calls.as_ref().map_or(0, |calls| calls.rank.len());
        let messages = self.messages.as_ref().map_or(0, |messages| messages.source.len());
        let windows = self.windows.as_ref().map_or(0, |windows| windows.from_ns.len());
        calls + messages + windows + self.findings.as_ref().map_or(0, Vec::len)
    }
}

/// Calls, one a place in all columns, by when they returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallColumns {
    /// Who called.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub rank: Vec<u32>,
    /// Which of its threads.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub thread: Vec<u32>,
    /// What was called.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub function: Vec<u32>,
    /// When it was entered.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub start_ns: Vec<f64>,
    /// When it returned.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub end_ns: Vec<f64>,
    /// The one other rank, or the root of a collective; [`crate::NONE`] where there is none or several.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub peer: Vec<u32>,
    /// The tag of the one message; [`crate::NO_TAG`] where there is none.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<i32>"))]
    pub tag: Vec<i32>,
    /// What the call sent, or received where it sent nothing.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub bytes: Vec<f64>,
    /// The communicator; [`crate::NONE`] where there is none.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub communicator: Vec<u32>,
    /// Polls folded into the row, else 1.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub polls: Vec<f64>,
    /// The call site; [`crate::NONE`] where that is not known.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub site: Vec<u32>,
    /// Which of the collectives of its communicator it was part in; [`crate::NONE`] for other calls.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub collective: Vec<u32>,
}

/// Messages, one a place in all columns, by when they were received; those of collectives by when the calls of both ranks
/// had returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MessageColumns {
    /// Who sent.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub source: Vec<u32>,
    /// Who received.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub destination: Vec<u32>,
    /// The tag.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<i32>"))]
    pub tag: Vec<i32>,
    /// The communicator.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub communicator: Vec<u32>,
    /// The payload.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub bytes: Vec<f64>,
    /// When the send's call began.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub send_ns: Vec<f64>,
    /// When the call that completed the receive ended.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub receive_ns: Vec<f64>,
    /// What it took, as its receiver felt it.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub transfer_ns: Vec<f64>,
    /// How long the receiver waited for the send to begin.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub late_sender_ns: Vec<f64>,
    /// What it took in shares of the expected transfer time (L); not a number where that is not known.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub latency: Vec<f64>,
    /// 1 where it went between nodes.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub between_nodes: Vec<u32>,
    /// Only where collectives were to be expanded: the function of the collective; [`crate::NONE`] for messages.
    #[serde(with = "crate::column", default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub function: Vec<u32>,
    /// Likewise: when the calls of both ranks had returned, which is the place in the order of time.
    #[serde(with = "crate::column", default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub known_ns: Vec<f64>,
    /// Likewise: which of the collectives of its communicator; [`crate::NONE`] for messages.
    #[serde(with = "crate::column", default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<u32>"))]
    pub collective: Vec<u32>,
}

/// A subscription goes on elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Jump {
    /// The subscription.
    pub id: u32,
    /// Rows were complete up to here.
    pub from_ns: f64,
    /// The next rows follow, or precede, this time.
    pub to_ns: f64,
}

/// Why time was lost, as `report --json` has it under `verdict`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The subscription.
    pub id: u32,
    /// `mapping`, `pattern`, `background`, `cpu` or `none`.
    pub cause: String,
    /// Seconds that could be avoided, summed over ranks.
    pub avoidable_s: f64,
    /// How much sooner the run would end.
    pub avoidable_wall_s: f64,
    /// Share of the time in MPI.
    pub share: f64,
    /// From 0 to 1.
    pub confidence: f64,
    /// How much of the run it is about: `whole` or `part`; `hung`, `lost` or `unseen` where there is no verdict.
    #[serde(default)]
    pub basis: String,
    /// Whether the run has ended. A final verdict changes no more.
    pub is_final: bool,
}

/// A barrier of another client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BarrierWaits {
    /// Its number, for the answer.
    pub barrier: u64,
    /// The name of who waits.
    pub author: String,
}

/// A barrier is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Passed {
    /// The client's number for it.
    pub id: u32,
    /// The numbers of clients that did not answer in time.
    pub missing: Vec<u64>,
}

/// A note at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Annotation {
    /// Its number.
    pub annotation: u64,
    /// The author's number for it; 0 for others.
    #[serde(default)]
    pub id: u32,
    /// The name of the client that made it.
    pub author: String,
    /// Where it begins.
    pub time_ns: f64,
    /// Where it ends, if it is not of one moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<f64>,
    /// Whose; of all ranks where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// What it says.
    pub text: String,
    /// As `#rrggbb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// An `http` or `https` address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Points that were added to a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Series {
    /// Its name.
    pub name: String,
    /// The name of the client that made it.
    pub author: String,
    /// What values are in.
    pub unit: String,
    /// When.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub time_ns: Vec<f64>,
    /// How much.
    #[serde(with = "crate::column")]
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub value: Vec<f64>,
}

/// A message of another client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClientMessage {
    /// The number of that client.
    pub client: u64,
    /// Its name.
    pub author: String,
    /// Whatever it sent.
    pub data: serde_json::Value,
}

/// A request that could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failed {
    /// What the request was to do.
    pub request: String,
    /// The number in it, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// Why, in a sentence.
    pub text: String,
}

/// An annotation was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Removed {
    /// Its number.
    pub annotation: u64,
}

/// A subscription is at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct End {
    /// The subscription.
    pub id: u32,
}

/// What programs add to a run, as it is kept with the recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Notes at times.
    #[serde(default)]
    pub annotations: Vec<Annotation>,
    /// Values over time.
    #[serde(default)]
    pub series: Vec<Series>,
}
