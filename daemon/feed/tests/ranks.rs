//! Figures of all ranks, and where layouts put them.

use crate::support::row;
use mpiscope_feed::exchange::{
    Incoming, LAYOUT_SOURCE_BYTES_MAX, LandscapeQuestion, LayoutQuestion, LayoutSourceChoice,
    MetricsQuestion, Question, SaveLayoutQuestion,
};
use mpiscope_feed::{
    CallSource, LayoutKeeper, LayoutSource, LayoutStore, Library, MessageSource, Messages, RankLayout,
    RankMetric, RankMetrics, RankRow, Region, Regions,
};
use mpiscope_model::{Call, Comm, CommInfo, CommKind, Coordinate, Message, Nanoseconds, Rank};
use serde_json::json;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};

const WHOLE: Range<Nanoseconds> = 0..Nanoseconds::MAX;
const UNTIL_NS: Nanoseconds = 10_000_000_000;
const SECOND_NS: Nanoseconds = 1_000_000_000;

#[derive(Debug)]
struct Rows {
    calls: Vec<Call>,
    messages: Vec<Message>,
}

impl CallSource for Rows {
    fn visit(&self, range_ns: &Range<Nanoseconds>, visitor: &mut dyn FnMut(&Call)) -> Result<(), String> {
        let is_in = |call: &&Call| call.end_ns > range_ns.start && call.start_ns < range_ns.end;
        self.calls.iter().filter(is_in).for_each(visitor);
        Ok(())
    }
}

impl MessageSource for Rows {
    fn visit(
        &self,
        _: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let _ = visitor(&self.messages);
        Ok(())
    }
}

/// A job with this number of ranks, four a host. Rank 1 waits for a late message of rank 0.
fn library(ranks: u32) -> Library {
    let call = |rank, function, from_s: u64, to_s: u64| Call {
        rank: Rank(rank),
        function,
        start_ns: from_s * SECOND_NS,
        end_ns: to_s * SECOND_NS,
        ..Call::default()
    };
    let calls = || vec![call(0, 1, 0, 2), call(0, 2, 3, 4), call(1, 1, 1, 5), call(1, 2, 5, 6)];
    let message = Message {
        src: Rank(0),
        dst: Rank(1),
        bytes: 512,
        send_ns: 4 * SECOND_NS,
        recv_ns: 5 * SECOND_NS,
        late_sender_ns: 3 * SECOND_NS,
        ..Message::default()
    };
    let rows = || Rows { calls: calls(), messages: vec![message] };
    let messages = Messages { source: Box::new(rows()), flow: |_| None };
    let library = Library::new(Box::new(rows())).with_messages(messages);
    library.set_rank_rows((0..ranks.min(64)).map(row).collect(), ranks, UNTIL_NS);
    library
}

fn ask(library: &Library, range_ns: Range<Nanoseconds>, metrics: &[RankMetric]) -> RankMetrics {
    let question =
        MetricsQuestion { range_ns, metrics: metrics.to_vec(), function: None, site: None, phase: None };
    let answer = library.answer(1, &Question::RankMetrics(question));
    assert_eq!(answer.error(), None);
    answer.rank_metrics().expect("figures")
}

fn layout_question(source: LayoutSourceChoice, name: &str) -> Question {
    let events = MetricsQuestion {
        range_ns: WHOLE,
        metrics: vec![RankMetric::MpiTime, RankMetric::Calls],
        function: None,
        site: None,
        phase: None,
    };
    Question::RankLayout(LayoutQuestion { source, name: name.to_owned(), events })
}

fn layout(library: &Library, source: LayoutSourceChoice, name: &str) -> RankLayout {
    let answer = library.answer(1, &layout_question(source, name));
    assert_eq!(answer.error(), None);
    answer.rank_layout().expect("points")
}

