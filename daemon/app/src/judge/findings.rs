//! What was found, as it is kept in the recording and told in reports.

use mpiscope_analysis::{
    Assessment, Basis, Budget, Cause, Remark, Version, WaitKey, WaitTotals, WindowBudget, Windowed, bin_sizes,
};
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "mpiscope.findings/1";
/// The run is told in so many stretches.
const STRETCHES: usize = 40;
/// The greatest waits are named, and no more.
const MOST_WAITS: usize = 50;

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Findings {
    schema: String,
    pub(crate) criteria: Vec<Criterion>,
    pub(crate) budget: Parts,
    pub(crate) efficiency: Efficiency,
    pub(crate) waits: Vec<Wait>,
    pub(crate) attribution: Vec<Attribution>,
    pub(crate) verdict: Verdict,
    /// From how many bytes on a blocking send was seen to wait for its receive.
    pub(crate) blocking_from_bytes: Option<u64>,
    /// Whether a quiet network was measured before, for this MPI and so many ranks a node.
    pub(crate) is_calibrated: bool,
    /// Calls whose other side never became known.
    pub(crate) given_up: u64,
}

/// What messages of some sizes usually take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Criterion {
    pub(crate) scope: String,
    pub(crate) size_from: u64,
    /// The first size that is not meant any more.
    pub(crate) size_to: u64,
    pub(crate) samples: u64,
    pub(crate) median_ns: u64,
}

/// Where time in MPI went, in seconds of threads. The parts sum to the total.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) waiting_s: f64,
    pub(crate) base_s: f64,
    /// With what the advised placement would save.
    pub(crate) distance_s: f64,
    pub(crate) excess_s: f64,
    pub(crate) operation_s: f64,
    pub(crate) other_s: f64,
    pub(crate) unknown_s: f64,
    pub(crate) total_s: f64,
    pub(crate) waiting_by: By,
    /// Of the distance, in waiting too, what the advised placement would save.
    pub(crate) distance_saved_s: f64,
    /// Of the excess, in waiting too, what was within nodes.
    pub(crate) excess_inside_s: f64,
}

/// Waiting by what kept those who were waited for. Sums to the waiting; a part may be negative.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct By {
    /// With time without a core.
    pub(crate) compute: f64,
    pub(crate) base: f64,
    pub(crate) distance: f64,
    pub(crate) excess: f64,
    pub(crate) operation: f64,
    pub(crate) other: f64,
    pub(crate) unknown: f64,
    /// Of `compute`, what those who were waited for had no core.
    pub(crate) no_core: f64,
}

/// The figures by which parallel programs are compared, from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Efficiency {
    /// Computing, of all the ranks' time.
    pub(crate) parallel: f64,
    /// How evenly it is spread.
    pub(crate) load_balance: f64,
    /// What the rank that computes most does of the run's time.
    pub(crate) communication: f64,
    /// What the run would take if nothing had to be transferred, of what it takes.
    pub(crate) transfer: f64,
    /// What is left of that because ranks wait for each other.
    pub(crate) serialization: f64,
}

/// Who waited for whom, by the known name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wait {
    pub(crate) state: String,
    pub(crate) function: String,
    pub(crate) waiter: u32,
    pub(crate) awaited: u32,
    pub(crate) times: u64,
    pub(crate) seconds: f64,
}

/// What a stretch of the run suffered from most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attribution {
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    /// There are no regions yet: the whole job.
    pub(crate) region: Option<u32>,
    pub(crate) cause: String,
    pub(crate) avoidable_s: f64,
    pub(crate) confidence: f64,
    /// Ranks that were waited for most in the run, as they stand in `waits`.
    pub(crate) evidence: Vec<usize>,
}

/// The verdict on the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) cause: String,
    pub(crate) avoidable_s: f64,
    pub(crate) avoidable_wall_s: f64,
    pub(crate) share: f64,
    pub(crate) confidence: f64,
    /// What each cause costs that could be avoided, in seconds of ranks.
    pub(crate) causes: Vec<(String, f64)>,
    /// What keeps the verdict from being surer, a sentence each.
    pub(crate) remarks: Vec<String>,
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

impl From<&Budget> for Parts {
    fn from(budget: &Budget) -> Self {
        let direct = |causes: &[Cause]| seconds(causes.iter().map(|&cause| budget.direct[cause]).sum());
        let by = |causes: &[Cause]| seconds(causes.iter().map(|&cause| budget.waiting_by[cause]).sum());
        Self {
            waiting_s: seconds(budget.waiting_ns as i64),
            base_s: direct(&[Cause::Base]),
            distance_s: direct(&[Cause::Saved, Cause::Distance]),
            excess_s: direct(&[Cause::ExcessInside, Cause::Excess]),
            operation_s: direct(&[Cause::Operation]),
            other_s: direct(&[Cause::Other, Cause::Compute, Cause::NoCore]),
            unknown_s: direct(&[Cause::Unknown]),
            total_s: seconds(budget.total_ns()),
            waiting_by: By {
                compute: by(&[Cause::Compute, Cause::NoCore]),
                base: by(&[Cause::Base]),
                distance: by(&[Cause::Saved, Cause::Distance]),
                excess: by(&[Cause::ExcessInside, Cause::Excess]),
                operation: by(&[Cause::Operation]),
                other: by(&[Cause::Other]),
                unknown: by(&[Cause::Unknown]),
                no_core: by(&[Cause::NoCore]),
            },
            distance_saved_s: seconds(budget.cost_ns(Cause::Saved)),
            excess_inside_s: seconds(budget.cost_ns(Cause::ExcessInside)),
        }
    }
}

