//! A recording of a simulated job holds the truth about it.

use super::*;
use mpiscope_engine::load::{Loaded, load};
use mpiscope_recording::{Recording, State};
use mpiscope_synth::{DISTURBANCES, PATTERNS};
use mpiscope_verdict::{Findings, diagnose, read, write};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

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

#[test]
fn what_the_first_reading_found_stays_where_the_second_takes_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made");
    let mut spec = Spec::new("ring".parse().unwrap(), 16, 6.0, 60_000.0);
    spec.disturb = vec!["imbalance".parse().unwrap()];
    let mut run = generate(&spec).unwrap();
    let second: Arc<Mutex<Option<Findings>>> = Arc::default();
    let kept = Arc::clone(&second);
    let diagnose = move |out: &Path, _| {
        let recording = Recording::open(out)?;
        let mut keep = |first: &Findings| write(out, first);
        let found = diagnose(&recording, &recording.wal()?, 1, Some(&mut keep))?;
        *kept.lock().unwrap() = Some(found);
        anyhow::bail!("it would take too long")
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
    assert_eq!(manifest.missing, ["the second of two readings for the verdict: it would take too long"]);
    let (first, second) = (read(&out).unwrap().unwrap(), second.lock().unwrap().take().unwrap());
    assert!(first.is_first_reading && !second.is_first_reading);
    let (first, second) = (first.diagnosis.verdict, second.diagnosis.verdict);
    assert_eq!((first.cause.as_str(), second.cause.as_str()), ("pattern", "pattern"));
    let ratio = first.avoidable_s / second.avoidable_s;
    assert!((0.85..1.15).contains(&ratio), "{} of {} s", first.avoidable_s, second.avoidable_s);
    let is_first = |remark: &&String| remark.starts_with("Savings are estimated from ");
    assert_eq!(first.remarks.iter().filter(is_first).count(), 1, "{:?}", first.remarks);
    assert_eq!(second.remarks.iter().filter(is_first).count(), 0);
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
