//! A simulated job on the page of a run, as it would run.

use crate::support::{Feed, MODELLED_LIVE, Page, block_on};
use mpiscope_feed::message::Message;
use mpiscope_feed::{FindingsReport, JobState, RunSource};
use mpiscope_harness::{LIMIT, Running, Signal, folder, mpiscope, processes, report};
use serde_json::Value;
use std::time::Instant;

#[test]
fn a_simulated_job_is_watched_as_it_would_run() {
    let folder = folder().unwrap();
    let out = folder.path().join("made");
    let begun = Instant::now();
    let running = Running::start(
        mpiscope(&MODELLED_LIVE).unwrap().args(["--disturb", "imbalance", "--seconds", "10", "-o"]).arg(&out),
    )
    .unwrap();
    let page = Page::open(&running, "mpiscope: live page");
    let messages: Vec<Message> = block_on(async { Feed::open(&page).await.all().await });
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
    let truth: Value = serde_json::from_slice(&std::fs::read(out.join("truth.json")).unwrap()).unwrap();
    // No sooner than it would be over.
    let duration_s = truth["duration_s"].as_f64().unwrap();
    assert!(begun.elapsed().as_secs_f64() > duration_s - 0.1);
    let jobs: Vec<_> = messages.iter().filter_map(|message| message.job.as_ref()).collect();
    let last = jobs.last().unwrap();
    assert_eq!((last.source, last.state, last.ranks), (RunSource::Live, JobState::Ended, 16));
    assert!(jobs.iter().any(|job| job.state == JobState::Running));
    // Its time is that of the job, from its beginning.
    let elapsed_ns = begun.elapsed().as_nanos() as u64;
    assert!(messages.iter().all(|message| message.clock.now_ns < elapsed_ns));
    let found: Vec<&FindingsReport> = messages.iter().filter_map(|message| message.found.as_ref()).collect();
    let (last, live) = found.split_last().unwrap();
    // Whether any came in time depends on who else uses the CPUs.
    assert!(live.iter().all(|found| !found.is_final), "{live:?}");
    assert!(live.is_sorted_by(|one, other| one.until_s < other.until_s), "{live:?}");
    assert!(last.is_final && live.iter().all(|found| found.until_s < last.until_s), "{last:?}");
    assert_eq!(truth["main"]["cause"], "pattern");
    assert_eq!(last.diagnosis.verdict.cause, "pattern");
    let report = report(&out).unwrap();
    assert_eq!(report["totals"]["calls"], truth["calls"]);
    assert_eq!(report["verdict"]["share"].as_f64(), Some(last.diagnosis.verdict.share));
}

#[test]
fn the_verdict_on_a_simulated_job_comes_while_it_runs() {
    let mut command = mpiscope(&MODELLED_LIVE).unwrap();
    let running = Running::start(command.args(["--disturb", "imbalance", "--seconds", "3600"])).unwrap();
    let page = Page::open(&running, "mpiscope: live page");
    let found: Vec<FindingsReport> = block_on(async {
        let (mut feed, mut found) = (Feed::open(&page).await, Vec::<FindingsReport>::new());
        // What the first seconds say may be that there is nothing.
        while found.len() < 2 || found.last().is_none_or(|last| last.diagnosis.verdict.cause != "pattern") {
            found.extend(feed.state().await.found);
        }
        found
    });
    assert!(found.iter().all(|found| !found.is_final), "{found:?}");
    assert!(found.is_sorted_by(|one, other| one.until_s < other.until_s), "{found:?}");
    processes::signal(running.process(), Signal::INT);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

#[test]
fn a_simulated_job_ends_with_ctrl_c_and_keeps_what_somebody_wants() {
    for keeps in [false, true] {
        let folder = folder().unwrap();
        let passing = folder.path().join("passing");
        std::fs::create_dir(&passing).unwrap();
        let out = folder.path().join("made");
        let mut command = mpiscope(&MODELLED_LIVE).unwrap();
        command.args(["--disturb", "imbalance"]);
        command.args(["--seconds", "3600"]).env("TMPDIR", &passing);
        if keeps {
            command.arg("-o").arg(&out);
        }
        let running = Running::start(&mut command).unwrap();
        let page = Page::open(&running, "mpiscope: live page");
        block_on(async {
            let mut feed = Feed::open(&page).await;
            while feed.state().await.totals.is_none_or(|totals| totals.calls == 0) {}
        });
        assert_eq!(std::fs::read_dir(&passing).unwrap().count(), usize::from(!keeps));
        processes::signal(running.process(), Signal::INT);
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_eq!(std::fs::read_dir(&passing).unwrap().count(), 0);
        assert!(!out.join("truth.json").exists() && ended.errors().contains("broken off"));
        if keeps {
            let report = report(&out).unwrap();
            assert_eq!(report["job"]["exit"].as_i64(), Some(130));
            assert!(report["totals"]["calls"].as_u64() > Some(0), "{report}");
        } else {
            assert!(!out.exists());
        }
    }
}
