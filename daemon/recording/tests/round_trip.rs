//! What is written is read: every value of every column, and the manifest.

use mpiscope_model::{
    Call, Comm, CommInfo, CommKind, Coordinate, CpuSet, Message, Node, NodeInfo, ProcessState, Rank,
    RankCpus, RankInfo, Scheduling, Site, SiteInfo,
};
use mpiscope_recording::{
    ClockNode, ClockVersion, FunctionName, Manifest, Recording, RecordingError, RecordingOptions,
    RecordingWriter, State, Summary, Tables, WalReader, WalWriter, WindowRow,
};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

/// Ranks and times that a run can have.
const MOST_RANK: u32 = 1 << 23;
const MOST_NS: u64 = 1 << 61;

prop_compose! {
    fn any_call()(
        rank in 0..4_u32, thread: u16, function: u16, start_ns in 0..MOST_NS, took_ns in 0..MOST_NS,
        (peer, tag, bytes, comm, site) in any::<(Option<u32>, Option<i32>, u64, Option<u32>, Option<u32>)>(),
        (count, instance) in any::<(u64, Option<u32>)>(),
    ) -> Call {
        let end_ns = start_ns + took_ns;
        let (rank, peer, comm, site) = (Rank(rank), peer.map(Rank), comm.map(Comm), site.map(Site));
        Call { rank, thread, function, start_ns, end_ns, peer, tag, bytes, comm, site, count, instance }
    }
}

prop_compose! {
    fn any_message()(
        (src, dst) in (0..MOST_RANK, 0..3_u32), tag: i32, comm: u32, bytes: u64,
        (send_ns, recv_ns) in (0..MOST_NS, 0..MOST_NS), t_msg_ns: u64,
        (late_sender_ns, late_receiver_ns, inter, exact) in any::<(u64, Option<u64>, bool, bool)>(),
    ) -> Message {
        Message {
            src: Rank(src), dst: Rank(dst), tag, comm: Comm(comm), bytes, send_ns, recv_ns, t_msg_ns,
            late_sender_ns, late_receiver_ns, inter, exact,
        }
    }
}

prop_compose! {
    fn any_window()(
        (from_ns, width_ns) in (0..MOST_NS, 0..MOST_NS), region: Option<u32>, rank in 0..MOST_RANK, function: u16,
        (calls, polls, bytes, time_ns) in any::<(u64, u64, u64, u64)>(),
    ) -> WindowRow {
        let to_ns = from_ns + width_ns;
        WindowRow { from_ns, to_ns, region, rank: Rank(rank), function, calls, polls, bytes, time_ns }
    }
}

prop_compose! {
    fn any_scheduling()(
        rank in 0..4_u32, at_ns in 0..MOST_NS, run_ns: u64, wait_ns: u64, voluntary: u64, involuntary: u64, stopped_ns: u64,
        blocked_ns: u64, major_faults: u64,
    ) -> Scheduling {
        Scheduling {
            rank: Rank(rank), at_ns, run_ns, wait_ns, voluntary, involuntary, stopped_ns, blocked_ns, major_faults,
        }
    }
}

fn small_segments() -> RecordingOptions {
    RecordingOptions {
        calls_per_segment: 40,
        messages_per_segment: 30,
        windows_per_segment: 20,
        scheduling_per_segment: 10,
        zstd_level: 1,
    }
}

