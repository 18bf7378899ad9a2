//! Programs in other languages than C are recorded to the last call and byte as well.

use mpiscope_harness::{
    Ended, LIMIT, Missing, Mpi, Recorded, TRUTH_FUNCTIONS, Truth, folder, python, record, run, rust_app,
    skip, source_folder,
};
use std::path::Path;

/// What programs are asked to do beyond point-to-point calls that are always recorded: their messages would count as
/// never received, or never sent, without that.
fn wishes() -> Vec<&'static str> {
    let wishes = [("matched", "MPI_Mrecv"), ("persistent", "MPI_Startall")];
    wishes.into_iter().filter(|(_, needs)| TRUTH_FUNCTIONS.contains(needs)).map(|(wish, _)| wish).collect()
}

/// What the program says that it did, apart from the functions that are not recorded yet.
fn truth(ended: &Ended) -> Truth {
    let counts = |line: &&str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["calls", _, function, _] => TRUTH_FUNCTIONS.contains(&function),
        _ => true,
    };
    let output = ended.output();
    let lines: Vec<&str> = output.lines().filter(counts).collect();
    Truth::parse(lines.join("\n").as_bytes()).unwrap()
}

/// The output before and after the truth, whose figures of polls differ from run to run.
fn other_output(ended: &Ended) -> String {
    let output = ended.output();
    let (before, rest) = output.split_once("mpiscope-truth 1\n").unwrap();
    format!("{before}{}", rest.split_once("end\n").unwrap().1)
}

fn recorded_exactly(mpi: &Mpi, ranks: u32, program: &Path, arguments: &[&str]) {
    let place = format!("{} on {ranks} ranks of {}", program.display(), mpi.family.word());
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    let unrecorded = run(&mut mpi.plain(ranks, program, arguments).unwrap(), LIMIT).unwrap();
    let mut command = record(mpi, ranks, program, arguments, &out).unwrap();
    // So large that nothing is lost to a slow machine: what is missing is then a fault.
    let slots = (1 << 18).to_string();
    let ended = run(command.env("MPISCOPE_RING_SLOTS", slots), LIMIT).unwrap();
    assert_eq!(unrecorded.status, 0, "{place}, unrecorded: {}", unrecorded.errors());
    let stderr = ended.errors();
    assert_eq!(ended.status, 0, "{place}: {stderr}");
    assert_eq!(other_output(&ended), other_output(&unrecorded), "{place}");

    let truth = truth(&ended);
    assert_ne!(truth.all_messages().0, 0, "{place}");
    assert_eq!(truth.pairs, self::truth(&unrecorded).pairs, "{place}");
    let recorded = Recorded::load(&out).unwrap();
    let nothing = Vec::<String>::new();
    assert_eq!(recorded.differences(&truth), nothing, "{place}: {stderr}");
    assert_eq!(recorded.wrongly_paired(false), nothing, "{place}: {stderr}");
    let manifest = &recorded.manifest;
    assert_eq!(manifest.missing, nothing, "{place}: {stderr}");
    let (totals, lost) = (manifest.totals, manifest.lost);
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}: unmatched");
    assert_eq!(totals.uncertain_messages, 0, "{place}: ambiguous matches");
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}: lost");
    assert_eq!((totals.messages, totals.bytes), truth.all_messages(), "{place}: totals");
    assert_eq!((manifest.job.ranks, manifest.job.exit), (ranks, Some(0)), "{place}: job");
}

#[test]
fn rust() {
    for mpi in Mpi::sample_or_skip("languages rust") {
        let program = match rust_app(&mpi, "rust_ring").unwrap() {
            Ok(program) => program,
            Err(Missing(reason)) => {
                skip(&format!("languages rust ({})", mpi.family.word()), &reason);
                continue;
            }
        };
        let arguments = [vec!["20"], wishes()].concat();
        for ranks in [2, 4, 7] {
            recorded_exactly(&mpi, ranks, &program, &arguments);
        }
    }
}

#[test]
fn python_with_mpi4py() {
    for mpi in Mpi::all_or_skip("languages python_with_mpi4py") {
        let interpreter = match python(&mpi) {
            Ok(interpreter) => interpreter,
            Err(Missing(reason)) => {
                skip(&format!("languages python_with_mpi4py ({})", mpi.family.word()), &reason);
                continue;
            }
        };
        let script = source_folder().join("python_ring.py");
        let arguments = [vec![script.to_str().unwrap(), "20"], wishes()].concat();
        for ranks in [2, 4, 7] {
            recorded_exactly(&mpi, ranks, &interpreter, &arguments);
        }
    }
}
