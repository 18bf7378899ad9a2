//! A full disk, and one that cannot be written to: the job goes on, and missing data is reported.

use mpiscope_harness::{
    Ended, LIMIT, Mpi, Recorded, Running, Signal, Truth, check, daemon_of, folder, full_run, mpiscope,
    processes, record, repair, report, run, skip,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small disk of memory, until it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// With space for this number of bytes; only root can have one.
    fn mount(at: PathBuf, bytes: u64, test: &str) -> Option<Self> {
        std::fs::create_dir(&at).unwrap();
        let options = format!("size={bytes},mode=700");
        let mounted = mount(&["-t", "tmpfs", "-o", &options, "none"], &at);
        if mounted.status == 0 {
            return Some(Self(at));
        }
        skip(test, &format!("no disk can be mounted here: {}", mounted.errors().trim()));
        None
    }

    fn close(&self) {
        let mounted = mount(&["-o", "remount,ro"], &self.0);
        assert_eq!(mounted.status, 0, "{}", mounted.errors());
    }
}

fn mount(words: &[&str], at: &Path) -> Ended {
    run(Command::new("mount").args(words).arg(at), LIMIT).unwrap()
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whoever still has a file open there keeps it until then.
        let _ = run(Command::new("umount").arg("--lazy").arg(&self.0), LIMIT);
    }
}

