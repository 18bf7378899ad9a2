//! Programs that do what MPI allows and few do: they fork, complete in another thread than they posted, throw
//! exceptions through MPI and jump out of it, run on after their terminal is gone.

use crate::support::turns::Turns;
use mpiscope_harness::{
    Ended, Family, LIMIT, Mpi, Recorded, Running, Signal, Truth, daemon_of, folder, full_run, mpiscope,
    processes, record, report, run, skip, source_folder,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs a program without and with mpiscope: the status must be 0 both times, nothing lost and no match ambiguous.
fn run_both(mpi: &Mpi, ranks: u32, program: &Path, arguments: &[&str]) -> (Ended, Ended, Recorded) {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let unrecorded = run(&mut mpi.plain(ranks, program, arguments).unwrap(), LIMIT).unwrap();
    let mut command = record(mpi, ranks, program, arguments, &out).unwrap();
    // So large, for every thread, that nothing is lost to a slow machine: what is missing is then a fault.
    let slots = (1 << 18).to_string();
    command.env("MPISCOPE_RING_SLOTS", &slots).env("MPISCOPE_RING_OTHER_SLOTS", &slots);
    let ended = run(&mut command, LIMIT).unwrap();
    let place = format!("{} on {ranks} ranks of {}", program.display(), mpi.family.word());
    assert_eq!(unrecorded.status, 0, "{place}, unrecorded: {}", unrecorded.errors());
    assert_eq!(ended.status, 0, "{place}: {}", ended.errors());
    let recorded = Recorded::load(&out).unwrap();
    let manifest = &recorded.manifest;
    assert_eq!(recorded.missing(), Vec::<&str>::new(), "{place}: {}", ended.errors());
    let lost = manifest.lost;
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}: lost");
    assert_eq!(manifest.totals.uncertain_messages, 0, "{place}: ambiguous matches");
    assert_eq!(manifest.totals.unmatched_receives, 0, "{place}: receives of nothing");
    assert_eq!(recorded.wrongly_paired(false), Vec::<String>::new(), "{place}");
    (unrecorded, ended, recorded)
}

fn recorded_exactly(app: &str, arguments: &[&str], test: &str) {
    for mpi in Mpi::all_or_skip(test) {
        let program = mpi.app(app).unwrap();
        for ranks in [2, 4] {
            let (unrecorded, ended, recorded) = run_both(&mpi, ranks, &program, arguments);
            let place = format!("{app} on {ranks} ranks of {}: {}", mpi.family.word(), ended.errors());
            let truth = Truth::parse(&ended.stdout).unwrap();
            assert_eq!(truth, Truth::parse(&unrecorded.stdout).unwrap(), "{place}");
            if ended.output().starts_with("skip: ") {
                skip(test, &ended.output());
                continue;
            }
            assert_ne!(truth.all_messages().0, 0, "{place}");
            assert_eq!(recorded.differences(&truth), Vec::<String>::new(), "{place}");
            assert_eq!(recorded.manifest.totals.unmatched_sends, 0, "{place}");
        }
    }
}

#[test]
fn a_forked_child_that_ends_takes_nothing_along() {
    let test = "unusual_programs a_forked_child_that_ends_takes_nothing_along";
    recorded_exactly("fork", &[if full_run() { "2000" } else { "300" }], test);
}

#[test]
fn a_timer_that_interrupts_everything_changes_nothing() {
    let test = "unusual_programs a_timer_that_interrupts_everything_changes_nothing";
    recorded_exactly("odd", &["interrupted", "1000"], test);
}

#[test]
fn programs_that_a_rank_starts_are_not_the_rank() {
    recorded_exactly(
        "odd",
        &["starting", if full_run() { "500" } else { "100" }],
        "unusual_programs programs_that_a_rank_starts_are_not_the_rank",
    );
}

#[test]
fn a_rank_that_becomes_another_program_leaves_all_it_did() {
    let test = "unusual_programs a_rank_that_becomes_another_program_leaves_all_it_did";
    recorded_exactly("odd", &["becoming"], test);
}

