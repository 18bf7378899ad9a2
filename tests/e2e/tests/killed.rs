//! `kill -9` of any part of the recorder: the program does not notice, and nothing that it did is missing.

use crate::support::{Feed, Page, block_on, run_with_page};
use mpiscope_feed::JobState;
use mpiscope_harness::{
    Ended, LIMIT, Mpi, Recorded, Running, Signal, Truth, check, daemon_of, folder, log_bytes, mpiscope,
    processes, record, report, run, until_log_has,
};
use mpiscope_recording::{Manifest, State};
use std::path::{Path, PathBuf};

const RANKS: u32 = 4;
/// Long enough for the part to be killed amid the traffic.
const ARGUMENTS: [&str; 2] = ["3", "500"];

/// Starts the program and waits until its calls reach the log.
fn recording_in_the_middle(mpi: &Mpi, out: &Path) -> Running {
    let program = mpi.app("linger").unwrap();
    let run = Running::start(&mut record(mpi, RANKS, &program, &ARGUMENTS, out).unwrap()).unwrap();
    until_log_has(out, 20_000).unwrap();
    run
}

fn assert_exact(out: &Path, ended: &Ended) {
    let truth = Truth::parse(&ended.stdout).unwrap();
    assert_report_exact(out, &truth);
    let recorded = Recorded::load(out).unwrap_or_else(|error| panic!("{error:#}\n{}", ended.errors()));
    assert_eq!(recorded.differences(&truth), Vec::<String>::new(), "{}", ended.errors());
    assert_eq!(recorded.manifest.lost.ring_full, 0);
}

/// The report's sums: all that there is when the Parquet files were never completed.
fn assert_report_exact(out: &Path, truth: &Truth) {
    let report = report(out).unwrap();
    let totals = &report["totals"];
    let number = |name: &str| totals[name].as_u64().unwrap();
    assert_eq!(number("calls") + number("polls"), truth.all_calls(), "{report:#}");
    assert_eq!((number("messages"), number("bytes")), truth.all_messages(), "{report:#}");
    assert_eq!(number("unmatched_sends") + number("unmatched_receives"), 0, "{report:#}");
    assert_eq!(number("lost_calls"), 0, "{report:#}");
    assert_eq!(report["job"]["ranks"], RANKS);
}

#[test]
fn another_daemon_goes_on_where_the_first_was_killed() {
    for mpi in Mpi::sample_or_skip("killed another_daemon_goes_on_where_the_first_was_killed") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let run = recording_in_the_middle(&mpi, &out);
        processes::signal(daemon_of(&run).unwrap(), Signal::KILL);
        let ended = run.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert!(ended.errors().contains("was started again"), "{}", ended.errors());
        assert_exact(&out, &ended);
    }
}

#[test]
fn a_daemon_killed_when_the_recording_is_complete_leaves_it_complete() {
    let test = "killed a_daemon_killed_when_the_recording_is_complete_leaves_it_complete";
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    // On a busy machine the daemon may have ended before it is killed.
    assert!((0..10).any(|_| is_killed_when_complete(&mpi)), "the daemon always ends before");
}

/// Kills the daemon when it has completed the recording, if it is still there.
fn is_killed_when_complete(mpi: &Mpi) -> bool {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let run = run_with_page(mpi, RANKS, "linger", &["1", "500"], &out);
    let daemon = processes::until(LIMIT, || daemon_of(&run).ok()).expect("no daemon");
    let page = Page::open(&run, "mpiscope: live page");
    // While somebody looks, the daemon stays for a moment.
    block_on(async {
        let mut feed = Feed::open(&page).await;
        while feed.state().await.job.is_none_or(|job| job.state != JobState::Ended) {}
        let is_complete = || {
            let manifest = Manifest::read(&out).ok()?;
            (manifest.state == State::Complete && !out.join("wal").exists()).then_some(())
        };
        processes::until(LIMIT, is_complete).expect("it is not completed");
        processes::signal(daemon, Signal::KILL);
    });
    let ended = run.wait(LIMIT).unwrap();
    let errors = ended.errors();
    assert!(ended.status == 0 && errors.contains("no call lost"), "{} {errors}", ended.status);
    assert_exact(&out, &ended);
    assert_eq!(check(&out).unwrap().0, 0);
    assert!(!out.join("live.json").exists());
    // Whoever ends it says what the run did.
    assert!(errors.contains("of the time in MPI"), "{errors}");
    errors.contains("was started again")
}

