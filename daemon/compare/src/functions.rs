//! What changed in each function and at each place of the program.

use crate::align::SiteName;
use crate::digest::{Digest, Pair, SiteFigures};
use crate::noise::{Measured, beyond, count, figure, median, rare};
use mpiscope_feed::{Count, Figure, FunctionChange, FunctionFigures, LinePair, SiteChange, runs};
use mpiscope_model::Function;
use std::collections::{BTreeMap, BTreeSet};

/// The 99th percentile of fewer calls says nothing.
const FEWEST_FOR_P99: u64 = 1_000;
/// Rare durations differ at least by this.
const LEAST_RARE_NS: u64 = 10_000_000;
/// Something by this ratio more is a reason.
const REASON: f64 = 1.05;
/// Ranks on which less than this of what the others changed by changed are not meant.
const LITTLE: f64 = 0.4;

/// All functions, the largest change first.
pub(crate) fn functions(pair: &Pair<'_>) -> Vec<FunctionChange> {
    let all: BTreeSet<Function> = pair.a.functions.keys().chain(pair.b.functions.keys()).copied().collect();
    let mut changes: Vec<FunctionChange> =
        all.into_iter().map(|function| of_function(pair, function)).collect();
    changes.sort_by(|one, other| {
        by_change(&one.of_rank, &other.of_rank).then_with(|| one.name.cmp(&other.name))
    });
    changes
}

fn of_function(pair: &Pair<'_>, function: Function) -> FunctionChange {
    let entry = mpiscope_wire::by_id(function);
    let (a, b) = pair.both(|of| of.functions.get(&function).copied());
    let (of_a, of_b) = pair.of_rank(function);
    let of_rank = pair.rules.of_rank(Some(of_a), Some(of_b));
    let is_change = changed(&of_rank);
    let count_of = |of: fn(&FunctionFigures) -> u64| {
        let value = |figures: &Option<FunctionFigures>| Some(figures.as_ref().map_or(0, of));
        count(value(&a), value(&b), pair.scale)
    };
    let many = |figures: &Option<FunctionFigures>| figures.is_some_and(|of| of.calls >= FEWEST_FOR_P99);
    let calls = count_of(|of| of.calls);
    FunctionChange {
        id: function.into(),
        name: entry.map_or("?", |entry| entry.name).to_owned(),
        family: entry.map_or("", |entry| entry.family.word()).to_owned(),
        polls: count_of(|of| of.polls),
        bytes: count_of(|of| of.bytes),
        seconds: figure(
            Some(a.map_or(0.0, |of| of.seconds)),
            Some(b.map_or(0.0, |of| of.seconds)),
            is_change,
        ),
        p50_ns: median(a.map(|of| (of.p50_ns, of.calls)), b.map(|of| (of.p50_ns, of.calls))),
        p99_ns: rare(a.map(|of| of.p99_ns), b.map(|of| of.p99_ns), 1_000, many(&a) && many(&b)),
        max_ns: rare(a.map(|of| of.max_ns), b.map(|of| of.max_ns), LEAST_RARE_NS, true),
        ranks: if is_change { on_ranks(pair, function) } else { Vec::new() },
        why: if is_change { why(pair, &calls, &of_rank) } else { String::new() },
        calls,
        of_rank,
    }
}

/// Whether it counts as a change.
pub(crate) fn changed(figure: &Figure) -> bool {
    figure.change.is_some_and(|change| change.is_change)
}

/// What counts comes first, then what changed more.
fn by_change(one: &Figure, other: &Figure) -> std::cmp::Ordering {
    let size = |figure: &Figure| figure.change.map_or(0.0, |change| change.difference.abs());
    changed(other).cmp(&changed(one)).then(size(other).total_cmp(&size(one)))
}

