//! Where time went and why, as pages receive it and as recordings keep it. Seconds are those of threads unless a field
//! names others.

use crate::evolution::Evolution;
use crate::regions::Regions;
use serde::{Deserialize, Serialize};

/// What pages receive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingsReport {
    /// The verdict in one sentence.
    pub headline: String,
    /// The ranks that it blames; empty where it names none.
    #[serde(default)]
    pub blamed: Vec<u32>,
    /// What it rests on and how sure it is, a sentence each.
    pub details: Vec<String>,
    /// Why another cause costs more than what ranks waited for most; empty where that is the cause.
    #[serde(default)]
    pub waiting_note: String,
    /// What to do about it, a sentence each; nothing where there is nothing to do.
    #[serde(default)]
    pub actions: Vec<String>,
    /// The stretch of run time that was diagnosed.
    pub from_s: f64,
    /// Its end.
    pub until_s: f64,
    /// Calls before it that were left out, as there were more than could be analysed.
    pub left_out_calls: u64,
    /// Whether this is the final diagnosis, of the whole run.
    pub is_final: bool,
    /// The figures.
    #[serde(rename = "judgement")]
    pub diagnosis: Diagnosis,
    /// How latency went by region.
    #[serde(default)]
    pub evolution: Evolution,
}

/// The figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Diagnosis {
    /// Where time in MPI went.
    pub budget: Parts,
    /// The figures by which programs are compared.
    pub efficiency: Efficiency,
    /// Who waited for whom, the longest first.
    pub waits: Vec<Wait>,
    /// The same by kind, function and place, whoever it was; the longest first.
    #[serde(default)]
    pub gathered: Vec<GatheredWait>,
    /// The waiting by call site, the longest first.
    #[serde(default)]
    pub sites: Vec<SiteWait>,
    /// From which ranks it comes, for causes that lie with ranks.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// What the advised placement does; none where ranks are placed as well as they can be, as far as that is known.
    #[serde(default)]
    pub advised: Option<Advised>,
    /// What messages take within nodes, or between them, is not known: nobody knows what distance costs.
    #[serde(default)]
    pub is_distance_unknown: bool,
    /// Stretches of the run, in order.
    pub attribution: Vec<Attribution>,
    /// When the network was quiet and when not, in order; empty where too little was seen.
    #[serde(default)]
    pub quiet: Vec<Quiet>,
    /// When each cause is to blame, in order: the times that the verdict, the report and all views show.
    #[serde(default)]
    pub disturbances: Vec<Disturbance>,
    /// The verdict on all of it.
    pub verdict: Verdict,
    /// Set if ranks had too few CPUs, even if more would save no time.
    #[serde(rename = "cpu_shortage", default)]
    pub cpu_contention: Option<CpuContention>,
    /// Ranks that a signal or a debugger stopped.
    #[serde(default)]
    pub stopped: Stopped,
    /// Ranks that the kernel blocked: on a disk, a network file system, or swapped memory.
    #[serde(default)]
    pub blocked: Blocked,
    /// Links on which messages take longer throughout than was measured before.
    #[serde(default)]
    pub slow_links: SlowLinks,
    /// What the run would take without its causes.
    #[serde(default)]
    pub whatif: WhatIf,
    /// Ranks that talk mostly among themselves.
    #[serde(default)]
    pub regions: Regions,
}

/// Ranks that had too few CPUs, by the scheduler's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CpuContention {
    /// The number of ranks with figures.
    pub ranks: u32,
    /// The CPUs they had on average, all together.
    pub cpus: f64,
    /// How many they may use; null if not known, or in recordings of before that was recorded.
    #[serde(default)]
    pub usable: Option<f64>,
    /// How many share a CPU on the node with the most of them; null likewise.
    #[serde(default)]
    pub per_cpu: Option<f64>,
    /// The share of their runnable time they waited for a CPU, from 0 to 1.
    pub waited: f64,
    /// The rank with the largest share.
    pub most_rank: u32,
    /// The share of that rank.
    pub most_waited: f64,
}

/// Ranks that were stopped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stopped {
    /// How many.
    pub count: u32,
    /// Those with the longest times, the longest first.
    pub longest: Vec<StoppedRank>,
}

/// A rank that was stopped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StoppedRank {
    /// The rank.
    pub rank: u32,
    /// How long, in seconds.
    pub seconds: f64,
}

/// Ranks that the kernel blocked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Blocked {
    /// How many.
    pub count: u32,
    /// The one that was blocked longest.
    pub longest: Option<BlockedRank>,
}

/// A rank that the kernel blocked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BlockedRank {
    /// The rank.
    pub rank: u32,
    /// Its host, where the job has several; empty if not known.
    #[serde(default)]
    pub host: String,
    /// How long, in seconds.
    pub seconds: f64,
    /// Its major page faults: pages that had to be read from a disk, a network file system, or swap.
    #[cfg_attr(test, ts(type = "number"))]
    pub major_faults: u64,
}

