//! Parallel efficiency of runs with several threads, in every format: each factor is a share, and their products hold.

use mpiscope_harness::{Chance, LIMIT, Mpi, folder, mpiscope, record, report, run};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const RANKS: u32 = 4;
const THREADS: u32 = 4;

/// A blocking send or receive of a thread of a rank.
#[derive(Clone, Copy)]
struct Call {
    rank: u32,
    thread: u32,
    is_send: bool,
    begin_us: u64,
    end_us: u64,
    peer: u32,
}

/// Ranks in pairs whose threads exchange messages; a thread computes for `compute_us` of each round, and is in MPI for the rest
/// of `round_us`.
fn calls(chance: &mut Chance, rounds: u64, round_us: u64, compute_us: u64) -> Vec<Call> {
    let mut calls = Vec::new();
    for rank in 0..RANKS {
        for thread in 0..THREADS {
            for round in 0..rounds {
                let peer = rank ^ 1;
                let begin_us = 1_000 + round * round_us + compute_us + chance.below(3);
                let end_us = 1_000 + (round + 1) * round_us;
                let is_send = (round + u64::from(rank)).is_multiple_of(2);
                calls.push(Call { rank, thread, is_send, begin_us, end_us, peer });
            }
        }
    }
    calls.sort_unstable_by_key(|call| call.begin_us);
    calls
}

/// A table with rounded times; overlapping calls are of several threads.
fn table(calls: &[Call], rounded_ns: u64) -> String {
    let mut text = "rank,type,timestamp_ns,source,destination,size,tag,duration_ns\n".to_owned();
    let round = |us: u64| us * 1_000 / rounded_ns * rounded_ns;
    for call in calls {
        let (kind, at_us) = if call.is_send { ("send", call.begin_us) } else { ("receive", call.end_us) };
        let (from, to) = if call.is_send { (call.rank, call.peer) } else { (call.peer, call.rank) };
        let (at_ns, took_ns) = (round(at_us), round(call.end_us - call.begin_us));
        let _ = writeln!(text, "{},{kind},{at_ns},{from},{to},8,{},{took_ns}", call.rank, call.thread);
    }
    text
}

/// The text of one rank of a DUMPI trace.
fn dumpi_text(calls: &[Call], rank: u32) -> String {
    let mut text = format!("version=1.1.0\nhostname=host-{}\n", rank / 2);
    for call in calls.iter().filter(|call| call.rank == rank) {
        let (name, peer) = if call.is_send { ("MPI_Send", "dest") } else { ("MPI_Recv", "source") };
        let mut when = |way: &str, us: u64| {
            let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
            let thread = call.thread;
            let time = "cputime 0.000000000 seconds";
            let _ =
                writeln!(text, "{name} {way} at walltime {seconds}.{rest:06}000, {time} in thread {thread}.");
            if way == "entering" {
                let _ = writeln!(
                    text,
                    "int count=8\nMPI_Datatype datatype=2 (MPI_CHAR)\nint {peer}={}",
                    call.peer
                );
                let _ = writeln!(text, "int tag={thread}\nMPI_Comm comm=2 (MPI_COMM_WORLD)");
                if !call.is_send {
                    let of = format!("bytes=8, cancelled=0, source={}, tag={thread}, error=0", call.peer);
                    let _ = writeln!(text, "MPI_Status status=[{{{of}}}]");
                }
            }
        };
        when("entering", call.begin_us);
        when("returning", call.end_us);
    }
    text + "Datatype 2 (MPI_CHAR) has size 1\nMPI_Send called 0 times and ignored 0 times\n"
}

