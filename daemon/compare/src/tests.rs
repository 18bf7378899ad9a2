//! Made recordings, where it is known what changed.

use crate::align::SiteName;
use crate::comparison::all_changes;
use crate::digest::{Digest, SiteFigures};
use crate::text;
use crate::windows::Windows;
use mpiscope_feed::{Comparison, Course, Diagnosis, FunctionFigures, Parts, Region, SiteWait, Verdict, Wait};
use mpiscope_model::{Function, Rank, Totals};
use mpiscope_recording::{Job, JobNode, WindowRow};
use mpiscope_verdict::Findings;
use serde_json::{Value, json};

const WINDOWS: usize = 100;

fn number(name: &str) -> Function {
    (0..u16::MAX).find(|id| mpiscope_wire::by_id(*id).is_some_and(|entry| entry.name == name)).unwrap()
}

/// What a function does in each window on each rank, in seconds.
type Time<'a> = &'a dyn Fn(usize, u32) -> f64;

/// A run of ten seconds of some ranks, diagnosed, and so far without calls.
fn run(name: &str, ranks: u32) -> Digest {
    let mut digest = Digest {
        job: Job {
            ranks,
            nodes: vec![JobNode { name: "n0".into(), ranks: (0..ranks).collect() }],
            mpi: "Open MPI".into(),
            command: vec!["mpirun".into(), "./solver".into()],
            duration_s: Some(10.0),
            exit: Some(0),
            started_unix_ns: 1,
        },
        totals: Totals { calls: 1_000, messages: 500, ..Totals::default() },
        windows: Windows::new(100_000_000),
        ..Digest::default()
    };
    (digest.side.folder, digest.side.run, digest.side.state) = (name.into(), name.into(), "complete".into());
    add_findings(&mut digest, &Diagnosis::default(), &Course::default());
    digest
}

fn add_findings(digest: &mut Digest, diagnosis: &Diagnosis, course: &Course) {
    let mut found = serde_json::to_value(diagnosis).unwrap();
    let rest = json!({
        "schema": "mpiscope.findings/1", "criteria": [], "collectives": [], "course": course,
        "blocking_from_bytes": null, "is_calibrated": false, "given_up": 0
    });
    found.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    let found: Findings = serde_json::from_value(found).unwrap();
    digest.side.is_diagnosed = true;
    digest.findings = Some(found);
}

/// Calls of a function, all from one place.
fn with(mut digest: Digest, name: &str, line: u32, time: Time<'_>) -> Digest {
    let function = number(name);
    let mut seconds = 0.0;
    for window in 0..WINDOWS {
        for rank in 0..digest.job.ranks {
            let row = WindowRow {
                from_ns: window as u64 * 100_000_000,
                rank: Rank(rank),
                function,
                calls: 10,
                time_ns: (time(window, rank) * 1e9) as u64,
                ..WindowRow::default()
            };
            digest.windows.rows(&[row]);
            seconds += time(window, rank);
        }
    }
    let calls = 10 * (WINDOWS as u64) * u64::from(digest.job.ranks);
    let figures = FunctionFigures { calls, seconds, ..FunctionFigures::default() };
    digest.functions.insert(function, figures);
    let site = SiteName {
        calls: Some(function),
        file: "solver.c".into(),
        function: Some("solve".into()),
        line: Some(line),
    };
    let place = format!("solver.c:{line} solve()");
    digest.sites.insert(site, SiteFigures { place, calls, seconds, ..SiteFigures::default() });
    digest
}

/// Some noise, the same for a window and a rank.
fn noise(window: usize, rank: u32, seed: u64) -> f64 {
    let mixed =
        (window as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(rank) << 17) ^ seed << 33;
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64) / (1_u64 << 53) as f64 - 0.5
}

