//! A long run keeps the newest part and reports what was dropped.

use mpiscope_model::{Call, Comm, Message, Rank};
use mpiscope_recording::{Keep, Manifest, Recording, RecordingOptions, RecordingWriter, Summary, Tables};
use std::fs;
use std::path::Path;
use std::time::Duration;

const MS: u64 = 1_000_000;

fn recorded(dir: &Path, keep: Keep) -> (Manifest, u64) {
    let options = RecordingOptions {
        calls_per_segment: 1_000,
        messages_per_segment: 1_000,
        ..RecordingOptions::default()
    };
    let mut writer =
        RecordingWriter::create(dir, Manifest::default(), options).unwrap().keeping(keep).unwrap();
    let mut most_bytes = 0;
    for at in 0..200 {
        let calls: Vec<Call> = (0..500)
            .map(|number: u64| {
                let start_ns = at * 100 * MS + number * MS / 5;
                Call {
                    rank: Rank((number % 4) as u32),
                    start_ns,
                    end_ns: start_ns + number * 7,
                    ..Call::default()
                }
            })
            .collect();
        let message = |call: &Call| Message {
            src: Rank(0),
            dst: call.rank,
            tag: 0,
            comm: Comm::WORLD,
            bytes: 1,
            send_ns: call.start_ns,
            recv_ns: call.end_ns,
            t_msg_ns: 5,
            late_sender_ns: 0,
            late_receiver_ns: None,
            inter: false,
            exact: true,
        };
        writer.push_messages(&calls.iter().map(message).collect::<Vec<_>>()).unwrap();
        writer.push_calls(&calls).unwrap();
        writer.trim().unwrap();
        let files = |folder: &str| {
            fs::read_dir(dir.join(folder))
                .unwrap()
                .map(|file| file.unwrap().metadata().unwrap().len())
                .sum::<u64>()
        };
        most_bytes = most_bytes.max(files("calls") + files("messages"));
    }
    (writer.finish(&Tables::default(), &Summary::default()).unwrap(), most_bytes)
}

fn left(dir: &Path) -> (u64, u64, u64) {
    let recording = Recording::open(dir).unwrap();
    let mut calls = recording.calls();
    let rows: Vec<Call> = calls.by_ref().flatten().collect();
    assert_eq!(calls.faults(), []);
    let mut messages = recording.messages();
    let count = messages.by_ref().map(|batch| batch.len() as u64).sum();
    assert_eq!(messages.faults(), []);
    (rows.len() as u64, count, rows.iter().map(|call| call.end_ns).min().unwrap())
}

#[test]
fn the_newest_seconds_are_kept_and_nothing_is_dropped_untold() {
    let dir = tempfile::tempdir().unwrap();
    let (manifest, _) = recorded(dir.path(), Keep::Last(Duration::from_secs(5)));
    let cut = manifest.cut.unwrap();
    let (calls, messages, first_ns) = left(dir.path());
    assert_eq!((calls + cut.calls, messages + cut.messages), (100_000, 100_000));
    // 20 s were made; what is kept reaches back at least 5 s, and not much further.
    assert!((13_500 * MS..=15_000 * MS).contains(&first_ns), "{first_ns}");
    assert!(cut.until_ns >= first_ns - 200 * MS && cut.until_ns < 15_000 * MS);
    assert_eq!(manifest.summary, []);
}

#[test]
fn no_more_bytes_are_kept_than_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let (manifest, most_bytes) = recorded(dir.path(), Keep::Bytes(400_000));
    let cut = manifest.cut.unwrap();
    let (calls, messages, _) = left(dir.path());
    assert_eq!((calls + cut.calls, messages + cut.messages), (100_000, 100_000));
    assert!(most_bytes <= 400_000, "{most_bytes}");
    assert!(calls > 5_000, "{calls}");
}

#[test]
fn what_fits_is_kept_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (manifest, _) = recorded(dir.path(), Keep::Bytes(1 << 30));
    assert_eq!(manifest.cut, None);
    assert_eq!(left(dir.path()).0, 100_000);
}
