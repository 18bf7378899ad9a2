//! The library that counts calls independently of the collector is right itself: it can be trusted where no program
//! prints a truth.

use mpiscope_harness::{
    Counted, Family, LIMIT, Language, Mpi, Truth, counted, folder, run, skip, source_folder,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program with the counting library: what it printed, and what was counted.
fn count(mpi: &Mpi, ranks: u32, program: &Path) -> (Vec<u8>, Counted) {
    let folder = folder().unwrap();
    let mut command = mpi.plain(ranks, program, &[]).unwrap();
    counted(mpi, &mut command, folder.path()).unwrap();
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}: {}", program.display(), ended.errors());
    (ended.stdout, Counted::load(folder.path(), ranks).unwrap())
}

#[test]
fn it_counts_what_the_programs_say() {
    for mpi in Mpi::sample_or_skip("second_opinion it_counts_what_the_programs_say") {
        let apps = ["ring", "halo3d", "forms", "types", "split", "master_worker", "out_of_order"];
        for app in apps.into_iter().chain(["collectives", "reductions"]) {
            let place = format!("{app}, {}", mpi.family.word());
            let (output, counted) = count(&mpi, 4, &mpi.app(app).unwrap());
            let truth = Truth::parse(&output).unwrap();
            // It knows more functions than a truth tells of.
            let mut calls = counted.all_calls();
            calls.retain(|(_, name), _| mpiscope_harness::TRUTH_FUNCTIONS.contains(&name.as_str()));
            assert_eq!(calls, truth.calls, "{place}");
            let sent = counted.sent.values().fold((0, 0), |all, sent| (all.0 + sent.0, all.1 + sent.1));
            assert_eq!(sent, truth.all_messages(), "{place}");
            let mut moved = counted.all_moved();
            let mut expected = truth.moved.clone();
            expected.retain(|key, _| moved.contains_key(key));
            moved.retain(|_, bytes| *bytes > 0);
            assert_eq!(moved, expected, "{place}: moved");
        }
    }
}

/// The program in Fortran, where its compiler is installed.
fn in_fortran(mpi: &Mpi, folder: &Path) -> Option<PathBuf> {
    let name = mpi.compiler.file_name()?.to_str()?.replace("mpicc", "mpif90");
    let compiler = mpi.compiler.with_file_name(name);
    let version = Command::new(&compiler).arg("--version").output().ok()?;
    version.status.success().then_some(())?;
    let program = folder.join("counted");
    let mut command = Command::new(&compiler);
    command.args(["-O1", "-o"]).arg(&program).arg(source_folder().join("support/counted.f90"));
    let built = run(&mut command, LIMIT).unwrap();
    assert_eq!(built.status, 0, "{}", built.errors());
    Some(program)
}

#[test]
fn a_call_from_fortran_counts_once() {
    let test = "second_opinion a_call_from_fortran_counts_once";
    for mpi in Mpi::all_or_skip(test) {
        let folder = folder().unwrap();
        let Some(program) = in_fortran(&mpi, folder.path()) else {
            skip(test, &format!("{} has no compiler of Fortran", mpi.family.word()));
            continue;
        };
        let (_, counted) = count(&mpi, 3, &program);
        // MPICH's functions of Fortran call those of C.
        let language = match mpi.family {
            Family::OpenMpi => Language::Fortran,
            Family::Mpich => Language::C,
        };
        let once = ["Sendrecv_replace", "Barrier", "Bcast", "Allreduce", "Init", "Finalize"];
        let mut expected = BTreeMap::from([
            ((0, "MPI_Recv".to_owned(), language), 2),
            ((0, "MPI_Send".to_owned(), language), 1),
            ((1, "MPI_Send".to_owned(), language), 2),
            ((2, "MPI_Send".to_owned(), language), 2),
        ]);
        for rank in 0..3 {
            expected.extend(once.iter().map(|name| ((rank, format!("MPI_{name}"), language), 1)));
        }
        assert_eq!(counted.calls, expected, "{}", mpi.family.word());
        let sent = (0..3).map(|rank| counted.sent.get(&(rank, language)).copied().unwrap_or_default());
        assert_eq!(sent.collect::<Vec<_>>(), [(1, 24), (2, 104), (2, 104)], "{}", mpi.family.word());
    }
}
