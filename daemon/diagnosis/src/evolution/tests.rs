use super::*;
use mpiscope_model::{MessageTime, Node, Rank};
use proptest::prelude::*;

mod planted;

/// Messages with this latency ratio on average, all exact.
fn window(number: u64, latency: f64) -> Window {
    let mut tally = Tally::default();
    for _ in 0..10 {
        tally.message();
        tally.exact(MessageTime {
            took_ns: (latency * 1e6) as u64,
            expected_ns: 1_000_000,
            normal_ns: 1_000_000,
        });
    }
    Window { number, tally, version: 1 }
}

fn series(latencies: &[f64], options: EvolutionOptions) -> Series {
    let mut series = Series::new(options);
    for (at, latency) in latencies.iter().enumerate() {
        series.push(&window(at as u64, *latency));
    }
    series.finish();
    series
}

/// A series of levels and slopes of these lengths and heights.
fn drawn(parts: &[(usize, f64, f64)]) -> Vec<f64> {
    let mut latencies = Vec::new();
    for &(windows, from, to) in parts {
        let step = (to - from) / (windows.max(2) - 1) as f64;
        // Not altogether even.
        for at in 0..windows {
            let wobble = [0.99, 1.02, 1.0, 0.985, 1.01, 0.995, 1.015][latencies.len() * 3 % 7];
            latencies.push((from + step * at as f64) * wobble);
        }
    }
    latencies
}

fn kinds(series: &Series) -> Vec<(Kind, u64, u64)> {
    series.closed().iter().map(|segment| (segment.kind, segment.from, segment.to)).collect()
}

#[test]
fn growth_and_steady_stretches_differ() {
    let latencies = drawn(&[(40, 1.0, 1.0), (20, 1.1, 3.0), (30, 1.0, 1.0), (12, 2.5, 2.5), (40, 1.0, 1.0)]);
    let found = kinds(&series(&latencies, EvolutionOptions::default()));
    let kinds: Vec<Kind> = found.iter().map(|of| of.0).collect();
    assert_eq!(kinds, [Kind::Rest, Kind::Growth, Kind::Rest, Kind::Steady, Kind::Rest], "{found:?}");
    assert!(found[1].1.abs_diff(40) <= 2 && found[1].2 == 59, "{found:?}");
    assert_eq!((found[3].1, found[3].2), (90, 101));
}

#[test]
fn what_falls_short_of_a_threshold_is_rest() {
    let of = |parts: &[(usize, f64, f64)]| {
        let found = series(&drawn(parts), EvolutionOptions::default());
        assert!(found.closed().iter().all(|segment| segment.kind == Kind::Rest), "{:?}", kinds(&found));
    };
    // Too short, too little, downward, and high from the beginning.
    of(&[(40, 1.0, 1.0), (4, 1.2, 3.0), (40, 1.0, 1.0)]);
    of(&[(40, 1.0, 1.0), (30, 1.0, 1.15), (40, 1.0, 1.0)]);
    of(&[(60, 3.0, 1.0), (60, 1.0, 1.0)]);
    of(&[(40, 3.0, 3.0), (200, 1.0, 1.0)]);
    of(&[(8, 1.0, 3.0)]);
}

#[test]
fn thresholds_can_be_set() {
    let latencies = drawn(&[(40, 1.0, 1.0), (30, 1.0, 1.5), (40, 1.0, 1.0), (9, 2.0, 2.0), (40, 1.0, 1.0)]);
    let kinds = |options| {
        let found = series(&latencies, options);
        found.closed().iter().map(|of| of.kind).filter(|kind| *kind != Kind::Rest).collect::<Vec<_>>()
    };
    let usual = EvolutionOptions::default();
    assert_eq!(kinds(usual), [Kind::Growth, Kind::Steady]);
    // What does not rise enough is still above the average.
    assert_eq!(kinds(EvolutionOptions { least_rise: 0.6, ..usual }), [Kind::Steady, Kind::Steady]);
    assert_eq!(kinds(EvolutionOptions { fewest_windows: 12, ..usual }), [Kind::Growth]);
    assert_eq!(kinds(EvolutionOptions { least_above: 1.5, ..usual }), [Kind::Growth]);
    assert_eq!(kinds(EvolutionOptions { chance: 0.0, least_above: 1.5, ..usual }), []);
}

