//! The expected times of messages and collectives, and how that changed.

use crate::digest::Pair;
use crate::noise::{count, median};
use mpiscope_feed::{CollectiveChange, Count, CriterionChange};
use mpiscope_verdict::Findings;
use std::collections::BTreeMap;

/// What is meant, with how many samples and which median each recording has of it.
type Medians<K> = BTreeMap<K, [Option<(u64, u64)>; 2]>;

fn medians<'a, K: Ord>(
    pair: &Pair<'a>,
    of: impl Fn(&'a Findings) -> Vec<(K, u64, u64)>,
) -> Option<Medians<K>> {
    let mut medians = Medians::new();
    for (at, side) in [pair.a, pair.b].into_iter().enumerate() {
        for (key, samples, median_ns) in of(side.findings.as_ref()?) {
            medians.entry(key).or_default()[at] = Some((samples, median_ns));
        }
    }
    Some(medians)
}

/// The samples and the medians.
fn figures(pair: &Pair<'_>, [a, b]: [Option<(u64, u64)>; 2]) -> (Count, Count) {
    let samples = |of: Option<(u64, u64)>| of.map(|(samples, _)| samples);
    let swapped = |of: Option<(u64, u64)>| of.map(|(samples, median_ns)| (median_ns, samples));
    (count(samples(a), samples(b), pair.scale), median(swapped(a), swapped(b)))
}

/// Messages by scope and size.
pub(crate) fn criteria(pair: &Pair<'_>) -> Option<Vec<CriterionChange>> {
    let all = medians(pair, |found| {
        let of = found.criteria.iter();
        of.map(|of| ((of.scope.as_str(), of.size_from, of.size_to), of.samples, of.median_ns)).collect()
    })?;
    let change = |((scope, size_from, size_to), of): ((&str, u64, u64), _)| {
        let (samples, median_ns) = figures(pair, of);
        CriterionChange { scope: scope.to_owned(), size_from, size_to, samples, median_ns }
    };
    Some(all.into_iter().map(change).collect())
}

/// Collectives by function, ranks and size.
pub(crate) fn collectives(pair: &Pair<'_>) -> Option<Vec<CollectiveChange>> {
    let all = medians(pair, |found| {
        let of = found.collectives.iter();
        let key = |of: &'_ mpiscope_verdict::criteria_file::CollectiveCriterion| {
            (of.function.clone(), of.ranks, of.bytes, of.is_root)
        };
        of.map(|of| (key(of), of.samples, of.median_ns)).collect()
    })?;
    let change = |((function, ranks, bytes, is_root), of): ((String, u32, u64, bool), _)| {
        let (samples, median_ns) = figures(pair, of);
        CollectiveChange { function, ranks, bytes, is_root, samples, median_ns }
    };
    Some(all.into_iter().map(change).collect())
}
