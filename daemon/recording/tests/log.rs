//! The log survives what crashes and disks do to it.

use mpiscope_recording::{WalReader, WalSummary, WalWriter};
use mpiscope_wire::{ClockSample, FrameKind, Message, encode_frame};
use std::fs;
use std::path::Path;

fn frame(number: u8, payload_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_frame(FrameKind::Slots, &vec![number; payload_bytes], &mut bytes);
    bytes
}

fn read(dir: &Path) -> (Vec<u8>, WalSummary) {
    let mut seen = Vec::new();
    let summary = WalReader::open(dir).unwrap().for_each_frame(|frame| seen.push(frame.payload[0]));
    (seen, summary)
}

#[test]
fn frames_are_safe_from_the_end_of_the_process_once_flushed() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = WalWriter::create(dir.path()).unwrap();
    writer.write(&frame(1, 10)).unwrap();
    writer.flush().unwrap();
    writer.write(&frame(2, 10)).unwrap();
    // As a kill would: nothing of the writer runs again.
    std::mem::forget(writer);
    assert_eq!(read(dir.path()).0, [1]);
    assert!(WalWriter::create(dir.path()).is_err(), "there is a log already");
}

#[test]
fn whoever_has_enough_is_shown_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let sample = |ticks| Message::ClockSample(ClockSample { ticks, monotonic_ns: ticks });
    // In two files.
    for numbers in [[1, 2, 3], [4, 5, 6]] {
        let mut writer = WalWriter::create(dir.path()).or_else(|_| WalWriter::append_to(dir.path())).unwrap();
        for number in numbers {
            let mut bytes = Vec::new();
            sample(number).encode(&mut bytes);
            writer.write(&bytes).unwrap();
        }
        writer.flush().unwrap();
    }
    let log = WalReader::open(dir.path()).unwrap();
    for enough in [1, 2, 3, 4, 6, 9] {
        let mut seen = Vec::new();
        let faults = log.for_each_message_while(|message| {
            seen.push(message);
            seen.len() < enough
        });
        let expected: Vec<Message> = (1..=6).take(enough).map(sample).collect();
        assert_eq!((seen, faults), (expected, Vec::new()), "{enough}");
    }
}

#[test]
fn a_tail_torn_at_any_byte_costs_only_its_frame_and_writing_goes_on() {
    let whole: Vec<u8> = [frame(1, 30), frame(2, 40), frame(3, 50)].concat();
    for cut in 0..=whole.len() {
        let dir = tempfile::tempdir().unwrap();
        drop(WalWriter::create(dir.path()).unwrap());
        fs::write(dir.path().join("wal/000000.wal"), &whole[..cut]).unwrap();
        let mut writer = WalWriter::append_to(dir.path()).unwrap();
        writer.write(&frame(9, 5)).unwrap();
        writer.flush().unwrap();
        let ends = [46, 46 + 56, 46 + 56 + 66];
        let complete = ends.iter().filter(|&&end| end <= cut).count();
        let (seen, summary) = read(dir.path());
        assert_eq!(seen, [&[1, 2, 3][..complete], &[9]].concat(), "cut at {cut}");
        let torn = cut - if complete == 0 { 0 } else { ends[complete - 1] };
        assert_eq!((summary.torn_tail_bytes, summary.damaged_bytes), (torn as u64, 0), "cut at {cut}");
        assert_eq!((summary.files, summary.bytes), (2, cut as u64 + 21));
    }
}

#[test]
fn a_damaged_byte_costs_only_its_frame() {
    let whole: Vec<u8> = [frame(1, 30), frame(2, 40), frame(3, 50)].concat();
    for at in 46..46 + 56 {
        let dir = tempfile::tempdir().unwrap();
        drop(WalWriter::create(dir.path()).unwrap());
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        fs::write(dir.path().join("wal/000000.wal"), &damaged).unwrap();
        let (seen, summary) = read(dir.path());
        assert_eq!(seen, [1, 3], "damaged at {at}");
        let other_version = at == 46 + 4 || at == 46 + 5;
        assert_eq!(summary.other_versions.len(), usize::from(other_version));
        if !other_version {
            assert_eq!((summary.damaged_bytes, summary.torn_tail_bytes), (56, 0), "damaged at {at}");
        }
    }
}

#[test]
fn what_is_no_file_of_the_log_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = WalWriter::create(dir.path()).unwrap();
    writer.write(&frame(1, 10)).unwrap();
    writer.flush().unwrap();
    fs::write(dir.path().join("wal/notes.wal"), frame(2, 10)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("wal/000001.wal")).unwrap();
    let (seen, summary) = read(dir.path());
    assert_eq!(seen, [1]);
    assert_eq!(summary.unreadable.len(), 1, "a link is reported and not followed");
}
