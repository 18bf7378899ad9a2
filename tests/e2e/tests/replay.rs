//! `mpiscope replay`: the page of a recording says what the report says.

use crate::support::recordings::tidy;
use crate::support::{Feed, Page, block_on};
use mpiscope_feed::exchange::{Mode, Outgoing};
use mpiscope_feed::message::{Kind, Message};
use mpiscope_feed::{JobState, RunSource};
use mpiscope_harness::{
    LIMIT, Mpi, Running, Signal, daemon_of, folder, mpiscope, processes, record, report, run, until_log_has,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is compared, in one line each.
fn figures(state: &Message) -> BTreeMap<String, u64> {
    let totals = state.totals.unwrap();
    let mut figures = BTreeMap::from([
        ("calls".to_owned(), totals.calls),
        ("polls".to_owned(), totals.polls),
        ("messages".to_owned(), totals.messages),
        ("bytes".to_owned(), totals.bytes),
        ("unmatched_sends".to_owned(), totals.unmatched_sends),
        ("unmatched_receives".to_owned(), totals.unmatched_receives),
    ]);
    let functions = state.functions.as_ref().unwrap();
    for (row, name) in functions.name.iter().enumerate() {
        figures.insert(format!("{name} calls"), functions.calls.0[row] as u64);
        figures.insert(format!("{name} max"), functions.max_ns.0[row] as u64);
        figures.insert(format!("{name} median"), functions.p50_ns.0[row] as u64);
    }
    figures
}

fn reported(report: &serde_json::Value) -> BTreeMap<String, u64> {
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let keys = ["calls", "polls", "messages", "bytes", "unmatched_sends", "unmatched_receives"];
    let mut figures: BTreeMap<String, u64> =
        keys.iter().map(|key| ((*key).to_owned(), number(&report["totals"][key]))).collect();
    for function in report["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap();
        figures.insert(format!("{name} calls"), number(&function["calls"]));
        figures.insert(format!("{name} max"), number(&function["max_ns"]));
        figures.insert(format!("{name} median"), number(&function["p50_ns"]));
    }
    figures
}

/// Opens the recording and compares; returns the state that the page was given.
fn says_what_the_report_says(recording: &Path) -> Message {
    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(recording)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    let state = block_on(async {
        let mut feed = Feed::open(&page).await;
        let (mut state, mut mode) = (None, None);
        while state.is_none() || mode.is_none() {
            match feed.hear().await.unwrap() {
                Outgoing::State(message) if message.kind == Kind::Snapshot => state = Some(*message),
                Outgoing::Perspective(message) => mode = Some(message),
                // What the page may do.
                Outgoing::Access(_) => {}
                other => panic!("{other:?}"),
            }
        }
        let (state, mode) = (state.unwrap(), mode.unwrap());
        assert_eq!((mode.mode, mode.time_ns), (Mode::Paused, state.clock.now_ns as f64));
        let end = state.clock.now_ns + 1;
        let calls = state.totals.unwrap().calls;
        let ask = |kind: &str, from: u64, to: u64| json!({"ask": kind, "id": 5, "from_ns": from, "to_ns": to, "most": 200_000, "bins": 64});
        let timeline = feed.ask(ask("timeline", 0, end)).await.timeline().unwrap();
        assert_eq!(timeline.counts.0.iter().sum::<f64>() as u64, calls);
        let history = feed.ask(ask("history", 0, end)).await.history().unwrap();
        assert_eq!(history.total, calls);
        // There and back again: the same calls. Where MPI took long to begin, most of them are at the end.
        let mut starts = feed.ask(ask("calls", 0, end)).await.calls().unwrap().start_ns.0;
        starts.sort_by(f64::total_cmp);
        let [third, half] = [3, 2].map(|part| starts[starts.len() / part] as u64);
        let first = feed.ask(ask("calls", third, half)).await.calls().unwrap();
        feed.ask(ask("calls", 0, third)).await.calls().unwrap();
        assert_eq!(first, feed.ask(ask("calls", third, half)).await.calls().unwrap());
        assert!(first.total > 0);
        let plain = state.timeline.as_ref().unwrap().calls.0.iter().sum::<f64>() as u64;
        assert_eq!(plain, calls);
        state
    });
    processes::signal(running.process(), Signal::INT);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert_eq!(figures(&state), reported(&report(recording).unwrap()));
    state
}

#[test]
fn of_a_whole_recording() {
    for mpi in Mpi::sample_or_skip("replay of_a_whole_recording") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let app = mpi.app("halo3d").unwrap();
        assert_eq!(run(&mut record(&mpi, 4, &app, &["300"], &out).unwrap(), LIMIT).unwrap().status, 0);
        let state = says_what_the_report_says(&out);
        let job = state.job.unwrap();
        assert_eq!((job.source, job.state, job.ranks), (RunSource::Replay, JobState::Ended, 4));
        assert_eq!(state.ranks.unwrap().rank.0, [0, 1, 2, 3]);
    }
}

#[test]
fn a_killed_run_keeps_its_pending_messages() {
    let Some(mpi) = Mpi::sample_or_skip("replay a_killed_run_keeps_its_pending_messages").into_iter().next()
    else {
        return;
    };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let app = mpi.app("linger").unwrap();
    let begun = Instant::now();
    let running = Running::start(&mut record(&mpi, 2, &app, &["20", "500"], &out).unwrap()).unwrap();
    let daemon = daemon_of(&running).unwrap();
    until_log_has(&out, 20_000).unwrap();
    let family = running.family();
    processes::signal(running.process(), Signal::KILL);
    let killed: Vec<u32> = family.into_iter().chain([daemon]).collect();
    for &process in &killed {
        processes::signal(process, Signal::KILL);
    }
    running.wait(LIMIT).unwrap();
    let gone = processes::until(LIMIT, || {
        (!killed.iter().any(|&killed| processes::is_running(killed))).then_some(())
    });
    assert!(gone.is_some());
    // What is still in the rings is read anew each time, with whatever the clock says then.
    let first = report(&out).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(first, report(&out).unwrap());
    assert!(first["job"]["duration_s"].as_f64().unwrap() < begun.elapsed().as_secs_f64() - 1.5);
    let state = says_what_the_report_says(&out);
    assert_eq!(state.job.unwrap().state, JobState::Killed);
    assert!(state.faults.unwrap().newest.iter().any(|fault| fault.text.contains("not completed")));
    tidy(&out);
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let folder = folder().unwrap();
    let ended = run(mpiscope(&["replay"]).unwrap().arg(folder.path().join("none")), LIMIT).unwrap();
    assert_eq!((ended.status, ended.errors().lines().count()), (2, 1), "{}", ended.errors());
}
