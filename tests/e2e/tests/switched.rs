//! Recording switched off and on while a job runs: what was made meanwhile is a gap, and nothing is paired wrongly.

use crate::support::hosts::Job;
use crate::support::turns::Turns;
use mpiscope_harness::{
    LIMIT, Lab, LabOptions, Mpi, Recorded, Running, Truth, folder, mpiscope, processes, report, run,
};
use std::path::Path;
use std::time::Instant;

const RANKS: u32 = 4;

fn start(mpi: &Mpi, out: &Path, options: &[&str], turns: &Turns) -> Running {
    let mut command = mpiscope(&["run", "--no-dashboard"]).unwrap();
    command.args(options).arg("--out").arg(out).arg("--");
    command.args(mpi.words(RANKS, &mpi.app("paced").unwrap(), &turns.arguments()));
    mpi.prepare(&mut command).unwrap();
    Running::start(&mut command).unwrap()
}

/// Says the word, once somebody records.
fn switch(word: &str, out: &Path) {
    let answered = || {
        let ended = run(mpiscope(&[word]).unwrap().arg(out), LIMIT).unwrap();
        (ended.status == 0).then_some(())
    };
    processes::until(LIMIT, answered).unwrap_or_else(|| panic!("{word} is not understood"));
}

/// Recorded, lost and unrecorded calls are what was made, and messages are paired with their own.
fn assert_nothing_is_missing(out: &Path, stdout: &[u8]) {
    let truth = Truth::parse(stdout).unwrap();
    let report = report(out).unwrap();
    let number = |name: &str| report["totals"][name].as_u64().unwrap();
    let unrecorded = report["pauses"]["calls"].as_u64().unwrap();
    assert!(unrecorded > 0, "{report:#}");
    assert_eq!(number("lost_calls"), 0, "{report:#}");
    assert_eq!(number("calls") + number("polls") + unrecorded, truth.all_calls(), "{report:#}");
    // Where recording begins some may be of either turn.
    assert!(number("uncertain_messages") <= 16 * u64::from(RANKS), "{report:#}");
    let recorded = Recorded::load(out).unwrap();
    assert!(!recorded.messages.is_empty());
    // All messages are of 4 bytes; one that is paired across a gap would have been under way throughout.
    for gap in report["pauses"]["gaps"].as_array().unwrap() {
        let (from_ns, until_ns) = (gap["from_ns"].as_u64().unwrap(), gap["until_ns"].as_u64().unwrap());
        let across = recorded
            .messages
            .iter()
            .find(|message| message.send_ns <= from_ns && message.recv_ns >= until_ns);
        assert_eq!(across, None, "{from_ns} to {until_ns}");
    }
}

#[test]
fn what_was_made_while_recording_was_off_is_a_gap() {
    for mpi in Mpi::sample_or_skip("switched what_was_made_while_recording_was_off_is_a_gap") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let turns = Turns::new(folder.path());
        let running = start(&mpi, &out, &[], &turns);
        turns.wait_for(100);
        let begun = Instant::now();
        switch("pause", &out);
        let paused = Instant::now();
        turns.wait_for(200);
        let least_off_s = paused.elapsed().as_secs_f64() / 2.0;
        switch("resume", &out);
        turns.wait_for(100);
        let most_off_s = begun.elapsed().as_secs_f64();
        turns.end();
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert!(ended.errors().contains("recording is switched off"), "{}", ended.errors());
        assert_nothing_is_missing(&out, &ended.stdout);
        let gaps = report(&out).unwrap()["pauses"]["gaps"].as_array().unwrap().clone();
        assert_eq!(gaps.len(), 1);
        let off_ns = gaps[0]["until_ns"].as_u64().unwrap() - gaps[0]["from_ns"].as_u64().unwrap();
        assert!((least_off_s..most_off_s).contains(&(off_ns as f64 / 1e9)), "{off_ns} ns");
    }
}

