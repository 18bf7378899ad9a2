//! Rings that are too small: recorded + lost = made, and nothing is paired wrongly.

use mpiscope_harness::{
    Ended, LIMIT, Mpi, Recorded, Running, Signal, Truth, daemon_of, folder, mpiscope, processes, record,
    report, run, until_log_has,
};
use std::path::Path;
use std::time::Duration;

const ATTEMPTS: u32 = 5;

/// Rings that are full in no time.
const SMALLEST: &str = "64";

struct Case<'a> {
    app: &'a str,
    ranks: u32,
    arguments: &'a [&'a str],
    /// None for the usual ones.
    slots: Option<&'a str>,
    /// How often the daemon is stopped for a moment: calls are lost, and then matching has to be certain again.
    stalls: u32,
}

/// Runs the program; stops the daemon meanwhile.
fn run_with_stalls(case: &Case<'_>, mut command: std::process::Command, out: &Path) -> Ended {
    let running = Running::start(&mut command).unwrap();
    if case.stalls > 0 {
        let daemon = daemon_of(&running).unwrap();
        until_log_has(out, 20_000).unwrap();
        for _ in 0..case.stalls {
            processes::signal(daemon, Signal::STOP);
            std::thread::sleep(Duration::from_millis(150));
            processes::signal(daemon, Signal::CONT);
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    running.wait(LIMIT).unwrap()
}

/// Returns how many calls were lost.
fn recorded_and_lost_are_what_was_made(case: &Case<'_>, mpi: &Mpi) -> u64 {
    let place = format!("{} on {} ranks of {}", case.app, case.ranks, mpi.family.word());
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let mut command = record(mpi, case.ranks, &mpi.app(case.app).unwrap(), case.arguments, &out).unwrap();
    if let Some(slots) = case.slots {
        command.env("MPISCOPE_RING_SLOTS", slots).env("MPISCOPE_RING_OTHER_SLOTS", slots);
    }
    let ended = run_with_stalls(case, command, &out);
    let stderr = ended.errors();
    assert_eq!(ended.status, 0, "{place}: {stderr}");

    let truth = Truth::parse(&ended.stdout).unwrap();
    let recorded = Recorded::load(&out).unwrap();
    let manifest = &recorded.manifest;
    let lost = manifest.lost.ring_full + manifest.lost.no_ring + manifest.lost.unreadable;
    // Functions that no truth counts are lost as well, so they have to be absent.
    assert_eq!(recorded.other_functions().into_iter().collect::<Vec<_>>(), Vec::<&str>::new(), "{place}");
    let wrong = recorded.wrongly_paired(true);
    // Until the numbers of both sides agree again, matches of threads that call at once are ambiguous, and are
    // counted.
    let doubtful = if case.app == "threads" { manifest.totals.uncertain_messages } else { 0 };
    let ambiguous = format!("{} of {} ambiguous", wrong.len(), manifest.totals.uncertain_messages);
    assert!(wrong.len() as u64 <= doubtful, "{place}: wrongly paired: {ambiguous}: {wrong:?} {stderr}");
    let counted: u64 = recorded.counts().values().sum();
    assert_eq!(counted + lost, truth.all_calls(), "{place}: {counted} recorded, {lost} lost; {stderr}");
    for (key, count) in recorded.counts() {
        assert!(count <= truth.calls.get(&key).copied().unwrap_or_default(), "{place}: too many of {key:?}");
    }
    for (pair, (messages, bytes)) in recorded.pairs() {
        let made = truth.pairs.get(&pair).copied().unwrap_or_default();
        assert!(messages <= made.0 && bytes <= made.1, "{place}: {messages} of {bytes} bytes on {pair:?}");
    }
    if lost > 0 {
        assert!(
            manifest.missing.iter().any(|text| text.contains(&lost.to_string())),
            "{:?}",
            manifest.missing
        );
        assert!(stderr.contains("lost"), "{stderr}");
    }
    let report = report(&out).unwrap();
    assert_eq!(report["totals"]["lost_calls"], lost, "{place}: {report:#}");
    let text = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
    let line = text.lines().find(|line| line.trim_start().starts_with("lost calls")).unwrap();
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, lost.to_string(), "{place}: {text}");
    lost
}

fn with_every_family(test: &str, case: &Case<'_>, surely_lossy: bool) {
    for mpi in Mpi::sample_or_skip(&format!("loss {test}")) {
        // Ranks that hardly run, on a machine that is busy elsewhere, lose nothing; the next time they may.
        let attempts = if surely_lossy { ATTEMPTS } else { 1 };
        let lost = (0..attempts).any(|_| recorded_and_lost_are_what_was_made(case, &mpi) > 0);
        assert!(lost || !surely_lossy, "nothing was lost, so nothing was tested: {}", mpi.family.word());
    }
}

#[test]
fn of_a_million_messages_through_the_smallest_rings() {
    let case = Case { app: "million", ranks: 2, arguments: &["200000"], slots: Some(SMALLEST), stalls: 0 };
    with_every_family("of_a_million_messages_through_the_smallest_rings", &case, true);
}

/// The usual rings may hold it all or not: it depends on what else the processors do.
#[test]
fn of_a_million_messages_through_the_usual_rings() {
    let case = Case { app: "million", ranks: 4, arguments: &[], slots: None, stalls: 0 };
    with_every_family("of_a_million_messages_through_the_usual_rings", &case, false);
}

#[test]
fn of_a_halo_exchange() {
    let case = Case { app: "halo3d", ranks: 4, arguments: &["5000", "4"], slots: Some(SMALLEST), stalls: 5 };
    with_every_family("of_a_halo_exchange", &case, true);
}

/// All sizes of a round are different, so whatever was paired wrongly is found.
#[test]
fn of_messages_that_complete_out_of_order() {
    let case = Case { app: "out_of_order", ranks: 4, arguments: &["7000"], slots: Some(SMALLEST), stalls: 6 };
    with_every_family("of_messages_that_complete_out_of_order", &case, true);
}

#[test]
fn of_results_from_whoever_comes_first() {
    let case =
        Case { app: "master_worker", ranks: 4, arguments: &["40000"], slots: Some(SMALLEST), stalls: 4 };
    with_every_family("of_results_from_whoever_comes_first", &case, true);
}

#[test]
fn of_communicators_that_come_and_go() {
    let case = Case { app: "split", ranks: 4, arguments: &["1500"], slots: Some(SMALLEST), stalls: 4 };
    with_every_family("of_communicators_that_come_and_go", &case, true);
}

#[test]
fn of_threads() {
    let case = Case { app: "threads", ranks: 2, arguments: &["3000"], slots: Some(SMALLEST), stalls: 6 };
    with_every_family("of_threads", &case, true);
}
