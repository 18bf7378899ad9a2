//! The recording shared with other processes, whatever becomes of them.

use crate::support::hosts::assert_exact;
use crate::support::{Feed, Page, block_on, hosts_for_two_more, run_with_options};
use mpiscope_harness::{Ended, LIMIT, Mpi, Running, Signal, daemon_of, folder, mpiscope, processes, report};
use serde_json::json;
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const RANKS: u32 = 4;

/// A run whose calls two more processes on this host read, and its recording.
struct Shared {
    running: Running,
    out: PathBuf,
    _folder: Box<dyn Any>,
}

/// Starts `uneven` under `mpiscope run`, with this number of steps and microseconds in each.
fn shared_run(mpi: &Mpi, [steps, step_us]: [&str; 2], options: &[&str]) -> Shared {
    let folder = folder().unwrap();
    let (hosts, out) = (hosts_for_two_more(folder.path()), folder.path().join("recording"));
    let options = [&["--hostfile", &hosts], options].concat();
    let running = run_with_options(mpi, RANKS, ("uneven", &[steps, step_us]), &out, &options);
    Shared { running, out, _folder: Box::new(folder) }
}

/// Waits for its end. All its calls are in the recording.
fn assert_ends_exactly(running: Running, out: &Path) -> Ended {
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert_exact(out, &ended, RANKS);
    ended
}

/// The processes that read calls of a run.
fn readers(running: &Running) -> Vec<u32> {
    let Ok(daemon) = daemon_of(running) else { return Vec::new() };
    let reads = |process: &u32| processes::command_line(*process).last().is_some_and(|word| word == "read");
    processes::children(daemon).into_iter().filter(reads).collect()
}

/// How many segments of calls a recording has.
fn call_segments(out: &Path) -> usize {
    std::fs::read_dir(out.join("calls")).unwrap().count()
}

#[test]
fn calls_are_read_by_several_processes_and_none_is_lost() {
    for mpi in Mpi::sample_or_skip("recording_hosts calls_are_read_by_several_processes_and_none_is_lost") {
        let Shared { running, out, _folder } = shared_run(&mpi, ["300", "1000"], &["--no-dashboard"]);
        let ended = assert_ends_exactly(running, &out);
        assert!(
            ended.errors().contains("the recording is shared with localhost, localhost"),
            "{}",
            ended.errors()
        );
        assert_eq!(call_segments(&out), 2, "each process has encoded one");
    }
}

/// Before anybody looks, some calls go to the daemon, to be replayed, and most do not.
#[test]
fn whoever_begins_to_look_sees_all_calls() {
    for mpi in Mpi::sample_or_skip("recording_hosts whoever_begins_to_look_sees_all_calls") {
        let Shared { running, out, _folder } = shared_run(&mpi, ["1500", "3000"], &[]);
        let page = Page::open(&running, "mpiscope: live page");
        let recorded = || report(&out).ok()?["totals"]["calls"].as_u64();
        let has_begun =
            || running.errors_until_now().contains("the live analysis is shared").then(recorded)?;
        let before = processes::until(LIMIT, has_begun).expect("others analyse");
        let goes_on = || recorded().filter(|calls| *calls > before + 1_000);
        let earlier = processes::until(LIMIT, goes_on).expect("the job goes on");
        let ask = |until_ns: u64| json!({"ask": "calls", "id": 1, "from_ns": 0, "to_ns": until_ns, "most": 1_000_000});
        let (until_ns, live) = block_on(async {
            let mut feed = Feed::open(&page).await;
            let until_ns = loop {
                let message = feed.state().await;
                if message.totals.is_some_and(|totals| totals.calls > earlier + 100) {
                    break message.clock.now_ns - message.clock.lag_ns - 1;
                }
            };
            (until_ns, feed.ask(ask(until_ns)).await.calls().unwrap())
        });
        assert_ends_exactly(running, &out);
        let replayed = Running::start(mpiscope(&["replay"]).unwrap().arg(&out)).unwrap();
        let page = Page::open(&replayed, "mpiscope: replay");
        let later = block_on(async { Feed::open(&page).await.ask(ask(until_ns)).await.calls().unwrap() });
        assert!(live.total > earlier && live.share >= 1.0, "{} of {earlier}", live.total);
        assert_eq!(live.total, later.total, "until {until_ns} ns");
        processes::signal(replayed.process(), Signal::INT);
        assert_eq!(replayed.wait(LIMIT).unwrap().status, 0);
    }
}

