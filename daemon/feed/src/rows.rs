//! What the owner of the counters hands in.

use crate::findings::FindingsReport;
use crate::hang::Hangs;
use crate::switch::Switch;
use mpiscope_model::{
    Call, Fault, Function, InFlight, Losses, Nanoseconds, Node, NodeCpus, ProcessState, Rank, Totals,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How the job stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// No rank was heard yet.
    #[default]
    Waiting,
    /// At least one rank runs.
    Running,
    /// The command returned; its exit status says how.
    Ended,
    /// A signal ended the command.
    Killed,
}

impl JobState {
    /// How a job stands whose command returned; none when its end was not seen.
    #[must_use]
    pub fn after(exit: Option<i32>) -> Self {
        if exit.is_some_and(|exit| exit <= 128) { JobState::Ended } else { JobState::Killed }
    }
}

/// Where the figures come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum RunSource {
    /// The run is being recorded.
    #[default]
    Live,
    /// A recording.
    Replay,
}

/// The job, as viewers see it; also a part of the messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Job {
    /// The name of the run, unique on this machine.
    pub run: String,
    /// Where the figures come from.
    #[serde(default)]
    pub source: RunSource,
    /// The command as typed; empty when it is not known.
    pub command: String,
    /// Hosts heard so far.
    pub nodes: u32,
    /// Ranks in the job; 0 until known.
    pub ranks: u32,
    /// The MPI library, in one line; empty until known.
    pub mpi: String,
    /// How it stands.
    pub state: JobState,
    /// The exit status of the command once it returned; 128 + the signal when killed.
    pub exit: Option<i32>,
    /// Wall clock time of the start of the run (nanoseconds since 1970); 0 until known.
    pub started_unix_ns: u64,
    /// The folder of a second recording that programs receive on the clock of this one; empty where there is none.
    #[serde(default)]
    pub second: String,
}

/// What is known about one MPI function; all values cumulative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FunctionRow {
    /// The number.
    pub function: Function,
    /// Its name in C.
    pub name: &'static str,
    /// What it is for, in a word; related functions share a colour.
    pub family: &'static str,
    /// Rows of calls.
    pub calls: u64,
    /// Polls folded into those rows beyond the rows themselves.
    pub polls: u64,
    /// What the calls sent, or received where they sent nothing.
    pub bytes: u64,
    /// Time in the calls, summed over all threads.
    pub time_ns: u64,
    /// The median duration.
    pub p50_ns: u64,
    /// The duration that 99 of 100 calls stay below.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// What is known about one rank; all values cumulative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankRow {
    /// The world rank.
    pub rank: Rank,
    /// Where it runs.
    pub node: Node,
    /// Rows of calls.
    pub calls: u64,
    /// Messages it sent.
    pub sent: u64,
    /// Messages it received.
    pub received: u64,
    /// The payload of what it sent.
    pub bytes_sent: u64,
    /// Time in MPI, summed over its threads.
    pub mpi_time_ns: u64,
    /// Time its first thread was on a processor.
    pub run_ns: u64,
    /// Time its first thread was ready to run and had no processor.
    pub wait_ns: u64,
    /// Times its processor went to another while it could run; to yield while polling counts too.
    pub involuntary: u64,
    /// The process.
    pub state: ProcessState,
    /// When its last call ended, if it makes no more; else 0.
    pub ended_ns: Nanoseconds,
}

/// What is known about one host.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRow {
    /// The number.
    pub node: Node,
    /// Its host name.
    pub name: String,
    /// How far its clock may be from that of the run; none while it was not compared.
    pub clock_uncertainty_ns: Option<u64>,
    /// Nothing is heard of it.
    pub is_silent: bool,
    /// The CPUs that its ranks may use; none if not known.
    pub cpus: Option<NodeCpus>,
}

/// Calls of one function that were **added** to one window of run time since the last update.
///
/// Increments, because windows merge when the history is full and an old absolute value could then not be replaced.
/// The start may lie anywhere in the window; late calls of old windows are fine, a start after `now_ns` counts as now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimelineIncrement {
    /// Where in the run.
    pub start_ns: Nanoseconds,
    /// The function.
    pub function: Function,
    /// More rows of calls.
    pub calls: u64,
}

/// Everything that viewers should know from now on. Rows that did not change may be left out, or be there anyway.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// The run time now; it stays at the end.
    pub now_ns: Nanoseconds,
    /// How far the figures are behind the job.
    pub lag_ns: u64,
    /// The job.
    pub job: &'a Job,
    /// The totals.
    pub totals: Totals,
    /// What was lost.
    pub losses: Losses,
    /// Functions, absolute values.
    pub functions: &'a [FunctionRow],
    /// Ranks, absolute values.
    pub ranks: &'a [RankRow],
    /// Hosts.
    pub nodes: &'a [NodeRow],
    /// Calls by function over time, increments.
    pub timeline: &'a [TimelineIncrement],
    /// Calls that have not returned, all of them.
    pub in_flight: &'a [InFlight],
    /// Whether the job hangs or hung, and what it ended in.
    pub hangs: &'a Hangs,
    /// Whether calls are recorded, and when they were not.
    pub switch: &'a Switch,
    /// Calls that ended since the last update, in pieces.
    pub calls: &'a [Arc<Vec<Call>>],
    /// Faults since the last update.
    pub faults: &'a [Fault],
    /// Where time went, and why, when that was found anew.
    pub found: Option<&'a FindingsReport>,
}
