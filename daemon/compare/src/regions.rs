//! What became of the regions: which stayed, and which are others.

use crate::digest::Pair;
use crate::noise::{count, share};
use mpiscope_feed::{Region, RegionChange, runs};
use mpiscope_model::Rank;
use std::collections::{BTreeMap, BTreeSet};

/// All regions of both; none where jobs have other ranks or one has no diagnosis.
pub(crate) fn regions(pair: &Pair<'_>) -> Option<Vec<RegionChange>> {
    let (a, b) = pair.a.findings.as_ref().zip(pair.b.findings.as_ref())?;
    let (a, b) = (&a.diagnosis.regions, &b.diagnosis.regions);
    let is_listed = a.count == a.regions.len() && b.count == b.regions.len();
    (pair.a.job.ranks == pair.b.job.ranks && is_listed).then(|| became(&a.regions, &b.regions, pair.scale))
}

fn became(a: &[Region], b: &[Region], scale: (f64, f64)) -> Vec<RegionChange> {
    let common = common(a, b);
    // Each belongs to the one with which it has most ranks in common.
    let most = |of: usize, of_a: bool| {
        let shared = common.iter().filter(|((one, other), _)| of == if of_a { *one } else { *other });
        let best = shared.max_by_key(|((one, other), ranks)| {
            (**ranks, std::cmp::Reverse(if of_a { *other } else { *one }))
        });
        best.map(|((one, other), _)| if of_a { *other } else { *one })
    };
    let into: Vec<Option<usize>> = (0..a.len()).map(|of| most(of, true)).collect();
    let from: Vec<Option<usize>> = (0..b.len()).map(|of| most(of, false)).collect();
    let is_same = |of: usize, target: usize| a[of].ranks == b[target].ranks;
    let changes = successions(&into, &from, is_same).into_iter().map(|Succession { word, ours, theirs }| {
        let ours: Vec<&Region> = ours.into_iter().map(|at| &a[at]).collect();
        let theirs: Vec<&Region> = theirs.into_iter().map(|at| &b[at]).collect();
        change(word, &ours, &theirs, scale)
    });
    changes.collect()
}

/// Regions of A and what they became in B, by their places.
struct Succession {
    word: &'static str,
    ours: Vec<usize>,
    theirs: Vec<usize>,
}

/// What became of all regions, where each of A belongs into one of B and each of B comes from one of A.
fn successions(
    into: &[Option<usize>],
    from: &[Option<usize>],
    is_same: impl Fn(usize, usize) -> bool,
) -> Vec<Succession> {
    let members = |all: &[Option<usize>], of: usize| -> Vec<usize> {
        all.iter().enumerate().filter(|(_, to)| **to == Some(of)).map(|(at, _)| at).collect()
    };
    let mut successions = Vec::new();
    let mut tell = |word, ours, theirs| successions.push(Succession { word, ours, theirs });
    let mut joined = BTreeSet::new();
    for (of, target) in into.iter().enumerate() {
        let parts = members(from, of);
        match target {
            Some(target) if is_same(of, *target) => tell("stayed", vec![of], vec![*target]),
            _ if parts.len() > 1 => tell("split", vec![of], parts),
            Some(target) if members(into, *target).len() > 1 => {
                let sources = members(into, *target);
                // Reported once, with all that came together. One that was also split is reported as split.
                let sources: Vec<usize> =
                    sources.into_iter().filter(|of| members(from, *of).len() < 2).collect();
                if joined.insert(*target) {
                    let word = if sources.len() > 1 { "joined" } else { "changed" };
                    tell(word, sources, vec![*target]);
                }
            }
            Some(target) => tell("changed", vec![of], vec![*target]),
            None => tell("gone", vec![of], Vec::new()),
        }
    }
    let known: BTreeSet<usize> = successions.iter().flat_map(|of| of.theirs.iter().copied()).collect();
    let new = (0..from.len()).filter(|of| !known.contains(of));
    successions.extend(new.map(|of| Succession { word: "new", ours: Vec::new(), theirs: vec![of] }));
    successions
}

