//! `mpiscope run` changes nothing about the program: status, output, input, signals.

use crate::support::turns::Turns;
use mpiscope_harness::{
    Ended, Family, LIMIT, Mpi, Recorded, Running, Signal, Truth, folder, mpiscope, processes, record, report,
    run, run_with_input,
};
use std::path::Path;
use std::process::Command;

/// `mpiscope run` of plain words, the recording in a folder.
fn run_words(words: &[&str], out: &Path) -> Command {
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
    command.arg(out).arg("--").args(words);
    command
}

/// Every byte value, some of them no text, and more than a pipe holds.
fn all_bytes() -> Vec<u8> {
    (0..300_000_u32).map(|position| (position.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn own_lines(ended: &Ended) -> Vec<String> {
    ended.errors().lines().filter(|line| line.starts_with("mpiscope: ")).map(str::to_owned).collect()
}

#[test]
fn the_status_of_a_program_without_mpi_is_passed_on() {
    for mpi in Mpi::all_or_skip("behaviour the_status_of_a_program_without_mpi_is_passed_on") {
        let folder = folder().unwrap();
        let program = mpi.app("no_mpi").unwrap();
        let launched =
            run(&mut record(&mpi, 3, &program, &[], &folder.path().join("a")).unwrap(), LIMIT).unwrap();
        assert_eq!(launched.status, 5, "{}", launched.errors());
        // The first rank that ends with a status may be the end of those that have not spoken yet.
        let hellos = launched.output().matches("hello\n").count();
        assert!((1..=3).contains(&hellos), "{hellos} of 3: {}", launched.errors());
        let mut command = run_words(&[program.to_str().unwrap()], &folder.path().join("b"));
        let direct = run(&mut command, LIMIT).unwrap();
        assert_eq!((direct.status, direct.output().as_str()), (5, "hello\n"), "{}", direct.errors());
        assert!(direct.errors().contains("no MPI call was recorded"), "{}", direct.errors());
        assert_eq!(report(&folder.path().join("b")).unwrap()["job"]["exit"], 5);
    }
}

#[test]
fn the_status_says_how_a_command_ended() {
    let statuses = [
        (&["/bin/true"][..], 0),
        (&["/bin/false"], 1),
        (&["sh", "-c", "exit 255"], 255),
        (&["sh", "-c", "kill -SEGV $$"], 139),
        (&["sh", "-c", "kill -KILL $$"], 137),
        (&["/does/not/exist"], 127),
        (&["no-such-program-anywhere"], 127),
        (&["/etc/passwd"], 126),
    ];
    for (words, status) in statuses {
        let folder = folder().unwrap();
        let ended = run(&mut run_words(words, &folder.path().join("a")), LIMIT).unwrap();
        assert_eq!((ended.status, ended.output().as_str()), (status, ""), "{words:?}: {}", ended.errors());
        let explained = ended.errors().contains(words[0]);
        assert!(explained || !matches!(status, 126 | 127), "{words:?}: {}", ended.errors());
        // Nothing is left of what never ran.
        assert_eq!(folder.path().join("a").exists(), !matches!(status, 126 | 127), "{words:?}");
    }
}

#[test]
fn a_recording_with_nothing_in_it_makes_room_for_the_next() {
    let folder = folder().unwrap();
    let out = folder.path().join("a");
    let again =
        |status| run(&mut run_words(&["sh", "-c", &format!("exit {status}")], &out), LIMIT).unwrap().status;
    assert_eq!((again(3), again(4)), (3, 4));
    assert_eq!(report(&out).unwrap()["job"]["exit"], 4);
    // What somebody put there stays.
    std::fs::write(out.join("notes"), "mine").unwrap();
    assert_eq!(again(5), 2);
    assert_eq!(std::fs::read_to_string(out.join("notes")).unwrap(), "mine");
    assert_eq!(report(&out).unwrap()["job"]["exit"], 4);
}

#[test]
fn a_run_is_recorded_without_a_folder_for_temporary_files() {
    let test = "behaviour a_run_is_recorded_without_a_folder_for_temporary_files";
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("a");
    let program = mpi.app("linger").unwrap();
    // The launcher has use for such a folder.
    let own = "exec env TMPDIR=/tmp \"$@\"";
    let words = mpi.words(2, &program, &["0.2", "100"]);
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
    command.arg(&out).args(["--", "sh", "-c", own, "sh"]).args(words);
    mpi.prepare(&mut command).unwrap();
    let ended = run(command.env("TMPDIR", "/nonexistent"), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let truth = Truth::parse(&ended.stdout).unwrap();
    assert_eq!(Recorded::load(&out).unwrap().differences(&truth), Vec::<String>::new(), "{}", ended.errors());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [out]);
}

#[test]
fn input_and_output_pass_byte_for_byte() {
    let bytes = all_bytes();
    let both = ["sh", "-c", "tee /dev/stderr"];
    let folder = folder().unwrap();
    let mut command = run_words(&both, &folder.path().join("a"));
    let ended = run_with_input(&mut command, bytes.clone(), LIMIT).unwrap();
    assert!(ended.stdout == bytes, "{} bytes came back of {}", ended.stdout.len(), bytes.len());
    assert!(ended.stderr.starts_with(&bytes), "stderr is not the program's, then the summary");
    for mpi in Mpi::all_or_skip("behaviour input_and_output_pass_byte_for_byte") {
        // MPICH's launcher by itself breaks off when input comes faster than its program reads.
        let bytes = if mpi.family == Family::Mpich { &bytes[..3000] } else { &bytes[..] };
        let out = folder.path().join(mpi.family.word());
        let mut command = record(&mpi, 1, Path::new("/bin/cat"), &[], &out).unwrap();
        let ended = run_with_input(&mut command, bytes.to_vec(), LIMIT).unwrap();
        assert!(ended.stdout == bytes, "{}: {} bytes came back", mpi.family.word(), ended.stdout.len());
    }
}

#[test]
fn a_program_may_start_mpi_without_a_launcher() {
    for mpi in Mpi::all_or_skip("behaviour a_program_may_start_mpi_without_a_launcher") {
        for app in ["types", "cg"] {
            let folder = folder().unwrap();
            let out = folder.path().join("a");
            let program = mpi.app(app).unwrap();
            let mut command = run_words(&[program.to_str().unwrap()], &out);
            mpi.prepare(&mut command).unwrap();
            let ended = run(&mut command, LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            let recorded = Recorded::load(&out).unwrap();
            let truth = Truth::parse(&ended.stdout).unwrap();
            assert_eq!(recorded.differences(&truth), Vec::<String>::new(), "{app} {}", mpi.family.word());
            assert_eq!(recorded.manifest.job.ranks, 1);
        }
    }
}

#[test]
fn signals_reach_the_command() {
    let script = "for name in INT TERM HUP USR1 USR2 QUIT; do trap \"echo got $name; exit 9\" $name; done; \
                  echo ready; while :; do sleep 0.02; done";
    let signals = [
        (Signal::INT, "INT"),
        (Signal::TERM, "TERM"),
        (Signal::HUP, "HUP"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
        (Signal::QUIT, "QUIT"),
    ];
    for (signal, name) in signals {
        let folder = folder().unwrap();
        let out = folder.path().join("a");
        let running = Running::start(&mut run_words(&["sh", "-c", script], &out)).unwrap();
        let ready = || running.output_until_now().contains("ready").then_some(());
        processes::until(LIMIT, ready).unwrap();
        processes::signal(running.process(), signal);
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!((ended.status, ended.output()), (9, format!("ready\ngot {name}\n")), "{}", ended.errors());
        assert_eq!(report(&out).unwrap()["job"]["exit"], 9);
    }
}

#[test]
fn an_interrupted_job_leaves_a_complete_recording() {
    for mpi in Mpi::all_or_skip("behaviour an_interrupted_job_leaves_a_complete_recording") {
        for signal in [Signal::INT, Signal::TERM] {
            let folder = folder().unwrap();
            let out = folder.path().join("a");
            let program = mpi.app("paced").unwrap();
            let turns = Turns::new(folder.path());
            let arguments = turns.arguments();
            let interrupt = |command: &mut Command| {
                let running = Running::start(command).unwrap();
                turns.wait_for(150);
                processes::signal(running.process(), signal);
                running.wait(LIMIT).unwrap()
            };
            let unrecorded = interrupt(&mut mpi.plain(2, &program, &arguments).unwrap());
            let ended = interrupt(&mut record(&mpi, 2, &program, &arguments, &out).unwrap());
            let place = format!("{signal:?} {}: {}", mpi.family.word(), ended.errors());
            // Signalled, MPICH's launcher says 0 or the signal's number by chance, and that without us.
            let by_chance = mpi.family == Family::Mpich;
            let either = by_chance && [0, signal.as_raw()].contains(&ended.status);
            assert!(
                ended.status == unrecorded.status || either,
                "{} was {} {place}",
                ended.status,
                unrecorded.status
            );
            let recorded = Recorded::load(&out).unwrap();
            assert_eq!(recorded.wrongly_paired(false), Vec::<String>::new(), "{place}");
            let report = report(&out).unwrap();
            assert_eq!(report["job"]["state"], "complete", "{place}");
            assert!(report["totals"]["messages"].as_u64().unwrap() > 100, "{place} {report:#}");
        }
    }
}

#[test]
fn the_summary_is_short_and_nothing_is_on_stdout() {
    for mpi in Mpi::sample_or_skip("behaviour the_summary_is_short_and_nothing_is_on_stdout") {
        let folder = folder().unwrap();
        let program = mpi.app("forms").unwrap();
        let command = record(&mpi, 4, &program, &[], &folder.path().join("a"));
        let ended = run(&mut command.unwrap(), LIMIT).unwrap();
        let lines = own_lines(&ended);
        assert!((3..=20).contains(&lines.len()), "{lines:#?}");
        assert_eq!(ended.errors().lines().count(), lines.len(), "{}", ended.errors());
        let output = ended.output();
        assert!(output.starts_with("mpiscope-truth 1\n") && output.ends_with("end\n"), "{output}");
        assert!(lines.iter().any(|line| line.contains("recording cost")), "{lines:#?}");
        assert!(!ended.stderr.contains(&0x1b), "colours, and stderr is no terminal");
    }
}

#[test]
fn a_folder_that_holds_something_is_not_filled() {
    let folder = folder().unwrap();
    std::fs::write(folder.path().join("precious"), "x").unwrap();
    let ended = run(&mut run_words(&["echo", "ran"], folder.path()), LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (2, ""));
    assert_eq!(ended.errors().lines().count(), 1, "{}", ended.errors());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_was_preloaded_stays_preloaded() {
    let folder = folder().unwrap();
    let mut command = run_words(&["sh", "-c", "echo $LD_PRELOAD"], &folder.path().join("a"));
    let ended = run(command.env("LD_PRELOAD", "libm.so.6"), LIMIT).unwrap();
    let output = ended.output();
    assert!(output.trim().ends_with("libmpiscope_shim.so:libm.so.6"), "{output}");
}