#[test]
fn figures_of_the_whole_run_are_those_that_are_counted() {
    let metrics = [RankMetric::MpiTime, RankMetric::Calls, RankMetric::Messages, RankMetric::CpuWait];
    let found = ask(&library(16), WHOLE, &metrics);
    assert_eq!((found.ranks, found.from_ns, found.to_ns), (16, 0, UNTIL_NS));
    assert_eq!((found.host.0[3], found.host.0[4]), (0.0, 1.0));
    let of_rank_5: Vec<f64> = found.metrics.iter().map(|of| of.values.0[5]).collect();
    assert_eq!(of_rank_5, [0.5, 105.0, 30.0, 0.005]);
}

#[test]
fn time_after_the_last_call_of_a_rank_is_not_outside_mpi() {
    let library = library(2);
    // Rank 0 makes no call after 4 s, rank 1 may.
    let rows = [RankRow { mpi_time_ns: 3 * SECOND_NS, ended_ns: 4 * SECOND_NS, ..row(0) }, row(1)];
    library.set_rank_rows(rows.to_vec(), 3, UNTIL_NS);
    let metrics = [RankMetric::MpiTime, RankMetric::OutsideMpi, RankMetric::Finished, RankMetric::Load];
    let found = ask(&library, WHOLE, &metrics);
    let values = |at: usize| found.metrics[at].values.0.clone();
    assert_eq!((values(0)[0], values(1)[0], values(2)[0]), (3.0, 1.0, 6.0));
    assert_eq!((values(0)[1], values(1)[1], values(2)[1]), (0.1, 9.9, 0.0));
    assert!(values(3)[0] < 0.2 && values(3)[1] > 1.8);
    // Nothing is known of a rank that was not heard.
    assert!(values(1)[2].is_nan() && values(2)[2].is_nan());
    // In each range the three add up to its length.
    for range in [SECOND_NS..4 * SECOND_NS, 3 * SECOND_NS..6 * SECOND_NS, 5 * SECOND_NS..8 * SECOND_NS] {
        let found = ask(&library, range.clone(), &metrics[..3]);
        let sum: f64 = found.metrics.iter().map(|of| of.values.0[0]).sum();
        assert_eq!(sum, (range.end - range.start) as f64 / 1e9, "{range:?}");
    }
}

#[test]
fn figures_of_a_range_count_what_lies_in_it() {
    let metrics = [RankMetric::MpiTime, RankMetric::Calls, RankMetric::OutsideMpi, RankMetric::CpuWait];
    let found = ask(&library(2), SECOND_NS..4 * SECOND_NS, &metrics);
    let values = |at: usize| found.metrics[at].values.0.clone();
    assert_eq!((values(0), values(1), values(2)), (vec![2.0, 3.0], vec![1.0, 1.0], vec![1.0, 0.0]));
    assert!(found.metrics[3].values.0.is_empty() && found.metrics[3].missing.contains("whole run"));
    // A message counts for its sender where it begins, for its receiver where it ends.
    let metrics = [RankMetric::Sent, RankMetric::Received, RankMetric::LateSender, RankMetric::BytesReceived];
    let found = ask(&library(2), 4 * SECOND_NS..5 * SECOND_NS, &metrics);
    let values = |at: usize| found.metrics[at].values.0.clone();
    assert_eq!((values(0), values(1), values(2)), (vec![1.0, 0.0], vec![0.0, 0.0], vec![0.0, 0.0]));
    let found = ask(&library(2), 5 * SECOND_NS..6 * SECOND_NS, &metrics);
    let values = |at: usize| found.metrics[at].values.0.clone();
    assert_eq!((values(1), values(2), values(3)), (vec![0.0, 1.0], vec![0.0, 3.0], vec![0.0, 512.0]));
}

#[test]
fn calls_of_one_function_and_the_landscape_agree() {
    let library = library(2);
    let question = MetricsQuestion {
        range_ns: WHOLE,
        metrics: vec![RankMetric::MpiTime],
        function: Some(2),
        site: None,
        phase: None,
    };
    let found = library.answer(1, &Question::RankMetrics(question)).rank_metrics().unwrap();
    assert_eq!(found.metrics[0].values.0, [1.0, 1.0]);
    let question = |most_rows| Question::Landscape(LandscapeQuestion { range_ns: WHOLE, most_rows });
    let landscape = library.answer(1, &question(8)).landscape().unwrap();
    assert_eq!((landscape.rows, landscape.function.0), (2, vec![1, 2]));
    assert_eq!(landscape.seconds.0, [2.0, 4.0, 1.0, 1.0]);
    let landscape = library.answer(1, &question(1)).landscape().unwrap();
    assert_eq!((landscape.ranks_per_row, landscape.seconds.0), (2, vec![3.0, 1.0]));
}