impl Efficiency {
    fn of(judged: &Windowed, ranks: u32) -> Self {
        let (length_ns, path) = judged.budgeter.critical_path();
        let mut useful = vec![0_u64; ranks as usize];
        for (rank, budget) in judged.budgeter.ledger().ranks().iter().enumerate() {
            if let Some(useful) = useful.get_mut(rank) {
                *useful = budget.compute_ns.saturating_sub(budget.no_core_ns);
            }
        }
        let most = useful.iter().copied().max().unwrap_or(0) as f64;
        let mean = useful.iter().sum::<u64>() as f64 / f64::from(ranks.max(1));
        let length = length_ns as f64;
        if most <= 0.0 || length <= 0.0 {
            return Self::default();
        }
        let moved = [
            Cause::Base,
            Cause::Saved,
            Cause::Distance,
            Cause::ExcessInside,
            Cause::Excess,
            Cause::Operation,
        ];
        let moved: i64 = moved.into_iter().map(|cause| path[cause]).sum();
        let (load_balance, communication) = (mean / most, most / length);
        let transfer = (1.0 - moved as f64 / length).clamp(0.0, 1.0);
        let serialization = if transfer > 0.0 { (communication / transfer).min(1.0) } else { 0.0 };
        Self { parallel: load_balance * communication, load_balance, communication, transfer, serialization }
    }
}

fn remark(remark: Remark) -> String {
    match remark {
        Remark::NoIntraCriteria => {
            "what messages within nodes take is not known, so nobody can tell what distance costs; \
             `mpiscope calibrate` measures it"
        }
        Remark::NoInterCriteria => {
            "what messages between nodes take is not known; `mpiscope calibrate` measures it"
        }
        Remark::NoQuietReference => {
            "messages take longer than they have to from the beginning to the end: the job's own congestion, or \
             others' traffic all the time; measure the quiet network with `mpiscope calibrate`"
        }
        Remark::MuchUnknown => "much of the time in MPI could not be told apart",
        Remark::CloseSecond => "another cause costs nearly as much",
    }
    .into()
}

fn word(assessment: &Assessment) -> String {
    assessment.verdict.cause.map_or("none", mpiscope_analysis::Blame::word).into()
}

fn waits<'a>(all: impl Iterator<Item = (&'a WaitKey, &'a WaitTotals)>) -> Vec<Wait> {
    let mut all: Vec<(&WaitKey, &WaitTotals)> = all.collect();
    all.sort_by_key(|(key, totals)| (std::cmp::Reverse(totals.waited_ns), **key));
    all.truncate(MOST_WAITS);
    let wait = |(key, totals): (&WaitKey, &WaitTotals)| Wait {
        state: key.state.words().into(),
        function: mpiscope_wire::by_id(key.function).map_or("several", |entry| entry.name).into(),
        waiter: key.waiter,
        awaited: key.awaited,
        times: totals.times,
        seconds: seconds(totals.waited_ns as i64),
    };
    all.into_iter().map(wait).collect()
}

fn criteria(version: &Version) -> Vec<Criterion> {
    let criterion = |of: &mpiscope_analysis::MessageCriterion| {
        let (size_from, size_to) = bin_sizes(of.bin);
        Criterion {
            scope: of.scope.word().into(),
            size_from,
            size_to,
            samples: of.samples,
            median_ns: of.median_ns,
        }
    };
    version.messages().map(criterion).collect()
}

impl Findings {
    pub(super) fn of(judged: &Windowed, is_calibrated: bool, ranks: u32) -> Self {
        let budgeter = &judged.budgeter;
        let basis = Basis::of(budgeter, is_calibrated);
        let ledger = budgeter.ledger();
        let (length_ns, _) = budgeter.critical_path();
        let total = ledger.total();
        let whole = basis.assess(&total, ranks, length_ns);
        let waits = waits(budgeter.waits());
        let width_ns = ledger.width_ns();
        let step = ledger.windows().len().div_ceil(STRETCHES).max(1);
        let stretch = |(at, windows): (usize, &[WindowBudget])| {
            let from_ns = (at * step) as u64 * width_ns;
            let to_ns = (from_ns + windows.len() as u64 * width_ns).min(length_ns.max(from_ns));
            let found = basis.assess(&ledger.range(from_ns, to_ns), ranks, to_ns - from_ns);
            Attribution {
                from_s: from_ns as f64 / 1e9,
                to_s: to_ns as f64 / 1e9,
                region: None,
                cause: word(&found),
                avoidable_s: found.verdict.avoidable_s,
                confidence: found.verdict.confidence,
                evidence: if found.verdict.cause.is_some() {
                    (0..waits.len().min(3)).collect()
                } else {
                    Vec::new()
                },
            }
        };
        Self {
            schema: SCHEMA.into(),
            criteria: criteria(budgeter.criteria()),
            budget: Parts::from(&total.budget),
            efficiency: Efficiency::of(judged, ranks),
            attribution: ledger.windows().chunks(step).enumerate().map(stretch).collect(),
            verdict: Verdict {
                cause: word(&whole),
                avoidable_s: whole.verdict.avoidable_s,
                avoidable_wall_s: whole.verdict.avoidable_wall_s,
                share: whole.verdict.share,
                confidence: whole.verdict.confidence,
                causes: whole.causes.iter().map(|(blame, s)| (blame.word().to_owned(), *s)).collect(),
                remarks: whole.verdict.remarks.iter().copied().map(remark).collect(),
            },
            waits,
            blocking_from_bytes: budgeter.blocking_from_bytes(),
            is_calibrated,
            given_up: budgeter.given_up(),
        }
    }
}
