//! Recordings from who knows where: they cost rows, never the program.

use mpiscope_model::{Call, Comm, Rank};
use mpiscope_recording::{
    FunctionName, Manifest, Recording, RecordingError, RecordingOptions, RecordingWriter, Segment,
    SegmentWriter, Summary, Tables, salvage,
};
use std::fs;
use std::path::Path;

fn calls(from: u64, count: u64) -> Vec<Call> {
    let call = |at: u64| Call {
        rank: Rank((at % 4) as u32),
        thread: 0,
        function: (at % 7) as u16,
        start_ns: at * 1000,
        end_ns: at * 1000 + at * 31 % 500,
        peer: (!at.is_multiple_of(3)).then_some(Rank(1)),
        tag: Some(1),
        bytes: at % 5 * 8,
        comm: Some(Comm::WORLD),
        site: None,
        count: 1,
        instance: None,
    };
    (from..from + count).map(call).collect()
}

/// A recording of three segments of a hundred calls each.
fn recording(dir: &Path) -> Manifest {
    let options = RecordingOptions { calls_per_segment: 100, ..RecordingOptions::default() };
    let mut writer = RecordingWriter::create(dir, Manifest::default(), options).unwrap();
    writer.push_calls(&calls(0, 300)).unwrap();
    writer.finish(&Tables::default(), &Summary::default()).unwrap()
}

fn read(dir: &Path) -> (usize, Vec<String>) {
    let mut batches = Recording::open(dir).unwrap().calls();
    let rows = batches.by_ref().map(|batch| batch.len()).sum();
    (rows, batches.faults().iter().map(|fault| fault.text.clone()).collect())
}

#[test]
fn a_missing_segment_costs_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    recording(dir.path());
    fs::remove_file(dir.path().join("calls/000001.parquet")).unwrap();
    let (rows, faults) = read(dir.path());
    assert_eq!((rows, faults.len()), (200, 1));
    assert!(faults[0].starts_with("calls/000001.parquet is damaged or missing"), "{}", faults[0]);
}

#[test]
fn a_manifest_with_ranks_that_no_job_has_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = recording(dir.path());
    manifest.job.ranks = 4_000_000_000;
    manifest.write(dir.path()).unwrap();
    let error = Recording::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("no job has 4000000000 ranks"), "{error}");
}

#[test]
fn any_damaged_byte_of_a_segment_is_seen_and_costs_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    recording(dir.path());
    let path = dir.path().join("calls/000001.parquet");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        let (rows, faults) = read(dir.path());
        assert_eq!((rows, faults.len()), (200, 1), "damaged at {at}");
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(read(dir.path()).0, 200);
}

#[test]
fn damage_that_no_checksum_tells_of_does_not_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = recording(dir.path());
    for segment in &mut manifest.segments.calls {
        segment.crc32 = None;
    }
    manifest.write(dir.path()).unwrap();
    let path = dir.path().join("calls/000001.parquet");
    let whole = fs::read(&path).unwrap();
    let is_full = std::env::var_os("MPISCOPE_FULL").is_some_and(|value| value == "1");
    for at in 0..whole.len() {
        // The masks by turns; all of them in a full run.
        for (_, mask) in
            [0x01, 0x80, 0xFF].into_iter().enumerate().filter(|(turn, _)| is_full || *turn == at % 3)
        {
            let mut damaged = whole.clone();
            damaged[at] ^= mask;
            fs::write(&path, damaged).unwrap();
            let (rows, _) = read(dir.path());
            assert!(rows >= 200, "damaged at {at}");
        }
    }
}

#[test]
fn a_segment_with_other_columns_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = recording(dir.path());
    manifest.segments.calls[1].crc32 = None;
    manifest.write(dir.path()).unwrap();
    fs::copy(dir.path().join("tables/nodes.parquet"), dir.path().join("calls/000001.parquet")).unwrap();
    let (rows, faults) = read(dir.path());
    assert_eq!(rows, 200);
    assert!(faults[0].contains("it has no column rank"), "{}", faults[0]);
}