/// How many ranks two regions have in common, where they have any.
fn common(a: &[Region], b: &[Region]) -> BTreeMap<(usize, usize), usize> {
    let region_of: BTreeMap<Rank, usize> = b
        .iter()
        .enumerate()
        .flat_map(|(at, region)| region.each_rank().map(move |rank| (rank, at)))
        .collect();
    let mut common = BTreeMap::new();
    for (at, region) in a.iter().enumerate() {
        for other in region.each_rank().filter_map(|rank| region_of.get(&rank)) {
            *common.entry((at, *other)).or_default() += 1;
        }
    }
    common
}

fn change(word: &str, a: &[&Region], b: &[&Region], scale: (f64, f64)) -> RegionChange {
    let ranks =
        |of: &[&Region]| -> BTreeSet<Rank> { of.iter().flat_map(|region| region.each_rank()).collect() };
    let (ours, theirs) = (ranks(a), ranks(b));
    let both = ours.intersection(&theirs).count() as f64;
    let one = |of: &[&Region]| if let [region] = of { Some((*region).clone()) } else { None };
    let pair = one(a).zip(one(b));
    let figures = pair.as_ref();
    RegionChange {
        became: word.into(),
        a: a.iter().map(|region| region.id).collect(),
        b: b.iter().map(|region| region.id).collect(),
        overlap: both / (ours.union(&theirs).count().max(1) as f64),
        a_ranks: runs(ours.into_iter().map(|rank| rank.0)),
        b_ranks: runs(theirs.into_iter().map(|rank| rank.0)),
        latency: late(figures.and_then(|(a, _)| a.latency), figures.and_then(|(_, b)| b.latency)),
        messages: count(figures.map(|(a, _)| a.messages), figures.map(|(_, b)| b.messages), scale),
        delayed: count(figures.map(|(a, _)| a.delayed), figures.map(|(_, b)| b.delayed), scale),
    }
}

/// Latencies are what messages took for what is usual; a tenth is a change.
fn late(a: Option<f64>, b: Option<f64>) -> mpiscope_feed::Figure {
    let mut figure = share(a, b);
    if let Some(change) = &mut figure.change {
        change.is_change = change.difference.abs() >= 0.1;
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(id: u32, ranks: &[(u32, u32)]) -> Region {
        Region { id, ranks: ranks.to_vec(), ..Region::default() }
    }

    fn words(a: &[Region], b: &[Region]) -> Vec<(String, Vec<u32>, Vec<u32>)> {
        became(a, b, (1.0, 1.0)).into_iter().map(|of| (of.became, of.a, of.b)).collect()
    }

    fn expected(word: &str, a: &[u32], b: &[u32]) -> (String, Vec<u32>, Vec<u32>) {
        (word.into(), a.to_vec(), b.to_vec())
    }

    #[test]
    fn regions_stay_change_split_and_join() {
        let a = [
            region(0, &[(0, 7)]),
            region(1, &[(8, 15)]),
            region(2, &[(16, 19)]),
            region(3, &[(20, 23)]),
            region(4, &[(24, 31)]),
        ];
        let b = [
            region(0, &[(0, 7)]),
            region(1, &[(8, 11)]),
            region(2, &[(12, 15)]),
            region(3, &[(16, 23)]),
            region(7, &[(24, 30)]),
            region(8, &[(31, 35)]),
        ];
        assert_eq!(
            words(&a, &b),
            [
                expected("stayed", &[0], &[0]),
                expected("split", &[1], &[1, 2]),
                expected("joined", &[2, 3], &[3]),
                expected("split", &[4], &[7, 8]),
            ]
        );
        assert_eq!(
            words(&b[..5], &a),
            [
                expected("stayed", &[0], &[0]),
                expected("joined", &[1, 2], &[1]),
                expected("split", &[3], &[2, 3]),
                expected("changed", &[7], &[4]),
            ]
        );
        let of = became(&a[4..], &b[4..5], (1.0, 1.0));
        assert_eq!((of[0].overlap, of[0].a_ranks.clone()), (7.0 / 8.0, vec![(24, 31)]));
    }

    #[test]
    fn what_has_nothing_in_common_is_gone_and_new() {
        let (a, b) = ([region(0, &[(0, 3)])], [region(5, &[(4, 7)])]);
        assert_eq!(words(&a, &b), [expected("gone", &[0], &[]), expected("new", &[], &[5])]);
        assert_eq!(words(&[], &[]), []);
    }
}
