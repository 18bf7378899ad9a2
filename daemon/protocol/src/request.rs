//! What a client sends.

use crate::panel::{AddPanel, TellPanel};
use crate::second_run::Recording;
use serde::{Deserialize, Serialize};

/// One message of a client: a map whose `do` says which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Who this is. The first message; nothing else is answered before it.
    Hello(Hello),
    /// Asks for rows of a topic.
    Subscribe(Subscribe),
    /// Wants no more of a subscription.
    Unsubscribe {
        /// Its number.
        id: u32,
    },
    /// Moves the shared clock to now, and lets it follow the run.
    Live,
    /// Stops the shared clock.
    Pause,
    /// Lets the shared clock run.
    Play {
        /// Seconds of the run a second; backward when negative.
        rate: f64,
    },
    /// Changes the speed, whether the clock runs or not.
    Rate {
        /// Seconds of the run a second.
        rate: f64,
    },
    /// Moves the shared clock. Subscriptions in step with it leave out what lies between.
    Seek {
        /// Where to.
        time_ns: f64,
    },
    /// Moves the shared clock by a time and stops it. Subscriptions in step with it get what lies between.
    Step {
        /// Negative for backward.
        by_ns: f64,
    },
    /// Moves the shared clock to the next row of a subscription and stops it.
    StepTo {
        /// The subscription.
        id: u32,
        /// Or to the row before.
        #[serde(default)]
        direction: Direction,
    },
    /// Changes what is selected in all views.
    Select(Selection),
    /// Asks all other clients to say when they have drawn what they have.
    Barrier(Barrier),
    /// Answers a barrier of another client.
    Drawn {
        /// The barrier's number.
        barrier: u64,
    },
    /// Adds a note to the run, for all views.
    Annotate(Annotate),
    /// Removes an annotation of its own.
    Remove {
        /// The annotation's number.
        annotation: u64,
    },
    /// Adds points to a series of its own, for all views.
    Series(SetSeries),
    /// Tells other clients something.
    Tell(Tell),
    /// Adds a whole view to the page, as a tab.
    Panel(AddPanel),
    /// Tells a panel of its own something.
    TellPanel(TellPanel),
    /// Takes a panel of its own off the page.
    ClosePanel {
        /// The client's number of the panel.
        id: u32,
    },
}

/// Who a client is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hello {
    /// [`crate::VERSION`].
    pub protocol: u32,
    /// What people know it by: the author of its annotations. At most 64 characters.
    pub name: String,
    /// The format of all that it receives.
    #[serde(default)]
    pub format: Format,
    /// How long it may leave pings unanswered before it counts as dead: 1,000 to 60,000; 5,000 where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u32>,
}

/// How messages are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON in text frames; columns are lists.
    #[default]
    Json,
    /// MessagePack in binary frames; columns are blobs of little-endian values.
    Msgpack,
}

/// What a token lets a client do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Receive.
    Read,
    /// Move the shared clock and what is selected.
    Control,
    /// Answer: annotations, series, messages, panels.
    Annotate,
}

/// What a subscription is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// MPI calls, by when they returned.
    Calls,
    /// Matched messages, by when they were received.
    Messages,
    /// The verdict, whenever it changes.
    Verdicts,
    /// What happened in each region, and between regions, in each window of time.
    Windows,
    /// What was found about the run: disturbances, hangs, load imbalance and other causes, with their times and ranks.
    Findings,
}

/// Where a subscription begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Begin {
    /// Where the run began, or ended where the direction is backward.
    #[default]
    Start,
    /// The end of what is known.
    Now,
    /// The shared clock.
    Clock,
    /// This time of the run.
    TimeNs(f64),
}

/// How fast rows come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// As fast as the client takes them.
    #[default]
    Fast,
    /// In step with the shared clock, forward and backward. A client that is too slow learns how many rows it missed.
    Clock,
    /// New rows, one batch at a time; rows that do not fit are counted as missed.
    Newest,
}