/// Two seconds in each of two functions, with noise.
fn quiet(name: &str, seed: u64) -> Digest {
    let time = |window, rank| 0.02 + 0.01 * noise(window, rank, seed);
    let digest = with(run(name, 16), "MPI_Allreduce", 120, &time);
    with(digest, "MPI_Waitall", 80, &|window, rank| 0.02 + 0.01 * noise(window, rank, seed + 50))
}

/// As a quiet one, but that ranks 8 to 15 wait in a collective for rank 3, which works longer.
fn disturbed(name: &str, seed: u64) -> Digest {
    let more = |rank: u32| if rank >= 8 { 0.03 } else { 0.0 };
    let time = |window, rank| 0.02 + 0.01 * noise(window, rank, seed) + more(rank);
    let mut digest = with(quiet(name, seed), "MPI_Allreduce", 120, &time);
    digest.job.duration_s = Some(12.0);
    digest
}

/// The findings of the two: the waiting of each window, and of whom.
fn with_waiting(mut digest: Digest, waiting_s: f64) -> Digest {
    let part = |_| Parts {
        waiting_s: waiting_s / WINDOWS as f64,
        total_s: waiting_s / WINDOWS as f64,
        waiting_by: mpiscope_feed::By { compute: waiting_s / WINDOWS as f64, ..Default::default() },
        ..Parts::default()
    };
    let course = Course {
        width_ns: 100_000_000,
        parts: (0..WINDOWS).map(part).collect(),
        avoidable: vec![[0.0, waiting_s / WINDOWS as f64, 0.0, 0.0]; WINDOWS],
        ..Course::default()
    };
    let mut budget = Parts::default();
    course.parts.iter().for_each(|part| budget.add(part));
    let wait = Wait {
        function: "MPI_Allreduce".into(),
        waiter: 9,
        awaited: 3,
        seconds: waiting_s,
        ..Wait::default()
    };
    let diagnosis = Diagnosis {
        budget,
        waits: vec![wait],
        sites: vec![SiteWait { seconds: waiting_s, ..SiteWait::default() }],
        verdict: Verdict {
            cause: if waiting_s > 4.0 { "pattern" } else { "none" }.into(),
            share: waiting_s / 160.0,
            avoidable_s: waiting_s,
            causes: vec![("pattern".into(), waiting_s)],
            ..Verdict::default()
        },
        ..Diagnosis::default()
    };
    add_findings(&mut digest, &diagnosis, &course);
    for (name, site) in &mut digest.sites {
        if name.calls == Some(number("MPI_Allreduce")) {
            site.waiting_s = waiting_s;
        }
    }
    digest
}

#[test]
fn a_known_change_is_the_first_line() {
    let (a, b) = (with_waiting(quiet("a", 1), 2.0), with_waiting(disturbed("b", 2), 26.0));
    let comparison = all_changes(&a, &b);
    assert_eq!(
        comparison.answer,
        "B took 2.00 s longer than A (+20 %), mostly waiting in MPI_Allreduce at solver.c:120 solve() on ranks 8-15, for \
         rank 3 (load imbalance)."
    );
    let function = &comparison.functions[0];
    assert_eq!((function.name.as_str(), &function.ranks[..]), ("MPI_Allreduce", &[(8, 15)][..]));
    assert!(function.why.starts_with("each 1.7") && function.why.ends_with("x as long"), "{}", function.why);
    let changed: Vec<&str> = (comparison.functions.iter())
        .filter(|of| of.of_rank.change.unwrap().is_change)
        .map(|of| of.name.as_str())
        .collect();
    assert_eq!(changed, ["MPI_Allreduce"]);
    let of_rank = comparison.of_rank.as_ref().unwrap();
    assert!((of_rank.waiting.change.unwrap().difference - 1.5).abs() < 1e-9);
    assert!(of_rank.waiting_by.compute.change.unwrap().is_change);
    assert!(comparison.verdict.as_ref().unwrap().cause.change.is_change);
    let text = text::text(&comparison);
    assert!(text.starts_with(&comparison.answer) && text.contains("MPI_Allreduce"), "{text}");
    assert!(!text.contains("MPI_Waitall"), "{text}");
}

