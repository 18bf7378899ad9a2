//! What a program says that it did, against what its recording says.

use mpiscope_harness::{Ended, LIMIT, Mpi, Recorded, Truth, folder, record, run};
use std::path::Path;
use std::process::Command;

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

/// How a program ends by itself.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// Its exit status.
    pub(crate) status: i32,
    /// Whether its ranks do not come to `MPI_Finalize`.
    pub(crate) unfinished: bool,
}

/// Runs a program unrecorded and recorded: both runs have to look the same, and the recording has to hold what the
/// program says that it did, and all of it. With `slots` the rings are of that size.
pub(crate) fn recorded_exactly(
    place: &str,
    mpi: &Mpi,
    ranks: u32,
    program: &Path,
    arguments: &[&str],
    own: &Expected,
    slots: Option<u32>,
) {
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let run_it = |mut command: Command| run(command.current_dir(folder.path()), LIMIT).unwrap();
    let unrecorded = run_it(mpi.plain(ranks, program, arguments).unwrap());
    let mut command = record(mpi, ranks, program, arguments, &out).unwrap();
    if let Some(slots) = slots {
        command.env("MPISCOPE_RING_SLOTS", slots.to_string());
    }
    let ended = run_it(command);
    let stderr = ended.errors();
    assert_eq!(unrecorded.status, own.status, "{place}, unrecorded: {}", unrecorded.errors());
    assert_eq!(ended.status, unrecorded.status, "{place}: {stderr}");
    assert_eq!(other_output(&ended), other_output(&unrecorded), "{place}");

    let truth = Truth::parse(&ended.stdout).unwrap();
    assert_eq!(truth.pairs, Truth::parse(&unrecorded.stdout).unwrap().pairs, "{place}");
    let recorded = Recorded::load(&out).unwrap();
    let manifest = &recorded.manifest;
    let nothing = Vec::<String>::new();
    assert_eq!(recorded.differences(&truth), nothing, "{place}: {stderr}");
    assert_eq!(recorded.wrongly_paired(false), nothing, "{place}: {stderr}");
    // Ranks that do not come to MPI_Finalize are reported; all their earlier calls are there.
    let missing = recorded.missing();
    let expected = |sentence: &&str| own.unfinished && sentence.contains("ended without MPI_Finalize");
    assert!(missing.iter().all(expected), "{place}: {missing:?}");
    assert_eq!(missing.len(), usize::from(own.unfinished), "{place}: {missing:?}");
    let totals = manifest.totals;
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}: unmatched");
    assert_eq!(totals.uncertain_messages, 0, "{place}: ambiguous matches");
    let lost = manifest.lost;
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}: lost");
    assert_eq!((totals.messages, totals.bytes), truth.all_messages(), "{place}: totals");
    assert_eq!(totals.calls, recorded.calls.len() as u64, "{place}: totals");
    let rows: u64 = recorded.calls.iter().map(|call| call.count).sum();
    assert_eq!(totals.calls + totals.polls, rows, "{place}: totals");
    assert_eq!((manifest.job.ranks, manifest.job.exit), (ranks, Some(ended.status)), "{place}: job");
}