/// Rank 0 is in phase 7 from second 1 to 4, rank 1 from 0.5 on.
fn phased(rows: Rows) -> Rows {
    let mark = |rank, at_ns, level: i32| Call {
        rank: Rank(rank),
        function: 9,
        start_ns: at_ns - u64::from(level > 0),
        end_ns: at_ns + u64::from(level < 0),
        comm: Some(Comm(7)),
        tag: Some(level),
        ..Call::default()
    };
    let marks = [mark(0, SECOND_NS, 3), mark(0, 4 * SECOND_NS, -3), mark(1, SECOND_NS / 2, 3)];
    Rows { calls: rows.calls.into_iter().chain(marks).collect(), ..rows }
}

#[test]
fn figures_of_a_phase_count_what_ranks_did_in_it() {
    let call = |rank, start_s: u64, end_s: u64| Call {
        rank: Rank(rank),
        function: 1,
        start_ns: start_s * SECOND_NS,
        end_ns: end_s * SECOND_NS,
        ..Call::default()
    };
    let message = |send_s: u64, recv_s: u64| Message {
        src: Rank(0),
        dst: Rank(1),
        send_ns: send_s * SECOND_NS,
        recv_ns: recv_s * SECOND_NS,
        ..Message::default()
    };
    let rows = || {
        phased(Rows {
            calls: vec![call(0, 0, 1), call(0, 2, 3), call(0, 5, 9), call(1, 0, 1), call(1, 1, 5)],
            messages: vec![message(2, 3), message(5, 6)],
        })
    };
    let messages = Messages { source: Box::new(rows()), flow: |_| None };
    let library = Library::new(Box::new(rows())).with_messages(messages);
    let phase =
        CommInfo { comm: Comm(7), kind: CommKind::Phase, name: "solve".to_owned(), ..CommInfo::default() };
    library.set_communicators(&[CommInfo::default(), phase]);
    library.set_rank_rows((0..3).map(row).collect(), 3, UNTIL_NS);
    let metrics = vec![
        RankMetric::MpiTime,
        RankMetric::Calls,
        RankMetric::OutsideMpi,
        RankMetric::Sent,
        RankMetric::Received,
    ];
    let of_phase = |range_ns| {
        let question = MetricsQuestion {
            range_ns,
            metrics: metrics.clone(),
            function: None,
            site: None,
            phase: Some(Comm(7)),
        };
        let found = library.answer(1, &Question::RankMetrics(question)).rank_metrics().unwrap();
        let [phase] = &found.phases[..] else { panic!("one phase: {:?}", found.phases) };
        assert_eq!((phase.id, phase.name.as_str()), (7, "solve"));
        found.metrics.into_iter().map(|of| of.values.0).collect::<Vec<_>>()
    };
    // The marks themselves are of no phase: one begins it, the other ends it.
    let whole = [vec![1.0, 4.0, 0.0], vec![1.0, 1.0, 0.0], vec![2.0, 5.5, 0.0], vec![1.0, 0.0, 0.0]];
    let found = of_phase(WHOLE);
    assert_eq!(found[..4], whole);
    assert_eq!(found[4], [0.0, 2.0, 0.0]);
    // Rank 1 has no mark in the range: that it was in the phase is known from before.
    let found = of_phase(2 * SECOND_NS..4 * SECOND_NS);
    assert_eq!(found[0], [1.0, 2.0, 0.0]);
    assert_eq!(found[2], [1.0, 0.0, 0.0]);
}

#[test]
fn what_was_not_diagnosed_is_missing_with_a_sentence() {
    let found = ask(&library(4), WHOLE, &[RankMetric::Waiting, RankMetric::MpiTime]);
    assert!(found.metrics[0].missing.contains("not known yet"), "{:?}", found.metrics[0]);
    assert!(found.metrics[1].missing.is_empty());
}