#[test]
fn the_way_back_is_less_of_it() {
    let (a, b) = (with_waiting(quiet("a", 1), 2.0), with_waiting(disturbed("b", 2), 26.0));
    assert_eq!(
        all_changes(&b, &a).answer,
        "B took 2.00 s less than A (-17 %), mostly less waiting in MPI_Allreduce at solver.c:120 solve() on ranks 8-15, \
         for rank 3 (load imbalance)."
    );
}

#[test]
fn time_after_the_last_calls_is_not_outside_of_mpi() {
    let (a, mut b) = (with_waiting(quiet("a", 1), 2.0), with_waiting(quiet("b", 2), 2.0));
    b.job.duration_s = Some(13.0);
    b.finished_s = vec![3.0; 16];
    let changes = all_changes(&a, &b);
    let of_rank = changes.of_rank.as_ref().unwrap();
    let (outside, finished) = (of_rank.outside.change.unwrap(), of_rank.finished.change.unwrap());
    assert!(!outside.is_change && outside.difference.abs() < 0.05, "{outside:?}");
    assert!(finished.is_change && (finished.difference - 3.0).abs() < 1e-9, "{finished:?}");
    assert!(
        changes.answer.ends_with("mostly time after the last call of ranks that have finished."),
        "{}",
        changes.answer
    );
    assert!(text::text(&changes).contains("finished, after its last call"));
    // One rank that goes on is longer outside of MPI, and no other.
    b.finished_s[5] = 0.0;
    let changes = all_changes(&a, &b);
    assert!(changes.answer.contains("time after the last call"), "{}", changes.answer);
    // The end of a job takes a little more or less each time.
    b.job.duration_s = Some(10.04);
    b.finished_s = vec![0.04; 16];
    assert!(!all_changes(&a, &b).of_rank.unwrap().finished.change.unwrap().is_change);
}

#[test]
fn noise_is_no_change() {
    for seed in 0..20 {
        let (a, b) = (quiet("a", 2 * seed), quiet("b", 2 * seed + 1));
        let comparison = all_changes(&a, &b);
        assert_eq!(comparison.answer, "No change: B took as long as A (10.0 s and 10.0 s).");
        assert!(text::text(&comparison).contains("No function took another time."));
    }
}

#[test]
fn a_recording_is_as_itself() {
    let (a, again) = (disturbed("a", 1), disturbed("a", 1));
    let comparison = all_changes(&a, &again);
    assert!(comparison.answer.starts_with("No change"), "{}", comparison.answer);
    assert_eq!(comparison.remarks, ["A and B are the same recording."]);
    let changes = serde_json::to_string(&comparison).unwrap();
    assert!(!changes.contains("\"is_change\":true"), "{changes}");
}

/// Every figure with A and B swapped.
fn swapped(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("a") && fields.contains_key("b") => {
            let mut fields = fields.clone();
            let (a, b) = (fields["a"].clone(), fields["b"].clone());
            (fields["a"], fields["b"]) = (b, a);
            if let Some(change) = fields.get_mut("change").and_then(Value::as_object_mut) {
                if let Some(difference) = change.get("difference").and_then(Value::as_f64) {
                    change["difference"] = json!(-difference);
                }
                // It is the inverse, but for the last digit; what it is of is compared.
                change.remove("ratio");
            }
            Value::Object(fields)
        }
        Value::Object(fields) => Value::Object(fields.iter().map(|(k, v)| (k.clone(), swapped(v))).collect()),
        Value::Array(values) => Value::Array(values.iter().map(swapped).collect()),
        other => other.clone(),
    }
}