#[test]
fn names_in_a_manifest_open_nothing_outside_the_recording() {
    let outside = tempfile::tempdir().unwrap();
    recording(outside.path());
    let target = outside.path().join("calls/000000.parquet");
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = recording(dir.path());
    std::os::unix::fs::symlink(&target, dir.path().join("calls/000009.parquet")).unwrap();
    let names = [
        target.to_str().unwrap(),
        "../calls/000000.parquet",
        "calls/../../000000.parquet",
        "calls/../calls/000000.parquet",
        "calls//000000.parquet",
        "./calls/000000.parquet",
        "messages/000000.parquet",
        "calls/000009.parquet",
        "calls/000000.parquet\0",
        "calls",
        "",
    ];
    for name in names {
        manifest.segments.calls[0].file = name.to_owned();
        manifest.write(dir.path()).unwrap();
        let (rows, faults) = read(dir.path());
        assert_eq!((rows, faults.len()), (200, 1), "{name}");
    }
    manifest.segments.calls[0].file = "calls/000001.parquet".to_owned();
    manifest.write(dir.path()).unwrap();
    assert_eq!(read(dir.path()).0, 200, "a file that is listed twice counts once");

    fs::rename(dir.path().join("calls"), outside.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("elsewhere"), dir.path().join("calls")).unwrap();
    assert_eq!(read(dir.path()).0, 0, "a linked folder is outside");
}

#[test]
fn a_manifest_that_makes_no_sense_is_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Recording::open(dir.path()).map(drop);
    assert!(matches!(open(), Err(RecordingError::NoRecording { .. })));
    let path = dir.path().join("manifest.json");
    for text in
        ["", "{", "[]", "null", "{\"schema\": 1}", "{\"schema\": \"mpiscope.recording/1\"}", "\u{fffd}"]
    {
        fs::write(&path, text).unwrap();
        let error = open().unwrap_err();
        assert!(matches!(error, RecordingError::Manifest { .. }), "{text}");
        let sentence = error.to_string();
        assert!(sentence.contains("manifest.json") && sentence.contains("restore it"), "{sentence}");
        assert!(!sentence.contains('\n'), "{sentence}");
    }
    fs::write(&path, "{\"schema\": \"mpiscope.recording/2\", \"everything\": \"else\"}").unwrap();
    assert!(matches!(open(), Err(RecordingError::Schema { .. })));
    let more = "{\"schema\": \"mpiscope.recording/1\", \"state\": \"running\", \"later\": {\"field\": [1]}}";
    fs::write(&path, more).unwrap();
    open().unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(open().is_err());
}

#[test]
fn windows_are_never_too_short_to_count() {
    let dir = tempfile::tempdir().unwrap();
    for window_ns in [0, 1, 999_999, 1_000_000, 7_000_000] {
        Manifest { window_ns, ..Manifest::default() }.write(dir.path()).unwrap();
        let read_ns = Recording::open(dir.path()).unwrap().manifest().window_ns;
        assert_eq!(read_ns, if window_ns < 1_000_000 { 100_000_000 } else { window_ns });
    }
}

#[test]
fn any_damaged_byte_of_a_manifest_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = recording(dir.path());
    assert_eq!(Manifest::read_and_check(dir.path()).unwrap(), (manifest, None));
    let path = dir.path().join("manifest.json");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(7).chain(whole.len() - 50..whole.len()) {
        for mask in [0x01, 0x04, 0x80] {
            let mut damaged = whole.clone();
            damaged[at] ^= mask;
            fs::write(&path, damaged).unwrap();
            let Ok((_, fault)) = Manifest::read_and_check(dir.path()) else { continue };
            assert!(fault.is_some(), "{mask} at {at}");
            let recording = Recording::open(dir.path()).unwrap();
            assert_eq!(recording.manifest().missing.last().map(String::as_str), recording.damage());
        }
    }
}

