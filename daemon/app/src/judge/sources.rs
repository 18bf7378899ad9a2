//! From which ranks it comes that others wait: those that have more to do than others, and those that had no core.

use super::replayed::{Part, Replayed};
use mpiscope_diagnosis::Budgeter;
use mpiscope_feed::{Source, SourceRank, SourceTime};
use mpiscope_model::{Blame, Rank};
use std::cmp::Reverse;

/// So many ranks are named, in all and of each part of the run.
const MOST_RANKS: usize = 8;
/// Ranks that a cause comes from are named where they make up so much of it.
const MOST: f64 = 0.7;
/// A rank with this share of what another has, has as much.
const AS_MUCH: f64 = 0.9;
/// Parts of a run differ by so much from the whole, on average, where it moves from rank to rank: from 0, all the same, to 1.
const MOVES: f64 = 0.4;

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

/// Ranks that make up most of a cause, where they are few of all ranks, in order. Those who have as much as the last of them
/// are no less to blame.
fn few(ranks: &[SourceRank], total_s: f64, all: usize) -> Vec<Rank> {
    let mut sum_s = 0.0;
    let last = ranks.iter().find(|rank| {
        sum_s += rank.seconds;
        sum_s >= MOST * total_s
    });
    let Some(last) = last else { return Vec::new() };
    let with_as_much = ranks.iter().filter(|rank| rank.seconds >= AS_MUCH * last.seconds);
    let mut few: Vec<Rank> = with_as_much.map(|rank| rank.rank).collect();
    // What lies with most ranks lies with none.
    if 2 * few.len() > all {
        return Vec::new();
    }
    few.sort_unstable();
    few
}

/// The ranks that each such cause comes from, as far as the run was replayed.
pub(super) fn sources(budgeter: &Budgeter, replayed: &Replayed) -> Vec<Source> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let source = |blame: Blame| {
        let by_rank = |part: &Part| match blame {
            Blame::Pattern => part.excess_ns.clone(),
            _ => part.delayed_ns.clone(),
        };
        let by_part: Vec<Vec<u64>> = replayed.parts.iter().map(by_rank).collect();
        let with_excess = by_part.iter().map(Vec::len).max().unwrap_or(0);
        let mut whole = vec![0_u64; budgeter.ledger().ranks().len().max(with_excess)];
        for of_part in &by_part {
            whole.iter_mut().zip(of_part).for_each(|(sum, ns)| *sum += ns);
        }
        let total_ns: u64 = whole.iter().sum();
        if total_ns == 0 {
            return None;
        }
        let differs = |of: &Vec<u64>| difference(of, &whole) * of.iter().sum::<u64>() as f64;
        let moves = by_part.iter().map(differs).sum::<f64>() / total_ns as f64 > MOVES;
        let time = |(part, of): (&Part, &Vec<u64>)| SourceTime {
            from_s: seconds(part.from_ns),
            to_s: seconds(part.to_ns),
            ranks: most(of).into_iter().map(|(rank, _)| rank).collect(),
        };
        let ranks = ranks(budgeter, &whole);
        Some(Source {
            cause: blame.word().into(),
            total_s: seconds(total_ns),
            few: if moves { Vec::new() } else { few(&ranks, seconds(total_ns), whole.len()) },
            ranks,
            computed_s: mean_computed_s(budgeter),
            times: if moves { replayed.parts.iter().zip(&by_part).map(time).collect() } else { Vec::new() },
        })
    };
    [Blame::Pattern, Blame::Cpu].into_iter().filter_map(source).collect()
}

fn ranks(budgeter: &Budgeter, by_rank: &[u64]) -> Vec<SourceRank> {
    let ledger = budgeter.ledger().ranks();
    let named = |(rank, ns): (Rank, u64)| {
        let of = ledger.get(rank as usize).copied().unwrap_or_default();
        let computed_ns = of.compute_ns.saturating_sub(of.cpu_wait_ns);
        SourceRank { rank, seconds: ns as f64 / 1e9, computed_s: computed_ns as f64 / 1e9 }
    };
    most(by_rank).into_iter().map(named).collect()
}

/// What ranks computed on average.
fn mean_computed_s(budgeter: &Budgeter) -> f64 {
    let ranks = budgeter.ledger().ranks();
    let computed_ns: u64 = ranks.iter().map(|of| of.compute_ns.saturating_sub(of.cpu_wait_ns)).sum();
    computed_ns as f64 / 1e9 / ranks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::judgement::judgement;
    use super::*;
    use crate::judge::seen::Seen;
    use crate::judge::stretches::LogStretches;
    use mpiscope_diagnosis::{BudgetOptions, Reference, Windowed};
    use mpiscope_feed::Judgement;
    use mpiscope_ingest::Ingest;
    use mpiscope_synth::{Pattern, Spec, Style, generate};

    fn judged(disturbed: &str) -> Judgement {
        let mut spec = Spec::new(Pattern::Ring, 16, 6.0, 20_000.0);
        (spec.nodes, spec.style) = (2, Style::Blocking);
        spec.disturb.push(disturbed.parse().unwrap());
        let mut ingest = Ingest::for_diagnosis();
        let mut windowed = Windowed::new(BudgetOptions::default());
        let mut stretches = LogStretches::new(&Reference::None, &[]);
        for batch in generate(&spec).unwrap().filter_map(|message| ingest.step(message)) {
            stretches.add(&batch);
            windowed.feed(&batch, batch.until_ns);
        }
        windowed.finish();
        judgement(&windowed.budgeter, false, 16, &Seen::default(), &stretches.finish()).0
    }

    #[test]
    fn the_rank_that_misses_its_core_is_named() {
        let judged = judged("stolen-cpu");
        let of = judged.sources.iter().find(|of| of.cause == "cpu").unwrap();
        assert_eq!(judged.verdict.cause, "cpu");
        assert!(of.ranks[0].seconds > 0.9 * of.total_s, "{of:?}");
        assert_eq!(of.few, [of.ranks[0].rank]);
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
    fn ranks_with_as_much_are_named_together() {
        let rank = |rank, seconds| SourceRank { rank, seconds, computed_s: 0.0 };
        let four = [rank(13, 2.28), rank(10, 2.28), rank(12, 2.27), rank(11, 2.27)];
        assert_eq!(few(&four, 9.1, 16), [10, 11, 12, 13]);
        assert!(few(&four, 9.1, 6).is_empty(), "four of six are not few");
        assert_eq!(few(&[rank(4, 9.0), rank(1, 1.0)], 10.0, 2), [4]);
        assert!(few(&four, 100.0, 16).is_empty());
    }

    #[test]
    fn distributions_differ_by_what_they_have_not_in_common() {
        assert!(difference(&[1, 1], &[10, 10]).abs() < 1e-9);
        assert!((difference(&[5, 0], &[0, 1]) - 1.0).abs() < 1e-9);
        assert!((difference(&[1, 1], &[1, 0]) - 0.5).abs() < 1e-9);
    }
}