/// Whether there are more calls or longer ones.
fn why(pair: &Pair<'_>, calls: &Count, of_rank: &Figure) -> String {
    let (calls_a, calls_b) = (
        calls.a.unwrap_or_default() as f64 * pair.scale.0,
        calls.b.unwrap_or_default() as f64 * pair.scale.1,
    );
    if calls_a == 0.0 {
        return "only in B".into();
    }
    if calls_b == 0.0 {
        return "only in A".into();
    }
    let more = calls_b / calls_a;
    let longer = of_rank.change.and_then(|change| change.ratio).unwrap_or(1.0) / more;
    let often = beyond(more, 1.0, REASON).then(|| format!("{} as often", times(more)));
    let each = beyond(longer, 1.0, REASON).then(|| format!("each {} as long", times(longer)));
    match (often, each) {
        (None, Some(each)) => each,
        (Some(often), None) => often,
        (Some(often), Some(each)) => format!("{often}, {each}"),
        (None, None) => String::new(),
    }
}

/// "2.31x".
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 99.95 => format!("{ratio:.0}x"),
        ratio if ratio >= 9.995 => format!("{ratio:.1}x"),
        _ => format!("{ratio:.2}x"),
    }
}

/// The ranks on which a function changed: those that the change parts from the others most clearly. None where it is on
/// all, or jobs have other ranks.
fn on_ranks(pair: &Pair<'_>, function: Function) -> Vec<(u32, u32)> {
    if pair.a.job.ranks != pair.b.job.ranks || pair.is_share {
        return Vec::new();
    }
    let by_rank = |of: &Digest| of.windows.functions.get(&function).map(|of| of.by_rank.clone());
    let (a, b) = pair.both(by_rank);
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    let of = |times: &[f64], rank: usize| times.get(rank).copied().unwrap_or_default();
    let ranks = pair.a.job.ranks as usize;
    let changes: Vec<f64> = (0..ranks).map(|rank| of(&b, rank) - of(&a, rank)).collect();
    stand_out(&changes)
}

/// Those that changed much more than all others, in the direction of the whole; none where none do.
pub(crate) fn stand_out(changes: &[f64]) -> Vec<(u32, u32)> {
    let direction = changes.iter().sum::<f64>().signum();
    let mut sorted: Vec<(f64, u32)> = changes.iter().map(|change| change * direction).zip(0..).collect();
    sorted.sort_by(|one, other| other.0.total_cmp(&one.0));
    let all: f64 = sorted.iter().map(|(change, _)| change).sum();
    // Where two groups have the least in common.
    let (mut best, mut first, mut sum) = (0, f64::NEG_INFINITY, 0.0);
    for (at, (change, _)) in sorted.iter().enumerate().take(sorted.len().saturating_sub(1)) {
        sum += change;
        let (ours, theirs) = (at as f64 + 1.0, (sorted.len() - at) as f64 - 1.0);
        let apart = sum / ours - (all - sum) / theirs;
        let between = ours * theirs * apart * apart;
        if between > first {
            (best, first) = (at + 1, between);
        }
    }
    let (high, low) = sorted.split_at(best);
    let mean = |of: &[(f64, u32)]| of.iter().map(|(change, _)| change).sum::<f64>() / of.len().max(1) as f64;
    if high.is_empty() || mean(low) > LITTLE * mean(high) {
        return Vec::new();
    }
    let mut ranks: Vec<u32> = high.iter().map(|(_, rank)| *rank).collect();
    ranks.sort_unstable();
    runs(ranks)
}

/// All call sites, the largest change first.
pub(crate) fn sites(pair: &Pair<'_>) -> Vec<SiteChange> {
    let mut changes: Vec<SiteChange> = paired(pair).into_iter().map(|(a, b)| of_site(pair, a, b)).collect();
    changes.sort_by(|one, other| {
        by_change(&one.of_rank, &other.of_rank).then_with(|| one.place.cmp(&other.place))
    });
    changes
}

type Site<'a> = Option<(&'a SiteName, &'a SiteFigures)>;

