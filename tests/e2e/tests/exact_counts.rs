//! What the test programs say that they did is what the recording says, to the last call and byte.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "support/exactness.rs"]
mod exactness;

use exactness::Expected;
use mpiscope_harness::{Family, Mpi, full_run};

/// How many ranks an application is run on: always four, and in a selection of applications fewer and many more.
fn rank_counts(app: &str, family: Family) -> &'static [u32] {
    if app == "topologies" {
        // MPICH 4.0 hangs by itself when more ranks than there are processors make communicators of groups: without us 4
        // ranks on 2 did in three of eight runs.
        return if family == Family::Mpich { &[2] } else { &[2, 4, 8] };
    }
    let selected = ["halo3d", "master_worker", "million", "forms", "collectives", "reductions", "persistent"];
    let selected = selected.contains(&app) || ["matched", "cancel", "one_sided"].contains(&app);
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

fn recorded_exactly(app: &str, mpi: &Mpi, ranks: u32) {
    let place = format!("{app} on {ranks} ranks of {}", mpi.family.word());
    let program = mpi.app(app).unwrap();
    let expected = Expected { status: own_status(app, mpi), unfinished: ["abort", "crash"].contains(&app) };
    // "million" calls faster than a daemon without a processor of its own can read: these rings hold all of it. What
    // happens with smaller ones is tested in `loss.rs`.
    let slots = (app == "million").then(|| (1 << 22) / ranks.next_power_of_two());
    exactness::recorded_exactly(&place, mpi, ranks, &program, &[], &expected, slots);
}

fn recorded_exactly_everywhere(app: &str, family: Family, test: &str) {
    let Some(mpi) = Mpi::find_or_skip(family, test) else { return };
    for &ranks in rank_counts(app, family) {
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
exact!(collectives reductions persistent matched cancel uneven rows started between exchange tally);
exact!(topologies one_sided files requests);

macro_rules! exact_of_version_4 {
    ($($app:ident)*) => {$(
        /// Only an MPI of version 4 has its functions, which the Open MPI of most systems is not yet.
        #[test]
        fn $app() {
            recorded_exactly_everywhere(stringify!($app), Family::Mpich, concat!("exact_counts ", stringify!($app)));
        }
    )*};
}

exact_of_version_4!(partitioned persistent_collectives);

#[test]
fn no_application_is_left_out() {
    let tested = [
        "abort",
        "between",
        "blocked",
        "cancel",
        "cg",
        "collectives",
        "crash",
        "exchange",
        "files",
        "forms",
        "halo3d",
        "linger",
        "master_worker",
        "matched",
        "million",
        "one_sided",
        "out_of_order",
        "partitioned",
        "persistent",
        "persistent_collectives",
        "reductions",
        "requests",
        "ring",
        "rows",
        "split",
        "started",
        "tally",
        "threads",
        "topologies",
        "types",
        "uneven",
    ];
    let mut found: Vec<String> = std::fs::read_dir(mpiscope_harness::source_folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".c").map(str::to_owned))
        // Tests of their own run these: they never call MPI, fork, tell of their process, or do what few programs do.
        .filter(|name| {
            ![
                "no_mpi",
                "fork",
                "progress",
                "free_request",
                "jumping",
                "large_counts",
                "late_init",
                "loaded",
                "phases",
                "truncated",
                "spawn",
                "stuck",
                "paced",
                "odd",
                "ports",
                "sessions",
            ]
            .contains(&name.as_str())
        })
        .collect();
    found.sort();
    assert_eq!(found, tested);
}
