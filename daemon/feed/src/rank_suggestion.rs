//! Which layout and figure show best where the ranks are that stand out.

use crate::RankMetric;
use crate::exchange::MetricsQuestion;
use crate::rank_figures::{RankFigures, Sources};
use crate::rank_layout::{bundled_points, inputs};
use mpiscope_model::{Coordinate, Nanoseconds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
const MOST_LOOKED_AT: usize = 256;
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
    /// The part of their nearest neighbours in the layout that stand out too.
    pub share: f64,
    /// The hosts, if these are all of their ranks; else empty.
    pub hosts: Vec<u32>,
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

/// What shows best where ranks stand out in a range; an empty one where none does.
pub(crate) fn suggestion(
    range_ns: &Range<Nanoseconds>,
    figures: &RankFigures,
    sources: &Sources<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Suggestion, String> {
    let known = figures.known()?;
    let question =
        MetricsQuestion { range_ns: range_ns.clone(), metrics: CANDIDATES.to_vec(), function: None };
    let found = figures.metrics(&question, sources, is_wanted)?;
    let best = CANDIDATES
        .iter()
        .zip(&found.metrics)
        .filter_map(|(metric, column)| Some((metric, outliers(&column.values.0)?)))
        // The first of those that are as far out.
        .reduce(|best, other| if other.1.weight > 1.5 * best.1.weight { other } else { best });
    let Some((metric, out)) = best else { return Ok(Suggestion::default()) };
    let grid = figures.grid();
    let hosts = whole_hosts(&known.hosts(), &out.is_out);
    let is_corners = are_corners(&grid, &out);
    let inputs = inputs(&known, &grid);
    let preferred = if hosts.is_empty() { if is_corners { "grid" } else { "" } } else { "towers" };
    let mut layout = (String::new(), 0.0);
    for (name, points) in bundled_points(&inputs) {
        if !is_wanted() {
            return Err("a newer question took its place".to_owned());
        }
        let share = clustering([&points.x, &points.y, &points.z], &out.is_out);
        // Among equals the simplest, which comes first; what says why they stand out before all others.
        if name == preferred || (layout.0 != preferred && share > layout.1 + 0.02) || layout.0.is_empty() {
            layout = (name.to_owned(), share);
        }
    }
    Ok(Suggestion {
        metric: metric.name().to_owned(),
        layout: layout.0,
        ranks: ranges(&out.is_out),
        count: out.count as u32,
        mean: out.mean,
        median: out.median,
        share: layout.1,
        hosts,
        is_corners,
    })
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

/// The hosts whose ranks all stand out, if nearly all that stand out are theirs and there are other hosts.
fn whole_hosts(hosts: &[f64], is_out: &[bool]) -> Vec<u32> {
    let mut counts: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for (host, &is_out) in hosts.iter().zip(is_out).filter(|(host, _)| host.is_finite()) {
        let count = counts.entry(*host as u64).or_default();
        count.0 += 1;
        count.1 += usize::from(is_out);
    }
    let whole = |of: &(&u64, &(usize, usize))| of.1.1 * 10 >= of.1.0 * 9;
    let found: Vec<_> = counts.iter().filter(whole).collect();
    let inside: usize = found.iter().map(|(_, (_, out))| out).sum();
    let all = is_out.iter().filter(|is_out| **is_out).count();
    let hosts_have_several = counts.len() < hosts.len();
    if inside * 10 < all * 9 || found.len() == counts.len() || !hosts_have_several {
        return Vec::new();
    }
    found.into_iter().map(|(host, _)| *host as u32).collect()
}

/// Whether they are all corners of a grid with at least two dimensions, and at least half of its corners.
fn are_corners(grid: &[Coordinate], out: &Outliers) -> bool {
    let mut ends: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
    let Some(comm) = grid.first().map(|of| of.comm) else { return false };
    for of in grid.iter().filter(|of| of.comm == comm && of.size > 1) {
        let rank = ends.entry(of.rank).or_insert((0, true));
        rank.0 += 1;
        rank.1 &= of.coordinate == 0 || of.coordinate + 1 == of.size;
    }
    let corners: Vec<u32> =
        ends.iter().filter(|(_, (axes, is_end))| *axes > 1 && *is_end).map(|(rank, _)| *rank).collect();
    let out_corners = corners.iter().filter(|rank| out.is_out.get(**rank as usize) == Some(&true)).count();
    out_corners == out.count && 2 * out_corners >= corners.len() && corners.len() < ends.len()
}

/// The part of the nearest neighbours of ranks that stand out that do so too.
fn clustering(axes: [&Vec<f64>; 3], is_out: &[bool]) -> f64 {
    let out: Vec<usize> =
        is_out.iter().enumerate().filter(|(_, is_out)| **is_out).map(|(rank, _)| rank).collect();
    let step = out.len().div_ceil(MOST_LOOKED_AT).max(1);
    let [x, y, z] = axes;
    let (mut neighbours, mut same) = (0_usize, 0_usize);
    for &rank in out.iter().step_by(step) {
        let mut nearest = [(f64::INFINITY, usize::MAX); NEIGHBOURS];
        for other in (0..x.len().min(is_out.len())).filter(|other| *other != rank) {
            let [dx, dy, dz] = [x[other] - x[rank], y[other] - y[rank], z[other] - z[rank]];
            let away = dx * dx + dy * dy + dz * dz;
            if away < nearest[NEIGHBOURS - 1].0 {
                nearest[NEIGHBOURS - 1] = (away, other);
                nearest.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
            }
        }
        let found = nearest.iter().filter(|(away, _)| away.is_finite());
        found.for_each(|(_, other)| {
            neighbours += 1;
            same += usize::from(is_out[*other]);
        });
    }
    same as f64 / neighbours.max(1) as f64
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
