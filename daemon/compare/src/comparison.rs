//! What changed between two recordings, figure by figure.

use crate::align::AlignBy;
use crate::digest::{Digest, Pair};
use crate::noise::{self, Measured, count, duration, share, spread, words};
use crate::{aligned, answer, budget, functions, regions, usual};
use anyhow::Result;
use mpiscope_feed::{Alignment, Comparison, JobChange, QualityChange, TotalsChange};
use mpiscope_model::Totals;
use std::collections::BTreeSet;

const SCHEMA: &str = "mpiscope.compare/1";

/// All that changed, with both on one clock.
///
/// # Errors
/// In one line where the calls of a recording cannot be read.
pub fn comparison(a: &Digest, b: &Digest, by: AlignBy) -> Result<Comparison> {
    Ok(Comparison { alignment: aligned::alignment(a, b, by)?, ..all_changes(a, b) })
}

/// All that changed, without the clock that both share.
pub(crate) fn all_changes(a: &Digest, b: &Digest) -> Comparison {
    let pair = Pair::new(a, b);
    let (budget, of_rank) = budget::budget(&pair).unzip();
    let mut comparison = Comparison {
        schema: SCHEMA.into(),
        answer: String::new(),
        remarks: Vec::new(),
        basis: if pair.is_share { "share" } else { "seconds" }.into(),
        noise: pair.rules.noise(),
        a: a.side.clone(),
        b: b.side.clone(),
        job: job(&pair),
        totals: totals(&pair),
        quality: quality(&pair),
        functions: functions::functions(&pair),
        sites: functions::sites(&pair),
        criteria: usual::criteria(&pair),
        collectives: usual::collectives(&pair),
        regions: regions::regions(&pair),
        budget,
        of_rank,
        efficiency: budget::efficiency(&pair),
        verdict: budget::verdict(&pair),
        alignment: Alignment::default(),
    };
    comparison.remarks = answer::remarks(&pair, &comparison);
    comparison.answer = answer::answer(&pair, &comparison);
    comparison
}

fn job(pair: &Pair<'_>) -> JobChange {
    let (a, b) = (pair.a, pair.b);
    let same = (1.0, 1.0);
    JobChange {
        ranks: count(Some(a.job.ranks.into()), Some(b.job.ranks.into()), same),
        nodes: count(Some(a.job.nodes.len() as u64), Some(b.job.nodes.len() as u64), same),
        mpi: words(&a.job.mpi, &b.job.mpi),
        command: words(&a.job.command.join(" "), &b.job.command.join(" ")),
        duration_s: {
            let mut lengths = duration(length(a), length(b), seldom_s(pair));
            if let Some(change) = &mut lengths.change {
                // Until when somebody let it run says nothing.
                change.is_change &= !pair.is_share;
            }
            lengths
        },
    }
}

/// How long a run took; how steadily it went on says what chance makes of that.
fn length(of: &Digest) -> Option<Measured> {
    let value = of.duration_s()?;
    let calls = of.windows.calls();
    let all: f64 = calls.iter().sum();
    Some(Measured { value, spread: spread(&calls).map(|spread| spread / all * value) })
}

/// By how much functions that are called too seldom to tell differ, where that is no change.
fn seldom_s(pair: &Pair<'_>) -> f64 {
    let functions = pair.a.functions.keys().chain(pair.b.functions.keys()).collect::<BTreeSet<_>>();
    let apart = functions.into_iter().map(|function| {
        let (a, b) = pair.of_rank(*function);
        let is_noise = (a.spread.is_none() || b.spread.is_none()) && !pair.rules.differ(a, b);
        if is_noise { (a.value - b.value).abs() } else { 0.0 }
    });
    apart.sum()
}

fn totals(pair: &Pair<'_>) -> TotalsChange {
    let of = |value: fn(&Totals) -> u64| {
        count(Some(value(&pair.a.totals)), Some(value(&pair.b.totals)), pair.scale)
    };
    TotalsChange {
        calls: of(|totals| totals.calls),
        polls: of(|totals| totals.polls),
        messages: of(|totals| totals.messages),
        bytes: of(|totals| totals.bytes),
        intra_messages: of(|totals| totals.intra_messages),
        inter_messages: of(|totals| totals.inter_messages),
        unmatched_sends: of(|totals| totals.unmatched_sends),
        unmatched_receives: of(|totals| totals.unmatched_receives),
        uncertain_messages: of(|totals| totals.uncertain_messages),
        lost_calls: count(Some(pair.a.lost_calls), Some(pair.b.lost_calls), pair.scale),
        clock_violations: of(|totals| totals.clock_violations_after),
    }
}

fn quality(pair: &Pair<'_>) -> QualityChange {
    let missing = |of: &Digest| Some(of.side.missing.len() as u64);
    QualityChange {
        clock_uncertainty_ns: noise::rare(
            pair.a.clock_uncertainty_ns,
            pair.b.clock_uncertainty_ns,
            1_000,
            true,
        ),
        missing: count(missing(pair.a), missing(pair.b), (1.0, 1.0)),
        cpu_wait_share: share(pair.a.cpu_wait_share, pair.b.cpu_wait_share),
    }
}