/// Which way time goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// As the program ran.
    #[default]
    Forward,
    /// From late to early.
    Backward,
}

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Subscribe {
    /// The client's number for it. All replies about the subscription carry it.
    pub id: u32,
    /// Of what.
    pub what: Topic,
    /// The recording, where two are replayed together.
    #[serde(default, skip_serializing_if = "Recording::is_a")]
    pub recording: Recording,
    /// Calls of these functions, by their names in C; of all where there is none. The same holds for the other lists.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Calls of these families of functions, such as `collective`; the greeting says which there are.
    #[serde(default)]
    pub families: Vec<String>,
    /// Ranges of ranks, both ends included: calls by them, messages from or to them.
    #[serde(default)]
    pub ranks: Vec<(u32, u32)>,
    /// The ranks of this region, as the newest verdict has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<u32>,
    /// Of these communicators.
    #[serde(default)]
    pub communicators: Vec<Key>,
    /// Calls from these call sites.
    #[serde(default)]
    pub sites: Vec<Key>,
    /// Calls that lasted at least this long, messages with at least this transfer time.
    #[serde(default)]
    pub at_least_ns: f64,
    /// Where it begins.
    #[serde(default)]
    pub from: Begin,
    /// How fast.
    #[serde(default)]
    pub pace: Pace,
    /// Which way; with the shared clock it goes as the clock does.
    #[serde(default)]
    pub direction: Direction,
    /// The most rows of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
    /// Of messages: also what collectives carry, a row for each pair of ranks that data goes between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expand_collectives: bool,
    /// How long each window is; as long as those of the run where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<f64>,
}

/// A communicator or a call site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Key {
    /// By its number, as columns have it.
    Id(u32),
    /// By its name, such as `MPI_COMM_WORLD` or `main.c:12`.
    Name(String),
}

impl From<u32> for Key {
    fn from(id: u32) -> Self {
        Key::Id(id)
    }
}

impl From<&str> for Key {
    fn from(name: &str) -> Self {
        Key::Name(name.to_owned())
    }
}

impl Subscribe {
    /// All of it, from the start, as fast as the client takes it.
    #[must_use]
    pub fn new(what: Topic, id: u32) -> Self {
        Subscribe {
            id,
            what,
            recording: Recording::A,
            functions: Vec::new(),
            families: Vec::new(),
            ranks: Vec::new(),
            region: None,
            communicators: Vec::new(),
            sites: Vec::new(),
            at_least_ns: 0.0,
            from: Begin::default(),
            pace: Pace::default(),
            direction: Direction::default(),
            most: None,
            expand_collectives: false,
            window_ns: None,
        }
    }
}

/// What is selected in all views.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Selection {
    /// A range of time; all of it where there is none.
    #[serde(default)]
    pub range_ns: Option<(f64, f64)>,
    /// Ranges of ranks, both ends included; all where there is none.
    #[serde(default)]
    pub ranks: Option<Vec<(u32, u32)>>,
    /// Ids of functions that are not shown.
    #[serde(default)]
    pub hidden: Vec<u32>,
}

/// A request to wait for all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Barrier {
    /// The client's number for it, which the answer bears.
    pub id: u32,
    /// How long to wait for those that do not answer; at most 10,000.
    pub timeout_ms: u32,
}

/// A note at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Annotate {
    /// The client's number for it, which the answer bears.
    #[serde(default)]
    pub id: u32,
    /// Where it begins.
    pub time_ns: f64,
    /// Where it ends; it is of one moment where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<f64>,
    /// Whose; of all ranks where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// At most 500 characters.
    pub text: String,
    /// As `#rrggbb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// An `http` or `https` address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Points of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetSeries {
    /// Its name; points of the same name are added.
    pub name: String,
    /// What values are in.
    #[serde(default)]
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

/// Something for other clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tell {
    /// The client's number in its greeting; all others where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Whatever they understand. At most 64 KiB as JSON.
    pub data: serde_json::Value,
}
