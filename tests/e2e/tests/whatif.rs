//! A rank that is slow in a ring is found, with what it costs, and `mpiscope whatif` predicts the run without it.

use mpiscope_harness::{Mpi, folder, mpiscope, record, report, run};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
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
    for mpi in Mpi::all_or_skip("whatif a_slow_rank_in_a_ring_is_found_and_its_cost_predicted") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let app = mpi.app("patterns").unwrap();
        let words = ["ring", "100", "5000", "3", "1000", "1"];
        let ended = run(&mut record(&mpi, 4, &app, &words, &out).unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());

        // Three ranks have one part of work a step and rank 1 has three: evenly, each has one and a half.
        let told_s = STEPS * 1.5 * STEP_S;
        let unchanged = whatif(&out, &[]);
        let recorded_s = number(&unchanged["recorded_s"]);
        assert!((number(&unchanged["replayed_s"]) / recorded_s - 1.0).abs() < 0.005, "{unchanged}");
        let report = report(&out).unwrap();
        let verdict = &report["verdict"];
        // Where four ranks share two cores with others, CPU contention may cost as much.
        if verdict["cause"] == "cpu" {
            continue;
        }
        assert_eq!(verdict["cause"], "pattern", "{verdict}");
        let saved_s = number(&verdict["avoidable_wall_s"]);
        // Three ranks poll while rank 1 works: together they get all of two CPUs. Where they got less, others had them, and
        // nobody knows what that cost.
        let ran_s: f64 = report["ranks"].as_array().unwrap().iter().map(|rank| number(&rank["run_s"])).sum();
        let is_disturbed = ran_s < 1.45 * ended.own_clock_s();
        assert!(
            is_disturbed || (saved_s / told_s - 1.0).abs() < 0.25,
            "{saved_s} of {told_s}, {}",
            ended.output()
        );
        if is_disturbed {
            println!("{}: others had the CPUs, {saved_s} of {told_s} s", mpi.family.word());
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
}
