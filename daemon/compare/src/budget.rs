//! Where the time of a rank went, and how that changed.

use crate::digest::{Digest, Pair};
use crate::functions::changed;
use crate::noise::{Measured, figure, share, spread, words};
use mpiscope_feed::{
    BudgetChange, ByChange, CauseChange, Efficiency, EfficiencyChange, Figure, Parts, Verdict, VerdictChange,
};
use mpiscope_model::Blame;
use mpiscope_verdict::Findings;

/// The findings of both; none where one has none.
fn findings<'a>(pair: &Pair<'a>) -> Option<(&'a Findings, &'a Findings)> {
    pair.a.findings.as_ref().zip(pair.b.findings.as_ref())
}

/// The whole job's, and that of a rank.
pub(crate) fn budget(pair: &Pair<'_>) -> Option<(BudgetChange, BudgetChange)> {
    let found = findings(pair)?;
    let outside = outside(pair);
    let finished = finished(pair);
    let of_rank = each(|part| {
        let of = |found: &Findings, scale: f64| {
            let windows: Vec<f64> = found.course.parts.iter().map(part).collect();
            let value = part(&found.diagnosis.budget);
            Some(Measured { value, spread: spread(&windows) }.times(scale))
        };
        pair.rules.of_rank(of(found.0, pair.scale.0), of(found.1, pair.scale.1))
    });
    let of_rank = BudgetChange { outside, finished, ..of_rank };
    // It is the same change, in other figures.
    let mut job = each(|part| {
        let (a, b) = (part(&found.0.diagnosis.budget), part(&found.1.diagnosis.budget));
        figure(Some(a), Some(b), false)
    });
    for (job, rank) in figures_mut(&mut job).into_iter().zip(figures(&of_rank)) {
        if let Some(change) = &mut job.change {
            change.is_change = changed(rank);
        }
    }
    Some((job, of_rank))
}

/// What a rank does outside of MPI until it has finished, where its threads do not spend more time in MPI than there is.
fn outside(pair: &Pair<'_>) -> Figure {
    let (in_a, in_b) = pair.in_mpi();
    let (finished_a, finished_b) = pair.finished();
    let of = |digest: &Digest, in_mpi: f64, finished: f64| {
        let all = if pair.is_share { 1.0 } else { digest.duration_s()? } - finished;
        // What chance makes of the time in MPI it makes of the rest.
        let mut windows = vec![0.0; digest.windows.count()];
        for of in digest.windows.functions.values() {
            windows.iter_mut().zip(&of.seconds).for_each(|(sum, seconds)| *sum += seconds);
        }
        let scale = in_mpi / windows.iter().sum::<f64>().max(1e-12);
        (all >= in_mpi).then(|| Measured { value: all - in_mpi, spread: spread(&windows).map(|s| s * scale) })
    };
    pair.rules.of_rank(of(pair.a, in_a, finished_a), of(pair.b, in_b, finished_b))
}

/// How long before the end of the run a rank made its last call.
fn finished(pair: &Pair<'_>) -> Figure {
    let (a, b) = pair.finished();
    pair.rules.of_end(a, b)
}

fn each(of: impl Fn(fn(&Parts) -> f64) -> Figure) -> BudgetChange {
    BudgetChange {
        outside: Figure::default(),
        finished: Figure::default(),
        waiting: of(|parts| parts.waiting_s),
        base: of(|parts| parts.base_s),
        distance: of(|parts| parts.distance_s),
        excess: of(|parts| parts.excess_s),
        operation: of(|parts| parts.operation_s),
        other: of(|parts| parts.other_s),
        unknown: of(|parts| parts.unknown_s),
        total: of(|parts| parts.total_s),
        transfer: of(|parts| {
            parts.base_s + parts.distance_s + parts.excess_s + parts.operation_s + parts.unknown_s
        }),
        waiting_by: ByChange {
            compute: of(|parts| parts.waiting_by.compute),
            base: of(|parts| parts.waiting_by.base),
            distance: of(|parts| parts.waiting_by.distance),
            excess: of(|parts| parts.waiting_by.excess),
            operation: of(|parts| parts.waiting_by.operation),
            other: of(|parts| parts.waiting_by.other),
            unknown: of(|parts| parts.waiting_by.unknown),
            cpu_wait: of(|parts| parts.waiting_by.cpu_wait),
            transfer: of(|parts| {
                let by = &parts.waiting_by;
                by.base + by.distance + by.excess + by.operation + by.unknown
            }),
        },
    }
}