/// Links between nodes, each way for itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SlowLinks {
    /// Those with enough messages to say; none where messages were not measured before.
    pub known: u32,
    /// How many of them are slow.
    pub slow: u32,
    /// Those that cost most, that which costs most first.
    pub worst: Vec<SlowLink>,
}

/// From one node to another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SlowLink {
    /// The ranks of the node that sends.
    pub from: Vec<u32>,
    /// The ranks of the node that receives.
    pub to: Vec<u32>,
    /// The host that sends; empty if not known.
    #[serde(default)]
    pub from_host: String,
    /// The host that receives; likewise.
    #[serde(default)]
    pub to_host: String,
    /// Messages that say so.
    pub messages: u64,
    /// How many times as long as was measured before they take.
    pub slower: f64,
}

/// What the run would take without its causes, by replays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WhatIf {
    /// The recorded time from the first call to the last; 0 if the run was not replayed.
    pub recorded_s: f64,
    /// An entry for each set of causes that cost something.
    pub without: Vec<Without>,
}

/// What the run would take without some causes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Without {
    /// Words of `mapping`, `pattern`, `background` and `cpu`.
    pub causes: Vec<String>,
    /// In seconds.
    pub run_s: f64,
    /// At least.
    pub least_s: f64,
    /// At most.
    pub most_s: f64,
}

/// Where time in MPI went. The parts sum to the total.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the parts have the names that the documentation of the analysis explains")]
pub struct Parts {
    pub waiting_s: f64,
    pub base_s: f64,
    /// With what the advised placement would save.
    pub distance_s: f64,
    pub excess_s: f64,
    pub operation_s: f64,
    pub other_s: f64,
    pub unknown_s: f64,
    pub total_s: f64,
    pub waiting_by: By,
    /// Of the distance, in waiting too, what the advised placement would save.
    pub distance_saved_s: f64,
    /// Of the excess, in waiting too, what was within nodes.
    pub excess_inside_s: f64,
    /// Of `other_s`, the time in which ranks waited for a CPU inside MPI; 0 in older recordings.
    #[serde(default)]
    pub cpu_wait_s: f64,
}

/// Waiting by what kept those who were waited for. Sums to the waiting; a part may be negative.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the parts have the names that the documentation of the analysis explains")]
pub struct By {
    /// With time waiting for a CPU.
    pub compute: f64,
    pub base: f64,
    pub distance: f64,
    pub excess: f64,
    pub operation: f64,
    pub other: f64,
    pub unknown: f64,
    /// Of `compute`, the time in which those who were waited for had no CPU.
    #[serde(rename = "no_core")]
    pub cpu_wait: f64,
}

/// The figures by which parallel programs are compared, from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Efficiency {
    /// Computing, of all the ranks' time.
    pub parallel: f64,
    /// How evenly it is spread.
    pub load_balance: f64,
    /// What the rank that computes most does of the run's time.
    pub communication: f64,
    /// What the run would take if nothing had to be transferred, of what it takes.
    pub transfer: f64,
    /// What is left of that because ranks wait for each other.
    pub serialization: f64,
}

/// Who waited for whom, by the known name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Wait {
    /// The known name.
    pub state: String,
    /// The function that was waited in.
    pub function: String,
    /// Called from where: a number of the table of call sites.
    #[serde(default)]
    pub site: Option<u32>,
    /// The same in words; empty where it is not known.
    #[serde(default)]
    pub place: String,
    /// Who waited.
    pub waiter: u32,
    /// For whom.
    pub awaited: u32,
    /// How many times.
    pub times: u64,
    /// How long.
    pub seconds: f64,
    /// The longest of them.
    #[serde(default)]
    pub longest_s: f64,
    /// When the call began in which it was, in run time: there is what it looks like.
    #[serde(default)]
    pub longest_at_s: f64,
}

/// Waiting of one kind in calls of one function from one call site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GatheredWait {
    /// The known name.
    pub state: String,
    /// The function that was waited in.
    pub function: String,
    /// A number of the table of call sites.
    pub site: Option<u32>,
    /// The place in words; empty where it is not known.
    pub place: String,
    /// How many ranks waited.
    pub waiters: u32,
    /// For how many.
    pub awaited: u32,
    /// For whom the longest.
    pub most_awaited: u32,
    /// Of the seconds, those for that rank.
    pub most_awaited_s: f64,
    /// How many times.
    pub times: u64,
    /// How long.
    pub seconds: f64,
}

