//! Recordings of every version of the format that was released: they are read as on the first day.

use crate::support::{Feed, Page, block_on};
use mpiscope_harness::{
    LIMIT, Mpi, Running, Signal, check, folder, mpiscope, processes, report, root, run, skip,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether all earlier findings are there; more may be.
fn differences(was: &Value, is: &Value, at: &str, found: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (key, was) in was {
                differences(was, is.get(key).unwrap_or(&Value::Null), &format!("{at}.{key}"), found);
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (number, (was, is)) in was.iter().zip(is).enumerate() {
                differences(was, is, &format!("{at}[{number}]"), found);
            }
        }
        _ if was == is => {}
        _ => found.push(format!("{at}: {was} became {is}")),
    }
}

/// Opens a kept recording in all ways.
fn is_read(kept: &Path) {
    let recording = kept.join("recording");
    let was: Value = serde_json::from_slice(&std::fs::read(kept.join("report.json")).unwrap()).unwrap();
    let mut found = Vec::new();
    differences(&was, &report(&recording).unwrap(), "report", &mut found);
    assert_eq!(found, Vec::<String>::new(), "{}", kept.display());
    let (status, checked) = check(&recording).unwrap();
    assert_eq!((status, &checked["is_whole"]), (0, &true.into()), "{}: {checked:#}", kept.display());

    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(&recording)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    block_on(async {
        let mut feed = Feed::open(&page).await;
        let state = feed.state().await;
        let calls = was["totals"]["calls"].as_u64().unwrap();
        assert_eq!(state.totals.unwrap().calls, calls);
        let ask = |ask: &str| json!({"ask": ask, "id": 1, "from_ns": 0, "to_ns": state.clock.now_ns + 1, "most": 100_000, "bins": 16});
        assert_eq!(feed.ask(ask("calls")).await.calls().unwrap().total, calls);
        assert_eq!(feed.ask(ask("history")).await.history().unwrap().total, calls);
        let timeline = feed.ask(ask("timeline")).await.timeline().unwrap();
        assert_eq!(timeline.counts.0.iter().sum::<f64>() as u64, calls);
        let pairs = feed.ask(ask("pairs")).await.pairs().unwrap();
        let messages = was["totals"]["messages"].as_u64().unwrap();
        assert_eq!(pairs.messages.0.iter().sum::<f64>() as u64, messages);
    });
    processes::signal(running.process(), Signal::INT);
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
}

#[test]
fn what_earlier_versions_wrote_is_read() {
    let folder = root().join("tests/recordings");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<PathBuf> = entries.filter(|path| path.join("report.json").exists()).collect();
    if kept.is_empty() {
        skip("golden what_earlier_versions_wrote_is_read", "no version of the format is released yet");
    }
    kept.iter().for_each(|kept| is_read(kept));
    // What the first version did not sum up is not known: its rows are not read for it.
    let first = folder.join("1/recording");
    if first.exists() {
        assert_eq!(report(&first).unwrap()["message_sizes"], Value::Null);
    }
}

#[test]
fn one_of_today_can_be_made_to_be_kept() {
    let test = "golden one_of_today_can_be_made_to_be_kept";
    if Mpi::sample_or_skip(test).is_empty() {
        return;
    }
    let folder = folder().unwrap();
    let kept = folder.path().join("1");
    let program = mpiscope(&[]).unwrap();
    let mut make = Command::new(root().join("tests/recordings/make"));
    let ended = run(make.arg(&kept).env("MPISCOPE_PROGRAM", program.get_program()), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    is_read(&kept);
    let bytes: u64 = ended.output().trim().parse().unwrap();
    assert!(bytes < 150_000, "{bytes} bytes are many to keep");
    let manifest = std::fs::read_to_string(kept.join("recording/manifest.json")).unwrap();
    assert!(!manifest.contains(root().to_str().unwrap()), "{manifest}");

    let mut other: Value = serde_json::from_slice(&std::fs::read(kept.join("report.json")).unwrap()).unwrap();
    let mut found = Vec::new();
    other["totals"]["calls"] = 7.into();
    differences(&other, &report(&kept.join("recording")).unwrap(), "report", &mut found);
    assert!(found.len() == 1 && found[0].contains("totals.calls"), "{found:?}");
}
