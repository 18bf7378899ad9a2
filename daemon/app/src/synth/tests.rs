//! A recording of a simulated job holds the truth about it.

use super::*;
use mpiscope_engine::load::{Loaded, load};
use mpiscope_recording::{Recording, State};
use mpiscope_synth::{DISTURBANCES, PATTERNS};
use std::os::unix::fs::PermissionsExt as _;

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