/// How many calls a report says that are in no file.
fn lost(report: &serde_json::Value) -> u64 {
    let missing = report["missing"].as_array().unwrap().iter();
    let counts =
        missing.filter_map(|text| text.as_str()?.strip_suffix(": neither in the log nor in segments"));
    counts.map(|text| text.split(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// Some hundred thousand calls.
fn recorded_into(mpi: &Mpi, out: &Path) -> (Ended, Truth) {
    let program = mpi.app("halo3d").unwrap();
    let ended = run(&mut record(mpi, 4, &program, &["6000"], out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert!(!ended.errors().contains("panicked"), "{}", ended.errors());
    let truth = Truth::parse(&ended.stdout).unwrap();
    (ended, truth)
}

#[test]
fn the_job_goes_on_and_missing_data_is_reported() {
    let test = "full_disk the_job_goes_on_and_missing_data_is_reported";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let sizes_kib: &[u64] = if full_run() {
        &[8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 65536]
    } else {
        &[16, 128, 1024, 3072, 65536]
    };
    let mut whole = 0;
    for size_kib in sizes_kib {
        let folder = folder().unwrap();
        let Some(disk) = Disk::mount(folder.path().join("disk"), size_kib << 10, test) else { return };
        let out = disk.0.join("recording");
        let (ended, truth) = recorded_into(&mpi, &out);
        let what = format!("{size_kib} KiB: {}", ended.errors());
        if Recorded::load(&out).is_ok_and(|recorded| recorded.differences(&truth).is_empty()) {
            whole += 1;
            assert_eq!(check(&out).unwrap().0, 0, "{what}");
            continue;
        }
        assert!(
            ended.errors().contains("disk is full") || ended.errors().contains("without being recorded"),
            "{what}"
        );
        let (status, found) = check(&out).unwrap();
        assert_ne!(status, 0, "{what} {found:#}");
        if status == 2 {
            continue;
        }
        let reported = report(&out).unwrap();
        let calls = |report: &serde_json::Value| {
            ["calls", "polls"].iter().map(|of| report["totals"][of].as_u64().unwrap()).sum::<u64>()
        };
        assert!(calls(&reported) <= truth.all_calls(), "{what}");
        // Where there was room for a recording to begin with, there is some for its last words.
        if *size_kib >= 1024 {
            assert_eq!(reported["job"]["exit"], 0, "{what} {reported:#}");
            assert_eq!(calls(&reported) + lost(&reported), truth.all_calls(), "{what} {reported:#}");
            assert_eq!(found["lost_calls"], lost(&reported), "{what} {found:#}");
            // Where the log has all of them, only tables are missing.
            let of_all = format!("{} of {} calls", lost(&reported), truth.all_calls());
            let stderr = ended.errors().replace('\u{2009}', "");
            let says = if lost(&reported) > 0 { &of_all } else { "the recording was not completed" };
            assert!(stderr.contains(says), "{what}");
        }
        assert_eq!(reported["totals"]["lost_calls"], lost(&reported), "{what}");
        // A run that lost nearly all its calls has no verdict.
        if 10 * lost(&reported) > truth.all_calls() {
            assert_eq!(reported["verdict"]["cause"], "none", "{what} {reported:#}");
            assert_eq!(reported["verdict"]["confidence"], 0.0, "{what}");
        }
        assert!(!reported["missing"].as_array().unwrap().is_empty(), "{what}");
        let new = folder.path().join("repaired");
        assert_eq!(repair(&out, &new).unwrap().status, 0, "{what}");
        let (status, found) = check(&new).unwrap();
        assert_eq!(status, 0, "{what} {found:#}");
        let repaired = report(&new).unwrap();
        for figures in ["totals", "functions", "ranks"] {
            assert_eq!(repaired[figures], reported[figures], "{what}: {figures}");
        }
        assert_eq!(lost(&repaired), lost(&reported), "{what}");
    }
    assert!(whole > 0 && whole < sizes_kib.len(), "{whole} of {} were large enough", sizes_kib.len());
}

#[test]
fn what_cannot_be_written_to_can_be_read() {
    let test = "full_disk what_cannot_be_written_to_can_be_read";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let Some(disk) = Disk::mount(folder.path().join("disk"), 64 << 20, test) else { return };
    let out = disk.0.join("recording");
    let (_, truth) = recorded_into(&mpi, &out);
    disk.close();
    let (status, found) = check(&out).unwrap();
    assert_eq!(status, 0, "{found:#}");
    assert_eq!(Recorded::load(&out).unwrap().differences(&truth), Vec::<String>::new());
    let reported = report(&out).unwrap();
    assert_eq!(reported["missing"], serde_json::json!([]));
    // Nothing can be recorded there, and nothing be repaired to there: said in one line.
    let (ended, _) = recorded_into(&mpi, &disk.0.join("another"));
    assert!(ended.errors().contains("read-only"), "{}", ended.errors());
    assert!(ended.errors().contains("runs without being recorded"), "{}", ended.errors());
    let broken = folder.path().join("broken");
    assert_eq!(run(Command::new("cp").arg("-r").arg(&out).arg(&broken), LIMIT).unwrap().status, 0);
    std::fs::remove_file(broken.join("findings.json")).unwrap();
    let ended = repair(&broken, &disk.0.join("repaired")).unwrap();
    assert_eq!((ended.status, ended.errors().lines().count()), (2, 1), "{}", ended.errors());
    let ended = run(mpiscope(&["repair"]).unwrap().arg(&out), LIMIT).unwrap();
    assert!(ended.status == 0 && ended.errors().contains("nothing to repair"), "{}", ended.errors());
}

/// What a daemon could not save, its successor counts.
#[test]
fn a_daemon_that_takes_over_counts_what_is_in_no_file() {
    let test = "full_disk a_daemon_that_takes_over_counts_what_is_in_no_file";
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let Some(disk) = Disk::mount(folder.path().join("disk"), 3 << 20, test) else { return };
    let out = disk.0.join("recording");
    let program = mpi.app("halo3d").unwrap();
    let running = Running::start(&mut record(&mpi, 4, &program, &["20000"], &out).unwrap()).unwrap();
    let is_full = || {
        let df = run(Command::new("df").args(["--output=avail", "-k"]).arg(&disk.0), LIMIT).ok()?;
        let free_kib: u64 = df.output().lines().nth(1)?.trim().parse().ok()?;
        (free_kib < 64).then_some(())
    };
    processes::until(LIMIT, is_full).expect("the disk does not fill");
    let first = daemon_of(&running).unwrap();
    processes::signal(first, Signal::KILL);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let made = Truth::parse(&ended.stdout).unwrap().all_calls();
    let summary = report(&out).unwrap();
    let totals = &summary["totals"];
    let figure = |name: &str| totals[name].as_u64().unwrap();
    // What the first one had read and not yet written is known as slots; a call may have several.
    let counted = figure("calls") + figure("polls") + figure("lost_calls");
    assert!(
        figure("lost_calls") > 0 && counted >= made,
        "{counted} of {made}: {summary:#} {}",
        ended.errors()
    );
    assert_eq!(
        (&summary["verdict"]["cause"], &summary["job"]["exit"]),
        (&"none".into(), &0.into()),
        "{summary:#}"
    );
    let new = folder.path().join("repaired");
    assert_eq!(repair(&out, &new).unwrap().status, 0);
    assert_eq!(report(&new).unwrap()["totals"], summary["totals"], "{summary:#}");
}

/// Commands that write where there is no space say so once in a line, and leave nothing.
#[test]
fn commands_name_a_full_disk_once() {
    let test = "full_disk commands_name_a_full_disk_once";
    let folder = folder().unwrap();
    let Some(disk) = Disk::mount(folder.path().join("disk"), 32 << 10, test) else { return };
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (recording, broken, table) = (path("recording"), path("broken"), path("table.csv"));
    let synth = ["synth", "--pattern", "halo2d", "--ranks", "8", "--seconds", "1", "--rate", "50000", "-o"];
    assert_eq!(run(mpiscope(&synth).unwrap().arg(&recording), LIMIT).unwrap().status, 0);
    assert_eq!(run(Command::new("cp").args(["-r", &recording, &broken]), LIMIT).unwrap().status, 0);
    std::fs::remove_file(Path::new(&broken).join("manifest.json")).unwrap();
    let rows = (0..50_000).map(|at| format!("0,send,{at}000,0,1,{at}\n1,receive,{at}900,0,1,{at}\n"));
    let header = "rank,type,timestamp_ns,source,destination,size\n".to_owned();
    std::fs::write(&table, std::iter::once(header).chain(rows).collect::<String>()).unwrap();
    let formats = ["csv", "parquet", "perfetto", "picl"]
        .map(|format| vec!["export", &recording, "--format", format, "-o"]);
    let others = [vec!["import", &table, "-o"], vec!["repair", &broken, "-o"], synth.to_vec()];
    for words in formats.into_iter().chain(others) {
        let ended = run(mpiscope(&words).unwrap().arg(disk.0.join("out")), LIMIT).unwrap();
        let errors = ended.errors();
        assert_eq!(ended.status, 2, "{words:?}: {errors}");
        let counts: Vec<_> = errors.lines().map(|line| line.matches("No space left").count()).collect();
        assert!(counts.last() == Some(&1) && counts.iter().all(|count| *count <= 1), "{words:?}: {errors}");
        let left: Vec<_> = std::fs::read_dir(&disk.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{words:?}: {left:?}");
    }
}
