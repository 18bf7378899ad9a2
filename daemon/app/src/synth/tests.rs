//! A recording of a simulated job holds the truth about it.

use super::*;
use mpiscope_engine::load::{Loaded, load};
use mpiscope_feed::BasisState;
use mpiscope_recording::{Recording, State};
use mpiscope_synth::{DISTURBANCES, PATTERNS};
use mpiscope_verdict::{Findings, Limits, diagnose, read, write};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn recorded(spec: &Spec) -> (tempfile::TempDir, Truth, Loaded) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made");
    let truth = record(spec, &out, &Interrupt::none("")).unwrap();
    let recording = Recording::open(&out).unwrap();
    let loaded = load(&out, &recording).unwrap();
    (folder, truth, loaded)
}

fn assert_true(truth: &Truth, loaded: &Loaded, what: &str) {
    let totals = &loaded.totals;
    assert_eq!(loaded.state, State::Complete, "{what}");
    assert_eq!(loaded.losses.total(), truth.lost_calls, "{what}");
    assert_eq!(totals.calls + totals.polls + truth.lost_calls, truth.calls, "{what}");
    assert_eq!(loaded.job.ranks, truth.ranks, "{what}");
    if truth.lost_calls == 0 {
        assert_eq!(loaded.missing, Vec::<String>::new(), "{what}");
        assert_eq!(totals.calls, truth.rows_of_rank.iter().sum::<u64>(), "{what}");
        assert_eq!(totals.messages, truth.intra_messages + truth.inter_messages, "{what}");
        assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{what}");
        let found = (totals.intra_messages, totals.inter_messages, totals.bytes);
        assert_eq!(found, (truth.intra_messages, truth.inter_messages, truth.bytes), "{what}");
    }
}

#[test]
fn recordings_say_what_is_true_of_every_pattern() {
    for pattern in PATTERNS {
        let mut spec = Spec::new(pattern.parse().unwrap(), 16, 0.3, 50_000.0);
        spec.nodes = 4;
        let (_folder, truth, loaded) = recorded(&spec);
        assert_true(&truth, &loaded, pattern);
        let has_both = truth.inter_messages > 0 && truth.intra_messages > 0;
        assert!(has_both || pattern == "collectives", "{pattern}");
        assert_eq!(loaded.job.exit, Some(0));
    }
}

#[test]
fn recordings_say_what_is_true_whatever_disturbs() {
    for disturbance in DISTURBANCES {
        let mut spec = Spec::new("halo2d".parse().unwrap(), 16, 0.6, 50_000.0);
        spec.nodes = 4;
        spec.disturb = vec![disturbance.parse().unwrap()];
        let (_folder, truth, loaded) = recorded(&spec);
        assert_true(&truth, &loaded, disturbance);
        assert_eq!(disturbance == "lost-records", truth.lost_calls > 0);
    }
}

/// What is left of a simulated run that was diagnosed within these limits, and what is missing of it. The process fails if it may not
/// come to its end; then what it would have found comes last.
fn diagnosed_within(limits: Limits, ends: bool) -> (Findings, Vec<String>, Findings) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made");
    let mut spec = Spec::new("ring".parse().unwrap(), 16, 2.0, 60_000.0);
    spec.disturb = vec!["imbalance".parse().unwrap()];
    let mut run = generate(&spec).unwrap();
    let last: Arc<Mutex<Option<Findings>>> = Arc::default();
    let kept = Arc::clone(&last);
    let diagnose = move |out: &Path, _| {
        let recording = Recording::open(out)?;
        let mut keep = |first: &Findings| write(out, first);
        let found = diagnose(&recording, &recording.wal()?, &limits, Some(&mut keep))?;
        if ends {
            write(out, &found)?;
        }
        *kept.lock().unwrap() = Some(found);
        anyhow::ensure!(ends, "it would take too long");
        Ok(())
    };
    let (manifest, ()) = record_told(
        &out,
        Box::new(diagnose),
        |_| {},
        move |teller| {
            run.by_ref().for_each(|message| teller.tell(message));
            Ok(())
        },
    )
    .unwrap();
    let last = last.lock().unwrap().take().unwrap();
    (read(&out).unwrap().unwrap(), manifest.missing, last)
}