/// Places of A with those of B that they are: of the same line, or the next ones in order where lines were moved.
fn paired<'a>(pair: &Pair<'a>) -> Vec<(Site<'a>, Site<'a>)> {
    let mut pairs: Vec<(Site<'_>, Site<'_>)> = Vec::new();
    let mut moved: BTreeMap<SiteName, (Vec<_>, Vec<_>)> = BTreeMap::new();
    for site in &pair.a.sites {
        match pair.b.sites.get_key_value(site.0) {
            Some(same) => pairs.push((Some(site), Some(same))),
            None => moved.entry(site.0.without_line()).or_default().0.push(site),
        }
    }
    for site in pair.b.sites.iter().filter(|(name, _)| !pair.a.sites.contains_key(name)) {
        moved.entry(site.0.without_line()).or_default().1.push(site);
    }
    for (a, b) in moved.into_values() {
        if a.len() == b.len() {
            pairs.extend(a.into_iter().map(Some).zip(b.into_iter().map(Some)));
        } else {
            pairs.extend(a.into_iter().map(|site| (Some(site), None)));
            pairs.extend(b.into_iter().map(|site| (None, Some(site))));
        }
    }
    pairs
}

fn of_site<'a>(pair: &Pair<'a>, a: Site<'a>, b: Site<'a>) -> SiteChange {
    let name = b.or(a).map(|(name, _)| name.clone()).unwrap_or_default();
    let known = b.or(a).map(|(_, figures)| figures.clone()).unwrap_or_default();
    let (noise_a, noise_b) = name.calls.map(|function| pair.of_rank(function)).unwrap_or_default();
    // How a place varies is not known; its function is taken to vary alike everywhere.
    let measured = |seconds: f64, of: Measured, scale: f64| Measured {
        value: seconds * scale,
        spread: of
            .spread
            .map(|spread| if of.value > 0.0 { spread * seconds * scale / of.value } else { 0.0 }),
    };
    let of = |value: fn(&SiteFigures) -> f64| {
        let (a, b) = (a.map_or(0.0, |(_, of)| value(of)), b.map_or(0.0, |(_, of)| value(of)));
        let of_rank = pair
            .rules
            .of_rank(Some(measured(a, noise_a, pair.scale.0)), Some(measured(b, noise_b, pair.scale.1)));
        (figure(Some(a), Some(b), changed(&of_rank)), of_rank)
    };
    let (seconds, of_rank) = of(|figures| figures.seconds);
    let is_diagnosed = pair.a.findings.is_some() && pair.b.findings.is_some();
    let (waiting_s, waiting_of_rank) =
        if is_diagnosed { of(|figures| figures.waiting_s) } else { Default::default() };
    let calls = |site: Site<'_>| Some(site.map_or(0, |(_, figures)| figures.calls));
    let calls = count(calls(a), calls(b), pair.scale);
    SiteChange {
        place: known.place,
        function: name.function,
        file: known.path,
        line: LinePair { a: a.and_then(|(name, _)| name.line), b: b.and_then(|(name, _)| name.line) },
        calls_function: name.calls.and_then(mpiscope_wire::by_id).map(|entry| entry.name.to_owned()),
        why: if changed(&of_rank) { why(pair, &calls, &of_rank) } else { String::new() },
        calls,
        seconds,
        of_rank,
        waiting_s,
        waiting_of_rank,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_stand_out_are_named_and_others_not() {
        assert_eq!(stand_out(&[4.0, 0.1, 4.1, 3.9]), [(0, 0), (2, 3)]);
        assert_eq!(stand_out(&[-4.0, -0.1, -4.1, -3.9]), [(0, 0), (2, 3)]);
        assert_eq!(stand_out(&[1.0, 1.2, 0.9, 1.1, 0.8, 1.3]), []);
        assert_eq!(stand_out(&[0.0, 0.1, -0.1, 0.0, 9.0, 0.0]), [(4, 4)]);
        assert_eq!(stand_out(&[3.0]), []);
        assert_eq!(stand_out(&[]), []);
    }

    #[test]
    fn times_are_read_easily() {
        assert_eq!(
            [times(2.0), times(0.3333), times(12.34), times(250.0)],
            ["2.00x", "0.33x", "12.3x", "250x"]
        );
    }
}
