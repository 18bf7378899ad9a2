//! Hangs: who waits for whom is printed once during the hang, and is in the recording.

use crate::support::hosts_for_two_more;
use mpiscope_harness::{Ended, LIMIT, Mpi, Running, Signal, folder, mpiscope, processes, report, run};
use serde_json::Value;
use std::any::Any;
use std::path::{Path, PathBuf};

const RANKS: u32 = 4;
/// The part of the report.
const HANGS: &str = "standing"; // words: allow the key of the report

/// A recorded job that hangs in some way.
struct Stuck {
    running: Running,
    out: PathBuf,
    _folder: Box<dyn Any>,
}

/// Starts it; a hang is reported after a second.
fn stuck(mpi: &Mpi, words: &[&str]) -> Stuck {
    stuck_with(mpi, &[], words)
}

fn stuck_with(mpi: &Mpi, options: &[&str], words: &[&str]) -> Stuck {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let mut command = mpiscope(&["run", "--no-dashboard", "--hang-after", "1"]).unwrap();
    command.args(options).arg("--out").arg(&out).arg("--").args(mpi.words(
        RANKS,
        &mpi.app("stuck").unwrap(),
        words,
    ));
    mpi.prepare(&mut command).unwrap();
    Stuck { running: Running::start(&mut command).unwrap(), out, _folder: Box::new(folder) }
}

impl Stuck {
    /// The text on the terminal, once it has all these words: its lines come one after the other.
    fn wait_for_words(&self, words: &[&str]) -> String {
        let terminal = || {
            let errors = self.running.errors_until_now();
            words.iter().all(|word| errors.contains(word)).then_some(errors)
        };
        processes::until(LIMIT, terminal)
            .unwrap_or_else(|| panic!("not all of {words:?}: {}", self.running.errors_until_now()))
    }

    /// Ends it as a user does who has seen enough.
    fn stop(self) -> (Ended, Value, Box<dyn Any>, PathBuf) {
        processes::signal(self.running.process(), Signal::INT);
        let ended = self.running.wait(LIMIT).unwrap();
        let report = report(&self.out).unwrap();
        (ended, report, self._folder, self.out)
    }
}

fn last_hang(report: &Value) -> Value {
    report[HANGS]["stills"].as_array().unwrap().last().unwrap().clone()
}

fn text_of(out: &Path) -> String {
    run(mpiscope(&["report"]).unwrap().arg(out), LIMIT).unwrap().output()
}

#[test]
fn a_circle_of_receives_is_named_with_its_call_sites() {
    for mpi in Mpi::all_or_skip("hang a_circle_of_receives_is_named_with_its_call_sites") {
        let stuck = stuck(&mpi, &["ring"]);
        let terminal = stuck.wait_for_words(&[
            "the job hangs",
            "Deadlock: 4 ranks wait for each other.",
            "it waits for rank 0.\n",
        ]);
        let line = terminal
            .lines()
            .find(|line| line.contains("Rank 3 is in MPI_Recv from rank 0, tag 7 at stuck.c:"));
        assert!(line.is_some_and(|line| line.ends_with("it waits for rank 0.")), "{terminal}");
        let (ended, report, _folder, out) = stuck.stop();
        assert_eq!(terminal.matches("the job hangs").count(), 1, "{}", ended.errors());
        let hang = last_hang(&report);
        assert_eq!(hang["kind"], "deadlock");
        assert_eq!(hang["circles"], serde_json::json!([[0, 1, 2, 3]]));
        assert_eq!(hang["until_s"], Value::Null);
        // A rank that was in a call when its process ended is reported as well.
        let ended_in = report[HANGS]["ended_in"].as_array().unwrap();
        assert_eq!(ended_in.len(), 4, "{report:#}");
        assert!(ended_in[2]["call"].as_str().unwrap().starts_with("MPI_Recv from rank 3"), "{report:#}");
        assert!(ended_in[2]["place"].as_str().unwrap().starts_with("stuck.c:"), "{report:#}");
        let text = text_of(&out);
        assert!(text.contains("Hang since") && text.contains("rank 2 in MPI_Recv from rank 3"), "{text}");
        assert!(!text.contains("No avoidable time"), "{text}");
    }
}

