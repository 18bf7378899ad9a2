//! `mpiscope compare`: what changed between two recordings with known differences.

use mpiscope_harness::{Ended, LIMIT, Mpi, folder, mpiscope, record, report, run};
use serde_json::Value;
use std::path::Path;

fn compared(a: &Path, b: &Path, arguments: &[&str]) -> Ended {
    run(mpiscope(&["compare"]).unwrap().args([a, b]).args(arguments), LIMIT).unwrap()
}

/// The text: at most a page, and nothing on the side.
fn text(a: &Path, b: &Path) -> String {
    let ended = compared(a, b, &[]);
    assert_eq!((ended.status, ended.errors().as_str()), (0, ""));
    let text = ended.output();
    assert!(text.lines().count() <= 60, "{text}");
    text
}

fn json(a: &Path, b: &Path) -> Value {
    let ended = compared(a, b, &["--json"]);
    assert_eq!((ended.status, ended.errors().as_str()), (0, ""));
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn recorded(mpi: &Mpi, arguments: &[&str], out: &Path) {
    let app = mpi.app("uneven").unwrap();
    let ended = run(&mut record(mpi, 4, &app, arguments, out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

/// A simulated job of eight seconds.
fn modelled(seed: &str, disturb: &[&str], out: &Path) {
    let mut command = mpiscope(&["synth", "--pattern", "halo3d", "--ranks", "64", "--seconds", "8"]).unwrap();
    command.args(["--rate", "60000", "--seed", seed]).args(disturb).arg("-o").arg(out);
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

#[test]
fn the_rank_that_works_longer_in_b_is_named_in_the_first_line() {
    for mpi in Mpi::sample_or_skip("compare the_rank_that_works_longer_in_b_is_named_in_the_first_line") {
        let folder = folder().unwrap();
        let (a, b) = (folder.path().join("even"), folder.path().join("uneven"));
        recorded(&mpi, &["250", "0"], &a);
        recorded(&mpi, &["250", "15000"], &b);
        let text = text(&a, &b);
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("B took ") && first.contains(" longer than A (+"), "{text}");
        assert!(first.contains("waiting in MPI_Allreduce at uneven.c:20 main()"), "{text}");
        assert!(first.contains(", for rank 1"), "{text}");
        assert!(text.contains("The commands differ"), "{text}");
        let comparison = json(&a, &b);
        assert_eq!(comparison["schema"], "mpiscope.compare/1");
        assert_eq!(comparison["answer"], first);
        // Its figures are those of the two reports.
        let (of_a, of_b) = (report(&a).unwrap(), report(&b).unwrap());
        let length = &comparison["job"]["duration_s"];
        assert_eq!((&length["a"], &length["b"]), (&of_a["job"]["duration_s"], &of_b["job"]["duration_s"]));
        for (side, report) in [("a", &of_a), ("b", &of_b)] {
            assert_eq!(comparison["totals"]["calls"][side], report["totals"]["calls"]);
            assert_eq!(comparison["budget"]["waiting"][side], report["budget"]["waiting_s"]);
            assert_eq!(comparison["verdict"]["cause"][side], report["verdict"]["cause"]);
            for function in report["functions"].as_array().unwrap() {
                let functions = comparison["functions"].as_array().unwrap();
                let same = functions.iter().find(|of| of["name"] == function["name"]).unwrap();
                for name in ["calls", "seconds", "p50_ns", "p99_ns", "max_ns"] {
                    assert_eq!(same[name][side], function[name], "{name} of {function}");
                }
            }
        }
        // Three ranks wait for fifteen milliseconds in each step, though others may have the cores meanwhile.
        let waiting = &comparison["of_rank"]["waiting"]["change"];
        assert_eq!(waiting["is_change"], true);
        assert!(waiting["difference"].as_f64().unwrap() > 0.3 * 250.0 * 0.75 * 0.015, "{waiting}");
        let site = &comparison["sites"][0];
        assert_eq!((&site["calls_function"], &site["line"]["b"]), (&"MPI_Allreduce".into(), &20.into()));
        // It is not on the rank that they wait for.
        let ranks = comparison["functions"][0]["ranks"].as_array().unwrap();
        assert!(ranks.iter().all(|of| of[0].as_u64() > Some(1) || of[1].as_u64() < Some(1)), "{ranks:?}");
    }
}

/// Records a main loop of 60 turns. These take longer on rank 1.
fn turning(mpi: &Mpi, longer: &[&str], out: &Path) {
    let arguments = [&["60"], longer].concat();
    let app = mpi.app("stretched").unwrap();
    let ended = run(&mut record(mpi, 4, &app, &arguments, out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

#[test]
fn the_turns_that_took_longer_in_b_are_named_on_one_clock() {
    for mpi in Mpi::sample_or_skip("compare the_turns_that_took_longer_in_b_are_named_on_one_clock") {
        let folder = folder().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        turning(&mpi, &[], &a);
        turning(&mpi, &["21", "40", "60000"], &b);
        let alignment = json(&a, &b)["alignment"].take();
        assert_eq!((&alignment["by"], &alignment["asked"]), (&"turn".into(), &"auto".into()));
        assert_eq!((&alignment["matched"], &alignment["a_count"]), (&60.into(), &60.into()));
        assert!(alignment["marker"].as_str().unwrap().starts_with("MPI_Sendrecv at "), "{alignment}");
        let most = &alignment["stretches"][0];
        let (first, last) = (most["first"].as_u64().unwrap(), most["last"].as_u64().unwrap());
        assert!(first <= 21 && last >= 40, "{most}");
        // Other programs may have had the cores in turns beside them. Those belong to it only where most of them took longer too.
        let sections = alignment["sections"].as_array().unwrap();
        assert_eq!(sections.len(), 59);
        let of_turns = |turns: std::ops::RangeInclusive<u64>, side: &str| {
            let numbered = sections.iter().filter(|of| turns.contains(&of["number"].as_u64().unwrap()));
            let time = |of: &Value, end: &str| of[format!("{side}_{end}_ns")].as_u64().unwrap();
            numbered.map(|of| (time(of, "to") - time(of, "from")) as f64 / 1e9).sum::<f64>()
        };
        let usual_s = of_turns(1..=20, "a") / 20.0;
        for beside in [first..=20, 41..=last] {
            let longer = |turn: u64| of_turns(turn..=turn, "b") - of_turns(turn..=turn, "a");
            let (mut slow, mut not_slow) = (0, 0);
            for turn in beside {
                slow += u32::from(longer(turn) > 0.05 * usual_s);
                not_slow += u32::from(longer(turn) <= 0.0);
            }
            assert!(
                slow > not_slow || (slow, not_slow) == (0, 0),
                "{most}: {slow} and {not_slow} turns beside"
            );
        }
        // Twenty turns that sleep 60 ms longer, whatever a turn of A took.
        let seconds = |key: &str| most[key].as_f64().unwrap();
        assert!(of_turns(21..=40, "b") > 1.2 && seconds("b_s") > 1.2, "{most}");
        let sums = (of_turns(first..=last, "a"), of_turns(first..=last, "b"));
        assert!(
            (seconds("a_s") - sums.0).abs() < 1e-6 && (seconds("b_s") - sums.1).abs() < 1e-6,
            "{most}: {sums:?}"
        );
        assert!((seconds("difference_s") - (sums.1 - sums.0)).abs() < 1e-6, "{most}: {sums:?}");
        let part = |function: &Value| {
            let parts = most["parts"].as_array().unwrap();
            parts.iter().find(|part| part["function"] == *function).map(|part| part["ranks"].clone())
        };
        assert_eq!(part(&"MPI_Allreduce".into()), Some(serde_json::json!([[0, 0], [2, 3]])), "{most}");
        assert_eq!(part(&Value::Null), Some(serde_json::json!([[1, 1]])), "{most}");
        // The sections are the turns, one after the other on both clocks.
        for pair in sections.windows(2) {
            for side in ["a", "b"] {
                assert_eq!(pair[0][format!("{side}_to_ns")], pair[1][format!("{side}_from_ns")]);
            }
        }
        let text = text(&a, &b);
        assert!(text.contains("Aligned by turn of the main loop, marked by MPI_Sendrecv"), "{text}");
        assert!(text.contains(most["sentence"].as_str().unwrap()), "{text}");

        let by = |by: &str| {
            let ended = compared(&a, &b, &["--json", "--align", by]);
            serde_json::from_slice::<Value>(&ended.stdout).unwrap()["alignment"].take()
        };
        let phases = by("phase");
        assert_eq!((&phases["by"], &phases["matched"]), (&"phase".into(), &3.into()));
        assert_eq!(
            (&phases["stretches"][0]["name"], &phases["sections"][1]["name"]),
            (&"middle".into(), &"middle".into())
        );
        let start = by("start");
        assert_eq!((&start["by"], &start["stretches"]), (&"start".into(), &serde_json::json!([])));
    }
}

#[test]
fn a_run_with_other_turns_is_aligned_as_far_as_both_go() {
    let folder = folder().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    for (seconds, out) in [("4", &a), ("3", &b)] {
        let mut command =
            mpiscope(&["synth", "--pattern", "halo2d", "--ranks", "8", "--rate", "4000"]).unwrap();
        command.args(["--seconds", seconds, "-o"]).arg(out);
        assert_eq!(run(&mut command, LIMIT).unwrap().status, 0);
    }
    let alignment = json(&a, &b)["alignment"].take();
    let count = |key: &str| alignment[key].as_u64().unwrap();
    assert_eq!(alignment["by"], "turn", "{}", alignment["reason"]);
    assert!(
        count("a_count") > count("b_count") && count("matched") == count("b_count"),
        "{}",
        alignment["reason"]
    );
    let reason = alignment["reason"].as_str().unwrap();
    let counts = format!(": turns 1 to {} of {} matched, B has no more.", count("matched"), count("a_count"));
    assert!(reason.ends_with(&counts), "{reason}");
    let ended = compared(&a, &b, &["--align", "phase"]);
    assert!(
        ended.output().contains("not aligned by phase: The program names no phases"),
        "{}",
        ended.output()
    );
}

#[test]
fn each_disturbance_of_a_simulated_job_is_named_and_none_is_no_change() {
    let folder = folder().unwrap();
    let path = |name: &str| folder.path().join(name);
    modelled("1", &[], &path("sound"));
    modelled("2", &[], &path("again"));
    let same = text(&path("sound"), &path("again"));
    assert!(same.starts_with("No change: B took as long as A ("), "{same}");
    assert!(same.contains("No function took another time."), "{same}");
    let causes = [
        ("stolen-cpu", "(ranks waiting for a CPU)"),
        ("imbalance", "(load imbalance)"),
        ("background-traffic", "(behind messages "),
    ];
    for (name, why) in causes {
        modelled("3", &["--disturb", name], &path(name));
        let worse = text(&path("sound"), &path(name));
        let first = worse.lines().next().unwrap();
        assert!(first.starts_with("B took ") && first.contains(" longer than A (+"), "{worse}");
        assert!(
            first.contains("mostly waiting in MPI_Waitall at halo3d: wait") && first.contains(why),
            "{worse}"
        );
        let better = text(&path(name), &path("sound"));
        let first = better.lines().next().unwrap();
        assert!(
            first.contains(" less than A (-") && first.contains("mostly less waiting in MPI_Waitall"),
            "{better}"
        );
        assert!(first.contains(why), "{better}");
    }
}

#[test]
fn messages_between_nodes_show_a_worse_placement() {
    let folder = folder().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    for (out, disturb) in [(&a, &[][..]), (&b, &["--disturb", "bad-mapping"])] {
        let mut command = mpiscope(&["synth", "--pattern", "cg", "--ranks", "32", "--seconds", "6"]).unwrap();
        command.args(["--rate", "40000"]).args(disturb).arg("-o").arg(out);
        assert_eq!(run(&mut command, LIMIT).unwrap().status, 0);
    }
    let text = text(&a, &b);
    let first = text.lines().next().unwrap();
    assert!(first.contains("messages and collectives under way in MPI_Waitall at cg: wait"), "{text}");
    assert!(first.contains(" as many messages between nodes)"), "{text}");
}

#[test]
fn a_recording_is_as_itself() {
    let folder = folder().unwrap();
    let a = folder.path().join("a");
    modelled("1", &["--disturb", "imbalance"], &a);
    let text = text(&a, &a);
    assert!(text.starts_with("No change") && text.contains("A and B are the same recording."), "{text}");
    assert!(!json(&a, &a).to_string().contains("\"is_change\":true"));
}

#[test]
fn a_run_that_was_killed_is_compared_by_shares() {
    let Some(mpi) =
        Mpi::all_or_skip("compare a_run_that_was_killed_is_compared_by_shares").into_iter().next()
    else {
        return;
    };
    let folder = folder().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    recorded(&mpi, &["300", "2000"], &a);
    // Its launcher kills the job, as a batch system does at the end of its time.
    let app = mpi.app("uneven").unwrap();
    let mut words = vec!["timeout".into(), "-s".into(), "KILL".into(), "1.5".into()];
    words.extend(mpi.words(4, &app, &["100000", "2000"]));
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
    command.arg(&b).arg("--").args(words);
    mpi.prepare(&mut command).unwrap();
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 137, "{}", ended.errors());
    let text = text(&a, &b);
    assert!(
        text.starts_with("A ended after ") && text.contains(" and B was killed by signal 9 after "),
        "{text}"
    );
    assert!(
        text.contains("so their lengths are not compared") && text.contains("share of a rank's time"),
        "{text}"
    );
    let comparison = json(&a, &b);
    assert_eq!(
        (&comparison["basis"], &comparison["job"]["duration_s"]["change"]["is_change"]),
        (&"share".into(), &false.into())
    );
}

#[test]
fn recordings_without_a_diagnosis_are_compared_without_one() {
    let folder = folder().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    modelled("1", &[], &a);
    modelled("1", &["--disturb", "background-traffic"], &b);
    std::fs::remove_file(a.join("findings.json")).unwrap();
    let text = text(&a, &b);
    assert!(text.contains("A has no diagnosis: where it lost time is not compared."), "{text}");
    assert!(text.lines().next().unwrap().contains("mostly time in MPI_Waitall at halo3d: wait"), "{text}");
    let comparison = json(&a, &b);
    assert!(
        comparison["budget"].is_null() && comparison["criteria"].is_null() && comparison["verdict"].is_null()
    );
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let folder = folder().unwrap();
    let good = folder.path().join("good");
    modelled("1", &[], &good);
    let good = good.to_str().unwrap();
    let empty = folder.path().to_str().unwrap();
    for arguments in [
        &["compare", good, empty][..],
        &["compare", empty, good],
        &["compare", good, "/does/not/exist"],
        &["compare", good],
        &["compare", good, good, "--json", "--open"],
        &["compare", good, good, "--listen", "nowhere"],
    ] {
        let ended = run(&mut mpiscope(arguments).unwrap(), LIMIT).unwrap();
        let errors = ended.errors();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "not one line for {arguments:?}:\n{errors}");
    }
}
