//! Reports of random runs: no figure contradicts another, and no sentence contradicts a figure or another sentence.

use mpiscope_harness::{Chance, LIMIT, folder, full_run, mpiscope, report, run};
use serde_json::Value;
use std::path::Path;

const PATTERNS: [&str; 11] = [
    "ring",
    "halo2d",
    "halo3d",
    "cg",
    "all-to-all",
    "master-worker",
    "wavefront",
    "random-sparse",
    "pipeline",
    "groups",
    "collectives",
];
const DISTURBANCES: [&str; 13] = [
    "bad-mapping",
    "imbalance",
    "drifting-imbalance",
    "serialized-root",
    "background-traffic",
    "stolen-cpu",
    "drifting-clocks",
    "lost-records",
    "slow-rack",
    "graded-imbalance",
    "slow-node",
    "slow-link",
    "stopped-rank",
];
const CAUSES: [(&str, &str); 4] = [
    ("pattern", "Load imbalance"),
    ("mapping", "Placement"),
    ("background", "Network contention"),
    ("cpu", "CPU contention"),
];

/// Generates a random job; gives what it is.
fn generate(chance: &mut Chance, out: &Path) -> String {
    let mut words: Vec<String> = ["synth", "--seconds", "2"].map(str::to_owned).into();
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("pattern", chance.one_of(&PATTERNS).to_string());
    option("ranks", chance.one_of(&[8, 16, 32, 64]).to_string());
    option("nodes", chance.one_of(&[1, 2, 4]).to_string());
    option("rate", chance.one_of(&[5_000, 20_000, 60_000]).to_string());
    option("style", chance.one_of(&["blocking", "waitall", "polling"]).to_string());
    option("seed", chance.below(1_000).to_string());
    for _ in 0..chance.below(3) {
        option("disturb", chance.one_of(&DISTURBANCES).to_string());
    }
    let made = words.join(" ");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ended = run(mpiscope(&words).unwrap().arg("-o").arg(out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{made}: {}", ended.errors());
    made
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

fn assert_near(one: f64, other: f64, what: &str) {
    assert!((one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1.0), "{what}: {one} and {other}");
}

/// Whether sums and products of the figures hold.
fn assert_figures(report: &Value, made: &str) {
    let sum = |of: &Value, names: &[&str]| names.iter().map(|name| number(&of[*name])).sum::<f64>();
    let budget = &report["budget"];
    let parts = ["waiting_s", "base_s", "distance_s", "excess_s", "operation_s", "other_s", "unknown_s"];
    assert_near(sum(budget, &parts), number(&budget["total_s"]), made);
    let by = ["compute", "base", "distance", "excess", "operation", "other", "unknown"];
    assert_near(sum(&budget["waiting_by"], &by), number(&budget["waiting_s"]), made);
    let efficiency = |name: &str| number(&report["efficiency"][name]);
    for name in ["parallel", "load_balance", "communication", "serialization", "transfer"] {
        assert!((0.0..=1.0).contains(&efficiency(name)), "{made}: {name} {}", efficiency(name));
    }
    assert_near(efficiency("load_balance") * efficiency("communication"), efficiency("parallel"), made);
    assert_near(efficiency("serialization") * efficiency("transfer"), efficiency("communication"), made);
    let duration_s = number(&report["job"]["duration_s"]);
    let verdict = &report["verdict"];
    assert!(number(&verdict["avoidable_wall_s"]) <= duration_s, "{made}: {verdict}");
    assert!((0.0..=1.0).contains(&number(&verdict["share"])), "{made}: {verdict}");
    for stretch in report["attribution"].as_array().unwrap() {
        let (from_s, to_s) = (number(&stretch["from_s"]), number(&stretch["to_s"]));
        assert!(0.0 <= from_s && from_s < to_s && to_s <= duration_s + 0.2, "{made}: {stretch}");
    }
    for without in report["whatif"]["without"].as_array().unwrap() {
        let (least, most) = (number(&without["least_s"]), number(&without["most_s"]));
        assert!(least <= number(&without["run_s"]) && number(&without["run_s"]) <= most, "{made}: {without}");
    }
}

/// The numbers of ranks that a text names.
fn named_ranks(text: &str) -> Vec<u64> {
    let after = text.match_indices("rank").map(|(at, _)| text[at + 4..].trim_start_matches('s'));
    let listed = after.filter_map(|rest| rest.strip_prefix(' ')).map(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && !"-, ".contains(letter));
        &rest[..end.unwrap_or(rest.len())]
    });
    listed.flat_map(|list| list.split(['-', ',', ' ']).filter_map(|word| word.parse().ok())).collect()
}

/// The times of the run that a text names, in seconds.
fn named_times(text: &str) -> Vec<f64> {
    let words = text.split([' ', ',']).map(|word| word.trim_end_matches(['.', ';', ':']));
    words
        .filter(|word| word.matches(':').count() == 2)
        .filter_map(|word| {
            let parts: Vec<f64> = word.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
            Some(parts.iter().fold(0.0, |sum, part| 60.0 * sum + part))
        })
        .collect()
}

/// Whether the sentences agree with the figures and with each other.
fn assert_sentences(text: &str, report: &Value, made: &str) {
    let place = format!("{made}\n{text}");
    // The first paragraph is about the job, the second one is the verdict.
    let verdict_text = text.split("\n\n").nth(1).unwrap();
    let sentences: Vec<&str> = verdict_text.lines().map(str::trim).collect();
    let headline = sentences[0];
    let verdict = &report["verdict"];
    let cause = verdict["cause"].as_str().unwrap();
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    if number(&verdict["lost_share"]) > 0.0 {
        assert!(headline.starts_with("No verdict: "), "{place}");
    } else if let Some((_, title)) = CAUSES.iter().find(|(name, _)| *name == cause) {
        assert!(headline.contains(&format!("{} avoidable (", percent(number(&verdict["share"])))), "{place}");
        assert!(
            headline.contains(&format!(". {title}, {} sure.", percent(number(&verdict["confidence"])))),
            "{place}"
        );
        assert_eq!(headline.contains("t least "), verdict["is_at_least"] == true, "{place}");
        // What it costs is the same in both sentences.
        let saved =
            headline.split_once(" avoidable (").and_then(|(_, rest)| rest.split_once(" of ")).unwrap().0;
        let about = if verdict["is_at_least"] == true { "at least" } else { "about" };
        let without = match *title {
            "Placement" => "With better placement".to_owned(),
            "CPU contention" => "Without CPU contention".to_owned(),
            title => format!("Without {}", title.to_lowercase()),
        };
        let cost = format!(
            "{without} the run takes {about} {saved} less; for {} ranks that is ",
            report["job"]["ranks"]
        );
        assert!(sentences.iter().any(|sentence| sentence.starts_with(&cost)), "{cost}\n{place}");
        assert!(
            !verdict_text.contains("o avoidable time") && !verdict_text.contains("No other avoidable"),
            "{place}"
        );
    } else {
        assert_eq!((cause, number(&verdict["avoidable_s"])), ("none", 0.0), "{place}");
        assert!(
            verdict_text.contains("o avoidable time above 2 %")
                || verdict_text.contains("No other avoidable"),
            "{place}"
        );
        assert!(!headline.contains(" avoidable ("), "{place}");
    }
    // A network cannot have been slow at times and the same all the time.
    let is_slow_at_times = verdict_text.contains("messages took ");
    assert!(!(is_slow_at_times && verdict_text.contains("about the same all the time")), "{place}");
    let is_placed_well = text.contains("No better placement was found");
    assert!(!(is_placed_well && verdict_text.contains("mpiscope remap")), "{place}");
    assert!(!(is_placed_well && cause == "mapping"), "{place}");
    let ranks = report["job"]["ranks"].as_u64().unwrap();
    let regions = text.lines().filter(|line| line.contains("communicate mostly within"));
    for sentence in sentences.iter().copied().chain(regions) {
        assert!(named_ranks(sentence).iter().all(|rank| *rank < ranks), "{sentence}\n{place}");
        let duration_s = number(&report["job"]["duration_s"]);
        assert!(named_times(sentence).iter().all(|at_s| *at_s <= duration_s + 0.2), "{sentence}\n{place}");
        assert!(
            !sentence.contains("NaN") && !sentence.contains("inf ") && !sentence.contains("-0"),
            "{place}"
        );
    }
    for (at, sentence) in sentences.iter().enumerate() {
        assert!(!sentences[..at].contains(sentence), "twice: {sentence}\n{place}");
    }
    // Shares of the table add up to all, but for what rounding and left-out rows take.
    let shares: f64 = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("time in MPI"))
        .skip(1)
        .map_while(|line| line.strip_suffix(" %")?.split_whitespace().next_back()?.parse::<f64>().ok())
        .sum();
    assert!((99.3..=100.7).contains(&shares), "{shares}\n{place}");
}

#[test]
fn reports_of_random_runs_contradict_nothing() {
    let mut chance = Chance::for_test("consistent reports_of_random_runs_contradict_nothing");
    for _ in 0..if full_run() { 120 } else { 10 } {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let made = generate(&mut chance, &out);
        let report = report(&out).unwrap();
        let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
        assert_figures(&report, &made);
        assert_sentences(&text, &report, &made);
    }
}

#[test]
fn ranks_and_times_are_found_in_sentences() {
    assert_eq!(named_ranks("ranks 0-2, 7 wait for rank 12 at a.c:3, 4 ranks"), [0, 2, 7, 12]);
    assert_eq!(named_times("from 0:00:10.500 to 1:00:00.000, at main.c:7"), [10.5, 3600.0]);
}
