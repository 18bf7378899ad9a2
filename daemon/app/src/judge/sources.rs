//! From which ranks it comes that others wait: those that have more to do than others, and those that had no core.

use mpiscope_analysis::{Blame, Budgeter, WindowBudget};
use mpiscope_feed::{Source, SourceRank, SourceTime};
use mpiscope_model::{Nanoseconds, Rank};
use std::cmp::Reverse;
use std::ops::Range;

/// So many ranks are named, in all and of each part of the run.
const MOST_RANKS: usize = 8;
/// The run is looked at in so many parts, to see whether it is always the same ranks.
const PARTS: usize = 8;
/// Parts of a run differ by so much from the whole, on average, where it moves from rank to rank: from 0, all the same, to 1.
const MOVES: f64 = 0.4;

/// What a part of the run costs by rank, in nanoseconds, for a cause that lies with ranks.
fn by_rank(budgeter: &Budgeter, blame: Blame, windows: Range<usize>) -> Vec<u64> {
    let of = |window: &WindowBudget| match blame {
        Blame::Pattern => window.spared.balanced_ns,
        Blame::Cpu => window.spared.cored_ns,
        Blame::Mapping | Blame::Background => 0,
    };
    let ledger = budgeter.ledger();
    let ranks = 0..ledger.ranks().len() as Rank;
    ranks.map(|rank| of(&ledger.of_ranks(&[(rank, rank)], windows.clone()))).collect()
}

/// The ranks with the most, the first before others with as much.
fn most(by_rank: &[u64]) -> Vec<(Rank, u64)> {
    let mut all: Vec<(Rank, u64)> =
        by_rank.iter().enumerate().filter(|(_, ns)| **ns > 0).map(|(rank, ns)| (rank as Rank, *ns)).collect();
    all.sort_by_key(|(rank, ns)| (Reverse(*ns), *rank));
    all.truncate(MOST_RANKS);
    all
}

/// How much two distributions differ: from 0, the same, to 1, nothing in common.
fn difference(one: &[u64], other: &[u64]) -> f64 {
    let [one_ns, other_ns] = [one, other].map(|of| of.iter().sum::<u64>().max(1) as f64);
    let both = one.iter().zip(other);
    both.map(|(one, other)| (*one as f64 / one_ns - *other as f64 / other_ns).abs()).sum::<f64>() / 2.0
}

/// From which ranks each such cause comes, as far as the run is settled.
pub(super) fn sources(budgeter: &Budgeter, begin_ns: Nanoseconds, end_ns: Nanoseconds) -> Vec<Source> {
    let (width_ns, windows) = budgeter.ledger().windows_by_rank();
    let first = ((begin_ns / width_ns.max(1)) as usize).min(windows);
    let step = (windows - first).div_ceil(PARTS).max(1);
    let seconds = |ns: u64| ns as f64 / 1e9;
    let source = |blame: Blame| {
        let whole = by_rank(budgeter, blame, first..windows);
        let total_ns: u64 = whole.iter().sum();
        if total_ns == 0 {
            return None;
        }
        let part = |from: usize| {
            let to = (from + step).min(windows);
            let of_part = by_rank(budgeter, blame, from..to);
            let from_ns = (from as u64 * width_ns).max(begin_ns);
            let to_ns = (to as u64 * width_ns).min(end_ns).max(from_ns);
            (from_ns, to_ns, of_part)
        };
        let parts: Vec<_> = (first..windows).step_by(step).map(part).collect();
        let differs = |(_, _, of): &(_, _, Vec<u64>)| difference(of, &whole) * of.iter().sum::<u64>() as f64;
        let moves = parts.iter().map(differs).sum::<f64>() / total_ns as f64 > MOVES;
        let time = |(from_ns, to_ns, of): &(Nanoseconds, Nanoseconds, Vec<u64>)| SourceTime {
            from_s: seconds(*from_ns),
            to_s: seconds(*to_ns),
            ranks: most(of).into_iter().map(|(rank, _)| rank).collect(),
        };
        Some(Source {
            cause: blame.word().into(),
            total_s: seconds(total_ns),
            ranks: ranks(budgeter, &whole),
            computed_s: mean_computed_s(budgeter),
            times: if moves { parts.iter().map(time).collect() } else { Vec::new() },
        })
    };
    [Blame::Pattern, Blame::Cpu].into_iter().filter_map(source).collect()
}

fn ranks(budgeter: &Budgeter, by_rank: &[u64]) -> Vec<SourceRank> {
    let ledger = budgeter.ledger().ranks();
    let named = |(rank, ns): (Rank, u64)| {
        let of = ledger.get(rank as usize).copied().unwrap_or_default();
        let computed_ns = of.compute_ns.saturating_sub(of.no_core_ns);
        SourceRank { rank, seconds: ns as f64 / 1e9, computed_s: computed_ns as f64 / 1e9 }
    };
    most(by_rank).into_iter().map(named).collect()
}

/// What ranks computed on average.
fn mean_computed_s(budgeter: &Budgeter) -> f64 {
    let ranks = budgeter.ledger().ranks();
    let computed_ns: u64 = ranks.iter().map(|of| of.compute_ns.saturating_sub(of.no_core_ns)).sum();
    computed_ns as f64 / 1e9 / ranks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::judgement::judgement;
    use super::*;
    use mpiscope_analysis::{BudgetOptions, Windowed};
    use mpiscope_feed::Judgement;
    use mpiscope_ingest::Ingest;
    use mpiscope_synth::{Pattern, Spec, Style, generate};

    fn judged(disturbed: &str) -> Judgement {
        let mut spec = Spec::new(Pattern::Ring, 16, 6.0, 20_000.0);
        (spec.nodes, spec.style) = (2, Style::Blocking);
        spec.disturb.push(disturbed.parse().unwrap());
        let mut ingest = Ingest::to_be_judged();
        let mut windowed = Windowed::new(BudgetOptions::default());
        for batch in generate(&spec).unwrap().filter_map(|message| ingest.step(message)) {
            windowed.feed(&batch, batch.until_ns);
        }
        windowed.finish();
        judgement(&windowed.budgeter, false, 16, 0).0
    }

    #[test]
    fn the_rank_that_misses_its_core_is_named() {
        let judged = judged("stolen-cpu");
        let of = judged.sources.iter().find(|of| of.cause == "cpu").unwrap();
        assert_eq!(judged.verdict.cause, "cpu");
        assert!(of.ranks[0].seconds > 0.9 * of.total_s, "{of:?}");
        assert!(of.times.is_empty(), "{of:?}");
    }

    #[test]
    fn work_that_moves_is_told_with_who_has_it_when() {
        let stays = judged("imbalance");
        let of = stays.sources.iter().find(|of| of.cause == "pattern").unwrap();
        assert!(of.times.is_empty(), "{of:?}");
        assert!(of.ranks.iter().all(|rank| rank.computed_s > 1.1 * of.computed_s), "{of:?}");
        let moves = judged("drifting-imbalance");
        let of = moves.sources.iter().find(|of| of.cause == "pattern").unwrap();
        assert!(of.times.len() > 4, "{of:?}");
        assert_ne!(of.times[0].ranks[0], of.times[of.times.len() - 1].ranks[0], "{of:?}");
    }

    #[test]
    fn distributions_differ_by_what_they_have_not_in_common() {
        assert!(difference(&[1, 1], &[10, 10]).abs() < 1e-9);
        assert!((difference(&[5, 0], &[0, 1]) - 1.0).abs() < 1e-9);
        assert!((difference(&[1, 1], &[1, 0]) - 0.5).abs() < 1e-9);
    }
}
