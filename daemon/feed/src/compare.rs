//! What changed between two recordings, A and B, as scripts and pages read it.
//!
//! Each figure has the value of A, that of B and the change between them. Unless a field names others, values are those of
//! the whole job, as in the report of each recording; figures of a rank are the mean of all.

use crate::aligned::{AlignedCourse, Alignment};
use crate::compared_course::ComparedCourse;
use crate::figures::{Count, Figure, Words};
use serde::{Deserialize, Serialize};

/// What separates a change from noise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Noise {
    /// The least ratio of the greater value to the other.
    pub ratio: f64,
    /// They are at least so far apart: as [`Comparison::basis`] says.
    pub least: f64,
    /// And the least multiple of what each run's own stretches let expect.
    pub spreads: f64,
    /// What is too seldom to have a spread changes at least by this ratio.
    pub seldom_ratio: f64,
    /// From this ratio on, an expected time counts as changed.
    pub median_ratio: f64,
    /// All of it in a sentence.
    pub sentence: String,
}

/// All that changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Comparison {
    /// `mpiscope.compare/1`.
    pub schema: String,
    /// The main thing in one sentence.
    pub answer: String,
    /// What limits the comparison, a sentence each.
    pub remarks: Vec<String>,
    /// What a figure of a rank is: `seconds`, or `share` of the run where one was cut off.
    pub basis: String,
    /// What separates a change from noise.
    pub noise: Noise,
    /// One recording.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// The job.
    pub job: JobChange,
    /// Counts of the whole job.
    pub totals: TotalsChange,
    /// How well clocks agree, and what else says how good the figures are.
    pub quality: QualityChange,
    /// The functions, the largest change first.
    pub functions: Vec<FunctionChange>,
    /// The call sites, the largest change first.
    pub sites: Vec<SiteChange>,
    /// Expected transfer times; null where one has no diagnosis, as are all that follow.
    pub criteria: Option<Vec<CriterionChange>>,
    /// The expected times of collectives.
    pub collectives: Option<Vec<CollectiveChange>>,
    /// Ranks that talk mostly among themselves.
    pub regions: Option<Vec<RegionChange>>,
    /// Where time in MPI went, in seconds of threads.
    pub budget: Option<BudgetChange>,
    /// The same of a rank, in what [`Comparison::basis`] says, with what was spent outside of MPI.
    pub of_rank: Option<BudgetChange>,
    /// The figures by which programs are compared.
    pub efficiency: Option<EfficiencyChange>,
    /// The verdicts.
    pub verdict: Option<VerdictChange>,
    /// Both on one clock, and where B loses time.
    pub alignment: Alignment,
}

/// One recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Side {
    /// Its folder, as it was named.
    pub folder: String,
    /// The name of the run.
    pub run: String,
    /// `complete`, `incomplete` or `running`.
    pub state: String,
    /// When the run began, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The exit status; null when it is not known.
    pub exit: Option<i32>,
    /// Whether it is known where its time went.
    #[serde(rename = "is_judged")]
    pub is_diagnosed: bool,
    /// What costs most that could be avoided; null without a diagnosis.
    pub cause: Option<String>,
    /// The verdict in one sentence; empty without a diagnosis.
    pub headline: String,
    /// What is missing in it, a sentence each.
    pub missing: Vec<String>,
}

/// The job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is the key of the report with the same name")]
pub struct JobChange {
    pub ranks: Count,
    pub nodes: Count,
    pub mpi: Words,
    pub command: Words,
    pub duration_s: Figure,
}

/// Counts of the whole job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is the key of the report with the same name")]
pub struct TotalsChange {
    pub calls: Count,
    pub polls: Count,
    pub messages: Count,
    pub bytes: Count,
    pub intra_messages: Count,
    pub inter_messages: Count,
    pub unmatched_sends: Count,
    pub unmatched_receives: Count,
    pub uncertain_messages: Count,
    pub lost_calls: Count,
    pub clock_violations: Count,
}

/// What says how good the figures are, and what the machine did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QualityChange {
    /// How far the clocks of two nodes may be apart.
    pub clock_uncertainty_ns: Count,
    /// Sentences about what is missing.
    pub missing: Count,
    /// Of the time in which ranks could run, the share in which they waited for a CPU.
    #[serde(rename = "no_core_share")]
    pub cpu_wait_share: Figure,
}

/// One function.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FunctionChange {
    /// Its number.
    pub id: u32,
    /// Its name in C.
    pub name: String,
    /// What it is for, in a word.
    pub family: String,
    /// Rows of calls.
    pub calls: Count,
    /// Polls folded into them.
    pub polls: Count,
    /// Bytes.
    pub bytes: Count,
    /// Time in it, over all threads.
    pub seconds: Figure,
    /// The same of a rank.
    pub of_rank: Figure,
    /// The median duration.
    pub p50_ns: Count,
    /// The duration that 99 of 100 calls stay below.
    pub p99_ns: Count,
    /// The longest.
    pub max_ns: Count,
    /// Ranges of the ranks that the change is on, both ends included; empty where it is on all, or not known.
    pub ranks: Vec<(u32, u32)>,
    /// How it changed, in words; empty where it did not.
    pub why: String,
}