#[test]
fn the_sphere_puts_rank_5_where_the_paper_has_it() {
    let found = layout(&library(16), LayoutSourceChoice::Bundled, "sphere");
    let near = |value: f64, expected: f64| (value - expected).abs() < 0.005;
    assert!(near(found.x.0[5], 0.0) && near(found.y.0[5], 70.71) && near(found.z.0[5], 70.71), "{found:?}");
    assert_eq!((found.points_per_rank, found.x.0.len(), found.errors.len()), (1, 16, 0));
}

#[test]
fn a_text_gets_events_metadata_and_several_points() {
    let library = library(8);
    library.set_grid(&[
        Coordinate { comm: Comm(3), rank: Rank(6), dimension: 0, coordinate: 2, size: 4, periodic: 0 },
        Coordinate { comm: Comm(3), rank: Rank(6), dimension: 1, coordinate: 1, size: 2, periodic: 0 },
    ]);
    let text = "BEGIN_VIZ=a\nx0=event0.val, y0=metadata(host), z0=metadata(slot)\n\
                x1=metadata(cart_x), y1=metadata(cart_size_y), z1=metadata(cart_z)\ncolor1=event1.max\nEND_VIZ";
    let found = layout(&library, LayoutSourceChoice::Text(text.to_owned()), "");
    assert_eq!((found.points_per_rank, found.events.clone()), (2, vec![true, true, false, false]));
    let point = |at: usize| [found.x.0[at], found.y.0[at], found.z.0[at], found.color.0[at]];
    assert_eq!((point(12)[..3].to_vec(), point(13)), (vec![0.6, 1.0, 2.0], [2.0, 2.0, 0.0, 107.0]));
}

#[test]
fn garbage_is_answered_with_lines_and_columns() {
    let library = library(4);
    let found = layout(&library, LayoutSourceChoice::Text("BEGIN_VIZ=a\nx=rnak\nEND_VIZ".into()), "");
    assert!(found.x.0.is_empty());
    assert_eq!((found.errors[0].line, found.errors[0].column), (2, 3));
    assert!(found.errors[0].text.contains("did you mean `rank`?"), "{:?}", found.errors);
    for garbage in ["", "\u{0}\u{1}\u{7f}", "((((((((", "x=1", "BEGIN_VIZ", "\u{feff}END_VIZ=\u{1f600}"] {
        let found = layout(&library, LayoutSourceChoice::Text(garbage.into()), "");
        assert!(found.x.0.is_empty() && !found.errors.is_empty(), "{garbage:?}: {found:?}");
    }
    let answer = library.answer(1, &layout_question(LayoutSourceChoice::Bundled, "no such"));
    assert!(answer.error().unwrap().contains("no such"));
    let answer = library.answer(1, &layout_question(LayoutSourceChoice::File, ""));
    assert!(answer.error().unwrap().contains("--layout FILE"));
}

#[test]
fn what_is_too_large_is_refused_with_a_sentence() {
    let refused =
        |library: &Library, question: &Question| library.answer(1, question).error().unwrap().to_owned();
    let question = layout_question(LayoutSourceChoice::Bundled, "line");
    // Short, but heavy for 200,000 ranks.
    let heavy = format!("BEGIN_VIZ=a\nx={}rank\ny=0\nz=0\nEND_VIZ\n", "rank*".repeat(9_000));
    let heavy = layout_question(LayoutSourceChoice::Text(heavy), "");
    assert!(refused(&library(200_000), &heavy).contains("operations for each of 200000 ranks"));
    let million = library(1_000_000);
    assert!(refused(&million, &question).contains("1000000 ranks"));
    assert!(refused(&million, &Question::Layouts).contains("1000000 ranks"));
    // Fewer ranks, with many points each.
    let axes = |at: u32| format!("x{at}=rank\ny{at}=0\nz{at}=0\n");
    let text = format!("BEGIN_VIZ=a\n{}END_VIZ\n", (0..64).map(axes).collect::<String>());
    let question = layout_question(LayoutSourceChoice::Text(text), "");
    assert!(refused(&library(100_000), &question).contains("64 points each"));
    assert!(refused(&library(0), &question).contains("no rank"));
    let decode = |value: serde_json::Value| Incoming::decode(&rmp_serde::to_vec_named(&value).unwrap());
    let source = "#".repeat(LAYOUT_SOURCE_BYTES_MAX);
    assert!(decode(json!({"ask": "rank_layout", "id": 1, "source": source})).is_ok());
    for bad in [
        json!({"ask": "rank_layout", "source": format!("{source}#")}),
        json!({"ask": "rank_layout", "layout": "n".repeat(1_000)}),
        json!({"ask": "rank_layout", "metrics": ["calls", "calls", "calls", "calls", "calls"]}),
        json!({"ask": "rank_metrics", "metrics": ["speed"]}),
        json!({"ask": "rank_metrics", "metrics": vec!["calls"; 100]}),
    ] {
        assert!(decode(bad.clone()).is_err(), "{}", bad.to_string().chars().take(80).collect::<String>());
    }
}