fn imported(file: &Path, name: &str) -> PathBuf {
    let out = file.with_extension(name);
    let ended = run(mpiscope(&["import"]).unwrap().arg(file).arg("-o").arg(&out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}: {}", file.display(), ended.errors());
    out
}

/// The parallel efficiency, after a look at its factors.
fn efficiency(recording: &Path, what: &str) -> f64 {
    let report: Value = report(recording).unwrap();
    let of = |name: &str| report["efficiency"][name].as_f64().unwrap_or_else(|| panic!("{what}: no {name}"));
    for name in ["parallel", "load_balance", "communication", "serialization", "transfer"] {
        assert!((0.0..=1.0).contains(&of(name)), "{what}: {name} is {}", of(name));
    }
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-6;
    assert!(
        near(of("load_balance") * of("communication"), of("parallel")),
        "{what}: {}",
        report["efficiency"]
    );
    assert!(
        near(of("serialization") * of("transfer"), of("communication")),
        "{what}: {}",
        report["efficiency"]
    );
    of("parallel")
}

/// The efficiency of a recording, and of what its export becomes when it is read again.
fn everywhere(recording: &Path, what: &str) -> Vec<(String, f64)> {
    let mut found = vec![(what.to_owned(), efficiency(recording, what))];
    for format in ["otf2", "picl"] {
        let file = recording.with_extension(format);
        let mut export = mpiscope(&["export", "--format", format, "-o"]).unwrap();
        let ended = run(export.arg(&file).arg(recording), LIMIT).unwrap();
        if ended.status == 2 && ended.errors().contains("install libopen-trace-format2-10") {
            continue;
        }
        assert_eq!(ended.status, 0, "{what} as {format}: {}", ended.errors());
        let what = format!("{what} as {format}");
        found.push((what.clone(), efficiency(&imported(&file, &format!("{format}-back")), &what)));
    }
    found
}

/// Four threads; each computes for `compute_us` of 5 ms.
fn assert_every_format(compute_us: u64, least: f64, most: f64) {
    let mut chance = Chance::for_test("efficiency assert_every_format");
    let folder = folder().unwrap();
    let calls = calls(&mut chance, 200, 5_000, compute_us);
    let file = folder.path().join("table.csv");
    std::fs::write(&file, table(&calls, 1)).unwrap();
    let mut found = everywhere(&imported(&file, "recording"), "a table");
    for rank in 0..RANKS {
        let text = dumpi_text(&calls, rank);
        std::fs::write(folder.path().join(format!("dumpi-run-{rank:04}.txt")), text).unwrap();
    }
    let first = folder.path().join("dumpi-run-0000.txt");
    found.extend(everywhere(&imported(&first, "recording"), "a DUMPI trace"));
    for (what, parallel) in found {
        assert!((least..=most).contains(&parallel), "{what}: {parallel}");
    }
}

#[test]
fn of_four_threads_it_is_the_share_of_computing_in_every_format() {
    // 99.2 % of the time of each thread is in MPI.
    assert_every_format(40, 0.004, 0.012);
    assert_every_format(2_500, 0.45, 0.55);
}

/// Rounded times make calls overlap that did not: threads that there were not are inferred.
#[test]
fn of_rounded_tables_it_is_a_share() {
    let mut chance = Chance::for_test("efficiency of_rounded_tables_it_is_a_share");
    let folder = folder().unwrap();
    for (number, rounded_ns) in [1_000, 100_000, 1_000_000, 10_000_000].into_iter().enumerate() {
        let (round_us, share) = (500 + chance.below(5_000), 1 + chance.below(9));
        let all = calls(&mut chance, 100, round_us, round_us * share / 10);
        for threads in [1, THREADS] {
            let some: Vec<Call> = all.iter().copied().filter(|call| call.thread < threads).collect();
            let file = folder.path().join(format!("{number}-{threads}.csv"));
            std::fs::write(&file, table(&some, rounded_ns)).unwrap();
            everywhere(
                &imported(&file, "recording"),
                &format!("{threads} threads rounded to {rounded_ns} ns"),
            );
        }
    }
}

#[test]
fn of_a_program_with_four_threads_it_is_a_share() {
    for mpi in Mpi::sample_or_skip("efficiency of_a_program_with_four_threads_it_is_a_share") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let program = mpi.app("threads").unwrap();
        let ended = run(&mut record(&mpi, 2, &program, &["300"], &out).unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        everywhere(&out, &format!("{mpi:?}"));
    }
}