/// Rows in an order that does not depend on where segments were cut.
fn ordered<R: std::fmt::Debug>(rows: impl IntoIterator<Item = R>) -> Vec<String> {
    let mut texts: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    texts.sort();
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn rows_survive(
        calls in proptest::collection::vec(any_call(), 0..200),
        messages in proptest::collection::vec(any_message(), 0..100),
        windows in proptest::collection::vec(any_window(), 0..50),
        scheduling in proptest::collection::vec(any_scheduling(), 0..40),
        batch_rows in 1_usize..60,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Manifest { window_ns: 10_000_000, ..Manifest::default() };
        let mut writer = RecordingWriter::create(dir.path(), manifest, small_segments()).unwrap();
        for batch in calls.chunks(batch_rows) {
            writer.push_calls(batch).unwrap();
        }
        for batch in messages.chunks(batch_rows) {
            writer.push_messages(batch).unwrap();
        }
        writer.push_windows(&windows).unwrap();
        writer.push_scheduling(&scheduling).unwrap();
        let manifest = writer.finish(&Tables::default(), &Summary::default()).unwrap();
        prop_assert_eq!(manifest.segments.calls.len(), calls.len().div_ceil(40));

        let recording = Recording::open(dir.path()).unwrap();
        prop_assert_eq!(recording.manifest(), &manifest);
        let mut batches = recording.calls();
        let found: Vec<Call> = batches.by_ref().flatten().collect();
        prop_assert!(batches.faults().is_empty(), "{:?}", batches.faults());
        for (segment, rows) in manifest.segments.calls.iter().zip(found.chunks(40)) {
            prop_assert!(rows.is_sorted_by_key(|call| (call.rank, call.start_ns)));
            prop_assert_eq!(rows.iter().map(|call| call.start_ns).min(), Some(segment.from_ns));
        }
        prop_assert_eq!(ordered(found), ordered(calls));
        prop_assert_eq!(ordered(recording.messages().flatten()), ordered(messages));
        prop_assert_eq!(ordered(recording.windows().flatten()), ordered(windows));
        let found: Vec<Scheduling> = recording.scheduling().flatten().collect();
        for (segment, rows) in manifest.segments.scheduling.iter().zip(found.chunks(10)) {
            prop_assert!(rows.is_sorted_by_key(|row| (row.rank, row.at_ns)));
            prop_assert_eq!(rows.iter().map(|row| row.at_ns).max(), Some(segment.to_ns));
        }
        prop_assert_eq!(ordered(found), ordered(scheduling));
    }
}

fn call_at(start_ns: u64) -> Call {
    Call { function: 1, start_ns, end_ns: start_ns + 5, ..Call::default() }
}

#[test]
fn a_range_of_time_finds_what_is_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RecordingWriter::create(dir.path(), Manifest::default(), small_segments()).unwrap();
    writer.push_calls(&(0..100).map(|at| call_at(at * 10)).collect::<Vec<_>>()).unwrap();
    writer.seal().unwrap();
    let recording = Recording::open(dir.path()).unwrap();
    assert_eq!(recording.manifest().state, State::Running);
    let found: Vec<u64> = recording.calls_between(393..420).flatten().map(|call| call.start_ns).collect();
    assert_eq!(found, [390, 400, 410]);
}

#[test]
fn tables_and_manifest_survive_and_only_the_owner_may_read() {
    let tables = Tables {
        functions: vec![FunctionName { function: 3, name: "MPI_Send".into() }],
        communicators: vec![
            CommInfo {
                comm: Comm::WORLD,
                id: 7,
                size: 4,
                parent: None,
                leader: Rank(0),
                ..CommInfo::default()
            },
            CommInfo {
                comm: Comm(1),
                id: u64::MAX,
                size: 2,
                parent: Some(Comm::WORLD),
                leader: Rank(2),
                kind: CommKind::File,
                name: "out/knöten.dat".into(),
                ..CommInfo::default()
            },
        ],
        coordinates: vec![Coordinate {
            comm: Comm(1),
            rank: Rank(3),
            dimension: 1,
            coordinate: 7,
            size: 9,
            periodic: 1,
        }],
        nodes: vec![NodeInfo { node: Node(0), name: "knöten".into() }],
        sites: vec![
            SiteInfo {
                site: Site(0),
                module: "/opt/a b".into(),
                build_id: "01ab".into(),
                offset: u64::MAX,
                ..SiteInfo::default()
            },
            SiteInfo {
                site: Site(1),
                function: Some("solve".into()),
                file: Some("/src/main.c".into()),
                line: Some(42),
                parent: Some(Site(0)),
                ..SiteInfo::default()
            },
        ],
        ranks: vec![RankInfo {
            rank: Rank(0),
            world_size: 4,
            node: Node(0),
            pid: 99,
            library: "Open MPI".into(),
            state: ProcessState::Aborted,
            cost_per_call_ns: 31.25,
            cpus: RankCpus { on_host: 8, allowed: CpuSet::parse("0-1,6").unwrap(), quota_milli: 1_500 },
        }],
    };
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("new");
    let mut writer = RecordingWriter::create(&folder, Manifest::default(), small_segments()).unwrap();
    let clock = ClockVersion {
        version: 1,
        nodes: vec![ClockNode { offset_ns: -5, drift_ppb: f64::NAN, ..ClockNode::default() }],
    };
    writer.manifest_mut().clock.versions.push(clock);
    writer.manifest_mut().job.command = vec!["mpirun".into(), "\"quoted\"".into()];
    writer.push_calls(&[call_at(1)]).unwrap();
    writer.set_clock_version(1).unwrap();
    writer.push_calls(&[call_at(2)]).unwrap();
    let mut log = WalWriter::create(&folder).unwrap();
    log.sync().unwrap();
    let written = writer.finish(&tables, &Summary::default()).unwrap();

    let recording = Recording::open(&folder).unwrap();
    assert_eq!(recording.tables(), (tables, Vec::new()));
    let manifest = recording.manifest();
    assert_eq!(manifest.state, State::Complete);
    assert_eq!(manifest.job, written.job);
    assert_eq!(
        manifest.segments.calls.iter().map(|segment| segment.clock_version).collect::<Vec<_>>(),
        [0, 1]
    );
    assert!(manifest.clock.versions[0].nodes[0].drift_ppb.abs() < f64::EPSILON);
    assert!(!folder.join("wal").exists());
    assert!(WalReader::open(&folder).unwrap().is_empty());
    let (mut folders, mut bytes) = (vec![folder], 0);
    while let Some(found) = folders.pop() {
        assert_eq!(found.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{found:?}");
        for entry in found.read_dir().unwrap().map(Result::unwrap) {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{entry:?}");
                bytes += metadata.len();
            }
        }
    }
    assert_eq!(manifest.cost.bytes_on_disk, bytes);
}