/// A file that a test writes.
#[derive(Debug, Clone)]
struct Written(Arc<Mutex<Result<String, String>>>);

impl Written {
    fn set(&self, text: Result<&str, &str>) {
        *self.0.lock().expect("no panic") = text.map(str::to_owned).map_err(str::to_owned);
    }
}

impl LayoutSource for Written {
    fn name(&self) -> String {
        "mine.viz".to_owned()
    }

    fn read(&self) -> Result<Vec<u8>, String> {
        self.0.lock().expect("no panic").clone().map(String::into_bytes)
    }
}

#[test]
fn a_file_is_read_again_and_its_last_good_layout_stays() {
    const GOOD: &str = "BEGIN_VIZ=one\nx=1\ny=2\nz=rank\nEND_VIZ\nBEGIN_VIZ=two\nx=5\ny=5\nz=5\nEND_VIZ\n";
    let file = Written(Arc::new(Mutex::new(Ok(GOOD.to_owned()))));
    let library = library(4).with_layouts(Box::new(file.clone()));
    let listed = || library.answer(1, &Question::Layouts).layouts().unwrap();
    let drawn = |name: &str| layout(&library, LayoutSourceChoice::File, name);
    let before = listed();
    assert_eq!((before.file.as_str(), before.text.as_str(), before.version), ("mine.viz", GOOD, 1));
    assert!(before.items[0].is_file && before.items[1].name == "two" && !before.items[2].is_file);
    assert_eq!(listed().version, 1);
    assert_eq!(drawn("one").x.0, [1.0; 4]);
    // A mistake in one of two: it stays as it was, the other one goes on.
    file.set(Ok(&GOOD.replace("x=1", "x=1+").replace("x=5", "x=6")));
    let after = listed();
    assert_eq!((after.version, after.errors.len(), after.items[0].is_file), (2, 1, true));
    let old = drawn("one");
    assert_eq!((old.x.0, old.is_old, old.errors[0].line), (vec![1.0; 4], true, 3));
    assert_eq!((drawn("two").x.0, drawn("two").is_old), (vec![6.0; 4], false));
    // Gone for a moment, as some editors write.
    file.set(Err("it is not there"));
    assert_eq!((listed().errors[0].line, listed().errors[0].text.as_str()), (0, "it is not there"));
    assert!(drawn("two").is_old);
    file.set(Ok("BEGIN_VIZ=one\nx=9\ny=2\nz=rank\nEND_VIZ\n"));
    let found = drawn("two");
    assert_eq!((found.name.as_str(), found.x.0, found.is_old), ("one", vec![9.0; 4], false));
    assert!(listed().errors.is_empty());
}

#[test]
fn all_layouts_have_a_sentence_and_a_thumbnail() {
    let layouts = library(1_000).answer(1, &Question::Layouts).layouts().unwrap();
    assert!(layouts.items.len() >= 10 && layouts.file.is_empty());
    for item in &layouts.items {
        assert!(!item.sentence.is_empty() && item.sentence.ends_with('.'), "{item:?}");
        assert!((250..=400).contains(&item.x.0.len()), "{}: {}", item.name, item.x.0.len());
        // This job made no grid.
        let lacks = ["grid", "torus", "racks", "regions"].contains(&item.name.as_str());
        assert_eq!(item.is_complete, !lacks, "{}", item.name);
    }
}

