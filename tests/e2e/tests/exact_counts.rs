//! What the test programs say that they did is what the recording says, to the last call and byte.

use crate::support::exactness::{self, Expected};
use mpiscope_harness::{Ended, Family, LIMIT, Mpi, Recorded, folder, full_run, record, run};
use mpiscope_model::Call;

/// How many ranks an application is run on: always four, and in a selection of applications fewer and many more, which
/// one family stands for.
fn rank_counts(app: &str, family: Family) -> &'static [u32] {
    if app == "topologies" {
        return if family.most_ranks_of_topologies() < 8 { &[2] } else { &[2, 4, 8] };
    }
    let selected = ["halo3d", "master_worker", "million", "forms", "collectives", "reductions", "persistent"];
    let selected = selected.contains(&app) || ["matched", "cancel", "one_sided"].contains(&app);
    // A million messages of more ranks than processors take a minute and more.
    if app == "million" && !full_run() && family.is_sampled(app) {
        return &[2];
    }
    if full_run() || selected && family.is_sampled(app) { &[2, 4, 16] } else { &[4] }
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
exact!(collectives reductions persistent matched cancel uneven rows started between exchange tally flows);
exact!(topologies one_sided files requests turns overlap stretched paths);

macro_rules! exact_of_version_4 {
    ($($app:ident)*) => {$(
        /// Only an MPI of version 4 has its functions, which the Open MPI of most systems is not yet.
        #[test]
        fn $app() {
            recorded_exactly_everywhere(stringify!($app), Family::Mpich, concat!("exact_counts ", stringify!($app)));
        }
    )*};
}

exact_of_version_4!(partitioned persistent_collectives exchange_later);

/// How a program ended that ends well, and its recording.
fn recorded(mpi: &Mpi, ranks: u32, app: &str, arguments: &[&str]) -> (Ended, Recorded) {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let mut command = record(mpi, ranks, &mpi.app(app).unwrap(), arguments, &out).unwrap();
    let ended = run(command.current_dir(folder.path()), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    (ended, Recorded::load(&out).unwrap())
}

/// Polls are folded whatever functions a loop polls with. A rank that loses its CPU between two polls begins a new row, so a
/// busy machine has tens of rows; without folding there are 50,000.
#[test]
fn polls_by_turns_are_few_rows() {
    for mpi in Mpi::sample_or_skip("exact_counts polls_by_turns_are_few_rows") {
        let (_, recorded) = recorded(&mpi, 2, "turns", &[]);
        let of = |name: &str| -> Vec<Call> {
            recorded.calls.iter().filter(|call| recorded.name(call) == name).copied().collect()
        };
        let asked = ["MPI_Test", "MPI_Testany", "MPI_Iprobe"].map(of);
        let begin_ns = asked.iter().flatten().map(|call| call.start_ns).min().unwrap();
        let end_ns = asked.iter().flatten().map(|call| call.end_ns).max().unwrap();
        for rows in &asked {
            assert_eq!(rows.iter().map(|call| call.count).sum::<u64>(), 50_000);
            assert!(rows.len() <= 500, "{} rows in {} ns", rows.len(), end_ns - begin_ns);
        }
        // A row each, one after the other: most of the time of the loop, and no time twice.
        let mut spans: Vec<_> = asked.iter().flatten().map(|call| (call.start_ns, call.end_ns)).collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|two| two[0].1 <= two[1].0 + 1), "{spans:?}");
        let covered: u64 = spans.iter().map(|(start, end)| end - start).sum();
        assert!(covered * 2 >= end_ns - begin_ns, "{covered} of {} ns", end_ns - begin_ns);
    }
}

/// A program that works and asks now and then waits as long as it asks, and works as long as it does not.
#[test]
fn work_between_polls_is_no_polling() {
    for mpi in Mpi::sample_or_skip("exact_counts work_between_polls_is_no_polling") {
        let (ended, recorded) = recorded(&mpi, 2, "overlap", &[]);
        let of = |name: &str| -> Vec<&Call> {
            recorded.calls.iter().filter(|call| recorded.name(call) == name).collect()
        };
        let begun_ns = of("MPI_Irecv").iter().map(|call| call.end_ns).min().unwrap();
        let asked_ns = of("MPI_Send").iter().map(|call| call.start_ns).min().unwrap();
        let asked = of("MPI_Test");
        assert_eq!(asked.iter().map(|call| call.count).sum::<u64>(), 300);
        let told_ns: u64 = asked.iter().map(|call| call.duration_ns()).sum();
        let stderr = ended.errors();
        let of_program = |words: &str| -> u64 {
            let number = stderr.split(words).nth(1).and_then(|rest| rest.split(' ').next());
            number.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{stderr}"))
        };
        let (own_ns, undisturbed_ns) = (of_program("asking took "), of_program("undisturbed "));
        // What the clocks themselves take, and recording, is a part of a microsecond in each. Where another process had the CPU
        // while the program read its own clock, that is not recorded.
        let allowed_ns = undisturbed_ns / 2..own_ns + 500_000;
        assert!(
            allowed_ns.contains(&told_ns),
            "{told_ns}, {own_ns} and {undisturbed_ns} ns of {}",
            asked_ns - begun_ns
        );
    }
}

/// Of a message to whoever asks for any nobody knows to which request it went: it is not paired, and others still are.
#[test]
fn what_any_exchange_took_is_not_guessed() {
    let test = "exact_counts what_any_exchange_took_is_not_guessed";
    let Some(mpi) = Mpi::find_or_skip(Family::Mpich, test) else { return };
    let totals = recorded(&mpi, 4, "exchange_later", &["5", "any"]).1.manifest.totals;
    assert_eq!((totals.messages, totals.unmatched_sends, totals.unmatched_receives), (4 * 4 * 5, 4, 0));
}

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
        "exchange_later",
        "files",
        "flows",
        "forms",
        "halo3d",
        "linger",
        "master_worker",
        "matched",
        "million",
        "one_sided",
        "out_of_order",
        "overlap",
        "partitioned",
        "paths",
        "persistent",
        "persistent_collectives",
        "reductions",
        "requests",
        "ring",
        "rows",
        "split",
        "started",
        "stretched",
        "tally",
        "threads",
        "topologies",
        "turns",
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
                "kernel_sleep",
                "large_counts",
                "late_init",
                "loaded",
                "phases",
                "truncated",
                "spawn",
                "stuck",
                "paced",
                "patterns",
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