/// Kills the daemon twice: the second one after it recorded, or as soon as it is there.
fn twice_killed(test: &str, records: bool) {
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let run = recording_in_the_middle(&mpi, &out);
    let first = daemon_of(&run).unwrap();
    processes::signal(first, Signal::KILL);
    let other = || daemon_of(&run).ok().filter(|&daemon| daemon != first);
    let second = processes::until(LIMIT, other).expect("no other daemon");
    if records {
        until_log_has(&out, log_bytes(&out) + 10_000).unwrap();
    }
    processes::signal(second, Signal::KILL);
    let ended = run.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert_exact(&out, &ended);
}

#[test]
fn a_second_daemon_may_be_killed_while_it_records() {
    twice_killed("killed a_second_daemon_may_be_killed_while_it_records", true);
}

#[test]
fn a_second_daemon_may_be_killed_while_it_starts() {
    twice_killed("killed a_second_daemon_may_be_killed_while_it_starts", false);
}

#[test]
fn the_daemon_completes_the_recording_when_run_is_killed() {
    for mpi in Mpi::sample_or_skip("killed the_daemon_completes_the_recording_when_run_is_killed") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let run = recording_in_the_middle(&mpi, &out);
        let rings = rings_of(&out);
        processes::signal(run.process(), Signal::KILL);
        // Until the job and the daemon, which write where it wrote, are over as well.
        let ended = run.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 137);
        assert_exact(&out, &ended);
        assert_eq!(report(&out).unwrap()["job"]["state"], "complete");
        let missing = report(&out).unwrap()["missing"].to_string();
        assert!(missing.contains("killed"), "{missing}");
        assert!(rings.iter().all(|folder| !folder.exists()), "nobody removed {rings:?}");
    }
}

#[test]
fn the_report_reads_log_and_rings_when_both_are_killed() {
    for mpi in Mpi::sample_or_skip("killed the_report_reads_log_and_rings_when_both_are_killed") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let run = recording_in_the_middle(&mpi, &out);
        let daemon = daemon_of(&run).unwrap();
        // First the parent, which would start another one.
        processes::signal(run.process(), Signal::KILL);
        processes::signal(daemon, Signal::KILL);
        // The program goes on, into rings that have room for all it does.
        let ended = run.wait(LIMIT).unwrap();
        let truth = Truth::parse(&ended.stdout).unwrap();
        assert_report_exact(&out, &truth);
        // Reading gives nothing back: a second time it is all there again.
        assert_report_exact(&out, &truth);
        let report = report(&out).unwrap();
        assert_eq!(report["job"]["state"], "incomplete");
        assert!(report["missing"].to_string().contains("not completed"), "{report:#}");
        remove_rings(&out);
    }
}

/// The folders of the rings of a run that is not complete.
fn rings_of(out: &Path) -> Vec<PathBuf> {
    let live = std::fs::read(out.join("live.json")).unwrap();
    let live: serde_json::Value = serde_json::from_slice(&live).unwrap();
    live["rings"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().into()).collect()
}

/// Those of a run whose every part was killed stay, for `report`; here nobody wants them any more.
fn remove_rings(out: &Path) {
    for rings in rings_of(out) {
        assert!(rings.file_name().unwrap().to_str().unwrap().starts_with("mpiscope-"));
        std::fs::remove_dir_all(rings).unwrap();
    }
}

#[test]
fn a_running_recording_can_be_read() {
    let Some(mpi) = Mpi::sample_or_skip("killed a_running_recording_can_be_read").into_iter().next() else {
        return;
    };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let run_it = recording_in_the_middle(&mpi, &out);
    let first = report(&out).unwrap();
    assert_eq!(first["job"]["state"], "running");
    let calls = |report: &serde_json::Value| report["totals"]["calls"].as_u64().unwrap();
    let more = || report(&out).ok().filter(|second| calls(second) > calls(&first));
    processes::until(LIMIT, more).expect("the report does not grow");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap();
    assert!(text.output().contains("still running"), "{}", text.output());
    let ended = run_it.wait(LIMIT).unwrap();
    assert_exact(&out, &ended);
}