/// Which receives are open and which sends wait is known to the processes that match them.
#[test]
fn a_hang_is_seen_where_other_processes_read_calls() {
    for mpi in Mpi::sample_or_skip("hang a_hang_is_seen_where_other_processes_read_calls") {
        let folder = folder().unwrap();
        let hosts = hosts_for_two_more(folder.path());
        let stuck = stuck_with(&mpi, &["--hostfile", &hosts], &["ring"]);
        stuck.wait_for_words(&[
            "the recording is shared with localhost, localhost",
            "Deadlock: 4 ranks wait for each other.",
            "Rank 3 is in MPI_Recv from rank 0, tag 7 at stuck.c:",
        ]);
        let (_, report, _folder, _) = stuck.stop();
        assert_eq!(last_hang(&report)["circles"], serde_json::json!([[0, 1, 2, 3]]));
    }
}

#[test]
fn a_flight_recorder_has_the_time_before_the_hang() {
    for mpi in Mpi::sample_or_skip("hang a_flight_recorder_has_the_time_before_the_hang") {
        let stuck = stuck_with(&mpi, &["--flight", "1s"], &["ring"]);
        stuck.wait_for_words(&[
            "the job seems to hang",
            "recording is switched on, with the last 1 s",
            "Deadlock: 4 ranks wait for each other.",
            "Rank 3 is in MPI_Recv from rank 0, tag 7 at stuck.c:",
        ]);
        let (_, report, _folder, _) = stuck.stop();
        assert_eq!(last_hang(&report)["circles"], serde_json::json!([[0, 1, 2, 3]]));
        assert_eq!(report["totals"]["lost_calls"], 0, "{report:#}");
    }
}

#[test]
fn a_tag_that_nobody_asks_for_is_named() {
    for mpi in Mpi::sample_or_skip("hang a_tag_that_nobody_asks_for_is_named") {
        let stuck = stuck(&mpi, &["tags"]);
        let mismatch = "A message from rank 0 to rank 1 has tag 5, and rank 1 asks for tag 6.";
        stuck.wait_for_words(&["the job hangs", mismatch, "Ranks 2-3 wait for them"]);
        assert_eq!(last_hang(&stuck.stop().1)["circles"], serde_json::json!([[0, 1]]));
    }
}

#[test]
fn a_rank_that_leaves_out_a_collective_is_named() {
    for mpi in Mpi::sample_or_skip("hang a_rank_that_leaves_out_a_collective_is_named") {
        let stuck = stuck(&mpi, &["left-out"]);
        stuck.wait_for_words(&["the job hangs", "Rank 0 is in MPI_Barrier at stuck.c:", "waits for rank 3"]);
        let hang = last_hang(&stuck.stop().1);
        assert_eq!((&hang["kind"], &hang["stuck"]), (&"deadlock".into(), &serde_json::json!([0, 1, 2, 3])));
    }
}

#[test]
fn receives_of_any_source_and_waits_for_requests_are_understood() {
    let name = "hang receives_of_any_source_and_waits_for_requests_are_understood";
    for mpi in Mpi::all_or_skip(name) {
        for (kind, call) in
            [("any", "MPI_Recv from any rank, any tag"), ("waitall", "MPI_Waitall for 2 requests")]
        {
            let stuck = stuck(&mpi, &[kind]);
            stuck.wait_for_words(&["the job hangs", "Deadlock", call]);
            let hang = last_hang(&stuck.stop().1);
            assert_eq!(hang["stuck"], serde_json::json!([0, 1, 2, 3]), "{kind}");
        }
    }
}