#[test]
fn any_damaged_byte_of_a_small_table_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer =
        RecordingWriter::create(dir.path(), Manifest::default(), RecordingOptions::default()).unwrap();
    fs::write(dir.path().join("more.json"), "{}").unwrap();
    writer.list_file("more.json").unwrap();
    let functions = vec![FunctionName { function: 3, name: "MPI_Send".into() }];
    writer.finish(&Tables { functions, ..Tables::default() }, &Summary::default()).unwrap();
    let path = dir.path().join("tables/functions.parquet");
    let whole = fs::read(&path).unwrap();
    let faults = || Recording::open(dir.path()).unwrap().tables().1;
    assert_eq!(faults(), []);
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        assert_eq!(faults().len(), 1, "damaged at {at}");
    }
    fs::write(&path, &whole).unwrap();
    fs::remove_file(dir.path().join("tables/sites.parquet")).unwrap();
    assert!(
        faults()[0].text.contains("tables/sites.parquet cannot be read: it is missing"),
        "{:?}",
        faults()
    );

    let read = || mpiscope_recording::read_listed(dir.path(), "more.json");
    assert_eq!(read().unwrap().as_deref(), Some(&b"{}"[..]));
    fs::write(dir.path().join("more.json"), "{\n}").unwrap();
    assert!(matches!(read(), Err(RecordingError::Damaged { .. })));
    fs::remove_file(dir.path().join("more.json")).unwrap();
    assert!(matches!(read(), Err(RecordingError::Damaged { .. })));
    assert_eq!(mpiscope_recording::read_listed(dir.path(), "none.json").unwrap(), None);
}

/// A segment of six row groups, and its rows.
fn segment_in_groups(dir: &Path) -> (Segment, Vec<Call>) {
    let mut writer = SegmentWriter::<Call>::open(dir, 1000, 1).unwrap().with_rows_per_group(50);
    let rows = calls(0, 300);
    let mut sealed = Vec::new();
    writer.push(&rows, &mut sealed).unwrap();
    writer.seal(&mut sealed).unwrap();
    (sealed.remove(0), rows)
}

#[test]
fn of_a_damaged_segment_the_row_groups_that_are_whole_are_saved() {
    let dir = tempfile::tempdir().unwrap();
    let (segment, rows) = segment_in_groups(dir.path());
    let path = dir.path().join(&segment.file);
    let whole = fs::read(&path).unwrap();
    let saved = || {
        let mut found: Vec<Call> = Vec::new();
        let fault = salvage::<Call>(dir.path(), &segment, &mut |rows| found.extend(rows));
        assert!(found.iter().all(|call| rows.contains(call)));
        (found.len() as u64, fault)
    };
    assert_eq!(saved(), (300, None));
    let (mut most, mut none) = (0, 0);
    for at in (0..whole.len()).step_by(23) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        let (found, fault) = saved();
        let fault = fault.unwrap_or_else(|| panic!("damaged at {at}"));
        assert_eq!(fault.missing_rows, 300 - found, "damaged at {at}");
        if found > 0 {
            most += 1;
        } else {
            none += 1;
        }
        assert!([0, 250].contains(&found), "{found} rows, damaged at {at}");
    }
    assert!(most > 0 && none > 0, "{most} times most of it, {none} times nothing");
    fs::remove_file(&path).unwrap();
    assert_eq!(saved().1.unwrap().text, "it is missing");
}

#[test]
fn a_folder_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("one");
    let create = || RecordingWriter::create(&dir, Manifest::default(), RecordingOptions::default());
    let writer = create().unwrap();
    assert!(mpiscope_recording::is_being_written(&dir));
    assert!(matches!(create(), Err(RecordingError::AlreadyRecorded { .. })));
    let again = RecordingWriter::rebuild(&dir, RecordingOptions::default());
    assert!(matches!(again, Err(RecordingError::BeingWritten { .. })));
    drop(writer);
    RecordingWriter::rebuild(&dir, RecordingOptions::default()).map(drop).unwrap();
    assert!(!mpiscope_recording::is_being_written(&dir));
}
