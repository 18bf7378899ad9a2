//! Simulated agents bring a job to a daemon: `mpiscope synth --agents`.

use crate::support::hosts_for_two_more;
use mpiscope_harness::{Ended, LIMIT, Running, Signal, check, folder, mpiscope, processes, report, run};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// With folders of its own for what agents and daemon leave while they work.
fn synth(words: &str, folder: &Path) -> Command {
    for name in ["rings", "spool"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
    }
    let paths = format!("rings = {:?}\nspool = {:?}\n", folder.join("rings"), folder.join("spool"));
    let site = folder.join("site.toml");
    std::fs::write(&site, format!("[paths]\n{paths}[limits]\npatience_s = 2\n")).unwrap();
    let words: Vec<&str> = ["synth"].into_iter().chain(words.split(' ')).collect();
    let mut command = mpiscope(&words).unwrap();
    command.env("MPISCOPE_SITE", site).arg("-o").arg(folder.join("made"));
    command
}

fn made(words: &str, folder: &Path) -> (Ended, Value, Value) {
    let ended = run(&mut synth(words, folder), LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    let out = folder.join("made");
    let truth = serde_json::from_slice(&std::fs::read(out.join("truth.json")).unwrap()).unwrap();
    assert_nothing_left(folder);
    (ended, truth, report(&out).unwrap())
}

fn assert_nothing_left(folder: &Path) {
    for name in ["rings", "spool"] {
        let left: Vec<_> = std::fs::read_dir(folder.join(name)).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn all_calls_of_a_simulated_job_are_recorded_or_counted_as_lost() {
    for words in [
        "--pattern halo2d --ranks 16 --seconds 1 --rate 50000 --agents 4",
        "--pattern ring --ranks 8 --seconds 0.5 --rate 20000 --agents 1",
        "--pattern halo2d --ranks 16 --seconds 1 --rate 50000 --agents 8 --disturb drifting-clocks --disturb lost-records",
        // More agents connect at once than the daemon takes in at once.
        "--pattern ring --ranks 160 --seconds 0.5 --rate 20000 --agents 160",
    ] {
        let folder = folder().unwrap();
        let (ended, truth, report) = made(words, folder.path());
        let (totals, figure) = (&report["totals"], |name: &str| truth[name].as_u64().unwrap());
        let total = |name: &str| totals[name].as_u64().unwrap();
        assert_eq!(total("lost_calls"), figure("lost_calls"), "{words}");
        assert_eq!(total("calls") + total("polls") + total("lost_calls"), figure("calls"), "{words}");
        let errors = ended.errors();
        assert!(errors.contains("all that were made") && errors.contains("0 made again"), "{errors}");
        let agents: usize =
            words.split("--agents ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert_eq!(report["job"]["nodes"].as_array().unwrap().len(), agents, "{words}");
        if figure("lost_calls") == 0 {
            assert_eq!(total("messages"), figure("intra_messages") + figure("inter_messages"), "{words}");
            assert_eq!((total("unmatched_sends"), total("unmatched_receives")), (0, 0), "{words}");
            assert_eq!(report["missing"], serde_json::json!([]), "{words}");
            assert_eq!(check(&folder.path().join("made")).unwrap().0, 0, "{words}");
        }
    }
}

#[test]
fn agents_that_have_all_calls_from_the_start_bring_them_to_one_process_or_several() {
    let words = "--pattern halo2d --ranks 16 --seconds 10 --rate 50000 --agents 4 --disturb drifting-clocks";
    let mut totals = Vec::new();
    for is_shared in [false, true] {
        let folder = folder().unwrap();
        let mut words = format!("{words} --at-once");
        if is_shared {
            words += &format!(" --hostfile {}", hosts_for_two_more(folder.path()));
        }
        let (ended, truth, report) = made(&words, folder.path());
        let errors = ended.errors();
        assert!(errors.contains("all that were made"), "{errors}");
        assert_eq!(errors.contains("readers: "), is_shared, "{errors}");
        assert_eq!(truth["calls"], report["totals"]["calls"]);
        assert_eq!(report["missing"], serde_json::json!([]));
        assert_eq!(check(&folder.path().join("made")).unwrap().0, 0);
        // At its own pace it would take 10 s.
        let job = errors.split("the job took ").nth(1).unwrap().split(' ').next().unwrap();
        assert!(job.parse::<f64>().unwrap() < 10.0, "{job} s");
        totals.push(report["totals"].clone());
    }
    assert_eq!(totals[0]["messages"], totals[1]["messages"]);
}

#[test]
fn what_a_killed_agent_did_not_bring_is_missing_and_the_run_ends() {
    let folder = folder().unwrap();
    let words = "--pattern ring --ranks 8 --seconds 2 --rate 20000 --agents 4 --kill-agents 1";
    let begun = Instant::now();
    let (ended, truth, report) = made(words, folder.path());
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    let recorded = report["totals"]["calls"].as_u64().unwrap() + report["totals"]["polls"].as_u64().unwrap();
    let made = truth["calls"].as_u64().unwrap();
    // One of four agents brings half of its calls.
    assert!((made * 8 / 10..made * 9 / 10 + made / 20).contains(&recorded), "{recorded} of {made}");
    let missing = report["missing"].to_string();
    assert!(missing.contains("node-3: cut off") && !missing.contains("node-2"), "{missing}");
    let left = format!("{} missing", made - recorded);
    assert!(ended.errors().replace('\u{2009}', "").contains(&left), "{left}: {}", ended.errors());
    // Its files are whole, but it is not.
    let (status, check) = check(&folder.path().join("made")).unwrap();
    assert_eq!((status, &check["missing"]), (0, &report["missing"]));
    assert!(check["verdict"].as_str().unwrap().starts_with("whole as far as it goes"), "{check}");
}

#[test]
fn a_job_of_simulated_agents_ends_with_ctrl_c() {
    let folder = folder().unwrap();
    let words = "--pattern ring --ranks 8 --seconds 30 --rate 5000 --agents 4";
    let running = Running::start(&mut synth(words, folder.path())).unwrap();
    let (begun, out) = (Instant::now(), folder.path().join("made"));
    while report(&out).map_or(true, |report| report["totals"]["calls"].as_u64() == Some(0)) {
        assert!(begun.elapsed() < LIMIT);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    processes::signal(running.process(), Signal::INT);
    let ended = running.wait(LIMIT).unwrap();
    assert!(ended.status == 0 && ended.errors().contains("broken off"), "{}", ended.errors());
    assert!(begun.elapsed().as_secs() < 25 && !out.join("truth.json").exists());
    assert_eq!(report(&out).unwrap()["job"]["exit"].as_i64(), Some(130));
    assert_nothing_left(folder.path());
}

#[test]
fn agents_that_do_not_fit_the_job_are_refused() {
    for (words, says) in [
        ("--agents 4 --nodes 2", "--agents 4 does not fit --nodes 2"),
        ("--agents 4 --kill-agents 5", "--kill-agents 5 is more than the 4 of --agents"),
        ("--agents 16", "a job of 8 ranks runs on 1 to 8 nodes, not on 16"),
        ("--kill-agents 1", "--agents"),
        ("--agents 0", "--agents"),
        ("--at-once", "--agents"),
    ] {
        let folder = folder().unwrap();
        let words = format!("--pattern ring --ranks 8 --seconds 1 --rate 5000 {words}");
        let ended = run(&mut synth(&words, folder.path()), LIMIT).unwrap();
        assert!(ended.status == 2 && ended.errors().contains(says), "{}", ended.errors());
        assert!(!folder.path().join("made").exists());
        assert_nothing_left(folder.path());
    }
}
