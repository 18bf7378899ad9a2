//! The values of the model and the operators as they are written for another process. Their own crates know nothing of
//! that; a field that is added there does not compile here until it is written too.

use mpiscope_matching::Link;
use mpiscope_model::{
    Activity, Blocking, Call, CallId, Collected, Collective, Comm, CommInfo, CommKind, Effect, Event, Flow,
    Function, Message, Nanoseconds, Node, PostId, Rank, Scheduling, Side, Site,
};
use serde::{Deserialize, Serialize};

/// A value that can be written.
macro_rules! rows {
    ($($row:ident of $value:ident as $definition:literal),* $(,)?) => {$(
        #[derive(Clone, Serialize, Deserialize)]
        pub(crate) struct $row(#[serde(with = $definition)] pub(crate) $value);

        impl From<$value> for $row {
            fn from(value: $value) -> Self {
                Self(value)
            }
        }

        impl From<$row> for $value {
            fn from(row: $row) -> Self {
                row.0
            }
        }
    )*};
}

rows! {
    ActivityRow of Activity as "ActivityFields",
    CallRow of Call as "CallFields",
    CollectedRow of Collected as "CollectedFields",
    CommRow of CommInfo as "CommFields",
    EventRow of Event as "EventFields",
    LinkRow of Link as "LinkFields",
    MessageRow of Message as "MessageFields",
    NodeRow of Node as "node",
    RankRow of Rank as "rank",
    SchedulingRow of Scheduling as "SchedulingFields",
}

/// The same values under another name; in place.
pub(crate) fn renamed<From, To: std::convert::From<From>>(values: Vec<From>) -> Vec<To> {
    values.into_iter().map(To::from).collect()
}

/// An index as its number.
macro_rules! numbers {
    ($($module:ident of $index:ident),* $(,)?) => {$(
        mod $module {
            use mpiscope_model::$index;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(super) fn serialize<S: Serializer>(index: &$index, to: S) -> Result<S::Ok, S::Error> {
                index.0.serialize(to)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$index, D::Error> {
                u32::deserialize(from).map($index)
            }
        }
    )*};
}

/// The number of an index, or none.
macro_rules! optional_numbers {
    ($($module:ident of $index:ident),* $(,)?) => {$(
        mod $module {
            use mpiscope_model::$index;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(super) fn serialize<S: Serializer>(index: &Option<$index>, to: S) -> Result<S::Ok, S::Error> {
                index.map(|index| index.0).serialize(to)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<$index>, D::Error> {
                Ok(Option::<u32>::deserialize(from)?.map($index))
            }
        }
    )*};
}

numbers! {
    comm of Comm,
    node of Node,
    rank of Rank,
}

optional_numbers! {
    optional_comm of Comm,
    optional_rank of Rank,
    optional_site of Site,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CallId")]
struct CallIdFields {
    #[serde(getter = "thread_of")]
    thread: u16,
    #[serde(getter = "number_of")]
    number: u64,
}

fn thread_of(call: &CallId) -> u16 {
    call.thread()
}

fn number_of(call: &CallId) -> u64 {
    call.number()
}

impl From<CallIdFields> for CallId {
    fn from(fields: CallIdFields) -> Self {
        Self::new(fields.thread, fields.number)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Flow")]
enum FlowFields {
    All,
    FromRoot,
    ToRoot,
    FromLower,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Side")]
enum SideFields {
    Only,
    First,
    Second,
    Alone,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Collected")]
struct CollectedFields {
    #[serde(with = "rank")]
    rank: Rank,
    #[serde(with = "CallIdFields")]
    call: CallId,
    #[serde(with = "comm")]
    comm: Comm,
    number: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Blocking")]
enum BlockingFields {
    Never,
    Perhaps,
    Always,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Collective")]
struct CollectiveFields {
    #[serde(with = "comm")]
    comm: Comm,
    number: u32,
    #[serde(with = "FlowFields")]
    flow: Flow,
    #[serde(with = "SideFields")]
    side: Side,
    #[serde(with = "optional_rank")]
    root: Option<Rank>,
    bytes: u64,
    is_barrier: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Effect")]
enum EffectFields {
    Other,
    Polls,
    Probe,
    Transfer {
        sends: u16,
        posts: u16,
        receives: u16,
        #[serde(with = "BlockingFields")]
        send: Blocking,
        #[serde(with = "optional_rank")]
        peer: Option<Rank>,
        bytes: u64,
    },
    Collective(#[serde(with = "CollectiveFields")] Collective),
    Start(#[serde(with = "CollectiveFields")] Collective),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Activity")]
struct ActivityFields {
    #[serde(with = "rank")]
    rank: Rank,
    #[serde(with = "CallIdFields")]
    call: CallId,
    function: Function,
    start_ns: Nanoseconds,
    end_ns: Nanoseconds,
    since_ns: Nanoseconds,
    #[serde(with = "EffectFields")]
    effect: Effect,
    #[serde(with = "optional_site")]
    site: Option<Site>,
    after_loss: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Call")]
struct CallFields {
    #[serde(with = "rank")]
    rank: Rank,
    thread: u16,
    function: Function,
    start_ns: Nanoseconds,
    end_ns: Nanoseconds,
    #[serde(with = "optional_rank")]
    peer: Option<Rank>,
    tag: Option<i32>,
    bytes: u64,
    #[serde(with = "optional_comm")]
    comm: Option<Comm>,
    #[serde(with = "optional_site")]
    site: Option<Site>,
    count: u64,
    instance: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CommInfo")]
struct CommFields {
    #[serde(with = "comm")]
    comm: Comm,
    id: u64,
    size: u32,
    first_size: Option<u32>,
    #[serde(with = "optional_comm")]
    parent: Option<Comm>,
    #[serde(with = "rank")]
    leader: Rank,
    #[serde(skip)]
    kind: CommKind,
    #[serde(skip)]
    name: String,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Scheduling")]
struct SchedulingFields {
    #[serde(with = "rank")]
    rank: Rank,
    at_ns: Nanoseconds,
    run_ns: u64,
    wait_ns: u64,
    voluntary: u64,
    involuntary: u64,
    stopped_ns: u64,
    blocked_ns: u64,
    major_faults: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Event")]
enum EventFields {
    Send {
        #[serde(with = "rank")]
        rank: Rank,
        #[serde(with = "CallIdFields")]
        call: CallId,
        #[serde(with = "comm")]
        comm: Comm,
        #[serde(with = "rank")]
        to: Rank,
        tag: i32,
        bytes: u64,
        begin_ns: Nanoseconds,
        blocked_until_ns: Option<Nanoseconds>,
    },
    Post {
        #[serde(with = "rank")]
        rank: Rank,
        #[serde(with = "CallIdFields")]
        call: CallId,
        #[serde(with = "comm")]
        comm: Comm,
        #[serde(with = "optional_rank")]
        from: Option<Rank>,
        tag: Option<i32>,
        post: PostId,
        at_ns: Nanoseconds,
    },
    Receive {
        #[serde(with = "rank")]
        rank: Rank,
        #[serde(with = "CallIdFields")]
        call: CallId,
        #[serde(with = "comm")]
        comm: Comm,
        #[serde(with = "rank")]
        from: Rank,
        tag: i32,
        bytes: u64,
        post: Option<PostId>,
        begin_ns: Nanoseconds,
        end_ns: Nanoseconds,
        alone: bool,
    },
    Freed {
        #[serde(with = "rank")]
        rank: Rank,
        post: PostId,
    },
    Cancelled {
        #[serde(with = "rank")]
        rank: Rank,
        post: PostId,
    },
    Lost {
        #[serde(with = "rank")]
        rank: Rank,
    },
    Numbers {
        #[serde(with = "rank")]
        rank: Rank,
        #[serde(with = "comm")]
        comm: Comm,
        #[serde(with = "rank")]
        peer: Rank,
        sent: u64,
        received: u64,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Message")]
struct MessageFields {
    #[serde(with = "rank")]
    src: Rank,
    #[serde(with = "rank")]
    dst: Rank,
    tag: i32,
    #[serde(with = "comm")]
    comm: Comm,
    bytes: u64,
    send_ns: Nanoseconds,
    recv_ns: Nanoseconds,
    t_msg_ns: u64,
    late_sender_ns: u64,
    late_receiver_ns: Option<u64>,
    inter: bool,
    exact: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Link")]
struct LinkFields {
    #[serde(with = "CallIdFields")]
    send: CallId,
    #[serde(with = "CallIdFields")]
    receive: CallId,
    #[serde(with = "CallIdFields")]
    post: CallId,
    posted_ns: Nanoseconds,
    waiting_ns: Nanoseconds,
    certain: bool,
}
