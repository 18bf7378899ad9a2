//! Why a run takes longer than it has to, told on the page while it runs, in the end, and in replay.

use crate::support::recordings::tidy;
use crate::support::{Feed, Page, block_on, run_with_page};
use mpiscope_feed::{Diagnosis, FindingsReport};
use mpiscope_harness::{LIMIT, Mpi, Running, Signal, daemon_of, folder, mpiscope, processes, report};
use serde_json::json;
use std::path::Path;

const RANKS: u32 = 4;
/// Of the time that is avoidable where other programs leave the ranks two cores.
const LEAST_SHARE: f64 = 0.1;

/// Where ranks share cores with others, CPU contention may cost as much.
fn is_rank_1_blamed(found: &FindingsReport) -> bool {
    let Diagnosis { verdict, waits, .. } = &found.diagnosis;
    ["pattern", "cpu"].contains(&verdict.cause.as_str())
        && verdict.share > 0.0
        && waits.first().is_some_and(|longest| longest.awaited == 1)
}

/// What is found about a job in which three ranks wait for rank 1 in each step.
fn blames_rank_1(found: &FindingsReport) {
    assert!(is_rank_1_blamed(found), "{found:?}");
    let longest = &found.diagnosis.waits[0];
    assert!(longest.longest_s > 0.003 && longest.longest_at_s <= found.until_s, "{longest:?}");
}

/// Kills all of a run.
fn kill(running: Running) {
    let daemon = daemon_of(&running).unwrap();
    let family = running.family();
    processes::signal(running.process(), Signal::KILL);
    for process in family.into_iter().chain([daemon]) {
        processes::signal(process, Signal::KILL);
    }
    running.wait(LIMIT).unwrap();
}

/// Asks for all of the time in MPI, and for what came before and after some moment.
async fn ranges_sum_up(feed: &mut Feed, found: &FindingsReport) {
    let ask =
        |from_ns: f64, to_ns: f64| json!({"ask": "budget", "id": 1, "from_ns": from_ns, "to_ns": to_ns});
    let all = feed.ask(ask(0.0, 1e18)).await.budget().unwrap();
    let budget = &found.diagnosis.budget;
    assert!((all.parts.total_s - budget.total_s).abs() < 1e-6, "{all:?} and {budget:?}");
    assert!(
        (all.parts.waiting_by.compute - budget.waiting_by.compute).abs() < 1e-6,
        "{all:?} and {budget:?}"
    );
    // Between two windows.
    let middle_ns = (found.until_s * 5.0).floor() * 1e8;
    let before = feed.ask(ask(0.0, middle_ns)).await.budget().unwrap();
    let after = feed.ask(ask(middle_ns, 1e18)).await.budget().unwrap();
    assert_eq!((before.to_ns, after.from_ns), (middle_ns as u64, middle_ns as u64));
    let sum_s = before.parts.total_s + after.parts.total_s;
    assert!(
        after.parts.total_s > 0.0 && (sum_s - all.parts.total_s).abs() < 1e-6,
        "{before:?} and {after:?}"
    );
}

fn replayed(out: &Path) -> FindingsReport {
    let replaying = Running::start(mpiscope(&["replay"]).unwrap().arg(out)).unwrap();
    let page = Page::open(&replaying, "mpiscope: replay");
    let found = block_on(async {
        let mut feed = Feed::open(&page).await;
        loop {
            if let Some(found) = feed.state().await.found {
                ranges_sum_up(&mut feed, &found).await;
                break found;
            }
        }
    });
    processes::signal(replaying.process(), Signal::INT);
    assert_eq!(replaying.wait(LIMIT).unwrap().status, 0);
    found
}

#[test]
fn the_verdict_comes_while_the_job_runs_and_in_the_end() {
    for mpi in Mpi::sample_or_skip("live_verdict the_verdict_comes_while_the_job_runs_and_in_the_end") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        // Rank 1 works for 5 ms in each of 1200 steps.
        let running = run_with_page(&mpi, RANKS, "uneven", &["1200", "4000"], &out);
        let page = Page::open(&running, "mpiscope: live page");
        let messages = block_on(async { Feed::open(&page).await.all().await });
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let found: Vec<&FindingsReport> =
            messages.iter().filter_map(|message| message.found.as_ref()).collect();
        let (last, live) = found.split_last().unwrap();
        assert!(live.len() >= 2 && live.iter().all(|found| !found.is_final), "{live:?}");
        assert!(live.is_sorted_by(|one, other| one.until_s < other.until_s), "{live:?}");
        // Three ranks poll while rank 1 works, and get all of two CPUs but for what others have.
        let shortage = last.diagnosis.cpu_contention.as_ref();
        let is_disturbed = last.until_s > 1.25 * 6.0 || shortage.is_some_and(|shortage| shortage.cpus < 1.45);
        assert!(last.is_final);
        // The first may be of a time in which ranks mostly began.
        for found in [live.last().unwrap(), last] {
            blames_rank_1(found);
            assert!(is_disturbed || found.diagnosis.verdict.share > LEAST_SHARE, "{found:?}");
        }
        assert!(ended.errors().contains(&last.headline), "{} and {}", ended.errors(), last.headline);
        let report = report(&out).unwrap();
        assert_eq!(report["verdict"]["share"].as_f64().unwrap(), last.diagnosis.verdict.share);
        assert_eq!(&&replayed(&out), last);
    }
}

#[test]
fn a_killed_recording_is_diagnosed_when_it_is_opened() {
    let Some(mpi) =
        Mpi::all_or_skip("live_verdict a_killed_recording_is_diagnosed_when_it_is_opened").into_iter().next()
    else {
        return;
    };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let running = run_with_page(&mpi, RANKS, "uneven", &["100000", "4000"], &out);
    let page = Page::open(&running, "mpiscope: live page");
    block_on(async {
        let mut feed = Feed::open(&page).await;
        // Until it is seen: ranks may take long to begin.
        let is_seen = |found: &FindingsReport| {
            is_rank_1_blamed(found)
                && found.diagnosis.verdict.share > 0.04
                && found.diagnosis.waits[0].longest_s > 0.003
        };
        while !feed.state().await.found.as_ref().is_some_and(is_seen) {}
    });
    kill(running);
    let found = replayed(&out);
    assert!(found.is_final && !out.join("findings.json").exists());
    blames_rank_1(&found);
    tidy(&out);
}
