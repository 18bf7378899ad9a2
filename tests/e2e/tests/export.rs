//! `mpiscope export`: what other programs read of a real run, and that nothing is left of an export that was given up.

use mpiscope_harness::{
    Ended, LIMIT, Mpi, Recorded, Running, Signal, daemon_of, folder, full_run, mpiscope, processes, record,
    report, root, run, skip, until_log_has,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RANKS: u32 = 4;

fn export(recording: &Path, format: &str, output: &Path, more: &[&str]) -> Ended {
    let mut command = mpiscope(&["export", "--format", format]).unwrap();
    run(command.arg(recording).arg("-o").arg(output).args(more), LIMIT).unwrap()
}

fn exported(recording: &Path, format: &str, output: &Path, more: &[&str]) {
    let ended = export(recording, format, output, more);
    assert_eq!((ended.status, ended.output().as_str()), (0, ""), "{}", ended.errors());
}

/// A Python that has a package; says that the test is skipped where there is none.
fn python(test: &str, package: &str) -> Option<PathBuf> {
    let python = PathBuf::from(std::env::var_os("MPISCOPE_PYTHON").unwrap_or_else(|| "python3".into()));
    let imports = run(Command::new(&python).args(["-c", &format!("import {package}")]), LIMIT);
    if imports.is_ok_and(|ended| ended.status == 0) {
        return Some(python);
    }
    skip(test, &format!("{} cannot import {package}", python.display()));
    None
}

/// Whether OTF2 can be written here; says that the test is skipped where it cannot.
fn has_otf2(test: &str, recording: &Path) -> bool {
    let folder = folder().unwrap();
    let ended = export(recording, "otf2", &folder.path().join("archive"), &[]);
    if ended.status == 2 && ended.errors().contains("install libopen-trace-format2-10") {
        assert_eq!(ended.errors().lines().count(), 1, "{}", ended.errors());
        skip(test, "the OTF2 library is not on this machine");
        return false;
    }
    assert_eq!(ended.status, 0, "{}", ended.errors());
    true
}

/// What a script of this folder says of files.
fn script(python: &Path, name: &str, files: &[&Path], more: &[&str]) -> String {
    let mut command = Command::new(python);
    let ended = run(command.arg(root().join("tests/e2e").join(name)).args(files).args(more), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{name} {files:?}: {}{}", ended.output(), ended.errors());
    ended.output()
}

fn recorded(mpi: &Mpi, app: &str, out: &Path) {
    let ended = run(&mut record(mpi, RANKS, &mpi.app(app).unwrap(), &[], out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

/// The report in a file, for scripts.
fn figures(recording: &Path) -> (Value, PathBuf) {
    let path = recording.with_extension("json");
    let report = report(recording).unwrap();
    std::fs::write(&path, report.to_string()).unwrap();
    (report, path)
}

fn modelled(out: &Path, more: &[&str]) {
    let words = ["synth", "--pattern", "halo2d", "--ranks", "16", "--nodes", "4"];
    let is_sized = more.contains(&"--rate");
    let size = if is_sized { &[][..] } else { &["--seconds", "0.5", "--rate", "100000"] };
    let ended = run(mpiscope(&words).unwrap().args(size).args(more).arg("-o").arg(out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

#[test]
fn tables_have_the_rows_of_the_recording_with_names() {
    let test = "export tables_have_the_rows_of_the_recording_with_names";
    let Some(python) = python(test, "pyarrow.parquet") else { return };
    for mpi in Mpi::sample_or_skip(test) {
        for app in ["forms", "split"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            recorded(&mpi, app, &out);
            for table in ["calls", "messages"] {
                let (csv, parquet) = (folder.path().join("t.csv"), folder.path().join("t.parquet"));
                exported(&out, "csv", &csv, &["--table", table]);
                exported(&out, "parquet", &parquet, &["--table", table]);
                let mut command = Command::new(&python);
                command
                    .arg(root().join("tests/e2e/read_tables.py"))
                    .arg(&out)
                    .arg(table)
                    .arg(&csv)
                    .arg(&parquet);
                let ended = run(&mut command, LIMIT).unwrap();
                assert_eq!((ended.status, ended.output().as_str()), (0, "the same\n"), "{}", ended.errors());
                // On the standard output it is the same.
                let plain = export(&out, "csv", Path::new("-"), &["--table", table]);
                assert_eq!(plain.stdout, std::fs::read(&csv).unwrap());
            }
        }
    }
}

#[test]
fn a_trace_for_perfetto_is_sound() {
    let test = "export a_trace_for_perfetto_is_sound";
    let Some(python) = python(test, "json") else { return };
    for mpi in Mpi::sample_or_skip(test) {
        for app in ["forms", "threads", "collectives", "persistent"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            recorded(&mpi, app, &out);
            let trace = folder.path().join("trace.json");
            exported(&out, "perfetto", &trace, &[]);
            let (_, figures) = figures(&out);
            assert_eq!(script(&python, "check_trace.py", &[&trace, &figures], &[]), "sound\n", "{app}");
        }
    }
}

#[test]
fn an_otf2_archive_has_the_figures_of_the_report() {
    let test = "export an_otf2_archive_has_the_figures_of_the_report";
    let Some(python) = python(test, "otf2") else { return };
    for mpi in Mpi::sample_or_skip(test) {
        for app in ["forms", "threads", "collectives", "split", "persistent"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            recorded(&mpi, app, &out);
            if !has_otf2(test, &out) {
                return;
            }
            let archive = folder.path().join("archive");
            exported(&out, "otf2", &archive, &[]);
            let (_, figures) = figures(&out);
            let anchor = archive.join("traces.otf2");
            let output = script(&python, "read_otf2.py", &[&anchor, &figures], &[]);
            let collectives: u64 =
                output.trim_start_matches("the same, ").split(' ').next().unwrap().parse().unwrap();
            assert_eq!(collectives > 0, app != "threads", "{app}: {output}");
            // The format's own reader has nothing to say against it.
            match run(Command::new("otf2-print").arg(&anchor).stdout(Stdio::null()), LIMIT) {
                Ok(ended) => assert_eq!((ended.status, ended.errors().as_str()), (0, ""), "{app}"),
                Err(_) => skip(test, "otf2-print is not on this machine"),
            }
        }
    }
}

#[test]
fn simulated_jobs_of_any_style_become_sound_traces() {
    let test = "export simulated_jobs_of_any_style_become_sound_traces";
    let Some(python) = python(test, "json") else { return };
    let styles = ["waitall", "blocking", "polling"];
    for style in &styles[..if full_run() { 3 } else { 1 }] {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        modelled(&out, &["--style", style, "--disturb", "drifting-clocks"]);
        let trace = folder.path().join("trace.json");
        let ended = export(&out, "perfetto", &trace, &[]);
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let (report, figures) = figures(&out);
        // With uncertain clocks a message may end before it begins: it has no arrow, and the export says so.
        let errors = ended.errors();
        let missing = errors.lines().find(|line| line.contains("without an arrow"));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let missing = missing.map_or("0".into(), |line| digits(line.split(" message").next().unwrap()));
        let messages = report["totals"]["messages"].as_u64().unwrap();
        assert!(missing.parse::<u64>().unwrap() * 100 < messages, "{errors}");
        assert_eq!(script(&python, "check_trace.py", &[&trace, &figures], &[&missing]), "sound\n");
    }
}

#[test]
fn what_was_killed_or_still_runs_gives_what_it_has() {
    let test = "export what_was_killed_or_still_runs_gives_what_it_has";
    let Some(python) = python(test, "json") else { return };
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let program = mpi.app("linger").unwrap();
    let running = Running::start(&mut record(&mpi, RANKS, &program, &["3", "500"], &out).unwrap()).unwrap();
    until_log_has(&out, 20_000).unwrap();
    let table = folder.path().join("calls.csv");
    exported(&out, "csv", &table, &[]);
    let lines = std::fs::read_to_string(&table).unwrap().lines().count();
    assert!(lines > 1, "nothing of a run that goes on");
    let daemon = daemon_of(&running).unwrap();
    processes::signal(running.process(), Signal::KILL);
    processes::signal(daemon, Signal::KILL);
    running.wait(LIMIT).unwrap();
    let (report, figures) = figures(&out);
    assert_eq!(report["job"]["state"], "incomplete");
    let trace = folder.path().join("trace.json");
    let ended = export(&out, "perfetto", &trace, &[]);
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert!(ended.errors().contains("was not completed"), "{}", ended.errors());
    assert_eq!(script(&python, "check_trace.py", &[&trace, &figures], &[]), "sound\n");
    // Names of call sites are looked up although nobody did when the run ended.
    exported(&out, "csv", &table, &[]);
    let text = std::fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().count() as u64 - 1, report["totals"]["calls"].as_u64().unwrap());
    assert!(text.contains("linger.c:"), "{}", &text[..2000.min(text.len())]);
    let live: Value = serde_json::from_slice(&std::fs::read(out.join("live.json")).unwrap()).unwrap();
    for rings in live["rings"].as_array().unwrap() {
        std::fs::remove_dir_all(rings.as_str().unwrap()).unwrap();
    }
}

#[test]
fn filters_take_what_they_say() {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    modelled(&out, &[]);
    let all = Recorded::load(&out).unwrap();
    let rows = |table: &str, more: &[&str]| {
        let ended = export(&out, "csv", Path::new("-"), &[&["--table", table], more].concat());
        assert_eq!(ended.status, 0, "{}", ended.errors());
        ended.output().lines().count() - 1
    };
    let words = ["--from", "0.1", "--to", "0.2", "--rank", "0,3-5", "--longer-than", "20us"];
    let is_in = |begin_ns: u64, end_ns: u64| begin_ns < 200_000_000 && end_ns >= 100_000_000;
    let has = |rank: u32| [0, 3, 4, 5].contains(&rank);
    let calls = all.calls.iter().filter(|call| {
        is_in(call.start_ns, call.end_ns) && has(call.rank.0) && call.end_ns - call.start_ns > 20_000
    });
    let expected: Vec<_> = calls.clone().collect();
    assert!(expected.len() > 10);
    assert_eq!(rows("calls", &words), expected.len());
    let waits = calls.filter(|call| all.name(call) == "MPI_Waitall").count();
    assert!(waits > 0 && waits < expected.len());
    assert_eq!(rows("calls", &[&words[..], &["--function", "mpi_waitall"]].concat()), waits);
    let messages = all.messages.iter().filter(|message| {
        is_in(message.send_ns, message.recv_ns)
            && (has(message.src.0) || has(message.dst.0))
            && message.recv_ns - message.send_ns > 20_000
    });
    assert_eq!(rows("messages", &words), messages.count());
    assert_eq!(rows("messages", &["--from", "1000"]), 0);
}

/// One line, status 2, and nothing beside the recording.
fn assert_refused(recording: &Path, format: &str, output: &Path, more: &[&str], says: &str) {
    let ended = export(recording, format, output, more);
    let errors = ended.errors();
    assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{errors}");
    assert!(errors.lines().count() == 1 && errors.contains(says), "{errors}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let folder = folder().unwrap();
    let (out, target) = (folder.path().join("recording"), folder.path().join("out"));
    modelled(&out, &[]);
    let refused = |format: &str, more: &[&str], says: &str| assert_refused(&out, format, &target, more, says);
    refused("perfetto", &["--table", "calls"], "--table goes with csv and parquet");
    refused("picl", &["--reverse"], "--reverse goes with csv and parquet");
    refused(
        "csv",
        &["--table", "messages", "--function", "MPI_Send"],
        "--function and --call-site choose calls",
    );
    refused("csv", &["--function", "MPI_Nothing"], "MPI_Nothing is no function");
    refused("csv", &["--from", "2", "--to", "1"], "--from has to be before --to");
    refused("csv", &["--rank", "3-1"], "ranks are expected");
    refused("csv", &["--longer-than", "5"], "a duration is expected");
    refused("xml", &[], "invalid value 'xml'");
    assert_refused(&out, "parquet", Path::new("-"), &[], "only csv, perfetto and picl");
    assert_refused(&out, "csv", folder.path(), &[], "is a folder");
    assert_refused(folder.path(), "csv", &target, &[], "no recording");
    assert_refused(&out, "csv", &folder.path().join("none/out"), &[], "cannot write");
    // Nothing was left, but for the recording.
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["recording"]);
}

#[test]
fn an_export_that_is_given_up_leaves_nothing() {
    let test = "export an_export_that_is_given_up_leaves_nothing";
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    // Enough for the export to be still under way when it is interrupted.
    modelled(&out, &["--seconds", "8", "--rate", "200000"]);
    for format in ["perfetto", "picl", "otf2"] {
        let small = folder.path().join("small");
        if format == "otf2" && !small.exists() {
            modelled(&small, &[]);
            if !has_otf2(test, &small) {
                return;
            }
        }
        let place = folder.path().join(format);
        std::fs::create_dir(&place).unwrap();
        let target = place.join("target");
        if format != "otf2" {
            // What was there stays until another takes its place.
            std::fs::write(&target, "from before").unwrap();
        }
        let mut command = mpiscope(&["export", "--format", format]).unwrap();
        let running = Running::start(command.arg(&out).arg("-o").arg(&target)).unwrap();
        let unfinished = || {
            let mut entries = std::fs::read_dir(&place).ok()?.flatten();
            entries.find(|entry| entry.file_name().to_string_lossy().ends_with(".unfinished"))
        };
        processes::until(LIMIT, unfinished).expect("nothing is begun");
        processes::signal(running.process(), Signal::INT);
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(
            (ended.status, ended.errors().as_str()),
            (130, "mpiscope: interrupted: nothing was written\n")
        );
        let left: Vec<_> = std::fs::read_dir(&place).unwrap().flatten().map(|entry| entry.path()).collect();
        if format != "otf2" {
            assert_eq!(left, std::slice::from_ref(&target));
            assert_eq!(std::fs::read_to_string(&target).unwrap(), "from before");
        } else {
            assert_eq!(left, Vec::<PathBuf>::new());
        }
    }
}

#[test]
fn whoever_reads_may_stop() {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    modelled(&out, &[]);
    let mut command = mpiscope(&["export", "--format", "csv", "-o", "-"]).unwrap();
    let mut child = command.arg(&out).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
