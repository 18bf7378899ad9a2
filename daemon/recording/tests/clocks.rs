//! Rows are sealed with the clocks as they were known then, and read with the clocks as they are known last.

use mpiscope_model::{Call, Comm, Message, Rank, Scheduling};
use mpiscope_recording::{
    ClockNode, ClockVersion, JobNode, Manifest, Recording, RecordingError, RecordingOptions, RecordingWriter,
    SegmentReader, Summary, Tables,
};
use std::path::Path;

const SECOND: u64 = 1_000_000_000;

fn call(rank: u32, start_ns: u64, end_ns: u64) -> Call {
    Call { rank: Rank(rank), function: 1, start_ns, end_ns, ..Call::default() }
}

/// From rank 0 on node 0 to rank 1 on node 1: the receiver has waited since `c0` and ends before the send began.
fn message(s0: u64, c0: u64, r1: u64) -> Message {
    Message {
        src: Rank(0),
        dst: Rank(1),
        tag: 7,
        comm: Comm::WORLD,
        bytes: 8,
        send_ns: s0,
        recv_ns: r1,
        t_msg_ns: r1.saturating_sub(s0.max(c0)),
        late_sender_ns: r1.min(s0).saturating_sub(c0),
        late_receiver_ns: None,
        inter: true,
        exact: true,
    }
}

/// A recording of two nodes. Node 1 turned out to be 1000 ns behind at the start, and 3000 ns two seconds later.
fn record(dir: &Path) -> Result<(), RecordingError> {
    let mut manifest = Manifest::default();
    manifest.job.nodes =
        [vec![0], vec![1, 2]].into_iter().map(|ranks| JobNode { name: "host".into(), ranks }).collect();
    let mut writer = RecordingWriter::create(dir, manifest, RecordingOptions::default())?;
    writer.push_calls(&[call(0, 500, 600), call(1, 500, 600), call(2, 1_500, SECOND)])?;
    writer.push_messages(&[message(1_200, 400, 700), message(3 * SECOND, SECOND, 3 * SECOND + 500)])?;
    let seen = |rank, at_ns| Scheduling { rank: Rank(rank), at_ns, ..Scheduling::default() };
    writer.push_scheduling(&[seen(2, 500), seen(0, 700), seen(1, 2 * SECOND)])?;
    writer.set_clock_version(1)?;
    // By the last version already.
    writer.push_calls(&[call(1, 10, 20)])?;
    let points = vec![(0, 1_000), (2 * SECOND, 3_000)];
    let nodes = vec![
        ClockNode::default(),
        ClockNode { node: 1, uncertainty_ns: 40, corrections: points, ..ClockNode::default() },
    ];
    let clock = &mut writer.manifest_mut().clock;
    clock.versions = vec![ClockVersion::default(), ClockVersion { version: 1, nodes }];
    writer.manifest_mut().totals.clock_violations_before = 1;
    writer.finish(&Tables::default(), &Summary::default())?;
    Ok(())
}

#[test]
fn rows_are_read_by_the_last_clock_map() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path()).unwrap();
    let recording = Recording::open(dir.path()).unwrap();
    let totals = recording.manifest().totals;
    assert_eq!((totals.clock_violations_before, totals.clock_violations_after), (1, 0));

    let calls: Vec<(u32, u64, u64)> =
        recording.calls().flatten().map(|call| (call.rank.0, call.start_ns, call.end_ns)).collect();
    assert_eq!(calls, [(0, 500, 600), (1, 1_500, 1_600), (2, 2_500, SECOND + 2_000), (1, 10, 20)]);

    let scheduling: Vec<(u32, u64)> =
        recording.scheduling().flatten().map(|row| (row.rank.0, row.at_ns)).collect();
    assert_eq!(scheduling, [(0, 700), (1, 2 * SECOND + 3_000), (2, 1_500)]);

    let messages: Vec<Message> = recording.messages().flatten().collect();
    assert_eq!(
        messages,
        [message(1_200, 1_400, 1_700), message(3 * SECOND, SECOND + 2_000, 3 * SECOND + 3_500)].map(
            // A receive that was entered after its send began is no sample of what a message takes.
            |row| Message { exact: row.send_ns > SECOND, ..row }
        )
    );
}

#[test]
fn ranges_of_time_and_single_segments_are_by_the_last_map_too() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path()).unwrap();
    let recording = Recording::open(dir.path()).unwrap();
    let late: Vec<u32> =
        recording.calls_between(SECOND + 1_500..2 * SECOND).flatten().map(|call| call.rank.0).collect();
    assert_eq!(late, [2], "its segment ends before that by the times it was sealed with");
    assert_eq!(recording.messages_between(3 * SECOND + 2_000..4 * SECOND).flatten().count(), 1);

    let segments = recording.call_segments();
    assert_eq!((segments[0].from_ns, segments[0].to_ns), (500, SECOND + 3_000));
    let (calls, faults) = recording.segment_reader().read::<Call>(&segments[0]);
    assert_eq!((calls[1].start_ns, faults.len()), (1_500, 0));
    let (sealed, _) = SegmentReader::uncorrected(dir.path().to_path_buf()).read::<Call>(&segments[0]);
    assert_eq!(sealed[1].start_ns, 500);
}

#[test]
fn a_manifest_of_before_and_one_that_makes_no_sense_are_read() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path()).unwrap();
    let path = dir.path().join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let times = |manifest: &serde_json::Value| {
        std::fs::write(&path, serde_json::to_vec(manifest).unwrap()).unwrap();
        let calls = Recording::open(dir.path()).unwrap().calls();
        calls.flatten().map(|call| (call.rank.0, call.start_ns, call.end_ns)).collect::<Vec<_>>()
    };
    let node = &mut manifest["clock"]["versions"][1]["nodes"][1];
    node["corrections"] = serde_json::json!([[1_000_000, i64::MAX], [5, 6], [2_000_000, i64::MIN]]);
    assert!(times(&manifest).iter().all(|&(_, start_ns, end_ns)| start_ns <= end_ns));

    let node = manifest["clock"]["versions"][1]["nodes"][1].as_object_mut().unwrap();
    assert!(node.remove("corrections").is_some() && node.remove("uncertainty_ns").is_some());
    let totals = manifest["totals"].as_object_mut().unwrap();
    totals.retain(|name, _| !name.starts_with("clock_violations"));
    assert!(manifest["segments"].as_object_mut().unwrap().remove("scheduling").is_some());
    assert_eq!(times(&manifest)[1], (1, 500, 600));
    assert_eq!(Recording::open(dir.path()).unwrap().scheduling().count(), 0);
}