#[test]
fn a_rank_that_ends_at_once_after_mpi_leaves_all_it_did() {
    let test = "unusual_programs a_rank_that_ends_at_once_after_mpi_leaves_all_it_did";
    recorded_exactly("odd", &["leaving"], test);
}

/// Runs `odd` without and with mpiscope, where it does not end well or not with the truth: nothing may differ, and all
/// messages are there.
fn ends_alike(mpi: &Mpi, word: &str) -> (Ended, Recorded) {
    let folder = folder().unwrap();
    let (out, program) = (folder.path().join("recording"), mpi.app("odd").unwrap());
    let unrecorded = run(&mut mpi.plain(2, &program, &[word]).unwrap(), LIMIT).unwrap();
    let ended = run(&mut record(mpi, 2, &program, &[word], &out).unwrap(), LIMIT).unwrap();
    let place = format!("{word}, {}: {}", mpi.family.word(), ended.errors());
    assert_eq!(ended.status, unrecorded.status, "{place}");
    let recorded = Recorded::load(&out).unwrap();
    assert_eq!(recorded.wrongly_paired(false), Vec::<String>::new(), "{place}");
    let totals = recorded.manifest.totals;
    assert_eq!((totals.messages, totals.unmatched_sends), (2 * 200, 0), "{place}");
    (ended, recorded)
}

#[test]
fn a_rank_that_ends_at_once_within_mpi_leaves_what_it_did_until_then() {
    for mpi in Mpi::sample_or_skip(
        "unusual_programs a_rank_that_ends_at_once_within_mpi_leaves_what_it_did_until_then",
    ) {
        let (ended, recorded) = ends_alike(&mpi, "vanishing");
        assert_eq!(ended.status, 7, "{}", ended.errors());
        let missing = recorded.manifest.missing;
        assert!(missing.iter().any(|line| line.contains("ended without MPI_Finalize")), "{missing:?}");
    }
}

#[test]
fn a_second_init_is_the_error_that_it_is_without_us() {
    for mpi in Mpi::sample_or_skip("unusual_programs a_second_init_is_the_error_that_it_is_without_us") {
        let (ended, _) = ends_alike(&mpi, "twice");
        // Open MPI ends the job, whatever the program wants of errors.
        let warnings = ended.errors().matches("the second time it is an error").count();
        assert!(warnings == 2 || ended.status != 0, "{}: {}", mpi.family.word(), ended.errors());
    }
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn mpi_by_a_session_alone_runs_unrecorded_with_a_warning() {
    let test = "unusual_programs mpi_by_a_session_alone_runs_unrecorded_with_a_warning";
    let Some(mpi) = Mpi::find_or_skip(Family::Mpich, test) else { return };
    let folder = folder().unwrap();
    let program = mpi.app("sessions").unwrap();
    let unrecorded = run(&mut mpi.plain(3, &program, &[]).unwrap(), LIMIT).unwrap();
    let mut command = record(&mpi, 3, &program, &[], &folder.path().join("recording")).unwrap();
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!((ended.status, unrecorded.status), (0, 0), "{}", ended.errors());
    assert_eq!(lines(&ended.output()), lines(&unrecorded.output()));
    assert_eq!(ended.errors().matches("MPI is used by a session").count(), 1, "{}", ended.errors());
    assert!(ended.errors().contains("no MPI call was recorded"), "{}", ended.errors());
}

/// MPICH over UCX has no ports.
#[test]
fn parts_of_a_job_that_meet_by_a_port_or_a_socket_are_recorded() {
    let test = "unusual_programs parts_of_a_job_that_meet_by_a_port_or_a_socket_are_recorded";
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, test) else { return };
    for ranks in [2, 4] {
        let (unrecorded, ended, recorded) = run_both(&mpi, ranks, &mpi.app("ports").unwrap(), &[]);
        assert_eq!((ended.output(), unrecorded.output()), ("they met\n".into(), "they met\n".into()));
        let count = |name| recorded.calls.iter().filter(|call| recorded.name(call) == name).count();
        let half = ranks as usize / 2;
        let meetings = ["MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join"].map(count);
        assert_eq!(meetings, [half, half, 2], "{ranks} ranks: {}", ended.errors());
        assert_eq!(count("MPI_Sendrecv"), 3 * (ranks as usize + 2), "{ranks} ranks");
        assert_eq!(count("MPI_Comm_disconnect"), ranks as usize + 2, "{ranks} ranks");
    }
}