/// The suggestion where these of the ranks wait for a CPU.
fn suggested(ranks: u32, slow: impl Fn(u32) -> bool, grid: &[Coordinate]) -> mpiscope_feed::Suggestion {
    let library = Library::new(Box::new(Rows { calls: Vec::new(), messages: Vec::new() }));
    let row = |rank| {
        let noise_ns = u64::from(rank * 7 % 5) * 1_000_000;
        let wait_ns = if slow(rank) { SECOND_NS } else { 10_000_000 };
        RankRow { wait_ns: wait_ns + noise_ns, mpi_time_ns: SECOND_NS + noise_ns, ..self::row(rank) }
    };
    library.set_rank_rows((0..ranks).map(row).collect(), ranks, UNTIL_NS);
    library.set_grid(grid);
    library.answer(1, &Question::Suggestion(WHOLE)).suggestion().expect("an answer")
}

#[test]
fn a_suggestion_shows_the_ranks_that_stand_out() {
    // All ranks of the second and third host, which have four each.
    let found = suggested(64, |rank| (4..12).contains(&rank), &[]);
    assert_eq!((found.metric.as_str(), found.layout.as_str()), ("cpu_wait", "towers"));
    let members = ["1", "2"].map(str::to_owned).to_vec();
    assert_eq!((found.ranks, found.count), (vec![(4, 11)], 8));
    assert_eq!((found.group.as_str(), found.members), ("host", members));
    assert!(found.mean > 1.0 && found.median < 0.02 && found.share > 0.5, "{}", found.share);
    // Every eighth rank: columns of a plane of eight.
    let found = suggested(64, |rank| rank % 8 == 3, &[]);
    assert_eq!((found.count, found.group.as_str(), found.is_corners), (8, "", false));
    assert!(found.share > 0.3 && found.layout != "line", "{found:?}");
    let place = |rank: u32, dimension: u16| {
        let coordinate = if dimension == 0 { rank / 8 } else { rank % 8 };
        Coordinate { comm: Comm(2), rank: Rank(rank), dimension, coordinate, size: 8, periodic: 0 }
    };
    let grid: Vec<_> = (0..64).flat_map(|rank| [place(rank, 0), place(rank, 1)]).collect();
    let found = suggested(64, |rank| [0, 7, 56, 63].contains(&rank), &grid);
    assert_eq!((found.is_corners, found.layout.as_str(), found.count), (true, "grid", 4));
    assert_eq!(suggested(64, |_| false, &grid).metric, "");
}

#[test]
fn ranks_of_no_region_are_no_group() {
    let suggested = |slow: Range<u32>| {
        let library = Library::new(Box::new(Rows { calls: Vec::new(), messages: Vec::new() }));
        let row = |rank| {
            let wait_ns = if slow.contains(&rank) { SECOND_NS } else { 10_000_000 };
            RankRow { wait_ns: wait_ns + u64::from(rank * 7 % 5) * 1_000_000, ..self::row(rank) }
        };
        library.set_rank_rows((0..32).map(row).collect(), 32, UNTIL_NS);
        let region = |id, ranks| Region { id, ranks: vec![ranks], ..Region::default() };
        let regions = vec![region(4, (0, 9)), region(7, (10, 25))];
        library.set_regions(&Regions { version: 1, count: 2, regions, ..Regions::default() });
        library.answer(1, &Question::Suggestion(WHOLE)).suggestion().expect("an answer")
    };
    let found = suggested(0..10);
    assert_eq!((found.group.as_str(), found.members.as_slice()), ("region_index", &["4".to_owned()][..]));
    let found = suggested(26..32);
    assert_eq!((found.count, found.group.as_str(), found.members.len()), (6, "", 0));
}

