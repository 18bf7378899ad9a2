//! Which layout and figure show best where the ranks are that stand out.

use crate::question::MetricsQuestion;
use crate::rank_figures::{RankFigures, Sources};
use crate::rank_layout::{bundled_points, inputs};
use crate::rank_metric::RankMetric;
use crate::rank_places::RankPlaces;
use mpiscope_layout::Inputs;
use mpiscope_model::{Coordinate, Nanoseconds, Rank};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Figures that are known without reading calls or messages; what ranks do themselves before what they suffer.
const CANDIDATES: [RankMetric; 5] = [
    RankMetric::CpuWait,
    RankMetric::OutsideMpi,
    RankMetric::Waiting,
    RankMetric::MpiTime,
    RankMetric::BytesSent,
];
/// A rank stands out that is this many times as far from the median as half of the ranks are.
const FAR: f64 = 6.0;
/// And by this part of the median, or of the mean where the median is 0.
const PART: f64 = 0.1;
/// More than this part of the ranks does not stand out.
const MOST_PART: f64 = 0.4;
/// Neighbours that are looked at.
const NEIGHBOURS: usize = 4;
/// Ranks whose neighbours are looked for.
const MOST_LOOKED_AT: usize = 96;
const MOST_RANGES: usize = 64;

/// Where ranks stand out, and how that is best seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Suggestion {
    /// The figure; empty where no rank stands out.
    pub metric: String,
    /// The bundled layout.
    pub layout: String,
    /// The ranks that stand out, both ends included; no more than can be selected.
    pub ranks: Vec<(u32, u32)>,
    /// How many stand out.
    pub count: u32,
    /// Their mean.
    pub mean: f64,
    /// The median of all ranks.
    pub median: f64,
    /// The part of the figure's variance that neighbours in the layout have in common.
    pub share: f64,
    /// The key of what they are all ranks of, such as `host` or `rack`; empty where they are of no such group.
    pub group: String,
    /// Which of them: names, or numbers where they have none.
    pub members: Vec<String>,
    /// Whether they are corners of the program's grid.
    pub is_corners: bool,
}

struct Outliers {
    is_out: Vec<bool>,
    count: usize,
    mean: f64,
    median: f64,
    /// How far out they are.
    weight: f64,
}

/// A figure in which ranks stand out.
struct Candidate<'a> {
    metric: RankMetric,
    values: &'a [f64],
    out: Outliers,
    /// The sum of squares of what ranks differ by from the mean.
    squares: f64,
}

impl<'a> Candidate<'a> {
    /// None where no rank stands out.
    fn new(metric: RankMetric, values: &'a [f64]) -> Option<Self> {
        let out = outliers(values)?;
        let known = || values.iter().copied().filter(|value| value.is_finite());
        let mean = known().sum::<f64>() / known().count().max(1) as f64;
        let squares = known().map(|value| (value - mean).powi(2)).sum();
        Some(Self { metric, values, out, squares })
    }
}

