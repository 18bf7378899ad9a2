//! How much of a run the recording supports a verdict on: the same sentence and state in the summary of the run, the report,
//! its JSON, a comparison, and the page.

use crate::support::{Feed, Page, block_on};
use mpiscope_harness::{
    LIMIT, Mpi, Running, Signal, daemon_of, folder, mpiscope, processes, record, report, run, until_log_has,
};
use serde_json::Value;
use std::path::Path;

/// What the page of a recording has under its header.
fn headline_of_page(out: &Path) -> (String, String) {
    let replaying = Running::start(mpiscope(&["replay"]).unwrap().arg(out)).unwrap();
    let page = Page::open(&replaying, "mpiscope: replay");
    let found = block_on(async {
        let mut feed = Feed::open(&page).await;
        loop {
            if let Some(found) = feed.state().await.found {
                break found;
            }
        }
    });
    processes::signal(replaying.process(), Signal::INT);
    assert_eq!(replaying.wait(LIMIT).unwrap().status, 0);
    (found.headline, found.diagnosis.verdict.basis.state.word().to_owned())
}

/// The verdict as it is everywhere, and the basis of it in JSON.
fn said_everywhere(out: &Path, summary: &str) -> (String, Value) {
    let json = report(out).unwrap();
    let basis = &json["verdict"]["basis"];
    let (headline, state) = headline_of_page(out);
    assert_eq!(basis["state"], state, "{json:#}");
    assert!(headline.starts_with(basis["sentence"].as_str().unwrap()), "{headline}\n{basis:#}");
    assert!(summary.contains(&format!("mpiscope: {headline}\n")), "{headline}\n{summary}");
    let text = run(mpiscope(&["report"]).unwrap().arg(out), LIMIT).unwrap().output();
    assert!(text.contains(&format!("  {headline}\n")), "{headline}\n{text}");
    let compared = run(mpiscope(&["compare"]).unwrap().args([out, out]), LIMIT).unwrap().output();
    assert_eq!(compared.matches(&format!("  {headline}\n")).count(), 2, "{headline}\n{compared}");
    let compared = run(mpiscope(&["compare", "--json"]).unwrap().args([out, out]), LIMIT).unwrap().output();
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["b"]["headline"], headline, "{compared:#}");
    if !["whole", "part"].contains(&state.as_str()) {
        assert!(headline.starts_with("No verdict: "), "{headline}");
        let verdict = &json["verdict"];
        assert_eq!((&verdict["cause"], &verdict["share"]), (&"none".into(), &0.0.into()), "{verdict:#}");
        assert_eq!(verdict["confidence"], 0.0);
        let checked = run(mpiscope(&["report", "--fail-above", "0.9"]).unwrap().arg(out), LIMIT).unwrap();
        assert!(checked.status == 2 && checked.errors().contains("has no verdict"), "{}", checked.errors());
    }
    (headline, basis.clone())
}

#[test]
fn of_a_killed_run_it_is_the_time_until_then() {
    for mpi in Mpi::sample_or_skip("verdict_basis of_a_killed_run_it_is_the_time_until_then") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let mut command = record(&mpi, 4, &mpi.app("crash").unwrap(), &[], &out).unwrap();
        let ended = run(&mut command, LIMIT).unwrap();
        assert_ne!(ended.status, 0, "{}", ended.errors());
        let (headline, basis) = said_everywhere(&out, &ended.errors());
        assert_eq!(basis["state"], "part", "{basis:#}");
        let missing = "Incomplete run: 4 ranks ended without MPI_Finalize. The verdict is of the first ";
        assert!(headline.starts_with(missing), "{headline}");
        // What the launcher says of a rank that was killed is its exit status.
        let until = if ended.status > 128 { "until the job was killed" } else { "until ranks ended" };
        assert!(headline.contains(&format!(", {until}. ")), "{headline}");
        let duration_s = report(&out).unwrap()["job"]["duration_s"].as_f64().unwrap();
        assert!(basis["until_s"].as_f64().unwrap() <= duration_s, "{basis:#}");
    }
}

#[test]
fn of_a_run_that_hung_to_its_end_there_is_none() {
    for mpi in Mpi::sample_or_skip("verdict_basis of_a_run_that_hung_to_its_end_there_is_none") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let mut command = mpiscope(&["run", "--no-dashboard", "--hang-after", "1", "--out"]).unwrap();
        command.arg(&out).arg("--").args(mpi.words(4, &mpi.app("stuck").unwrap(), &["ring"]));
        mpi.prepare(&mut command).unwrap();
        let running = Running::start(&mut command).unwrap();
        let hangs = || running.errors_until_now().contains("Deadlock").then_some(());
        processes::until(LIMIT, hangs).unwrap_or_else(|| panic!("{}", running.errors_until_now()));
        processes::signal(running.process(), Signal::INT);
        let ended = running.wait(LIMIT).unwrap();
        let (headline, basis) = said_everywhere(&out, &ended.errors());
        assert_eq!(basis["state"], "hung", "{basis:#}");
        assert!(headline.contains("the run hung to its end"), "{headline}");
    }
}

#[test]
fn of_a_run_that_lost_most_of_its_calls_there_is_none() {
    for mpi in Mpi::sample_or_skip("verdict_basis of_a_run_that_lost_most_of_its_calls_there_is_none") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let mut command = record(&mpi, 2, &mpi.app("million").unwrap(), &["200000"], &out).unwrap();
        command.env("MPISCOPE_RING_SLOTS", "64").env("MPISCOPE_RING_OTHER_SLOTS", "64");
        let running = Running::start(&mut command).unwrap();
        let daemon = daemon_of(&running).unwrap();
        until_log_has(&out, 20_000).unwrap();
        // While it is stopped nobody reads the rings.
        processes::signal(daemon, Signal::STOP);
        let is_over = || (!running.output_until_now().is_empty()).then_some(());
        processes::until(LIMIT, is_over).expect("the program prints nothing");
        processes::signal(daemon, Signal::CONT);
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let (headline, basis) = said_everywhere(&out, &ended.errors());
        assert_eq!(basis["state"], "lost", "{basis:#}");
        let totals = &report(&out).unwrap()["totals"];
        let number = |name: &str| totals[name].as_u64().unwrap() as f64;
        let share = number("lost_calls") / (number("lost_calls") + number("calls") + number("polls"));
        assert!((basis["missing_share"].as_f64().unwrap() - share).abs() < 0.01, "{basis:#} {totals:#}");
        assert!(headline.contains(&format!("{:.0} % of the calls are missing", 100.0 * share)), "{headline}");
    }
}
