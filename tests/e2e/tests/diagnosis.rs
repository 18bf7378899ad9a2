//! Where the time of real programs went, and why, as `mpiscope report` tells it.

use crate::support::recordings::tidy;
use mpiscope_harness::{
    LIMIT, Mpi, Running, Signal, daemon_of, folder, mpiscope, processes, record, report, run, until_log_has,
};
use serde_json::Value;
use std::path::Path;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Runs a program and returns its report.
fn run_and_report(mpi: &Mpi, ranks: u32, app: &str, arguments: &[&str], out: &Path) -> Value {
    let app = mpi.app(app).unwrap();
    let ended = run(&mut record(mpi, ranks, &app, arguments, out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    report(out).unwrap()
}

/// The parts are all of the time in MPI, and waiting is all of what it was charged to.
fn sums_up(report: &Value) {
    let budget = &report["budget"];
    let parts = ["waiting_s", "base_s", "distance_s", "excess_s", "operation_s", "other_s", "unknown_s"];
    let sum: f64 = parts.iter().map(|part| number(&budget[part])).sum();
    assert!((sum - number(&budget["total_s"])).abs() < 1e-6, "{budget}");
    let causes = ["compute", "base", "distance", "excess", "operation", "other", "unknown"];
    let by: f64 = causes.iter().map(|cause| number(&budget["waiting_by"][cause])).sum();
    assert!((by - number(&budget["waiting_s"])).abs() < 1e-6, "{budget}");
    let functions = report["functions"].as_array().unwrap();
    let in_mpi: f64 = functions.iter().map(|function| number(&function["seconds"])).sum();
    assert!((in_mpi - number(&budget["total_s"])).abs() < 1e-6, "{in_mpi} and {budget}");
}

#[test]
fn the_rank_that_all_wait_for_is_found() {
    const STEPS: f64 = 150.0;
    const EXTRA_S: f64 = 0.004;
    for mpi in Mpi::sample_or_skip("diagnosis the_rank_that_all_wait_for_is_found") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let report = run_and_report(&mpi, 4, "uneven", &["150", "4000"], &out);
        sums_up(&report);
        // Where four ranks share two cores with others, CPU contention may cost as much.
        let verdict = &report["verdict"];
        let cause = verdict["cause"].as_str().unwrap();
        assert!(["pattern", "cpu"].contains(&cause), "{verdict}");
        // Three ranks wait in each step, for what rank 1 works longer.
        let told_s = 3.0 * STEPS * EXTRA_S;
        let charged_s = number(&report["budget"]["waiting_by"]["compute"]);
        assert!(charged_s > 0.8 * told_s, "{charged_s} of {told_s}");
        // On a busy machine the two causes share it, and another rank may be the last for once.
        let causes = verdict["causes"].as_array().unwrap();
        let avoidable_s: f64 = causes.iter().map(|cause| number(&cause[1])).sum();
        assert!(avoidable_s > 0.3 * told_s, "{verdict}");
        for waiter in [0, 2, 3] {
            let waited_s = waited_s(&report, "wait at n-to-n", "MPI_Allreduce", waiter, 1);
            assert!(waited_s > 0.3 * STEPS * EXTRA_S, "{waiter} waited {waited_s} s: {report}");
        }
        let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
        if cause == "pattern" {
            let balance = number(&report["efficiency"]["load_balance"]);
            assert!((0.3..0.6).contains(&balance), "{balance}");
            assert!(text.contains("ranks 0, 2-3 wait for rank 1 at uneven.c:20 main(), "), "{text}");
            assert!(text.contains("of the excess work that others wait for is on rank 1: "), "{text}");
            assert!(text.contains("Most waiting is in MPI_Allreduce at uneven.c:20 main()"), "{text}");
            assert!(text.contains("What to do: Move work away from rank 1"), "{text}");
            let source = &report["sources"][0];
            assert_eq!((&source["cause"], &source["ranks"][0]["rank"]), (&"pattern".into(), &1.into()));
        }
    }
}

/// Seconds for which a rank waited for another in a function, by the name of such waiting.
fn waited_s(report: &Value, state: &str, function: &str, waiter: u64, awaited: u64) -> f64 {
    let is_it = |wait: &&Value| {
        (wait["state"].as_str(), wait["function"].as_str()) == (Some(state), Some(function))
            && (wait["waiter"].as_u64(), wait["awaited"].as_u64()) == (Some(waiter), Some(awaited))
    };
    report["waits"].as_array().unwrap().iter().filter(is_it).map(|wait| number(&wait["seconds"])).sum()
}

#[test]
fn who_enters_a_collective_late_is_found_where_others_wait_for_it_to_complete() {
    const STEPS: f64 = 100.0;
    const EXTRA_S: f64 = 0.004;
    for mpi in Mpi::sample_or_skip(
        "diagnosis who_enters_a_collective_late_is_found_where_others_wait_for_it_to_complete",
    ) {
        let folder = folder().unwrap();
        let report = run_and_report(&mpi, 4, "started", &["100", "4000"], &folder.path().join("recording"));
        sums_up(&report);
        // Three ranks wait in each step, for what rank 1 works longer.
        let told_s = STEPS * EXTRA_S;
        let charged_s = number(&report["budget"]["waiting_by"]["compute"]);
        assert!(charged_s > 0.8 * 3.0 * told_s, "{charged_s} of {told_s}");
        for waiter in [0, 2, 3] {
            let waited_s = waited_s(&report, "wait at n-to-n", "MPI_Wait", waiter, 1);
            assert!(waited_s > 0.5 * told_s, "{waiter} waited {waited_s} of {told_s}: {report}");
        }
        let starts = report["functions"].as_array().unwrap();
        let bytes = starts.iter().find(|function| function["name"] == "MPI_Iallreduce").unwrap();
        assert_eq!((bytes["calls"].as_u64(), bytes["bytes"].as_u64()), (Some(400), Some(3200)));
    }
}

#[test]
fn between_two_groups_each_waits_for_the_other() {
    const STEPS: f64 = 100.0;
    const EXTRA_S: f64 = 0.004;
    for mpi in Mpi::sample_or_skip("diagnosis between_two_groups_each_waits_for_the_other") {
        let folder = folder().unwrap();
        let report = run_and_report(&mpi, 4, "between", &["100", "4000"], &folder.path().join("recording"));
        sums_up(&report);
        let told_s = STEPS * EXTRA_S;
        for waiter in [0, 2] {
            let waited_s = waited_s(&report, "wait at n-to-n", "MPI_Allreduce", waiter, 1);
            assert!(waited_s > 0.5 * told_s, "{waiter} waited {waited_s} of {told_s}: {report}");
        }
        // Nobody waits for those of the own group, but where the groups are made.
        let all = report["waits"].as_array().unwrap().iter();
        for wait in all.filter(|wait| wait["function"].as_str() != Some("MPI_Comm_split")) {
            let rank = |role: &str| wait[role].as_u64().unwrap();
            assert_ne!(rank("waiter") % 2, rank("awaited") % 2, "{wait}");
        }
    }
}

#[test]
fn what_messages_take_is_learnt_and_everything_sums_up() {
    for mpi in Mpi::sample_or_skip("diagnosis what_messages_take_is_learnt_and_everything_sums_up") {
        for (app, arguments) in [
            ("ring", &["400"][..]),
            ("halo3d", &["200"]),
            ("master_worker", &[]),
            ("forms", &[]),
            ("collectives", &[]),
        ] {
            let folder = folder().unwrap();
            let report = run_and_report(&mpi, 4, app, arguments, &folder.path().join("recording"));
            sums_up(&report);
            if app == "ring" {
                let criterion = &report["criteria"][0];
                assert_eq!(
                    (criterion["scope"].as_str(), criterion["size_from"].as_u64()),
                    (Some("intra"), Some(0))
                );
                let (samples, median_ns) = (number(&criterion["samples"]), number(&criterion["median_ns"]));
                assert!(samples > 1000.0 && (50.0..1e8).contains(&median_ns), "{criterion}");
            }
        }
    }
}

#[test]
fn scripts_can_fail_above_a_share() {
    let Some(mpi) = Mpi::sample_or_skip("diagnosis scripts_can_fail_above_a_share").into_iter().next() else {
        return;
    };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let share = number(&run_and_report(&mpi, 4, "uneven", &["60", "4000"], &out)["verdict"]["share"]);
    let status = |most: &str| {
        let arguments = ["report", "--fail-above", most];
        run(mpiscope(&arguments).unwrap().arg(&out), LIMIT).unwrap().status
    };
    assert_eq!((status(&format!("{}", share - 0.01)), status(&format!("{}", share + 0.01))), (3, 0));
    let ended = run(mpiscope(&["report", "--fail-above", "7"]).unwrap().arg(&out), LIMIT).unwrap();
    assert_eq!((ended.status, ended.errors().contains("expected a number from 0 to 1")), (2, true));
}

#[test]
fn a_killed_run_is_diagnosed_from_its_log() {
    let Some(mpi) =
        Mpi::sample_or_skip("diagnosis a_killed_run_is_diagnosed_from_its_log").into_iter().next()
    else {
        return;
    };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let running =
        Running::start(&mut record(&mpi, 2, &mpi.app("linger").unwrap(), &["20", "500"], &out).unwrap())
            .unwrap();
    let daemon = daemon_of(&running).unwrap();
    until_log_has(&out, 20_000).unwrap();
    for process in [running.process()].into_iter().chain(running.family()).chain([daemon]) {
        processes::signal(process, Signal::KILL);
    }
    running.wait(LIMIT).unwrap();
    let report = report(&out).unwrap();
    assert!(number(&report["budget"]["total_s"]) > 0.0);
    assert!(report["verdict"]["cause"].is_string(), "{report}");
    tidy(&out);
}

#[test]
fn a_run_is_diagnosed_by_the_criteria_of_another_when_they_are_named() {
    let Some(mpi) =
        Mpi::sample_or_skip("diagnosis a_run_is_diagnosed_by_the_criteria_of_another_when_they_are_named")
            .into_iter()
            .next()
    else {
        return;
    };
    let folder = folder().unwrap();
    let (good, other) = (folder.path().join("good"), folder.path().join("other"));
    let criteria = |report: &Value| report["criteria"].as_array().unwrap().clone();
    let of_good = criteria(&run_and_report(&mpi, 2, "ring", &["400"], &good));
    assert!(!of_good.is_empty());
    let app = mpi.app("ring").unwrap();
    let by = |named: &Path, out: &Path| {
        let mut command = mpiscope(&["run", "--no-dashboard", "--criteria"]).unwrap();
        command.arg(named).arg("--out").arg(out).arg("--").args(mpi.words(2, &app, &["400"]));
        mpi.prepare(&mut command).unwrap();
        run(&mut command, LIMIT).unwrap()
    };
    let ended = by(&good, &other);
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert_eq!(criteria(&report(&other).unwrap()), of_good);
    // What is no such thing is refused before the program runs.
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, "{").unwrap();
    for named in [&garbage, &folder.path().join("none"), &folder.path().to_path_buf()] {
        let out = folder.path().join("refused");
        let ended = by(named, &out);
        assert_eq!((ended.status, ended.errors().lines().count()), (2, 1), "{}", ended.errors());
        assert!(ended.output().is_empty() && !out.exists());
    }
}