#[test]
fn what_the_first_reading_found_stays_where_the_second_takes_too_long() {
    for (most_calls, is_whole) in [(1 << 20, true), (40_000, false)] {
        let limits = Limits { most_calls, ..Limits::new(1) };
        let (first, missing, second) = diagnosed_within(limits, false);
        assert_eq!(missing, ["the second of two readings for the verdict: it would take too long"]);
        assert!(first.is_first_reading && !second.is_first_reading);
        let (first, second) = (first.diagnosis.verdict, second.diagnosis.verdict);
        assert_eq!((first.cause.as_str(), second.cause.as_str()), ("pattern", "pattern"));
        let off = (first.avoidable_s / second.avoidable_s - 1.0).abs();
        assert!(
            off < if is_whole { 1e-9 } else { 0.15 },
            "{} of {} s",
            first.avoidable_s,
            second.avoidable_s
        );
        let of_parts = |remark: &&String| remark.starts_with("Savings are estimated from ");
        let of_first = first.remarks.iter().filter(of_parts).count();
        assert_eq!(of_first, usize::from(!is_whole), "{:?}", first.remarks);
        assert_eq!(second.remarks.iter().filter(of_parts).count(), 0);
    }
}

#[test]
fn any_number_of_workers_finds_the_same() {
    let found = |workers| {
        let (found, missing, _) = diagnosed_within(Limits::new(workers), true);
        assert!(missing.is_empty() && found.diagnosis.verdict.cause == "pattern", "{missing:?}");
        serde_json::to_string(&found).unwrap()
    };
    let alone = found(1);
    for workers in [2, 3] {
        assert!(found(workers) == alone, "{workers} workers find something else");
    }
}

#[test]
fn where_there_is_no_time_for_a_reading_the_verdict_is_of_the_first_part_of_the_run() {
    for most_calls in [1 << 20, 40_000] {
        let limits = Limits { most_calls, time: Some(Duration::ZERO), ..Limits::new(1) };
        let (found, missing, _) = diagnosed_within(limits, true);
        assert_eq!(missing, ["the second of two readings for the verdict: there was no time"]);
        let basis = &found.diagnosis.verdict.basis;
        assert_eq!(basis.state, BasisState::Part, "{basis:?}");
        assert!(basis.sentence.starts_with("There was time to diagnose the first "), "{basis:?}");
        assert!(found.diagnosis.verdict.is_at_least, "nothing was replayed");
        assert!(basis.until_s.is_some_and(|until_s| (0.0..1.9).contains(&until_s)), "{basis:?}");
    }
}

#[test]
fn what_an_earlier_diagnosis_left_is_not_taken_for_that_of_this_run() {
    let folder = tempfile::tempdir().unwrap();
    let (out, earlier) = (folder.path().join("made"), folder.path().join("earlier"));
    let mut spec = Spec::new("ring".parse().unwrap(), 4, 0.1, 10_000.0);
    spec.disturb = vec!["imbalance".parse().unwrap()];
    record(&spec, &earlier, &Interrupt::none("")).unwrap();
    let findings = earlier.join(mpiscope_verdict::FILE);
    let left = out.join(mpiscope_verdict::FILE);
    let mut run = generate(&spec).unwrap();
    let diagnose = |_: &Path, _| anyhow::bail!("it failed");
    let (manifest, ()) = record_told(
        &out,
        Box::new(diagnose),
        |_| {},
        move |teller| {
            std::fs::copy(&findings, &left)?;
            run.by_ref().for_each(|message| teller.tell(message));
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(manifest.missing, ["there is no diagnosis: it failed"]);
    assert!(read(&earlier).unwrap().is_some());
    assert_eq!(read(&out).unwrap(), None);
}

#[test]
fn the_truth_lies_beside_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made");
    let truth =
        record(&Spec::new("ring".parse().unwrap(), 4, 0.1, 20_000.0), &out, &Interrupt::none("")).unwrap();
    write_truth(&truth, &out).unwrap();
    let file = out.join(TRUTH_FILE);
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(
        (written["schema"].as_str(), written["calls"].as_u64()),
        (Some("mpiscope.truth/1"), Some(truth.calls))
    );
    assert_eq!(written["pairs"].as_array().map(Vec::len), Some(4));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!out.join("wal").exists());
}

#[test]
fn a_job_that_makes_no_sense_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made");
    let refused = record(&Spec::new("ring".parse().unwrap(), 4, 0.1, 1e12), &out, &Interrupt::none(""))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("more than this job can make") && !out.exists(), "{refused}");
}
