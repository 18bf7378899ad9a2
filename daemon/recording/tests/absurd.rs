//! Files that are as they were written, with numbers in them that no run has: rows with one are left out and counted, and
//! nobody makes room for what they say.

use mpiscope_model::{Call, Message, Node, ProcessState, Rank, RankCpus, RankInfo};
use mpiscope_recording::{
    CallFilter, Cursor, DensityRow, Direction, Job, JobNode, Manifest, RankRow, Recording, RecordingOptions,
    RecordingWriter, ShareRow, StartRow, Summary, Tables, read_shares, write_shares,
};
use std::path::Path;

const RANKS: u32 = 4;

fn call(at: u64) -> Call {
    Call {
        rank: Rank((at % 4) as u32),
        function: 1,
        start_ns: at * 10,
        end_ns: at * 10 + 5,
        ..Call::default()
    }
}

fn rank_info(rank: u32) -> RankInfo {
    RankInfo {
        rank: Rank(rank),
        world_size: RANKS,
        node: Node(0),
        pid: 1,
        library: String::new(),
        state: ProcessState::Finalized,
        cost_per_call_ns: 0.0,
        cpus: RankCpus::default(),
    }
}

/// A recording of these calls and messages.
fn written(dir: &Path, calls: &[Call], messages: &[Message], tables: &Tables, summary: &Summary) -> Manifest {
    let job = Job { ranks: RANKS, ..Job::default() };
    let manifest = Manifest { job, ..Manifest::default() };
    let mut writer = RecordingWriter::create(dir, manifest, RecordingOptions::default()).unwrap();
    writer.push_calls(calls).unwrap();
    writer.push_messages(messages).unwrap();
    writer.finish(tables, summary).unwrap()
}

#[test]
fn a_rank_that_the_job_does_not_have_costs_its_row() {
    let dir = tempfile::tempdir().unwrap();
    let mut calls: Vec<Call> = (0..8).map(call).collect();
    calls[3].rank = Rank(u32::MAX);
    calls[5].rank = Rank(RANKS);
    let messages = [0, 3, u32::MAX].map(|dst| Message { dst: Rank(dst), recv_ns: 7, ..Message::default() });
    written(dir.path(), &calls, &messages, &Tables::default(), &Summary::default());
    let recording = Recording::open(dir.path()).unwrap();

    let mut found = recording.calls();
    assert_eq!(found.by_ref().map(|batch| batch.len()).sum::<usize>(), 6);
    let [fault] = found.faults() else { panic!("{:?}", found.faults()) };
    assert_eq!(fault.missing_rows, 2);
    let sentence = "calls/000000.parquet is damaged or missing: 2 rows cannot be right and are left out: in row 7 rank is \
                    4, and the job has 4 ranks";
    assert_eq!(fault.text, sentence);

    let mut found = recording.messages();
    assert_eq!(found.by_ref().flatten().count(), 2);
    let [fault] = found.faults() else { panic!("{:?}", found.faults()) };
    assert_eq!(fault.missing_rows, 1);
    assert!(fault.text.ends_with(
        "one row cannot be right and is left out: in row 3 dst is 4294967295, and the job has 4 ranks"
    ));

    // Who goes through them in the order of time has the same.
    let (reader, segments) = (recording.segment_reader(), recording.call_segments());
    let mut cursor =
        Cursor::<Call, _>::new(reader, segments, 0..u64::MAX, Direction::Backward, CallFilter::default());
    let found: Vec<u64> = cursor.by_ref().flatten().map(|call| call.start_ns).collect();
    assert_eq!(found, [70, 60, 40, 20, 10, 0]);
    assert_eq!((cursor.faults().len(), cursor.faults()[0].text.as_str()), (1, sentence));
}

#[test]
fn a_time_outside_its_file_costs_its_row() {
    let dir = tempfile::tempdir().unwrap();
    let calls: Vec<Call> = (0..8).map(call).collect();
    let mut manifest = written(dir.path(), &calls, &[], &Tables::default(), &Summary::default());
    (manifest.segments.calls[0].from_ns, manifest.segments.calls[0].to_ns) = (10, 60);
    manifest.write(dir.path()).unwrap();
    let mut found = Recording::open(dir.path()).unwrap().calls();
    assert_eq!(found.by_ref().flatten().map(|call| call.start_ns).collect::<Vec<_>>().len(), 5);
    let [fault] = found.faults() else { panic!("{:?}", found.faults()) };
    assert_eq!(fault.missing_rows, 3);
    assert!(
        fault.text.ends_with("in row 1 start_ns is 0, and the file has times from 10 to 60"),
        "{fault:?}"
    );
}