/// Each of them twice: the second time there is nobody left but the daemon.
#[test]
fn readers_may_be_killed_while_somebody_looks() {
    for mpi in Mpi::sample_or_skip("recording_hosts readers_may_be_killed_while_somebody_looks") {
        let Shared { running, out, _folder } = shared_run(&mpi, ["2000", "3000"], &[]);
        let daemon = processes::until(LIMIT, || daemon_of(&running).ok()).unwrap();
        let page = Page::open(&running, "mpiscope: live page");
        let texts = block_on(async {
            let mut feed = Feed::open(&page).await;
            let (mut texts, mut killed, mut calls) = (Vec::new(), 0, 0);
            let (mut earlier, mut grown) = (Vec::new(), 0);
            let mut timeline = BTreeMap::new();
            loop {
                let message = feed.state().await;
                if let Some(faults) = message.faults {
                    texts = faults.newest.into_iter().map(|fault| fault.text).collect::<Vec<String>>();
                }
                if let Some(cells) = &message.timeline {
                    assert_eq!(cells.window_ns, 100_000_000, "the windows of a short run");
                    let cells = cells.start_ns.0.iter().zip(&cells.function.0).zip(&cells.calls.0);
                    timeline.extend(
                        cells.map(|((&start, &function), &calls)| ((start as u64, function), calls as u64)),
                    );
                }
                let losses =
                    texts.iter().filter(|text| text.contains("shares the recording is gone")).count();
                let present = readers(&running);
                let are_new = present.iter().all(|reader| !earlier.contains(reader));
                // The figures of those who look do not go back for good. While others come, none are published.
                let all = message.totals.map_or(0, |totals| totals.calls);
                if losses < killed || !are_new || all <= calls {
                    continue;
                }
                (calls, grown) = (all, grown + 1);
                if grown < 3 {
                    continue;
                }
                let Some(&reader) = present.first() else { break };
                processes::signal(reader, Signal::KILL);
                (killed, grown, earlier) = (killed + 1, 0, present);
            }
            assert_eq!(killed, 4, "{texts:?}");
            // What was read five times is shown once.
            let shown: u64 = timeline.values().sum();
            assert!(shown > 0 && shown <= calls, "{shown} of {calls}");
            texts
        });
        assert_eq!(texts.iter().filter(|text| text.contains("gets none any more")).count(), 2, "{texts:?}");
        assert!(readers(&running).is_empty());
        let ended = assert_ends_exactly(running, &out);
        assert!(!ended.errors().contains("the recording daemon died"), "{}", ended.errors());
        let verdict = &report(&out).unwrap()["verdict"];
        assert!(["pattern", "cpu"].contains(&verdict["cause"].as_str().unwrap()), "{verdict}");
        assert!(!processes::is_running(daemon));
    }
}

/// The daemon is killed: its successor has others read, also its log, and those of the first end.
#[test]
fn a_successor_of_the_daemon_has_others_read() {
    for mpi in Mpi::sample_or_skip("recording_hosts a_successor_of_the_daemon_has_others_read") {
        let Shared { running, out, _folder } = shared_run(&mpi, ["3000", "4000"], &["--no-dashboard"]);
        let both = || Some(readers(&running)).filter(|found| found.len() == 2);
        let first = processes::until(LIMIT, both).unwrap();
        let daemon = daemon_of(&running).unwrap();
        processes::signal(daemon, Signal::KILL);
        let are_gone = || first.iter().all(|process| !processes::is_running(*process)).then_some(());
        processes::until(LIMIT, are_gone).expect("those of the first daemon end");
        processes::until(LIMIT, both).expect("the successor has others");
        assert_ends_exactly(running, &out);
    }
}

/// Nothing more is heard of one that is stopped: it is lost like one that is dead.
#[test]
fn a_reader_may_be_stopped() {
    for mpi in Mpi::sample_or_skip("recording_hosts a_reader_may_be_stopped") {
        let Shared { running, out, _folder } = shared_run(&mpi, ["1500", "4000"], &["--no-dashboard"]);
        let is_shared = || running.errors_until_now().contains("the recording is shared").then_some(());
        processes::until(LIMIT, is_shared).expect("others read");
        processes::signal(readers(&running)[0], Signal::STOP);
        let ended = assert_ends_exactly(running, &out);
        assert!(ended.errors().contains("shares the recording is gone"), "{}", ended.errors());
    }
}