#[test]
fn an_occupied_folder_is_refused_in_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let create = |path: &std::path::Path| {
        RecordingWriter::create(path, Manifest::default(), RecordingOptions::default()).map(drop)
    };
    create(dir.path()).unwrap();
    let error = create(dir.path()).unwrap_err();
    assert!(matches!(error, RecordingError::AlreadyRecorded { .. }));
    assert!(error.to_string().ends_with("already holds a recording; name another folder or remove this one"));

    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("thesis.tex"), "").unwrap();
    assert!(matches!(create(other.path()), Err(RecordingError::NotEmpty { .. })));
    assert!(matches!(create(&other.path().join("thesis.tex")), Err(RecordingError::NotAFolder { .. })));
    assert_eq!(other.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_rebuild_replaces_rows_in_the_end_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RecordingWriter::create(dir.path(), Manifest::default(), small_segments()).unwrap();
    writer.manifest_mut().run = "the run".into();
    writer.push_calls(&[call_at(1), call_at(2)]).unwrap();
    writer.seal().unwrap();
    drop(writer);

    let rebuild = |finish: bool| {
        let mut writer = RecordingWriter::rebuild(dir.path(), small_segments()).unwrap();
        writer.push_calls(&(10..70).map(call_at).collect::<Vec<_>>()).unwrap();
        if finish {
            writer.finish(&Tables::default(), &Summary::default()).unwrap();
        }
        Recording::open(dir.path()).unwrap()
    };
    assert_eq!(rebuild(false).calls().flatten().count(), 2);
    let recording = rebuild(true);
    assert_eq!(recording.calls().flatten().count(), 60);
    assert_eq!(recording.manifest().run, "the run");
    assert_eq!(dir.path().join("calls").read_dir().unwrap().count(), 2, "segments of before are gone");
}

#[test]
fn what_the_writer_of_a_complete_recording_had_not_removed_goes_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RecordingWriter::create(dir.path(), Manifest::default(), small_segments()).unwrap();
    writer.push_calls(&(10..70).map(call_at).collect::<Vec<_>>()).unwrap();
    writer.seal().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir(path("wal")).unwrap();
    let left = ["wal/000000.wal", "calls/000009.parquet", "calls/000010.parquet.unfinished"];
    let leave = || left.iter().for_each(|name| std::fs::write(path(name), "rest").unwrap());
    leave();
    drop(writer);
    assert!(RecordingWriter::end_complete(dir.path()).unwrap().is_none());
    assert!(left.iter().all(|name| path(name).exists()), "nothing of one that goes on is touched");

    let mut writer = RecordingWriter::rebuild(dir.path(), small_segments()).unwrap();
    writer.push_calls(&(10..70).map(call_at).collect::<Vec<_>>()).unwrap();
    writer.finish(&Tables::default(), &Summary::default()).unwrap();
    let before = std::fs::read(path("manifest.json")).unwrap();
    std::fs::create_dir(path("wal")).unwrap();
    leave();
    let manifest = RecordingWriter::end_complete(dir.path()).unwrap().unwrap();
    assert_eq!(manifest.state, State::Complete);
    assert!(!left.iter().any(|name| path(name).exists()) && !path("wal").exists());
    assert_eq!(std::fs::read(path("manifest.json")).unwrap(), before);
    assert_eq!(Recording::open(dir.path()).unwrap().calls().flatten().count(), 60);
}
