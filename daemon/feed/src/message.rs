//! The state of the run as messages of protocol version 2, as a reader in Rust sees them.
//!
//! A message is one MessagePack map with the field names below. A snapshot has every part; a delta has the clock and
//! those parts in which something changed. In `functions`, `ranks`, `nodes` and `timeline` a delta has only the changed rows,
//! with absolute values, keyed by `id`, by `rank`, by `node`, and by `start_ns` with `function`; the other parts are replaced as a whole.
//! When `window_ns` differs from what the reader holds, pairs of windows were merged: the rows are
//! the whole history then. `calls` are those that ended since the delta before and are in no snapshot. A reader takes a
//! delta only when its number is the next one.

use crate::calls::Calls;
use crate::column::{F64Column, U32Column};
use crate::compare::Compared;
use crate::evolution::Pending;
use crate::findings::FindingsReport;
use crate::hang::Hangs;
use crate::rows::Job;
use crate::switch::Switch;
use serde::{Deserialize, Serialize};

/// The version of the messages. A reader that knows another one says so and stops.
pub const PROTOCOL: u32 = 2;

/// Whether a message stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Everything; forget what was before.
    Snapshot,
    /// What changed since the message with the number before.
    Delta,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Message {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Snapshot or delta.
    pub kind: Kind,
    /// The number of the state that a reader has after this message.
    pub number: u64,
    /// Run time and lag.
    pub clock: Clock,
    /// The job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The totals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    /// What was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<Losses>,
    /// Faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Functions>,
    /// Ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
    /// Hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// Calls by function over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineCells>,
    /// Calls that have not returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlight>,
    /// The same by region, as far as regions are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// Whether the job hangs or hung, and what it ended in.
    // words: allow the key of the feed
    #[serde(rename = "standing", default, skip_serializing_if = "Option::is_none")]
    pub hangs: Option<Hangs>,
    /// Whether calls are recorded, and when they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
    /// Where time went, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FindingsReport>,
    /// Calls that ended since the delta before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// What changed between two recordings, where that is what is shown; in snapshots only, for it never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Box<Compared>>,
}

/// When this is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Clock {
    /// The run time.
    pub now_ns: u64,
    /// How far the figures are behind the job.
    pub lag_ns: u64,
}

/// [`mpiscope_model::Totals`], field by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the model says what each one means")]
pub struct Totals {
    pub calls: u64,
    pub polls: u64,
    pub messages: u64,
    pub bytes: u64,
    pub intra_messages: u64,
    pub inter_messages: u64,
    pub unmatched_sends: u64,
    pub unmatched_receives: u64,
    pub uncertain_messages: u64,
}

/// [`mpiscope_model::Losses`], field by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the model says what each one means")]
pub struct Losses {
    pub ring_full: u64,
    pub no_ring: u64,
    pub unreadable: u64,
    pub unsaved: u64,
}

/// Faults in the input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Faults {
    /// How many there were.
    pub count: u64,
    /// The newest of them, oldest first.
    pub newest: Vec<Fault>,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fault {
    /// Whose input, when known.
    pub rank: Option<u32>,
    /// The run time at which it was reported.
    pub at_ns: u64,
    /// One sentence.
    pub text: String,
}

/// Functions as columns, ordered by id; see [`crate::FunctionRow`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the row says what each one means")]
pub struct Functions {
    pub id: U32Column,
    pub name: Vec<String>,
    pub family: Vec<String>,
    pub calls: F64Column,
    pub polls: F64Column,
    pub bytes: F64Column,
    pub time_ns: F64Column,
    pub p50_ns: F64Column,
    pub p99_ns: F64Column,
    pub max_ns: F64Column,
}

/// Ranks as columns, ordered by rank; see [`crate::RankRow`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the row says what each one means")]
pub struct Ranks {
    pub rank: U32Column,
    pub node: U32Column,
    pub calls: F64Column,
    pub sent: F64Column,
    pub received: F64Column,
    pub bytes_sent: F64Column,
    pub mpi_time_ns: F64Column,
    pub run_ns: F64Column,
    pub wait_ns: F64Column,
    pub involuntary: F64Column,
    /// 0 running, 1 finalized, 2 aborted, 3 vanished, 4 silent.
    pub state: U32Column,
    pub ended_ns: F64Column,
}

/// Hosts as columns, ordered by node; see [`crate::NodeRow`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the row says what each one means")]
pub struct Nodes {
    pub node: U32Column,
    pub name: Vec<String>,
    /// Infinite while it is not known.
    pub clock_uncertainty_ns: F64Column,
    /// 0 connected, 1 silent.
    pub state: U32Column,
    /// Ranks that share its CPUs; 0 while that is not known, as in the next two.
    pub ranks: U32Column,
    /// CPUs that are online.
    pub cpus_on_host: U32Column,
    /// Those that affinities and quotas leave to its ranks.
    pub cpus_usable: F64Column,
    /// 1 where each rank is bound to a part of them.
    pub bound: U32Column,
}

/// How many calls of each function began in which window of the whole run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimelineCells {
    /// How long each window is; doubles whenever the history is full.
    pub window_ns: u64,
    /// When it begins.
    pub start_ns: F64Column,
    /// The function.
    pub function: U32Column,
    /// Rows of calls.
    pub calls: F64Column,
}

/// Calls that are inside MPI now, the longest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InFlight {
    /// How many there are; not all may be listed.
    pub total: u64,
    /// Who called.
    pub rank: U32Column,
    /// Which of its threads.
    pub thread: U32Column,
    /// What was called.
    pub function: U32Column,
    /// When it was entered.
    pub since_ns: F64Column,
}