#[test]
fn receives_complete_in_another_thread_than_posted_them() {
    let test = "unusual_programs receives_complete_in_another_thread_than_posted_them";
    recorded_exactly("progress", &[if full_run() { "3000" } else { "600" }], test);
}

#[test]
fn a_jump_passes_over() {
    recorded_exactly("jumping", &[], "unusual_programs a_jump_passes_over");
}

/// Messages and bytes that freed receives took, as the program says it.
fn freed(ended: &Ended) -> (u64, u64) {
    let output = ended.output();
    let figures = output.lines().find_map(|line| line.strip_prefix("freed ")).unwrap();
    let (messages, bytes) = figures.split_once(' ').unwrap();
    (messages.parse().unwrap(), bytes.parse().unwrap())
}

#[test]
fn what_a_freed_receive_took_is_no_other_s() {
    for mpi in Mpi::all_or_skip("unusual_programs what_a_freed_receive_took_is_no_other_s") {
        let program = mpi.app("free_request").unwrap();
        for ranks in [2, 4] {
            let (unrecorded, ended, recorded) = run_both(&mpi, ranks, &program, &[]);
            let place = format!("{ranks} ranks of {}: {}", mpi.family.word(), ended.errors());
            let (truth, freed) = (Truth::parse(&ended.stdout).unwrap(), freed(&ended));
            assert_eq!(truth, Truth::parse(&unrecorded.stdout).unwrap(), "{place}");
            // The program does not count these.
            let others = ["MPI_Comm_split_type", "MPI_Comm_dup_with_info", "MPI_Comm_disconnect"];
            let mut counts = recorded.counts();
            counts.retain(|(_, name), _| !others.contains(&name.as_str()));
            assert_eq!(counts, truth.calls, "{place}");
            let (all, totals) = (truth.all_messages(), recorded.manifest.totals);
            assert!(freed.0 > 0 && freed.0 < all.0, "{place}: {freed:?} of {all:?}");
            assert_eq!(totals.unmatched_sends, freed.0, "{place}");
            assert_eq!((totals.messages, totals.bytes), (all.0 - freed.0, all.1 - freed.1), "{place}");
            // On every communicator the same share of messages is freed, whoever the neighbours are.
            let visible = truth.pairs.iter().map(|(&pair, made)| (pair, made.0 - made.0 * freed.0 / all.0));
            let found = recorded.pairs().into_iter().map(|(pair, (messages, _))| (pair, messages));
            let sorted = |pairs: Vec<((u32, u32), u64)>| {
                pairs.into_iter().collect::<std::collections::BTreeMap<_, _>>()
            };
            assert_eq!(sorted(found.collect()), sorted(visible.collect()), "{place}");
            let other = recorded.other_functions();
            for name in others {
                assert!(other.contains(name), "{place}: no {name} among {other:?}");
            }
        }
    }
}

/// The family's compiler of C++ has a name like that for C.
fn throwing(mpi: &Mpi, folder: &Path) -> Option<PathBuf> {
    let name = mpi.compiler.file_name()?.to_str()?.replace("mpicc", "mpicxx");
    let compiler = mpi.compiler.with_file_name(name);
    // Without one, or without the compiler that it calls, there is nothing to test.
    let version = Command::new(&compiler).arg("--version").output().ok()?;
    version.status.success().then_some(())?;
    let program = folder.join("throwing");
    let mut command = Command::new(&compiler);
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-o"]);
    let built = run(command.arg(&program).arg(source_folder().join("throwing.cpp")), LIMIT).unwrap();
    assert_eq!(built.status, 0, "{}", built.errors());
    Some(program)
}