#[test]
fn a_flight_recorder_has_the_end_of_the_job() {
    for mpi in Mpi::sample_or_skip("switched a_flight_recorder_has_the_end_of_the_job") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let turns = Turns::new(folder.path());
        let running = start(&mpi, &out, &["--flight", "1s"], &turns);
        turns.wait_for(600);
        turns.end();
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_nothing_is_missing(&out, &ended.stdout);
        let report = report(&out).unwrap();
        let held_s = report["job"]["duration_s"].as_f64().unwrap()
            - report["pauses"]["gaps"][0]["until_ns"].as_f64().unwrap() / 1e9;
        assert!((0.9..2.5).contains(&held_s), "{report:#}");
        let recorded = Recorded::load(&out).unwrap();
        let at = |of: Option<u64>| of.unwrap() as f64 / 1e9;
        let first_s = at(recorded.calls.iter().map(|call| call.start_ns).min());
        let last_s = at(recorded.calls.iter().map(|call| call.end_ns).max());
        // A second, and at most half of one more, as what goes goes in parts; the machine may be busy.
        assert!((0.8..3.0).contains(&(last_s - first_s)), "{first_s} to {last_s}");
    }
}

#[test]
fn a_flight_recorder_goes_on_when_somebody_switches_it_on() {
    for mpi in Mpi::sample_or_skip("switched a_flight_recorder_goes_on_when_somebody_switches_it_on") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let turns = Turns::new(folder.path());
        let running = start(&mpi, &out, &["--flight", "1s"], &turns);
        turns.wait_for(400);
        switch("resume", &out);
        turns.wait_for(100);
        turns.end();
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert!(ended.errors().contains("recording is switched on, with the last"), "{}", ended.errors());
        assert_nothing_is_missing(&out, &ended.stdout);
    }
}

#[test]
fn a_run_may_begin_without_recording() {
    for mpi in Mpi::sample_or_skip("switched a_run_may_begin_without_recording") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let turns = Turns::new(folder.path());
        let running = start(&mpi, &out, &["--paused"], &turns);
        turns.wait_for(200);
        switch("resume", &out);
        turns.wait_for(100);
        turns.end();
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_nothing_is_missing(&out, &ended.stdout);
        let again = run(mpiscope(&["pause"]).unwrap().arg(&out), LIMIT).unwrap();
        assert_ne!(again.status, 0, "there is nobody to be switched");
    }
}

#[test]
fn ranks_on_other_hosts_are_switched_too() {
    let test = "switched ranks_on_other_hosts_are_switched_too";
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(3).skewed_clocks(), test).unwrap() else { return };
    for mpi in Mpi::sample_or_skip(test) {
        for options in [&["--paused"], &["--flight=1s"]] {
            let out = lab.shared().join(format!("{}{}", mpi.family.word(), options[0]));
            let turns = Turns::new(lab.shared());
            let job = Job::new(&mpi, "paced").arguments(&turns.arguments()).with(options);
            let running = Running::start(&mut job.recorded(&lab, 6, &out)).unwrap();
            turns.wait_for(400);
            // Whoever may write into the recording may switch, from any host.
            processes::until(LIMIT, || {
                let resume = mpiscope(&["resume"]).unwrap();
                let mut words = vec![resume.get_program().to_owned(), "resume".into()];
                words.push(out.clone().into());
                (run(&mut lab.exec("node1", &words), LIMIT).unwrap().status == 0).then_some(())
            })
            .unwrap();
            turns.wait_for(100);
            turns.end();
            let ended = running.wait(LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            assert_nothing_is_missing(&out, &ended.stdout);
            let recorded = Recorded::load(&out).unwrap();
            let ranks: std::collections::BTreeSet<u32> =
                recorded.calls.iter().map(|call| call.rank.0).collect();
            assert_eq!(ranks.len(), 6, "{options:?}");
        }
    }
}