#[test]
fn who_asks_now_and_then_and_finds_nothing_moves_nothing() {
    for mpi in Mpi::sample_or_skip("hang who_asks_now_and_then_and_finds_nothing_moves_nothing") {
        let stuck = stuck(&mpi, &["asks"]);
        let asks = "rank 3, which asks again and again with MPI_Test at stuck.c:";
        stuck.wait_for_words(&["the job hangs", asks, "and finds nothing"]);
        assert_eq!(last_hang(&stuck.stop().1)["roots"][0]["rank"], 3);
    }
}

#[test]
fn a_chain_leads_to_the_computing_rank_and_the_end_of_the_hang_is_reported() {
    let name = "hang a_chain_leads_to_the_computing_rank_and_the_end_of_the_hang_is_reported";
    for mpi in Mpi::sample_or_skip(name) {
        let stuck = stuck(&mpi, &["chain", "3"]);
        stuck.wait_for_words(&[
            "the job hangs",
            "All 3 ranks that wait do so for rank 3, which has been in no MPI call",
        ]);
        let ended = stuck.running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert!(ended.errors().contains("the job moves again, after"), "{}", ended.errors());
        let report = report(&stuck.out).unwrap();
        let hang = last_hang(&report);
        assert_eq!((&hang["kind"], &hang["roots"][0]["rank"]), (&"waits".into(), &3.into()));
        let hang_s = hang["until_s"].as_f64().unwrap() - hang["since_s"].as_f64().unwrap();
        assert!(hang_s >= 2.0, "the last rank computes for three seconds: {hang:#}");
        assert_eq!(report[HANGS]["ended_in_count"], 0, "all calls returned");
    }
}

#[test]
fn a_killed_job_says_which_calls_its_ranks_were_in() {
    for mpi in Mpi::sample_or_skip("hang a_killed_job_says_which_calls_its_ranks_were_in") {
        // The launcher ends the others when it sees that one was killed.
        let stuck = stuck(&mpi, &["gone"]);
        let ended = stuck.running.wait(LIMIT).unwrap();
        assert_ne!(ended.status, 0);
        let report = report(&stuck.out).unwrap();
        let ended_in = report[HANGS]["ended_in"].as_array().unwrap();
        let rank_2 = ended_in.iter().find(|call| call["rank"] == 2);
        let rank_2 = rank_2.unwrap_or_else(|| panic!("{report:#}\n{}", ended.errors()));
        assert!(rank_2["call"].as_str().unwrap().starts_with("MPI_Recv from rank 3, tag 7"), "{report:#}");
        assert!(ended_in.iter().all(|call| call["rank"] != 3), "it was in none: {report:#}");
    }
}

#[test]
fn the_report_knows_the_last_calls_when_everything_was_killed() {
    let Some(mpi) = Mpi::all_or_skip("hang the_report_knows_the_last_calls_when_everything_was_killed").pop()
    else {
        return;
    };
    let stuck = stuck(&mpi, &["ring"]);
    stuck.wait_for_words(&["the job hangs"]);
    // Nobody may notice that another was killed.
    let family = stuck.running.family();
    for signal in [Signal::STOP, Signal::KILL] {
        family.iter().for_each(|process| processes::signal(*process, signal));
    }
    let _ = stuck.running.wait(LIMIT);
    // A rank that is still dying has not ended.
    let all_ended = || family.iter().all(|process| !processes::is_running(*process)).then_some(());
    processes::until(LIMIT, all_ended).expect("a killed process stays");
    let report = report(&stuck.out).unwrap();
    assert_eq!(report[HANGS]["ended_in_count"], 4, "{report:#}");
    assert_eq!(last_hang(&report)["kind"], "deadlock");
    let live: Value = serde_json::from_slice(&std::fs::read(stuck.out.join("live.json")).unwrap()).unwrap();
    for rings in live["rings"].as_array().unwrap() {
        std::fs::remove_dir_all(rings.as_str().unwrap()).unwrap();
    }
}
