//! How latency went by region, as pages and recordings have it: of the regions and pairs that exchange most.

use mpiscope_diagnosis::{Provisional, Segment, Series, Tally};
use mpiscope_feed::{Bands, Evolution, Points, RegionCourse, SegmentRow};
use mpiscope_model::Rank;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most regions that are listed, and the most pairs of them.
const MOST_REGIONS: usize = 64;
const MOST_LINKS: usize = 32;
/// The most windows of a region; beyond them old segments have at most three.
const MOST_POINTS: usize = 256;

/// What is known of it now.
pub(super) fn evolution(of: &mpiscope_diagnosis::Evolution, has_normal: bool) -> Evolution {
    let window_s = of.window_ns() as f64 / 1e9;
    let mut provisional = BTreeMap::<(u32, Option<u32>), Vec<Provisional>>::new();
    for window in of.provisional() {
        provisional.entry((window.region, window.other)).or_default().push(window);
    }
    let ranks: BTreeMap<u32, Vec<Rank>> = of.partition().regions().into_iter().collect();
    let region_course = |region: u32, other: Option<u32>, series: &Series| {
        let ranks = ranks.get(&region).filter(|_| other.is_none());
        let open = provisional.get(&(region, other)).map_or(&[][..], |windows| windows);
        RegionCourse {
            region,
            other,
            ranks: ranks.map_or_else(Vec::new, |ranks| ranges(ranks)),
            ..course(series, open, window_s)
        }
    };
    let (mut others, mut between) = of.others();
    let regions = strongest(of.regions().collect(), MOST_REGIONS, &mut others);
    let links = strongest(of.pairs().collect(), MOST_LINKS, &mut between);
    Evolution {
        by: if of.is_by_node() { "node" } else { "traffic" }.into(),
        version: of.partition().version,
        window_s,
        final_s: of.final_ns() as f64 / 1e9,
        has_normal,
        regions: regions.into_iter().map(|(region, series)| region_course(region, None, series)).collect(),
        links: links
            .into_iter()
            .map(|((one, other), series)| region_course(one, Some(other), series))
            .collect(),
        other_messages: (others.messages, between.messages),
    }
}

/// Those with most messages, in their order; the rest is added to what is left out.
fn strongest<'a, Key: Copy + Ord>(
    mut all: Vec<(Key, &'a Series)>,
    most: usize,
    others: &mut Tally,
) -> Vec<(Key, &'a Series)> {
    all.sort_by_key(|(key, series)| (Reverse(series.total().messages), *key));
    for (_, series) in all.drain(most.min(all.len())..) {
        others.merge(series.total());
    }
    all.sort_by_key(|(key, _)| *key);
    all
}

fn ranges(ranks: &[Rank]) -> Vec<(u32, u32)> {
    let follow = |one: &Rank, next: &Rank| next.0 - one.0 == 1;
    ranks.chunk_by(follow).map(|range| (range[0].0, range[range.len() - 1].0)).collect()
}

fn course(series: &Series, provisional: &[Provisional], window_s: f64) -> RegionCourse {
    let open = series.open();
    let closed = series.closed();
    let mut windows: usize = closed.iter().chain(&open).map(|segment| segment.kept.len()).sum();
    let mut points = Points::default();
    let mut segments = Vec::new();
    for (at, segment) in closed.iter().chain(&open).enumerate() {
        segments.push(row(segment, at < closed.len(), window_s));
        let mut kept = &segment.kept[..];
        let three;
        if windows > MOST_POINTS && kept.len() > 3 {
            windows -= kept.len() - 3;
            three = [kept[0], kept[kept.len() / 2], kept[kept.len() - 1]];
            kept = &three;
        }
        for point in kept {
            add(&mut points, point.window, &point.tally, point.average, point.version, window_s);
        }
    }
    let mut not_final = Points::default();
    for Provisional { window, .. } in provisional {
        add(&mut not_final, window.number, &window.tally, 0.0, window.version, window_s);
    }
    let total = series.total();
    RegionCourse {
        messages: total.messages,
        exact: total.exact,
        delayed: total.delayed,
        above_expected: total.above_expected,
        latency: total.latency(),
        segments,
        points,
        provisional: not_final,
        bands: bands(series.bands(), window_s),
        joined: series.joined(),
        ..RegionCourse::default()
    }
}