#[test]
fn what_is_kept_grows_with_segments_and_not_with_windows() {
    let long = series(&drawn(&[(50_000, 1.0, 1.0)]), EvolutionOptions::default());
    assert_eq!(long.closed().len(), 1, "{:?}", kinds(&long));
    let kept: Vec<u64> = long.closed()[0].kept.iter().map(|point| point.window).collect();
    assert_eq!((kept.len(), kept[0], kept[2]), (3, 0, 49_999));
    assert!(kept[1].abs_diff(25_000) < 1_500, "{kept:?}");
    assert_eq!((long.closed()[0].windows, long.closed()[0].tally.messages), (50_000, 500_000));
    // Many segments become fewer, the least of the older first, and lose no message.
    let mut parts = Vec::new();
    for at in 0..200 {
        parts.extend([(40, 1.0, 1.0), (10, 2.0 + f64::from(at) / 50.0, 2.0 + f64::from(at) / 50.0)]);
    }
    let options = EvolutionOptions { most_segments: 50, ..EvolutionOptions::default() };
    let many = series(&drawn(&parts), options);
    assert!(many.closed().len() <= 50 && many.joined() > 0, "{}", many.closed().len());
    let messages: u64 = many.closed().iter().map(|segment| segment.tally.messages).sum();
    assert_eq!((messages, many.total().messages), (100_000, 100_000));
    let kept: usize = many.closed().iter().map(|segment| segment.kept.len()).sum();
    assert!(kept < 50 * 13, "{kept}");
}

/// Messages of a run: when, from whom, to whom, how long.
fn messages() -> impl Strategy<Value = Vec<(u64, u32, u32, u64)>> {
    prop::collection::vec((0_u64..2_000, 0_u32..6, 0_u32..6, 50_u64..400), 1..300)
}

fn count(evolution: &mut Evolution, &(at_ns, from, to, took_ns): &(u64, u32, u32, u64)) {
    evolution.message(at_ns, Rank(from), Rank(to));
    if took_ns % 3 > 0 {
        evolution.exact(
            at_ns,
            Rank(from),
            Rank(to),
            MessageTime { took_ns, expected_ns: 100, normal_ns: 150 },
        );
    }
}

fn all(evolution: &Evolution) -> (Vec<String>, (Tally, Tally)) {
    let mut all: Vec<String> = evolution.regions().map(|found| format!("{found:?}")).collect();
    all.extend(evolution.pairs().map(|found| format!("{found:?}")));
    all.extend(evolution.provisional().iter().map(|found| format!("{found:?}")));
    (all, evolution.others())
}

proptest! {
    #[test]
    fn batches_and_workers_make_no_difference(
        mut messages in messages(),
        closings in prop::collection::vec(0_u64..2_000, 0..20),
        of_rank in prop::collection::vec(0_u32..4, 6),
    ) {
        messages.sort_unstable();
        let fresh = || {
            let mut evolution = Evolution::new(100, EvolutionOptions::default());
            evolution.divide(RegionOfRank { version: 7, of_rank: of_rank.clone() }, 0);
            evolution.begin(&[]);
            evolution
        };
        // All at once.
        let mut at_once = fresh();
        messages.iter().for_each(|message| count(&mut at_once, message));
        at_once.close(1_500);
        // Window by window as somebody says how far all is in, by two workers, each its own receivers in its own order.
        let (mut one, mut other) = (fresh(), fresh());
        let mut closings = closings;
        closings.push(1_500);
        closings.retain(|at_ns| *at_ns <= 1_500);
        closings.sort_unstable();
        let mut fed = 0;
        for until_ns in closings {
            let now = fed..fed + messages[fed..].partition_point(|message| message.0 < until_ns);
            fed = now.end;
            for message in messages[now].iter().rev() {
                count(if message.2 % 2 == 0 { &mut one } else { &mut other }, message);
            }
            one.merge(&mut other);
            one.close(until_ns);
            other.close(until_ns);
        }
        messages[fed..].iter().for_each(|message| count(&mut one, message));
        prop_assert_eq!(all(&one), all(&at_once));
        prop_assert_eq!(one.final_ns(), 1_500);
    }

    #[test]
    fn a_closed_segment_is_never_rewritten(seed in 0_u64..1_000) {
        let latencies = planted::latencies(seed);
        let mut series = Series::new(EvolutionOptions::default());
        let mut before: Vec<Segment> = Vec::new();
        for (at, latency) in latencies.iter().enumerate() {
            series.push(&window(at as u64, *latency));
            prop_assert_eq!(&series.closed()[..before.len()], &before[..]);
            before = series.closed().to_vec();
        }
        let open = series.open();
        series.finish();
        prop_assert_eq!(&series.closed()[before.len()..], &open[..]);
        // All windows are in segments, one after the other.
        let mut next = 0;
        for segment in series.closed() {
            prop_assert_eq!(segment.from, next);
            next = segment.to + 1;
        }
        prop_assert_eq!(next, latencies.len() as u64);
    }
}

