//! How a run stands as far as it is settled, in the figures that pages, reports and recordings are given.

use mpiscope_analysis::{
    Assessment, Basis, Blame, Budget, Budgeter, Cause, Remark, WaitKey, WaitTotals, WindowBudget,
};
use mpiscope_feed::{Attribution, By, Course, Efficiency, Judgement, Parts, Regions, Verdict, Wait};
use mpiscope_model::Nanoseconds;

/// The run is told in so many stretches.
const STRETCHES: usize = 40;
/// The greatest waits are named, and no more.
const MOST_WAITS: usize = 50;

/// How a run stands as far as it is settled, without its regions, and window by window; nothing is known of what came before `begin_ns`.
pub(super) fn judgement(
    budgeter: &Budgeter,
    is_referenced: bool,
    ranks: u32,
    begin_ns: Nanoseconds,
) -> (Judgement, Course) {
    let basis = Basis::of(budgeter, is_referenced);
    let ledger = budgeter.ledger();
    let (end_ns, _) = budgeter.critical_path();
    let total = ledger.total();
    let whole = basis.assess(&total, ranks, end_ns.saturating_sub(begin_ns));
    let waits = waits(budgeter.waits());
    let width_ns = ledger.width_ns();
    let first = ((begin_ns / width_ns) as usize).min(ledger.windows().len());
    let windows = &ledger.windows()[first..];
    let step = windows.len().div_ceil(STRETCHES).max(1);
    let stretch = |(at, windows): (usize, &[WindowBudget])| {
        let window_ns = (first + at * step) as u64 * width_ns;
        let from_ns = window_ns.max(begin_ns);
        let to_ns = (window_ns + windows.len() as u64 * width_ns).min(end_ns).max(from_ns);
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
    let course = Course {
        from_ns: first as u64 * width_ns,
        width_ns,
        to_ns: end_ns,
        parts: windows.iter().map(|window| parts(&window.budget)).collect(),
        avoidable: windows.iter().map(|window| basis.avoidable(window).map(|(_, s)| s)).collect(),
    };
    let judgement = Judgement {
        budget: parts(&total.budget),
        efficiency: efficiency(budgeter, ranks, begin_ns),
        attribution: windows.chunks(step).enumerate().map(stretch).collect(),
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
        regions: Regions::default(),
    };
    (judgement, course.bounded())
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

fn parts(budget: &Budget) -> Parts {
    let direct = |causes: &[Cause]| seconds(causes.iter().map(|&cause| budget.direct[cause]).sum());
    let by = |causes: &[Cause]| seconds(causes.iter().map(|&cause| budget.waiting_by[cause]).sum());
    Parts {
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

fn efficiency(budgeter: &Budgeter, ranks: u32, begin_ns: Nanoseconds) -> Efficiency {
    let (length_ns, path) = budgeter.critical_path();
    let mut useful = vec![0_u64; ranks as usize];
    for (rank, budget) in budgeter.ledger().ranks().iter().enumerate() {
        if let Some(useful) = useful.get_mut(rank) {
            *useful = budget.compute_ns.saturating_sub(budget.no_core_ns);
        }
    }
    let most = useful.iter().copied().max().unwrap_or(0) as f64;
    let mean = useful.iter().sum::<u64>() as f64 / f64::from(ranks.max(1));
    let length = length_ns.saturating_sub(begin_ns) as f64;
    if most <= 0.0 || length <= 0.0 {
        return Efficiency::default();
    }
    let moved =
        [Cause::Base, Cause::Saved, Cause::Distance, Cause::ExcessInside, Cause::Excess, Cause::Operation];
    let moved: i64 = moved.into_iter().map(|cause| path[cause]).sum();
    let (load_balance, communication) = (mean / most, most / length);
    let transfer = (1.0 - moved as f64 / length).clamp(0.0, 1.0);
    let serialization = if transfer > 0.0 { (communication / transfer).min(1.0) } else { 0.0 };
    Efficiency {
        parallel: load_balance * communication,
        load_balance,
        communication,
        transfer,
        serialization,
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
    assessment.verdict.cause.map_or("none", Blame::word).into()
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
        longest_s: seconds(totals.longest_ns as i64),
        longest_at_s: seconds(totals.longest_at_ns as i64),
    };
    all.into_iter().map(wait).collect()
}