/// The key of groups, and which of them.
type WholeGroups = (&'static str, Vec<f64>);
/// The name of a layout, and of each candidate the part of its variance that neighbours have in common.
type LayoutShares = (&'static str, Vec<f64>);

/// What shows best where ranks stand out in a range; an empty one where none does.
pub(crate) fn suggestion(
    range_ns: &Range<Nanoseconds>,
    figures: &RankFigures,
    sources: &Sources<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Suggestion, String> {
    let known = figures.counted_rows()?;
    let found = figures.metrics(&candidates_question(range_ns), sources, is_wanted)?;
    let candidates: Vec<Candidate<'_>> = CANDIDATES
        .iter()
        .zip(&found.metrics)
        .filter_map(|(metric, column)| Candidate::new(*metric, column.values.0.as_slice()))
        .collect();
    if candidates.is_empty() {
        return Ok(Suggestion::default());
    }
    let inputs = inputs(&known, figures);
    let layouts = shared_variance(&candidates, &inputs, is_wanted)?;
    let groups: Vec<Option<WholeGroups>> = candidates
        .iter()
        .map(|candidate| whole_groups(&inputs, &figures.places, &candidate.out.is_out))
        .collect();
    let best = best_candidate(&candidates, &layouts, &groups);
    let group = groups.into_iter().nth(best).flatten();
    Ok(described(figures, &candidates, best, &layouts, group))
}

/// A candidate with the layout that shows it best.
fn described(
    figures: &RankFigures,
    candidates: &[Candidate<'_>],
    best: usize,
    layouts: &[LayoutShares],
    group: Option<WholeGroups>,
) -> Suggestion {
    let Candidate { metric, out, .. } = &candidates[best];
    let is_corners = group.is_none() && are_corners(&figures.grid(), out);
    let preferred = match &group {
        Some((key, _)) => layout_of(key),
        None if is_corners => "grid",
        None => "",
    };
    let layout = best_layout(layouts, preferred, best);
    let name = |key: &str, value: f64| figures.places.word(key, value).unwrap_or_else(|| format!("{value}"));
    let (group, members) = group.unwrap_or_default();
    Suggestion {
        metric: metric.name().to_owned(),
        layout: layout.0.to_owned(),
        ranks: ranges(&out.is_out),
        count: out.count as u32,
        mean: out.mean,
        median: out.median,
        share: layout.1.max(0.0),
        members: members.into_iter().map(|value| name(group, value)).collect(),
        group: group.to_owned(),
        is_corners,
    }
}

fn candidates_question(range_ns: &Range<Nanoseconds>) -> MetricsQuestion {
    MetricsQuestion {
        range_ns: range_ns.clone(),
        metrics: CANDIDATES.to_vec(),
        function: None,
        site: None,
        phase: None,
    }
}

/// By how well its ranks lie together in a layout and how far out they are; the first of those that are as good.
fn best_candidate(
    candidates: &[Candidate<'_>],
    layouts: &[LayoutShares],
    groups: &[Option<WholeGroups>],
) -> usize {
    let best_of = |at: usize| layouts.iter().map(|(_, shares)| shares[at]).fold(0.0, f64::max);
    // Ranks with something in common explain more than ranks that suffer from them.
    let common = |at: usize| if groups[at].is_some() { 4.0 } else { 1.0 };
    let score = |at: usize| best_of(at).max(0.05) * candidates[at].out.weight.min(1.0) * common(at);
    let mut best = 0;
    for other in 1..candidates.len() {
        if score(other) > 1.2 * score(best) {
            best = other;
        }
    }
    best
}

/// The layout for a candidate, with the variance that neighbours share in it. Among equals it is the simplest, which comes
/// first; what says why ranks stand out goes before all others.
fn best_layout<'a>(layouts: &'a [LayoutShares], preferred: &str, candidate: usize) -> (&'a str, f64) {
    let mut layout = ("", f64::NEG_INFINITY);
    for (name, shares) in layouts {
        let is_better = layout.0.is_empty() || (layout.0 != preferred && shares[candidate] > layout.1 + 0.02);
        if *name == preferred || is_better {
            layout = (name, shares[candidate]);
        }
    }
    layout
}

fn outliers(values: &[f64]) -> Option<Outliers> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if sorted.len() < 4 {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let mut away: Vec<f64> = sorted.iter().map(|value| (value - median).abs()).collect();
    away.sort_unstable_by(f64::total_cmp);
    let usual = away[away.len() / 2];
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let least = median + (FAR * usual).max(PART * if median > 0.0 { median } else { mean.abs() });
    let is_out: Vec<bool> = values.iter().map(|value| *value > least).collect();
    let out: Vec<f64> = values.iter().copied().filter(|value| *value > least).collect();
    if out.is_empty() || out.len() as f64 > MOST_PART * sorted.len() as f64 {
        return None;
    }
    let of_out = out.iter().sum::<f64>() / out.len() as f64;
    let weight = (of_out - median) / median.max(mean.abs()).max(f64::MIN_POSITIVE);
    Some(Outliers { is_out, count: out.len(), mean: of_out, median, weight })
}

/// What ranks may have in common, what is larger first.
const GROUPS: [&str; 18] = [
    "rack",
    "switch",
    "block",
    "group",
    "switch1",
    "region_index",
    "host",
    "torus_x",
    "torus_y",
    "torus_z",
    "cart_x",
    "cart_y",
    "cart_z",
    "cart_3",
    "numa",
    "package",
    "core",
    "slot",
];
/// More groups are no explanation.
const MOST_GROUPS: usize = 8;

/// The layout that shows a group.
fn layout_of(key: &str) -> &'static str {
    match key {
        "rack" | "switch" | "block" => "racks",
        "group" | "switch1" => "dragonfly",
        "region_index" => "regions",
        "torus_x" | "torus_y" | "torus_z" => "torus",
        "cart_x" | "cart_y" | "cart_z" | "cart_3" => "grid",
        _ => "towers",
    }
}

/// The fewest groups of one kind whose ranks all stand out, if nearly all that stand out are theirs and there are other
/// groups.
fn whole_groups(inputs: &Inputs, places: &RankPlaces, is_out: &[bool]) -> Option<WholeGroups> {
    let all = is_out.iter().filter(|is_out| **is_out).count();
    let whole = |key: &'static str| {
        let values = inputs.metadata(key)?;
        let mut counts: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        for (rank, &is_out) in is_out.iter().enumerate() {
            let count = counts.entry(values.of_rank(rank).to_bits()).or_default();
            count.0 += 1;
            count.1 += usize::from(is_out);
        }
        let whole = counts.iter().filter(|(_, (ranks, out))| out * 10 >= ranks * 9);
        let found: Vec<_> =
            whole.filter(|(value, _)| places.is_group(key, f64::from_bits(**value))).collect();
        let inside: usize = found.iter().map(|(_, (_, out))| out).sum();
        let explains = inside * 10 >= all * 9
            && found.len() < counts.len()
            && counts.len() < is_out.len()
            && found.len() <= MOST_GROUPS;
        explains
            .then(|| (key, found.into_iter().map(|(value, _)| f64::from_bits(*value)).collect::<Vec<_>>()))
    };
    GROUPS.into_iter().filter_map(whole).min_by_key(|(_, members)| members.len())
}

/// Whether they are all corners of a grid with at least two dimensions, and at least half of its corners.
fn are_corners(grid: &[Coordinate], out: &Outliers) -> bool {
    let mut ends: BTreeMap<Rank, (usize, bool)> = BTreeMap::new();
    let Some(comm) = grid.first().map(|of| of.comm) else { return false };
    for of in grid.iter().filter(|of| of.comm == comm && of.size > 1) {
        let rank = ends.entry(of.rank).or_insert((0, true));
        rank.0 += 1;
        rank.1 &= of.coordinate == 0 || of.coordinate + 1 == of.size;
    }
    let corners: Vec<Rank> =
        ends.iter().filter(|(_, (axes, is_end))| *axes > 1 && *is_end).map(|(rank, _)| *rank).collect();
    let out_corners = corners.iter().filter(|rank| out.is_out.get(rank.index()) == Some(&true)).count();
    out_corners == out.count && 2 * out_corners >= corners.len() && corners.len() < ends.len()
}

/// For each layout, which part of each candidate's variance neighbours have in common: 1 where neighbours are equal, 0
/// where they differ as much as any two ranks (1 minus Geary's C, from a sample of ranks).
fn shared_variance(
    candidates: &[Candidate<'_>],
    inputs: &Inputs,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Vec<LayoutShares>, String> {
    let sample = sample(candidates, inputs.ranks());
    let mut found = Vec::new();
    for (name, points) in bundled_points(inputs) {
        if !is_wanted() {
            return Err("a newer question took its place".to_owned());
        }
        let neighbours: Vec<_> =
            sample.iter().map(|rank| nearest([&points.x, &points.y, &points.z], *rank)).collect();
        let share = |candidate: &Candidate<'_>| shared(candidate, &sample, &neighbours);
        found.push((name, candidates.iter().map(share).collect()));
    }
    Ok(found)
}

/// Some of the ranks that stand out and some of the others.
fn sample(candidates: &[Candidate<'_>], ranks: usize) -> Vec<usize> {
    let mut found = BTreeSet::new();
    let mut take = |from: Vec<usize>| {
        let step = from.len().div_ceil(MOST_LOOKED_AT).max(1);
        found.extend(from.into_iter().step_by(step));
    };
    for candidate in candidates {
        take(
            candidate.out.is_out.iter().enumerate().filter(|(_, out)| **out).map(|(rank, _)| rank).collect(),
        );
    }
    take((0..ranks).collect());
    found.into_iter().collect()
}

fn shared(candidate: &Candidate<'_>, sample: &[usize], neighbours: &[[usize; NEIGHBOURS]]) -> f64 {
    let (values, is_out) = (candidate.values, &candidate.out.is_out);
    let value = |rank: usize| values.get(rank).copied().filter(|value| value.is_finite());
    if candidate.squares <= 0.0 {
        return 0.0;
    }
    // Those that stand out and the others count as many times as there are of them.
    let mut differences = 0.0;
    for (part, size) in [(true, candidate.out.count), (false, is_out.len() - candidate.out.count)] {
        let (mut sum, mut count) = (0.0, 0.0);
        for (rank, near) in sample.iter().zip(neighbours).filter(|(rank, _)| is_out[**rank] == part) {
            for other in near.iter().filter_map(|other| value(*other)) {
                sum += value(*rank).map_or(0.0, |one| (one - other).powi(2));
                count += 1.0;
            }
        }
        if count > 0.0 {
            differences += size as f64 * sum / count;
        }
    }
    1.0 - differences / (2.0 * candidate.squares)
}

/// The nearest other ranks; a number that no rank has where there are fewer.
fn nearest([x, y, z]: [&Vec<f64>; 3], rank: usize) -> [usize; NEIGHBOURS] {
    let mut nearest = [(f64::INFINITY, usize::MAX); NEIGHBOURS];
    for other in (0..x.len()).filter(|other| *other != rank) {
        let [dx, dy, dz] = [x[other] - x[rank], y[other] - y[rank], z[other] - z[rank]];
        let away = dx * dx + dy * dy + dz * dz;
        if away < nearest[NEIGHBOURS - 1].0 {
            nearest[NEIGHBOURS - 1] = (away, other);
            nearest.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        }
    }
    nearest.map(|(_, other)| other)
}

fn ranges(is_out: &[bool]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for rank in is_out.iter().enumerate().filter(|(_, is_out)| **is_out).map(|(rank, _)| rank as u32) {
        let is_full = found.len() >= MOST_RANGES;
        match found.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ if is_full => break,
            _ => found.push((rank, rank)),
        }
    }
    found
}