fn bands(of: &mpiscope_diagnosis::Bands, window_s: f64) -> Bands {
    let width_s = of.windows_per_band() as f64 * window_s;
    let mut bands = Bands { width_s, ..Bands::default() };
    for band in of.all() {
        let percentile = |share| band.ratios.percentile(share);
        let (Some(latency), Some(p10)) = (band.tally.latency(), percentile(0.1)) else { continue };
        bands.time_s.push(band.number as f64 * width_s);
        bands.latency.push(latency);
        bands.p10.push(p10);
        bands.p50.push(percentile(0.5).unwrap_or(p10));
        bands.p90.push(percentile(0.9).unwrap_or(p10));
        bands.exact.push(band.tally.exact);
    }
    bands
}

fn row(segment: &Segment, is_closed: bool, window_s: f64) -> SegmentRow {
    SegmentRow {
        kind: segment.kind.word().into(),
        from_s: segment.from as f64 * window_s,
        to_s: (segment.to + 1) as f64 * window_s,
        is_closed,
        windows: segment.windows,
        messages: segment.tally.messages,
        exact: segment.tally.exact,
        delayed: segment.tally.delayed,
        above_expected: segment.tally.above_expected,
        latency: segment.tally.latency(),
        rise: segment.rise,
    }
}

fn add(points: &mut Points, window: u64, tally: &Tally, average: f64, version: u32, window_s: f64) {
    points.time_s.push(window as f64 * window_s);
    points.latency.push(tally.latency().unwrap_or_default());
    points.average.push(average);
    points.messages.push(tally.messages);
    points.exact.push(tally.exact);
    points.delayed.push(tally.delayed);
    points.above_expected.push(tally.above_expected);
    points.version.push(version);
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_diagnosis::{BudgetOptions, Windowed};
    use mpiscope_ingest::Ingest;
    use mpiscope_synth::{Pattern, Spec, Style, generate};

    #[test]
    fn a_simulated_job_on_two_nodes_has_two_regions_and_what_goes_between_them() {
        let mut spec = Spec::new(Pattern::Ring, 8, 4.0, 20_000.0);
        (spec.nodes, spec.style) = (2, Style::Blocking);
        let mut ingest = Ingest::for_diagnosis();
        let mut windowed = Windowed::new(BudgetOptions::default());
        let mut matched = 0;
        for batch in generate(&spec).unwrap().filter_map(|message| ingest.step(message)) {
            matched += windowed.feed(&batch, batch.until_ns).messages.len() as u64;
        }
        let before = evolution(windowed.budgeter.evolution(), true);
        matched += windowed.finish().messages.len() as u64;
        let found = evolution(windowed.budgeter.evolution(), windowed.budgeter.criteria().has_normal());
        assert!(found.has_normal);
        assert_eq!((found.by.as_str(), found.regions.len(), found.links.len()), ("node", 2, 1));
        let regions: Vec<_> = found.regions.iter().map(|of| (of.region, of.ranks.clone())).collect();
        assert_eq!(regions, [(0, vec![(0, 3)]), (1, vec![(4, 7)])]);
        let all = || found.regions.iter().chain(&found.links);
        let messages: u64 = all().map(|of| of.messages).sum();
        assert_eq!(messages + found.other_messages.0 + found.other_messages.1, matched);
        assert!(found.final_s > 3.9 && before.final_s <= found.final_s);
        for of in all() {
            // Nothing happens in it.
            assert!(of.segments.iter().all(|segment| segment.kind == "rest"), "{:?}", of.segments);
            assert!(of.exact < of.messages && of.above_expected < of.exact, "{of:?}");
            // Normal is what 95 of 100 messages of quiet windows take; criteria still change in so short a run.
            assert!(
                of.delayed > 0 && of.delayed * 4 < of.exact && of.delayed * 2 < of.above_expected,
                "{of:?}"
            );
            let bands = &of.bands;
            assert_eq!(bands.exact.iter().sum::<u64>(), of.exact);
            assert_eq!(bands.width_s, found.window_s);
            assert!(
                (0..bands.p10.len())
                    .all(|at| bands.p10[at] <= bands.p50[at] && bands.p50[at] <= bands.p90[at])
            );
            assert!(bands.p10.iter().zip(&bands.p90).any(|(p10, p90)| p10 < p90));
            let latency = of.latency.unwrap();
            assert!(latency > 0.8 && latency < 2.0, "{latency}");
            assert!(of.provisional.time_s.is_empty() && of.points.time_s.len() == of.points.latency.len());
            let (first, last) = (&of.segments[0], &of.segments[of.segments.len() - 1]);
            // Before enough messages were exact nobody knows what is usual.
            assert!(first.from_s < 2.5 && last.to_s >= found.final_s - 0.2, "{of:?}");
        }
    }
}
