//! A disk that takes no more. The limit on the size of files stands in for it: the system then refuses writes in the
//! same places, and a test may set it.

use mpiscope_model::{Call, Message};
use mpiscope_recording::{
    Manifest, Recording, RecordingOptions, RecordingWriter, State, Summary, Tables, WalReader, WalWriter,
};
use mpiscope_wire::{FrameKind, encode_frame};
use std::path::Path;
use std::process::Command;

const FOLDER_VARIABLE: &str = "MPISCOPE_TEST_FOLDER";

/// Runs `work` in a process of its own whose files end at 64 KiB: the same test once more, which finds itself there.
/// Returns whether this is that process, and the test is done.
fn run_limited(test: &str, dir: &Path, work: fn(&Path)) -> bool {
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        work(Path::new(&folder));
        return true;
    }
    let ended = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact --nocapture \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg(format!("disk_full::{test}"))
        .env(FOLDER_VARIABLE, dir)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && text.contains("test result: ok. 1 passed"), "{text}");
    false
}

fn noisy_calls(count: u64) -> Vec<Call> {
    let noise = |at: u64| {
        let mixed = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
    };
    (0..count)
        .map(|at| Call { function: 1, start_ns: noise(at), end_ns: noise(at + 1), ..Call::default() })
        .collect()
}

fn limited_segments(folder: &Path) {
    let options = RecordingOptions { calls_per_segment: 1000, ..RecordingOptions::default() };
    let mut writer = RecordingWriter::create(folder, Manifest::default(), options).unwrap();
    let mut log = WalWriter::create(folder).unwrap();
    let mut frame = Vec::new();
    encode_frame(FrameKind::Slots, &[1], &mut frame);
    log.write(&frame).unwrap();
    log.sync().unwrap();
    writer.push_calls(&noisy_calls(1500)).unwrap();
    writer.seal().unwrap();
    drop(writer);

    // What was sealed stays when a larger segment does not fit.
    let mut writer = RecordingWriter::rebuild(
        folder,
        RecordingOptions { calls_per_segment: 100_000, ..RecordingOptions::default() },
    )
    .unwrap();
    writer.push_calls(&noisy_calls(50_000)).unwrap();
    // These do fit, and are of no use without the calls.
    writer.push_messages(&[Message::default()]).unwrap();
    let error = writer.finish(&Tables::default(), &Summary::default()).unwrap_err();
    assert!(error.is_disk_full(), "{error}");
    assert!(error.to_string().contains("calls/000002.parquet"), "{error}");
    assert_eq!(Recording::open(folder).unwrap().calls().flatten().count(), 1500);
}

#[test]
fn a_segment_that_does_not_fit_leaves_the_recording_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    if run_limited("a_segment_that_does_not_fit_leaves_the_recording_as_it_was", dir.path(), limited_segments)
    {
        return;
    }
    let names = |folder: &str| dir.path().join(folder).read_dir().unwrap().count();
    assert_eq!(
        (names("calls"), names("messages")),
        (2, 0),
        "what nobody reads takes the room of the last words"
    );
    assert_eq!(WalReader::open(dir.path()).unwrap().for_each_frame(|_| {}).frames, 1);
}

fn limited_recording(folder: &Path) {
    let options = RecordingOptions { calls_per_segment: 50_000, ..RecordingOptions::default() };
    let mut writer = RecordingWriter::create(folder, Manifest::default(), options).unwrap();
    drop(WalWriter::create(folder).unwrap());
    let mut pushed = writer.push_calls(&noisy_calls(60_000));
    // The segment is written beside: its error comes with a later call.
    while pushed.is_ok() {
        pushed = writer.push_calls(&[]);
    }
    let error = pushed.unwrap_err();
    assert!(error.is_disk_full(), "{error}");
    assert_eq!(writer.unwritten_rows(), 50_000);
    writer.push_calls(&noisy_calls(1)).unwrap();
    drop(writer);
}

#[test]
fn rows_that_do_not_fit_are_counted_and_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    if run_limited("rows_that_do_not_fit_are_counted_and_others_go_on", dir.path(), limited_recording) {
        return;
    }
    assert_eq!(Recording::open(dir.path()).unwrap().manifest().state, State::Running);
}

fn limited_end(folder: &Path) {
    let options = RecordingOptions { calls_per_segment: 50_000, ..RecordingOptions::default() };
    let mut writer = RecordingWriter::create(folder, Manifest::default(), options).unwrap();
    drop(WalWriter::create(folder).unwrap());
    let _ = writer.push_calls(&noisy_calls(50_100));
    let manifest = writer.finish(&Tables::default(), &Summary::default()).unwrap();
    assert_eq!(manifest.state, State::Incomplete);
}

#[test]
fn an_end_with_rows_missing_says_so_and_keeps_the_log() {
    let dir = tempfile::tempdir().unwrap();
    if run_limited("an_end_with_rows_missing_says_so_and_keeps_the_log", dir.path(), limited_end) {
        return;
    }
    let recording = Recording::open(dir.path()).unwrap();
    assert_eq!(recording.manifest().state, State::Incomplete);
    let [missing, reason] = &recording.manifest().missing[..] else {
        panic!("{:?}", recording.manifest().missing)
    };
    assert!(missing.starts_with("50000 calls could not be written"), "{missing}");
    assert!(reason.contains("calls/000000.parquet"), "{reason}");
    assert_eq!(recording.calls().flatten().count(), 100);
    assert!(!recording.wal().unwrap().is_empty());
}

fn limited_log(folder: &Path) {
    let mut log = WalWriter::create(folder).unwrap();
    let mut failed = 0;
    // Ten times what is kept for another try.
    for number in 0..80_000_u32 {
        let mut frame = Vec::new();
        encode_frame(FrameKind::Slots, &[number.to_le_bytes(); 250].concat(), &mut frame);
        failed += u32::from(log.write(&frame).is_err());
    }
    let error = log.sync().unwrap_err();
    assert!(error.is_disk_full() && failed > 0, "{error}");
    assert!(log.dropped_bytes() > 70 << 20, "{}", log.dropped_bytes());
}

#[test]
fn a_log_that_does_not_fit_keeps_what_does() {
    let dir = tempfile::tempdir().unwrap();
    if run_limited("a_log_that_does_not_fit_keeps_what_does", dir.path(), limited_log) {
        return;
    }
    let mut frames = Vec::new();
    let summary =
        WalReader::open(dir.path()).unwrap().for_each_frame(|frame| frames.push(frame.payload.to_vec()));
    assert!(frames.len() >= 64, "{summary:?}");
    assert!(summary.bytes >= 64 << 10);
}