/// A torus of 4 x 2 x 2 nodes with four ranks each, whose columns are racks.
#[test]
fn a_slow_rack_is_named_and_shown_as_one() {
    let mut table = "node,key,value\n".to_owned();
    for node in 0..16 {
        let (x, y, z) = (node % 4, node / 4 % 2, node / 8);
        table.push_str(&format!(
            "n{node},rack,R{x}{y}\nn{node},torus_x,{x}\nn{node},torus_y,{y}\nn{node},torus_z,{z}\n"
        ));
    }
    let mut site = mpiscope_layout::SiteDescription::default();
    site.read(table.as_bytes()).unwrap();
    let library = Library::new(Box::new(Rows { calls: Vec::new(), messages: Vec::new() })).with_site(site);
    // Nodes 5 and 13 stand above each other.
    let is_slow = |rank: u32| [5, 13].contains(&(rank / 4));
    let row = |rank| {
        let wait_ns = if is_slow(rank) { SECOND_NS } else { 10_000_000 };
        RankRow { wait_ns: wait_ns + u64::from(rank * 7 % 5) * 1_000_000, ..self::row(rank) }
    };
    library.set_rank_rows((0..64).map(row).collect(), 64, UNTIL_NS);
    let names: Vec<String> = (0..16).map(|node| format!("n{node}")).collect();
    library.set_placement(names.iter().map(String::as_str), std::iter::empty());
    let found = library.answer(1, &Question::Suggestion(WHOLE)).suggestion().expect("an answer");
    assert_eq!((found.group.as_str(), found.members.as_slice()), ("rack", &["R11".to_owned()][..]));
    assert_eq!((found.layout.as_str(), found.count), ("racks", 8));
    assert!(found.share > 0.5, "{}", found.share);
    let racks = layout(&library, LayoutSourceChoice::Bundled, "racks");
    assert_eq!((racks.warnings.len(), racks.z.0[20], racks.z.0[52]), (0, 0.0, 1.5));
    assert_eq!((racks.x.0[20], racks.y.0[20]), (racks.x.0[52], racks.y.0[52]));
}

#[derive(Debug, Default, Clone)]
struct Store(Arc<Mutex<Vec<u8>>>);

impl LayoutStore for Store {
    fn read(&self, keeper: LayoutKeeper) -> Result<Vec<u8>, String> {
        if keeper == LayoutKeeper::Recording {
            Ok(self.0.lock().expect("no panic before").clone())
        } else {
            Err("none".into())
        }
    }

    fn write(&self, keeper: LayoutKeeper, bytes: &[u8]) -> Result<(), String> {
        assert_eq!(keeper, LayoutKeeper::Recording);
        *self.0.lock().expect("no panic before") = bytes.to_vec();
        Ok(())
    }
}

#[test]
fn layouts_are_kept_replaced_and_forgotten() {
    let library = library(4).with_layout_store(Box::new(Store::default()));
    let save = |text: &str, name: &str| {
        let (text, name) = (text.to_owned(), name.to_owned());
        let question = SaveLayoutQuestion { keeper: LayoutKeeper::Recording, text, name };
        library.answer(1, &Question::SaveLayout(question)).error().map(str::to_owned)
    };
    let kept = || {
        let layouts = library.answer(1, &Question::Layouts).layouts().unwrap();
        assert!(layouts.has_store);
        let items = layouts.items.into_iter().filter(|item| !item.keeper.is_empty());
        items.map(|item| (item.name, item.keeper, item.source)).collect::<Vec<_>>()
    };
    let text = |x: u32| format!("# Mine.\nBEGIN_VIZ=mine\nx={x}\ny=0\nz=rank\nEND_VIZ\n");
    assert_eq!((save(&text(1), ""), save(&text(2), "")), (None, None));
    assert_eq!(kept(), [("mine".to_owned(), "recording".to_owned(), text(2))]);
    let refused = save("BEGIN_VIZ=bad\nx=rnak\nEND_VIZ", "").expect("an error");
    assert!(refused.starts_with("a layout with an error is not kept: 2:3: unknown name `rnak`"), "{refused}");
    assert_eq!((save("", "Mine"), kept().len()), (None, 0));
}