/// What was called from one call site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SiteChange {
    /// The place in words.
    pub place: String,
    /// The function that calls.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: LinePair,
    /// What it calls.
    pub calls_function: Option<String>,
    /// Rows of calls.
    pub calls: Count,
    /// Time in MPI, over all threads.
    pub seconds: Figure,
    /// The same of a rank.
    pub of_rank: Figure,
    /// Of it, waiting; null without a diagnosis.
    pub waiting_s: Figure,
    /// The same of a rank.
    pub waiting_of_rank: Figure,
    /// How it changed, in words; empty where it did not.
    pub why: String,
}

/// A line of a source file that may have been moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LinePair {
    /// In A.
    pub a: Option<u32>,
    /// In B.
    pub b: Option<u32>,
}

/// The expected transfer time of messages of some sizes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CriterionChange {
    /// `intra` or `inter`.
    pub scope: String,
    /// The first size.
    pub size_from: u64,
    /// The first that is not meant any more.
    pub size_to: u64,
    /// How many messages it is of.
    pub samples: Count,
    /// What they took.
    pub median_ns: Count,
}

/// The expected time of a collective.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CollectiveChange {
    /// Its name.
    pub function: String,
    /// The number of its ranks.
    pub ranks: u32,
    /// Its bytes.
    pub bytes: u64,
    /// Of the root, where it has a part of its own.
    pub is_root: bool,
    /// How many it is of.
    pub samples: Count,
    /// What they took.
    pub median_ns: Count,
}

/// What became of a region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RegionChange {
    /// `stayed`, `changed`, `split`, `joined`, `gone` or `new`.
    pub became: String,
    /// Regions of A: one, or those that were joined.
    pub a: Vec<u32>,
    /// Regions of B: one, or what it was split into.
    pub b: Vec<u32>,
    /// Ranges of ranks in A, both ends included.
    pub a_ranks: Vec<(u32, u32)>,
    /// In B.
    pub b_ranks: Vec<(u32, u32)>,
    /// Ranks in both, of those in either.
    pub overlap: f64,
    /// How late their messages were, where it is one region on both sides.
    pub latency: Figure,
    /// Messages within.
    pub messages: Count,
    /// Of them delayed.
    pub delayed: Count,
}

/// Where time went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is the key of the report with the same name")]
pub struct BudgetChange {
    /// Not in MPI, until the last call; not known of threads.
    pub outside: Figure,
    /// After the last call of a rank that makes no more.
    #[serde(default)]
    pub finished: Figure,
    pub waiting: Figure,
    pub base: Figure,
    pub distance: Figure,
    pub excess: Figure,
    pub operation: Figure,
    pub other: Figure,
    pub unknown: Figure,
    pub total: Figure,
    /// `base`, `distance`, `excess`, `operation` and `unknown` together: what is which of them depends on what each run
    /// learnt.
    pub transfer: Figure,
    pub waiting_by: ByChange,
}

/// Waiting by what kept those who were waited for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is the key of the report with the same name")]
pub struct ByChange {
    pub compute: Figure,
    pub base: Figure,
    pub distance: Figure,
    pub excess: Figure,
    pub operation: Figure,
    pub other: Figure,
    pub unknown: Figure,
    /// Of `compute`, the time in which those who were waited for had no CPU.
    #[serde(rename = "no_core")]
    pub cpu_wait: Figure,
    /// As of the time that is not waited.
    pub transfer: Figure,
}

/// The figures by which parallel programs are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is the key of the report with the same name")]
pub struct EfficiencyChange {
    pub parallel: Figure,
    pub load_balance: Figure,
    pub communication: Figure,
    pub transfer: Figure,
    pub serialization: Figure,
}

/// The verdicts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is the key of the report with the same name")]
pub struct VerdictChange {
    pub cause: Words,
    pub share: Figure,
    pub avoidable_s: Figure,
    pub avoidable_wall_s: Figure,
    pub confidence: Figure,
    /// What each cause costs that could be avoided, in seconds of ranks.
    pub causes: Vec<CauseChange>,
}

/// What a cause costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CauseChange {
    /// Its name.
    pub cause: String,
    /// What it costs, in seconds of ranks.
    pub avoidable_s: Figure,
}

/// All that a page shows of two recordings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Compared {
    /// The figures.
    pub comparison: Comparison,
    /// Where time went in A as a whole, and in B: as told in their reports.
    pub a: ComparedCourse,
    /// The other.
    pub b: ComparedCourse,
    /// Ways to put B on the clock of A: start, phase, turn.
    pub aligned: Vec<AlignedCourse>,
}
