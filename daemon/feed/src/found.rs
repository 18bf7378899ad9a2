//! Where time went and why, as pages are told and as recordings keep it. Seconds are those of threads where nothing else
//! is said.

use crate::Regions;
use serde::{Deserialize, Serialize};

/// What pages are told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Found {
    /// The verdict in one sentence.
    pub headline: String,
    /// What it rests on, how sure it is, and what to do, a sentence each.
    pub details: Vec<String>,
    /// The stretch of run time that was judged.
    pub from_s: f64,
    /// Its end.
    pub until_s: f64,
    /// Calls before it that were not judged, as there were more than could be.
    pub left_out_calls: u64,
    /// Judged with all that is known in the end.
    pub is_final: bool,
    /// The figures.
    pub judgement: Judgement,
}

/// The figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Judgement {
    /// Where time in MPI went.
    pub budget: Parts,
    /// The figures by which programs are compared.
    pub efficiency: Efficiency,
    /// Who waited for whom, the longest first.
    pub waits: Vec<Wait>,
    /// Stretches of the run, in order.
    pub attribution: Vec<Attribution>,
    /// The verdict on all of it.
    pub verdict: Verdict,
    /// Ranks that talk mostly among themselves.
    #[serde(default)]
    pub regions: Regions,
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
}

/// Waiting by what kept those who were waited for. Sums to the waiting; a part may be negative.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the parts have the names that the documentation of the analysis explains")]
pub struct By {
    /// With time without a core.
    pub compute: f64,
    pub base: f64,
    pub distance: f64,
    pub excess: f64,
    pub operation: f64,
    pub other: f64,
    pub unknown: f64,
    /// Of `compute`, what those who were waited for had no core.
    pub no_core: f64,
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
    /// What it costs, as a share of the ranks' time.
    pub share: f64,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// What each cause costs that could be avoided, the most first.
    pub causes: Vec<(String, f64)>,
    /// What keeps it from being surer, a sentence each.
    pub remarks: Vec<String>,
}