/// From which ranks a cause comes: those that have more to do than others, or that waited for a CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Source {
    /// The cause: `pattern` or `cpu`.
    pub cause: String,
    /// What ranks did too much while others waited for it, or waited for a CPU, in seconds.
    pub total_s: f64,
    /// The ranks that make up most of it, where they are at most half of all and the same all the time, in order.
    pub few: Vec<u32>,
    /// What these have of it, in seconds.
    #[serde(default)]
    pub few_s: f64,
    /// These are all ranks of this number of nodes, and no others; 0 where they are not, or nodes have one rank each.
    #[serde(default)]
    pub few_nodes: u32,
    /// The hosts that these run on, where the job has several; empty if they are more than four, or not known.
    #[serde(default)]
    pub few_hosts: Vec<String>,
    /// The ranks with the most of it, the first of them.
    pub ranks: Vec<SourceRank>,
    /// What ranks computed on average.
    pub computed_s: f64,
    /// Who had the most of it when, where that moves from rank to rank; else nothing.
    pub times: Vec<SourceTime>,
    /// Whether it is with other ranks in each step of the program.
    #[serde(default)]
    pub differs_by_step: bool,
}

impl Source {
    /// What the ranks that make up most of it have of it, in seconds. Recordings of earlier versions list all of them instead.
    #[must_use]
    pub fn of_few_s(&self) -> f64 {
        if self.few_s > 0.0 {
            return self.few_s;
        }
        self.ranks.iter().filter(|rank| self.few.contains(&rank.rank)).map(|rank| rank.seconds).sum()
    }
}

/// A rank that others wait for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceRank {
    /// Which.
    pub rank: u32,
    /// How much it did too much, or waited for a CPU.
    pub seconds: f64,
    /// What it computed in all.
    pub computed_s: f64,
}

/// A part of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceTime {
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// The ranks with the most, the first of them.
    pub ranks: Vec<u32>,
}

/// What the advised placement does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Advised {
    /// The number of ranks that would be on another node.
    pub moved: u32,
    /// Messages between nodes as it is.
    pub inter_messages: u64,
    /// As it would be.
    pub inter_messages_after: u64,
    /// All messages.
    pub messages: u64,
}

/// The waiting in calls from one call site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SiteWait {
    /// A number of the table of call sites; none for all calls without a known one.
    pub site: Option<u32>,
    /// The place in words; empty where it is not known.
    pub place: String,
    /// How long.
    pub seconds: f64,
    /// By what kept those who were waited for.
    pub by: By,
}

/// What a stretch of the run suffered from most.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Attribution {
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// None: the whole job.
    pub region: Option<u32>,
    /// The cause: `mapping`, `pattern`, `background`, `cpu` or `none`.
    pub cause: String,
    /// What it costs.
    pub avoidable_s: f64,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Places in `waits`: who was waited for most in the run.
    pub evidence: Vec<usize>,
}

/// A time in which a cause is to blame.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Disturbance {
    /// The cause: `mapping`, `pattern`, `background` or `cpu`.
    pub cause: String,
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
}

/// A stretch of the run in which the network was quiet throughout, or was not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Quiet {
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// Whether it was.
    pub is_quiet: bool,
    /// How many times as long messages between nodes took as when it was quietest, or collectives where there were none.
    pub slower: f64,
}

/// The verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Verdict {
    /// The cause: `mapping`, `pattern`, `background`, `cpu` or `none`.
    pub cause: String,
    /// What it costs.
    pub avoidable_s: f64,
    /// By how much the run would be shorter, in seconds.
    pub avoidable_wall_s: f64,
    /// Much of what ranks waited for is not known: it may well be more.
    #[serde(default)]
    pub is_at_least: bool,
    /// What it costs, as a share of the ranks' time.
    pub share: f64,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// What each cause costs that could be avoided, the most first.
    pub causes: Vec<(String, f64)>,
    /// What keeps it from being surer, a sentence each.
    pub remarks: Vec<String>,
    /// Set if there is no verdict because so large a share of the calls was lost.
    #[serde(default)]
    pub lost_share: f64,
    /// How much of the run the recording supports a verdict on.
    #[serde(default)]
    pub basis: Basis,
}

impl Verdict {
    /// Whether the recording supports no verdict.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.basis.state.is_none() || self.lost_share > 0.0
    }
}

/// How much of the run the recording supports a verdict on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Basis {
    /// How much.
    pub state: BasisState,
    /// The share of the calls that were made and are not recorded.
    pub missing_share: f64,
    /// The end of what was recorded, where the run went on or was cut off.
    pub until_s: Option<f64>,
    /// What is missing, to read before the verdict; empty if nothing is.
    pub sentence: String,
}

/// How much of the run a verdict is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum BasisState {
    /// All of it.
    #[default]
    Whole,
    /// What was recorded: the run was cut off, or some calls are missing.
    Part,
    /// There is no verdict: the run hung to its end.
    Hung,
    /// There is no verdict: too many calls are missing.
    Lost,
    /// There is no verdict: too many ranks were not recorded.
    Unseen,
}

impl BasisState {
    /// The word for files and programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Part => "part",
            Self::Hung => "hung",
            Self::Lost => "lost",
            Self::Unseen => "unseen",
        }
    }

    /// Whether there is no verdict.
    #[must_use]
    pub fn is_none(self) -> bool {
        matches!(self, Self::Hung | Self::Lost | Self::Unseen)
    }
}
