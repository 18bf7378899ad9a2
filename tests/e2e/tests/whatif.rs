//! A rank that is slow in a ring is found, with what it costs, and `mpiscope whatif` predicts the run without it.

use mpiscope_harness::{LIMIT, Mpi, folder, mpiscope, record, report, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::thread::available_parallelism;

const STEPS: f64 = 100.0;
const STEP_S: f64 = 0.005;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn whatif(out: &Path, words: &[&str]) -> Value {
    let ended = run(mpiscope(&["whatif", "--json"]).unwrap().args(words).arg(out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    serde_json::from_str(&ended.output()).unwrap()
}

#[test]
fn a_slow_rank_in_a_ring_is_found_and_its_cost_predicted() {
    let cpus = available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    for mpi in Mpi::all_or_skip("whatif a_slow_rank_in_a_ring_is_found_and_its_cost_predicted") {
        for ranks in BTreeSet::from([cpus.clamp(2, 4), 4]) {
            find_slow_rank(&mpi, ranks, cpus);
        }
    }
}

fn find_slow_rank(mpi: &Mpi, ranks: u32, cpus: u32) {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("patterns").unwrap();
    let words = ["ring", "100", "5000", "3", "1000", "1"];
    let ended = run(&mut record(mpi, ranks, &app, &words, &out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());

    // Rank 1 has three parts of work a step, and the others one: evenly, each has the mean of that.
    let others = f64::from(ranks - 1);
    let told_s = STEPS * STEP_S * (3.0 - (others + 3.0) / (others + 1.0));
    let unchanged = whatif(&out, &[]);
    let recorded_s = number(&unchanged["recorded_s"]);
    assert!((number(&unchanged["replayed_s"]) / recorded_s - 1.0).abs() < 0.005, "{unchanged}");
    let report = report(&out).unwrap();
    let verdict = &report["verdict"];
    // Where ranks share their CPUs, CPU contention may cost as much.
    if verdict["cause"] == "cpu" {
        return;
    }
    assert_eq!(verdict["cause"], "pattern", "{verdict}");
    let saved_s = number(&verdict["avoidable_wall_s"]);
    // Where waiting ranks share CPUs, a run with balanced work shares them as well, and takes an unknown time. Otherwise they
    // poll while rank 1 works, for two parts of three: where they got less, other programs had their CPUs.
    let ran_s: f64 = report["ranks"].as_array().unwrap().iter().map(|rank| number(&rank["run_s"])).sum();
    let is_known = ranks <= cpus && ran_s >= 0.97 * others * STEPS * 2.0 * STEP_S;
    let is_near = (saved_s / told_s - 1.0).abs() < 0.25;
    assert!(!is_known || is_near, "{saved_s} of {told_s}, {}", ended.output());
    if !is_known {
        println!("{}: {ranks} ranks shared CPUs, {saved_s} of {told_s} s", mpi.family.word());
    }
    let even = whatif(&out, &["--even-work"]);
    let apart_s = (recorded_s - number(&even["predicted_s"]) - saved_s).abs();
    assert!(apart_s < 0.05 * saved_s, "{even}");
    assert_eq!(unchanged["next"]["cause"], "pattern", "{unchanged}");
    let of_rank = &report["sources"][0];
    assert_eq!((&of_rank["cause"], &of_rank["few"]), (&"pattern".into(), &vec![1].into()), "{of_rank}");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
    assert!(text.contains("rank 1") && !text.contains("No avoidable time"), "{text}");
}