#[test]
fn an_exception_passes_through() {
    let test = "unusual_programs an_exception_passes_through";
    for mpi in Mpi::all_or_skip(test) {
        let folder = folder().unwrap();
        let Some(program) = throwing(&mpi, folder.path()) else {
            skip(test, &format!("{} has no compiler of C++", mpi.family.word()));
            continue;
        };
        for ranks in [1, 3] {
            let (unrecorded, ended, recorded) = run_both(&mpi, ranks, &program, &[]);
            let place = format!("{ranks} ranks of {}: {}", mpi.family.word(), ended.errors());
            for output in [unrecorded.output(), ended.output()] {
                // Launchers may join the ranks' lines.
                assert_eq!(output.matches("caught").count(), ranks as usize, "{place}: {output}");
                assert_eq!(output.replace("caught", "").trim(), "", "{place}");
            }
            let expected = (0..ranks).map(|rank| ((rank, (rank + 1) % ranks), (3, 3 * 40)));
            assert_eq!(recorded.pairs(), expected.collect(), "{place}");
            assert_eq!(recorded.manifest.totals.unmatched_sends, 0, "{place}");
        }
    }
}

/// The command, started as `nohup` starts it: with SIGHUP ignored.
fn deaf_to_hangups(command: &Command) -> Command {
    let mut deaf = Command::new("sh");
    deaf.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => deaf.env(name, value),
            None => deaf.env_remove(name),
        };
    }
    deaf
}

#[test]
fn an_ignored_hangup_stays_ignored() {
    let folder = folder().unwrap();
    let (out, go_on) = (folder.path().join("a"), folder.path().join("go on"));
    let script = "echo ready; until [ -e \"$1\" ]; do sleep 0.02; done; kill -HUP $$; echo done; exit 5";
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
    command.arg(&out).args(["--", "sh", "-c", script, "sh"]).arg(&go_on);
    let running = Running::start(&mut deaf_to_hangups(&command)).unwrap();
    let ready = || running.output_until_now().contains("ready").then_some(());
    processes::until(LIMIT, ready).unwrap();
    let daemon = daemon_of(&running).unwrap();
    // A terminal that goes signals all that runs in it.
    let family = running.family();
    assert!(family.contains(&running.process()) && family.contains(&daemon), "{family:?}");
    family.iter().for_each(|&process| processes::signal(process, Signal::HUP));
    // A process that the signal ends is given the time for it.
    std::thread::sleep(Duration::from_millis(300));
    assert!(processes::is_running(running.process()) && processes::is_running(daemon));
    std::fs::write(&go_on, "").unwrap();
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (5, "ready\ndone\n"), "{}", ended.errors());
    let report = report(&out).unwrap();
    assert_eq!(
        (&report["job"]["exit"], &report["job"]["state"]),
        (&5.into(), &"complete".into()),
        "{report:#}"
    );
}

#[test]
fn a_job_outlives_an_ignored_hangup() {
    for mpi in Mpi::sample_or_skip("unusual_programs a_job_outlives_an_ignored_hangup") {
        let folder = folder().unwrap();
        let out = folder.path().join("a");
        let turns = Turns::new(folder.path());
        let command = record(&mpi, 2, &mpi.app("paced").unwrap(), &turns.arguments(), &out).unwrap();
        let running = Running::start(&mut deaf_to_hangups(&command)).unwrap();
        let daemon = daemon_of(&running).unwrap();
        turns.wait_for(50);
        // Not the launcher, which may have its own mind about this signal, recorded or not.
        for process in [running.process(), daemon] {
            processes::signal(process, Signal::HUP);
        }
        turns.wait_for(100);
        turns.end();
        let ended = running.wait(LIMIT).unwrap();
        let place = format!("{}: {}", mpi.family.word(), ended.errors());
        assert_eq!(ended.status, 0, "{place}");
        let (truth, recorded) = (Truth::parse(&ended.stdout).unwrap(), Recorded::load(&out).unwrap());
        assert_eq!(recorded.differences(&truth), Vec::<String>::new(), "{place}");
        assert_eq!(recorded.missing(), Vec::<&str>::new(), "{place}");
    }
}