#[test]
fn a_window_is_accounted_under_the_partition_that_held_and_stays_so() {
    let mut evolution = Evolution::new(100, EvolutionOptions::default());
    evolution.divide(RegionOfRank { version: 1, of_rank: vec![0, 0, 1, 1] }, 0);
    evolution.begin(&[0, 0, 1, 1].map(Node));
    evolution.message(50, Rank(0), Rank(1));
    evolution.message(60, Rank(1), Rank(2));
    evolution.divide(RegionOfRank { version: 9, of_rank: vec![5, 6, 6, 5] }, 100);
    // The window before is still open: what comes late goes by its own regions.
    evolution.begin(&[0, 0, 1, 1].map(Node));
    evolution.message(150, Rank(1), Rank(2));
    evolution.message(70, Rank(2), Rank(3));
    let open: Vec<_> = evolution
        .provisional()
        .iter()
        .map(|of| (of.window.number, of.region, of.other, of.window.version))
        .collect();
    assert_eq!(open, [(0, 0, None, 1), (0, 1, None, 1), (0, 0, Some(1), 1), (1, 6, None, 9)]);
    evolution.close(100);
    // Too late: it counts in the first window that is not final.
    evolution.message(80, Rank(3), Rank(0));
    evolution.close(200);
    let found: Vec<_> =
        evolution.regions().map(|(region, series)| (region, series.total().messages)).collect();
    assert_eq!(found, [(0, 1), (1, 1), (5, 1), (6, 1)]);
    assert_eq!(evolution.pairs().map(|(pair, _)| pair).collect::<Vec<_>>(), [(0, 1)]);
    assert!(evolution.provisional().is_empty() && !evolution.is_by_node());
}

#[test]
fn what_was_counted_by_nodes_is_let_go_when_regions_are_known() {
    let mut evolution = Evolution::new(100, EvolutionOptions::default());
    evolution.moved(0);
    evolution.begin(&[0, 0, 1, 1].map(Node));
    assert!(evolution.is_by_node());
    evolution.message(50, Rank(0), Rank(1));
    evolution.close(100);
    evolution.message(150, Rank(2), Rank(3));
    let of = |evolution: &Evolution| -> Vec<_> {
        evolution.regions().map(|(region, series)| (region, series.total().messages)).collect()
    };
    assert_eq!(of(&evolution), [(0, 1)]);
    evolution.divide(RegionOfRank { version: 1, of_rank: vec![0, 1, 1, 0] }, 100);
    evolution.begin(&[0, 0, 1, 1].map(Node));
    evolution.message(160, Rank(1), Rank(2));
    evolution.close(200);
    assert_eq!(of(&evolution), [(1, 1)]);
    assert_eq!(evolution.pairs().count(), 0);
}

#[test]
fn of_many_regions_the_strongest_are_followed_and_the_others_summed_up() {
    let mut followed = followed::Followed::new(10);
    for number in 0..50 {
        for key in 0_u32..5_000 {
            let mut tally = Tally::default();
            // The strong ones come late, and one is strong from the beginning.
            let messages = if key >= 4_990 && number > 10 || key == 7 { 100 } else { 1 };
            (0..messages).for_each(|_| tally.message());
            followed.push(
                key,
                &Window { number, tally, version: 1 },
                &Ratios::default(),
                EvolutionOptions::default(),
            );
        }
    }
    let kept: Vec<u32> = followed.iter().map(|(key, _)| key).collect();
    let strong = kept.iter().filter(|key| **key == 7 || **key >= 4_990).count();
    assert_eq!((kept.len(), strong), (10, 10), "{kept:?}");
    let in_series: u64 = followed.iter().map(|(_, series)| series.total().messages).sum();
    assert_eq!(in_series + followed.others().messages, 50 * 4_989 + 50 * 100 + 10 * (39 * 100 + 11));
}