#[test]
fn times_later_than_those_of_any_run_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let late = Call { end_ns: u64::MAX, ..call(3) };
    written(dir.path(), &[call(1), late, call(2)], &[], &Tables::default(), &Summary::default());
    let mut found = Recording::open(dir.path()).unwrap().calls();
    assert_eq!((found.by_ref().flatten().count(), found.faults().len()), (2, 1));
}

#[test]
fn a_table_of_ranks_has_those_of_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let sized = RankInfo { world_size: u32::MAX, ..rank_info(2) };
    let ranks = vec![rank_info(0), rank_info(1), sized, rank_info(3), rank_info(u32::MAX - 1)];
    let tables = Tables { ranks, ..Tables::default() };
    written(dir.path(), &[call(1)], &[], &tables, &Summary::default());
    let (found, faults) = Recording::open(dir.path()).unwrap().tables();
    assert_eq!(found.ranks.iter().map(|info| info.rank.0).collect::<Vec<_>>(), [0, 1, 3]);
    let sentence = "tables/ranks.parquet cannot be read: 2 rows cannot be right and are left out: in row 3 world_size is \
                    4294967295, and the job has 4 ranks";
    assert_eq!(faults.iter().map(|fault| fault.text.as_str()).collect::<Vec<_>>(), [sentence]);

    // Where the manifest is gone the table alone says how large the job is.
    std::fs::remove_file(dir.path().join("manifest.json")).unwrap();
    assert_eq!(Recording::without_manifest(dir.path()).unwrap().manifest().job.ranks, RANKS);
}

#[test]
fn sums_with_such_numbers_are_no_sums() {
    let density = |ranks| DensityRow { ranks, to_ns: 10, calls: 1, ..DensityRow::default() };
    let of_densities = |row| Summary { densities: vec![row], ..Summary::default() };
    let of_ranks =
        |rank| Summary { ranks: vec![RankRow { rank, ..RankRow::default() }], ..Summary::default() };
    let of_starts =
        |from_ns| Summary { starts: vec![StartRow { from_ns, ..StartRow::default() }], ..Summary::default() };
    let cases = [
        (of_densities(density(4)), true),
        (of_densities(density(u32::MAX)), false),
        (of_densities(DensityRow { rank: Rank(4), ..density(1) }), false),
        (of_densities(DensityRow { to_ns: u64::MAX, ..density(1) }), false),
        (of_ranks(Rank(3)), true),
        (of_ranks(Rank(1 << 31)), false),
        (of_starts(1 << 40), true),
        (of_starts(1 << 63), false),
    ];
    for (summary, is_sound) in cases {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), &[call(1)], &[], &Tables::default(), &summary);
        assert_eq!(Recording::open(dir.path()).unwrap().summary().is_some(), is_sound, "{summary:?}");
    }
}

#[test]
fn so_it_is_with_shares() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), &[call(1)], &[], &Tables::default(), &Summary::default());
    let row = ShareRow { width_ns: 1 << 20, rank: Rank(3), ranks: 1, ..ShareRow::default() };
    for (row, is_sound) in
        [(row, true), (ShareRow { rank: Rank(4), ..row }, false), (ShareRow { ranks: 9, ..row }, false)]
    {
        write_shares(dir.path(), &[row], 1).unwrap();
        assert_eq!(read_shares(dir.path()).is_some(), is_sound, "{row:?}");
    }
}

#[test]
fn a_manifest_with_a_duration_that_no_job_has_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (seconds, is_sound) in [(0.0, true), (1e8, true), (1.8e19, false), (-1.0, false)] {
        let job = Job { duration_s: Some(seconds), ..Job::default() };
        Manifest { job, ..Manifest::default() }.write(dir.path()).unwrap();
        let opened = Recording::open(dir.path()).map(drop).map_err(|error| error.to_string());
        assert_eq!(opened.is_ok(), is_sound, "{seconds}");
        let sentence = opened.err().unwrap_or_default();
        assert!(
            is_sound || sentence.contains("no job runs for") && sentence.contains("mpiscope repair"),
            "{sentence}"
        );
    }
}

#[test]
fn ranks_without_a_trace_are_listed_up_to_a_bound() {
    let node = |ranks: Vec<u32>| JobNode { ranks, ..JobNode::default() };
    let job = |ranks, nodes| Job { ranks, nodes, ..Job::default() };
    assert_eq!(job(3, Vec::new()).plausible_ranks(), 3);
    assert_eq!(job(8_000_000, vec![node(vec![0, 1])]).plausible_ranks(), 256);
    assert_eq!(job(8_000_000, vec![node((0..6000).collect())]).plausible_ranks(), 6000);
    assert_eq!(job(5, vec![node(vec![4_000_000])]).plausible_ranks(), 5);
}
