//! The budget by rank, and what each region suffers from.

use super::figures::{parts, word};
use super::recorded_time::RecordedTime;
use mpiscope_diagnosis::{Basis, Budgeter};
use mpiscope_feed::{Attribution, ByRank, Wait};
use mpiscope_model::{Nanoseconds, Rank};
use std::cmp::Reverse;
use std::ops::Range;

/// The most regions that get a cause; the largest come first.
const MOST_REGIONS: usize = 64;
/// The number of waits that are evidence.
const MOST_EVIDENCE: usize = 3;

/// Windows by rank from a time on: their length, and which they are.
pub(super) fn windows(budgeter: &Budgeter, begin_ns: Nanoseconds) -> (u64, Range<usize>) {
    let (width_ns, windows) = budgeter.ledger().windows_by_rank();
    let first = ((begin_ns / width_ns.max(1)) as usize).min(windows);
    (width_ns, first..windows)
}

/// Where time went by rank and window.
pub(super) fn by_rank(budgeter: &Budgeter, basis: &Basis, begin_ns: Nanoseconds) -> ByRank {
    let ledger = budgeter.ledger();
    let ranks = ledger.ranks().len();
    let (width_ns, windows) = windows(budgeter, begin_ns);
    let step = ByRank::step(windows.len(), ranks);
    let mut by_rank = ByRank::new(windows.start as u64 * width_ns, width_ns * step as u64, ranks);
    for first in windows.clone().step_by(step) {
        let some = first..(first + step).min(windows.end);
        by_rank.push(Rank::all(ranks as u32).map(|rank| {
            let window = ledger.of_ranks(&[(rank, rank)], some.clone());
            (parts(&window.budget), basis.avoidable(&window).map(|(_, s)| s))
        }));
    }
    by_rank
}

/// What each region suffered from most in all that was diagnosed; empty where there is only one.
pub(super) fn attribution(
    budgeter: &Budgeter,
    basis: &Basis,
    waits: &[Wait],
    (seen, end_ns): (&RecordedTime, Nanoseconds),
) -> Vec<Attribution> {
    let begin_ns = seen.from_ns;
    let (_, windows) = windows(budgeter, begin_ns);
    let partition = budgeter.evolution().partition();
    let mut regions = partition.regions();
    if regions.len() < 2 {
        return Vec::new();
    }
    regions.sort_by_key(|(region, ranks)| (Reverse(ranks.len()), *region));
    regions.truncate(MOST_REGIONS);
    regions.sort_by_key(|(region, _)| *region);
    let of = |(region, ranks): (u32, Vec<Rank>)| {
        let ranges: Vec<(Rank, Rank)> = ranks.iter().map(|&rank| (rank, rank)).collect();
        let window = budgeter.ledger().of_ranks(&ranges, windows.clone());
        let found = basis.assess(&window, ranks.len() as u32, seen.length_ns(begin_ns, end_ns));
        let is_inside = |rank: Rank| partition.region(rank) == Some(region);
        // Who waited for whom inside it.
        let inside = waits
            .iter()
            .enumerate()
            .filter(|(_, wait)| is_inside(Rank(wait.waiter)) && is_inside(Rank(wait.awaited)));
        let evidence = inside.map(|(at, _)| at).take(MOST_EVIDENCE);
        Attribution {
            from_s: begin_ns as f64 / 1e9,
            to_s: end_ns.max(begin_ns) as f64 / 1e9,
            region: Some(region),
            cause: word(&found),
            avoidable_s: found.verdict.avoidable_s,
            confidence: seen.sure(found.verdict.confidence),
            evidence: if found.verdict.cause.is_some() { evidence.collect() } else { Vec::new() },
        }
    };
    regions.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::simulated::simulated;
    use mpiscope_feed::Parts;
    use mpiscope_model::Rank;
    use mpiscope_synth::{Pattern, Spec, Style};

    #[test]
    fn regions_sum_to_the_whole_job() {
        let mut spec = Spec::new(Pattern::Halo2d, 16, 4.0, 20_000.0);
        (spec.nodes, spec.style) = (2, Style::Blocking);
        spec.disturb.push("imbalance".parse().unwrap());
        let (diagnosis, course) = simulated(&spec);
        let regions: Vec<_> = diagnosis.attribution.iter().filter(|of| of.region.is_some()).collect();
        assert_eq!(regions.iter().map(|of| of.region).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert!(regions.iter().any(|of| of.cause == diagnosis.verdict.cause), "{regions:?}");
        for of in &regions {
            let node = of.region.unwrap() * 8..of.region.unwrap() * 8 + 8;
            let waits = of.evidence.iter().map(|at| &diagnosis.waits[*at]);
            assert!(waits.flat_map(|wait| [wait.waiter, wait.awaited]).all(|rank| node.contains(&rank)));
        }
        let names = mpiscope_model::Blame::WORDS;
        let close = |one: f64, other: f64| (one - other).abs() < 1e-3 + 1e-6 * other.abs();
        for range in [0..u64::MAX, 1_000_000_000..2_000_000_000] {
            let whole = course.over(&range, names);
            let mut sum = Parts::default();
            let mut pattern = 0.0;
            for ranks in [[(Rank(0), Rank(7))], [(Rank(8), Rank(15))]] {
                let of = course.of_ranks(&range, &ranks, names);
                assert_eq!((of.from_ns, of.to_ns), (whole.from_ns, whole.to_ns));
                sum.add(&of.parts);
                pattern += of.causes.iter().find(|(name, _)| name == "pattern").unwrap().1;
            }
            assert!(close(sum.total_s, whole.parts.total_s), "{} {}", sum.total_s, whole.parts.total_s);
            assert!(close(sum.waiting_s, whole.parts.waiting_s) && sum.waiting_s > 0.0);
            assert!(close(sum.waiting_by.compute, whole.parts.waiting_by.compute));
            let whole = whole.causes.iter().find(|(name, _)| name == "pattern").unwrap().1;
            assert!(close(pattern, whole) && whole > 0.0, "{pattern} {whole}");
        }
    }
}