/// Without what says more than figures.
fn figures(comparison: &Comparison) -> Value {
    let mut value = serde_json::to_value(comparison).unwrap();
    let fields = value.as_object_mut().unwrap();
    for name in ["answer", "remarks", "a", "b", "noise", "regions"] {
        fields.remove(name);
    }
    for list in ["functions", "sites"] {
        let rows = fields[list].as_array_mut().unwrap().iter_mut();
        rows.for_each(|row| row["why"] = Value::Null);
    }
    value
}

fn without_ratios(value: &Value) -> Value {
    swapped(&swapped(value))
}

#[test]
fn what_changed_is_the_inverse_the_other_way_round() {
    let (a, mut b) = (with_waiting(quiet("a", 1), 2.0), with_waiting(disturbed("b", 2), 26.0));
    b = with(b, "MPI_Bcast", 40, &|_, _| 0.001);
    b.job.command.push("-v".into());
    b.lost_calls = 7;
    let (there, back) = (all_changes(&a, &b), all_changes(&b, &a));
    assert_eq!(swapped(&figures(&there)), without_ratios(&figures(&back)));
    let ratio = |comparison: &Comparison| comparison.functions[0].of_rank.change.unwrap().ratio.unwrap();
    assert!((ratio(&there) * ratio(&back) - 1.0).abs() < 1e-9);
    let bcast = |comparison: &Comparison| {
        comparison.functions.iter().find(|of| of.name == "MPI_Bcast").unwrap().why.clone()
    };
    assert_eq!((bcast(&there), bcast(&back)), ("only in B".into(), "only in A".into()));
}

#[test]
fn jobs_of_other_sizes_are_compared_by_the_rank() {
    let time = |window, rank| 0.02 + 0.01 * noise(window, rank, 3);
    let (a, b) = (with(run("a", 16), "MPI_Waitall", 80, &time), with(run("b", 32), "MPI_Waitall", 80, &time));
    let comparison = all_changes(&a, &b);
    assert!(comparison.answer.starts_with("No change"), "{}", comparison.answer);
    assert_eq!(
        comparison.remarks,
        ["A has 16 ranks and B 32 ranks: times are the mean of a rank, and regions are not compared."]
    );
    let function = &comparison.functions[0];
    assert!(function.seconds.change.unwrap().ratio.unwrap() > 1.9);
    assert!(!function.calls.change.unwrap().is_change && comparison.regions.is_none());
    assert_eq!(function.why, "");
}

#[test]
fn what_was_cut_off_is_compared_by_shares() {
    let (a, mut b) = (quiet("a", 1), quiet("b", 2));
    b.job.exit = Some(128 + 9);
    b.job.duration_s = Some(5.0);
    let comparison = all_changes(&a, &b);
    // As much time in half the run.
    assert_eq!(comparison.basis, "share");
    let share = |value: Option<f64>| (100.0 * value.unwrap()).round();
    let function = &comparison.functions[0];
    assert_eq!((share(function.of_rank.a), share(function.of_rank.b)), (20.0, 40.0));
    assert!(
        comparison.answer.starts_with(
            "A ended after 10.0 s and B was killed by signal 9 after 5.00 s, so their lengths are not \
                                 compared; what changed most is MPI_"
        ),
        "{}",
        comparison.answer
    );
    assert!(!comparison.job.duration_s.change.unwrap().is_change);
    let text = text::text(&comparison);
    assert!(text.contains("share of a rank's time") && text.contains("pts"), "{text}");
    b.job.exit = None;
    b.side.state = "running".into();
    assert!(all_changes(&b, &a).answer.starts_with("A still runs after 5.00 s and B ended after 10.0 s"));
}

#[test]
fn what_was_not_diagnosed_is_reported_and_the_rest_compared() {
    let (mut a, b) = (quiet("a", 1), disturbed("b", 2));
    a.findings = None;
    let comparison = all_changes(&a, &b);
    assert!(comparison.budget.is_none() && comparison.criteria.is_none() && comparison.verdict.is_none());
    assert_eq!(comparison.remarks, ["A has no diagnosis: where it lost time is not compared."]);
    assert_eq!(
        comparison.answer,
        "B took 2.00 s longer than A (+20 %), mostly time in MPI_Allreduce at solver.c:120 solve() on ranks 8-15."
    );
}