fn figures(of: &BudgetChange) -> [&Figure; 20] {
    let by = &of.waiting_by;
    [
        &of.outside,
        &of.finished,
        &of.waiting,
        &of.base,
        &of.distance,
        &of.excess,
        &of.operation,
        &of.other,
        &of.unknown,
        &of.total,
        &by.compute,
        &by.base,
        &by.distance,
        &by.excess,
        &by.operation,
        &by.other,
        &by.unknown,
        &by.cpu_wait,
        &of.transfer,
        &by.transfer,
    ]
}

fn figures_mut(of: &mut BudgetChange) -> [&mut Figure; 20] {
    let by = &mut of.waiting_by;
    [
        &mut of.outside,
        &mut of.finished,
        &mut of.waiting,
        &mut of.base,
        &mut of.distance,
        &mut of.excess,
        &mut of.operation,
        &mut of.other,
        &mut of.unknown,
        &mut of.total,
        &mut by.compute,
        &mut by.base,
        &mut by.distance,
        &mut by.excess,
        &mut by.operation,
        &mut by.other,
        &mut by.unknown,
        &mut by.cpu_wait,
        &mut of.transfer,
        &mut by.transfer,
    ]
}

/// What was found about both runs, where both have a verdict.
fn diagnosed<'a>(pair: &Pair<'a>) -> Option<(&'a Findings, &'a Findings)> {
    let has_verdict = |found: &Findings| !found.diagnosis.verdict.is_withheld();
    findings(pair).filter(|(a, b)| has_verdict(a) && has_verdict(b))
}

pub(crate) fn efficiency(pair: &Pair<'_>) -> Option<EfficiencyChange> {
    let (a, b) = diagnosed(pair)?;
    let of = |value: fn(&Efficiency) -> f64| {
        share(Some(value(&a.diagnosis.efficiency)), Some(value(&b.diagnosis.efficiency)))
    };
    Some(EfficiencyChange {
        parallel: of(|figures| figures.parallel),
        load_balance: of(|figures| figures.load_balance),
        communication: of(|figures| figures.communication),
        transfer: of(|figures| figures.transfer),
        serialization: of(|figures| figures.serialization),
    })
}

pub(crate) fn verdict(pair: &Pair<'_>) -> Option<VerdictChange> {
    let (a, b) = diagnosed(pair)?;
    let (one, other) = (&a.diagnosis.verdict, &b.diagnosis.verdict);
    let cause = |(at, cause): (usize, &str)| {
        let of = |found: &Findings, scale: f64| {
            let windows: Vec<f64> = found.course.avoidable.iter().map(|window| window[at]).collect();
            Measured { value: cost(&found.diagnosis.verdict, cause), spread: spread(&windows) }.times(scale)
        };
        let differ = pair.rules.differ(of(a, pair.scale.0), of(b, pair.scale.1));
        let avoidable_s = figure(Some(cost(one, cause)), Some(cost(other, cause)), differ);
        CauseChange { cause: cause.into(), avoidable_s }
    };
    let share_change = share(Some(one.share), Some(other.share));
    let is_change = changed(&share_change);
    Some(VerdictChange {
        cause: words(&one.cause, &other.cause),
        share: share_change,
        avoidable_s: figure(Some(one.avoidable_s), Some(other.avoidable_s), is_change),
        avoidable_wall_s: figure(Some(one.avoidable_wall_s), Some(other.avoidable_wall_s), is_change),
        confidence: share(Some(one.confidence), Some(other.confidence)),
        causes: Blame::WORDS.into_iter().enumerate().map(cause).collect(),
    })
}

fn cost(verdict: &Verdict, cause: &str) -> f64 {
    verdict.causes.iter().find(|(name, _)| name == cause).map_or(0.0, |(_, seconds)| *seconds)
}
