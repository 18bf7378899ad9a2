//! What the test programs say that they did is what the recording says, to the last call and byte.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use mpiscope_harness::{Ended, Family, Mpi, Recorded, Truth, folder, full_run, record, run};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// How many ranks an application is run on: always four, and in a selection of applications fewer and many more.
fn rank_counts(app: &str) -> &'static [u32] {
    let selected = ["halo3d", "master_worker", "million", "forms", "collectives", "reductions", "persistent"];
    let selected = selected.contains(&app) || ["matched", "cancel"].contains(&app);
    if full_run() || selected { &[2, 4, 16] } else { &[4] }
}

/// The exit status that the application has by itself.
fn own_status(app: &str, mpi: &Mpi) -> i32 {
    match app {
        "abort" => 7,
        "crash" => mpi.status_of_signal(11),
        _ => 0,
    }
}

/// The output apart from the truth, whose figures of polls differ from run to run, in an order of its own.
fn other_output(ended: &Ended) -> Vec<String> {
    let output = ended.output();
    let outside = output
        .split("mpiscope-truth 1\n")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once("end\n").map_or("", |(_, rest)| rest) });
    // MPICH's launcher, on a crash: process numbers, and the exit code of whichever rank it counts first.
    let varies = |line: &&str| line.starts_with("=   PID ") || line.starts_with("=   EXIT CODE: ");
    let mut lines: Vec<String> =
        outside.flat_map(str::lines).filter(|line| !varies(line)).map(str::to_owned).collect();
    lines.sort();
    lines
}

fn recorded_exactly(app: &str, mpi: &Mpi, ranks: u32) {
    let place = format!("{app} on {ranks} ranks of {}", mpi.family.word());
    let program = mpi.app(app).unwrap();
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let run_it = |mut command: Command| run(command.current_dir(folder.path()), LIMIT).unwrap();
    let unrecorded = run_it(mpi.plain(ranks, &program, &[]).unwrap());
    let mut command = record(mpi, ranks, &program, &[], &out).unwrap();
    if app == "million" {
        // It calls faster than a daemon without a processor of its own can read: these rings hold all of it. What
        // happens with smaller ones is tested in `loss.rs`.
        command.env("MPISCOPE_RING_SLOTS", ((1 << 22) / ranks.next_power_of_two()).to_string());
    }
    let ended = run_it(command);
    let said = ended.errors();
    assert_eq!(unrecorded.status, own_status(app, mpi), "{place}, unrecorded: {}", unrecorded.errors());
    assert_eq!(ended.status, unrecorded.status, "{place}: {said}");
    assert_eq!(other_output(&ended), other_output(&unrecorded), "{place}");

    let truth = Truth::parse(&ended.stdout).unwrap();
    assert_eq!(truth.pairs, Truth::parse(&unrecorded.stdout).unwrap().pairs, "{place}");
    let recorded = Recorded::load(&out).unwrap();
    let manifest = &recorded.manifest;
    let nothing = Vec::<String>::new();
    assert_eq!(recorded.differences(&truth), nothing, "{place}: {said}");
    assert_eq!(recorded.wrongly_paired(false), nothing, "{place}: {said}");
    // Their ranks do not come to MPI_Finalize, which is said; all that they made before is there.
    let unfinished = ["abort", "crash"].contains(&app);
    let expected = |sentence: &String| unfinished && sentence.contains("ended without MPI_Finalize");
    assert!(manifest.missing.iter().all(expected), "{place}: {:?}", manifest.missing);
    assert_eq!(manifest.missing.len(), usize::from(unfinished), "{place}: {:?}", manifest.missing);
    let totals = manifest.totals;
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}: unmatched");
    assert_eq!(totals.uncertain_messages, 0, "{place}: paired in doubt");
    let lost = manifest.lost;
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}: lost");
    assert_eq!((totals.messages, totals.bytes), truth.all_messages(), "{place}: totals");
    assert_eq!(totals.calls, recorded.calls.len() as u64, "{place}: totals");
    let rows: u64 = recorded.calls.iter().map(|call| call.count).sum();
    assert_eq!(totals.calls + totals.polls, rows, "{place}: totals");
    assert_eq!((manifest.job.ranks, manifest.job.exit), (ranks, Some(ended.status)), "{place}: job");
}

fn recorded_exactly_everywhere(app: &str, family: Family, test: &str) {
    let Some(mpi) = Mpi::find_or_skip(family, test) else { return };
    for &ranks in rank_counts(app) {
        recorded_exactly(app, &mpi, ranks);
    }
}

macro_rules! exact {
    ($($app:ident)*) => {$(
        mod $app {
            use super::{Family, recorded_exactly_everywhere};

            #[test]
            fn openmpi() {
                let name = concat!("exact_counts ", stringify!($app), "::openmpi");
                recorded_exactly_everywhere(stringify!($app), Family::OpenMpi, name);
            }

            #[test]
            fn mpich() {
                let name = concat!("exact_counts ", stringify!($app), "::mpich");
                recorded_exactly_everywhere(stringify!($app), Family::Mpich, name);
            }
        }
    )*};
}

exact!(ring halo3d cg master_worker million types split forms out_of_order threads linger blocked abort crash);
exact!(collectives reductions persistent matched cancel);

#[test]
fn no_application_is_left_out() {
    let tested = [
        "abort",
        "blocked",
        "cancel",
        "cg",
        "collectives",
        "crash",
        "forms",
        "halo3d",
        "linger",
        "master_worker",
        "matched",
        "million",
        "out_of_order",
        "persistent",
        "reductions",
        "ring",
        "split",
        "threads",
        "types",
    ];
    let mut found: Vec<String> = std::fs::read_dir(mpiscope_harness::source_folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".c").map(str::to_owned))
        // Tests of their own run these: they never call MPI, fork, or do what few programs do.
        .filter(|name| !["no_mpi", "fork", "progress", "free_request", "jumping"].contains(&name.as_str()))
        .collect();
    found.sort();
    assert_eq!(found, tested);
}