#[test]
fn a_place_is_found_again_when_lines_were_moved() {
    let time = |_: usize, _: u32| 0.02;
    let slower = |_: usize, _: u32| 0.03;
    let a = with(run("a", 4), "MPI_Waitall", 80, &time);
    let b = with(run("b", 4), "MPI_Waitall", 91, &slower);
    let comparison = all_changes(&a, &b);
    assert_eq!(comparison.sites.len(), 1);
    assert_eq!((comparison.sites[0].line.a, comparison.sites[0].line.b), (Some(80), Some(91)));
    assert!(text::text(&comparison).contains("solver.c:91 solve() MPI_Waitall (line 80 in A)"));
    // Two places on one side: which of them it was is not known.
    let two = with(b, "MPI_Recv", 99, &time);
    let mut two = with(two, "MPI_Waitall", 99, &time);
    two.sites.retain(|name, _| name.calls == Some(number("MPI_Waitall")));
    let comparison = all_changes(&a, &two);
    assert_eq!(comparison.sites.len(), 3);
    assert!(comparison.sites.iter().all(|site| site.line.a.is_none() || site.line.b.is_none()));
}

#[test]
fn however_much_changed_it_fits_on_a_page() {
    let names: Vec<&str> =
        (0..400).filter_map(mpiscope_wire::by_id).map(|entry| entry.name).take(60).collect();
    let (mut a, mut b) = (run("a", 16), run("b", 16));
    for (line, name) in (0..).zip(names) {
        a = with(a, name, line, &|_, _| 0.001);
        b = with(b, name, line, &|_, _| 0.002);
    }
    let region = |id: u32, first, last| Region { id, ranks: vec![(first, last)], ..Region::default() };
    for (digest, of) in [(&mut a, 4), (&mut b, 3)] {
        let mut found = serde_json::to_value(digest.findings.as_ref().unwrap()).unwrap();
        let regions: Vec<Region> = (0..16 / of).map(|id| region(id, id * of, id * of + of - 1)).collect();
        found["regions"]["count"] = json!(regions.len());
        found["regions"]["regions"] = json!(regions);
        let criterion = |size: u64| {
            json!({"scope": "inter", "size_from": size * 50, "size_to": size * 50 + 50, "samples": 5000,
                   "median_ns": 10_000 * size * u64::from(of)})
        };
        found["criteria"] = (1..40).map(criterion).collect();
        found["budget"] = json!(Parts {
            waiting_s: 9.0 * f64::from(of) * f64::from(of),
            base_s: 50.0 / f64::from(of),
            distance_s: 7.0 * f64::from(of) * f64::from(of),
            excess_s: 90.0 / f64::from(of),
            unknown_s: 60.0 * f64::from(of - 3),
            operation_s: 50.0 * f64::from(of - 3),
            other_s: 40.0 * f64::from(of - 3),
            total_s: 150.0,
            ..Parts::default()
        });
        digest.findings = Some(serde_json::from_value(found).unwrap());
        digest.lost_calls = u64::from(of) * 1000;
        digest.job.command.push(of.to_string());
        digest.job.mpi = format!("MPI {of}");
        digest.job.exit = Some(of as i32);
        digest.side.headline = "Something was found.".into();
        digest.cpu_wait_share = Some(f64::from(of) / 10.0);
    }
    let comparison = all_changes(&a, &b);
    let text = text::text(&comparison);
    assert!((45..=60).contains(&text.lines().count()), "{} lines\n{text}", text.lines().count());
    assert!(text.contains("52 more functions (--json has them)"), "{text}");
    assert!(text.lines().all(|line| line.trim_end() == line));
}
