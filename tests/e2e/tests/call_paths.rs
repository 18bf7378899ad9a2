//! How a program came to its calls, function by function: `mpiscope run --call-paths` with programs whose paths are known.

use mpiscope_harness::{LIMIT, Mpi, mpiscope, report, run, skip, source_folder};
use mpiscope_model::Site;
use mpiscope_recording::{Recording, Tables};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const RANKS: u32 = 2;

fn compiled(compiler: &Path, words: &[&str], source: &Path, out: &Path) {
    let include = format!("-I{}", source_folder().display());
    let mut command = Command::new(compiler);
    command.args(words).arg(include).arg("-o").arg(out).arg(source).current_dir(out.parent().unwrap());
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn recorded(mpi: &Mpi, program: &Path, arguments: &[&str], options: &[&str], out: &Path) {
    let mut command = mpiscope(&[&["run", "--no-dashboard"], options, &["--out"]].concat()).unwrap();
    command.arg(out).arg("--").args(mpi.words(RANKS, program, arguments));
    mpi.prepare(&mut command).unwrap();
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

/// The functions on the way to a site, from the program's main function on.
fn path(tables: &Tables, site: Site) -> Vec<String> {
    let site_of = |site: Site| &tables.sites[site.index()];
    let mut path: Vec<String> = std::iter::successors(Some(site), |&site| site_of(site).parent)
        .map(|site| site_of(site).function.clone().unwrap_or_default())
        .collect();
    path.reverse();
    let main = path.iter().position(|function| ["main", "MAIN__"].contains(&function.as_str()));
    path.split_off(main.unwrap_or_default())
}

/// The calls of a recording by path; the last word is the function of MPI.
fn calls_by_path(folder: &Path) -> BTreeMap<Vec<String>, u64> {
    let recording = Recording::open(folder).unwrap();
    let (tables, faults) = recording.tables();
    assert!(faults.is_empty(), "{faults:?}");
    let names: BTreeMap<u16, &String> =
        tables.functions.iter().map(|row| (row.function, &row.name)).collect();
    let mut found = BTreeMap::new();
    for call in recording.calls().flatten() {
        let mut path = call.site.map(|site| path(&tables, site)).unwrap_or_default();
        path.push(names[&call.function].clone());
        *found.entry(path).or_default() += 1;
    }
    found
}

fn words(path: &str) -> Vec<String> {
    path.split_whitespace().map(str::to_owned).collect()
}

/// What `paths.c` does in a number of steps.
fn expected(steps: u64) -> BTreeMap<Vec<String>, u64> {
    let [each, tenth, twentieth] = [1, 10, 20].map(|part| u64::from(RANKS) * steps.div_ceil(part));
    [
        ("main MPI_Init", u64::from(RANKS)),
        ("main solve exchange MPI_Sendrecv", each),
        ("main solve norm MPI_Allreduce", each),
        ("main write_results exchange MPI_Sendrecv", tenth),
        ("main refine MPI_Barrier", twentieth),
        ("main refine refine MPI_Barrier", twentieth),
        ("main refine refine refine MPI_Barrier", twentieth),
        ("main refine refine refine refine MPI_Barrier", twentieth),
        ("main MPI_Finalize", u64::from(RANKS)),
    ]
    .map(|(path, calls)| (words(path), calls))
    .into()
}

fn program(mpi: &Mpi, flags: &[&str], folder: &Path) -> PathBuf {
    let program = folder.join("paths");
    compiled(&mpi.compiler, flags, &source_folder().join("paths.c"), &program);
    program
}

#[test]
fn each_call_has_the_functions_that_led_to_it() {
    for mpi in Mpi::all_or_skip("call_paths each_call_has_the_functions_that_led_to_it") {
        for flags in [&["-O2", "-g", "-fomit-frame-pointer"][..], &["-O0", "-g", "-no-pie"]] {
            let folder = mpiscope_harness::folder().unwrap();
            let program = program(&mpi, flags, folder.path());
            let out = folder.path().join("recording");
            recorded(&mpi, &program, &["200"], &["--call-paths"], &out);
            assert_eq!(calls_by_path(&out), expected(200), "{flags:?} of {}", mpi.family.word());
            // The report has one row for each path.
            let report = report(&out).unwrap();
            let rows = report["sites"].as_array().unwrap();
            let writes = rows.iter().find(|row| row["path"].to_string().contains("write_results")).unwrap();
            assert_eq!(writes["calls"], u64::from(RANKS) * 20);
            assert!(
                writes["place"].as_str().unwrap().ends_with("exchange(), called by write_results()"),
                "{writes:#}"
            );
        }
    }
}

#[test]
fn without_being_asked_for_there_are_none() {
    for mpi in Mpi::all_or_skip("call_paths without_being_asked_for_there_are_none") {
        let folder = mpiscope_harness::folder().unwrap();
        let program = program(&mpi, &["-O2", "-g"], folder.path());
        let out = folder.path().join("recording");
        recorded(&mpi, &program, &["20"], &[], &out);
        let found = calls_by_path(&out);
        assert!(found.keys().all(|path| path.len() == 2), "{found:?}");
        assert!(report(&out).unwrap()["sites"][0].get("path").is_none());
    }
}

#[test]
fn very_deep_paths_are_cut_and_no_call_is_lost() {
    for mpi in Mpi::all_or_skip("call_paths very_deep_paths_are_cut_and_no_call_is_lost") {
        let folder = mpiscope_harness::folder().unwrap();
        let program = program(&mpi, &["-O1", "-g"], folder.path());
        let out = folder.path().join("recording");
        recorded(&mpi, &program, &["40", "0", "300"], &["--call-paths"], &out);
        let found = calls_by_path(&out);
        let barriers: Vec<(usize, u64)> = found
            .iter()
            .filter(|(path, _)| path.last().is_some_and(|called| called == "MPI_Barrier"))
            .map(|(path, calls)| (path.len(), *calls))
            .collect();
        assert_eq!(barriers.iter().map(|(_, calls)| calls).sum::<u64>(), u64::from(RANKS) * 2 * 301);
        // The innermost 128 functions, and MPI.
        assert_eq!(barriers.iter().map(|(length, _)| *length).max(), Some(129));
        assert_eq!(report(&out).unwrap()["totals"]["lost_calls"], 0);
    }
}

#[test]
fn subroutines_of_fortran_are_on_the_path() {
    let test = "call_paths subroutines_of_fortran_are_on_the_path";
    for mpi in Mpi::all_or_skip(test) {
        let Some(compiler) = mpi.fortran_compiler() else {
            skip(test, &format!("{} has no compiler of Fortran", mpi.family.word()));
            continue;
        };
        let folder = mpiscope_harness::folder().unwrap();
        let program = folder.path().join("sites");
        let flags =
            ["-O0", "-g", "-std=gnu", "-ffree-form", "-fallow-argument-mismatch", "-w", "-DBINDING_MPIF"];
        compiled(&compiler, &flags, &source_folder().join("sites/sites.F90"), &program);
        let out = folder.path().join("recording");
        recorded(&mpi, &program, &[], &["--call-paths"], &out);
        let found = calls_by_path(&out);
        let own: Vec<_> = found.keys().filter(|path| path.len() > 2).collect();
        assert!(found.len() > 3 && own.len() > 2, "{} of {found:?}", mpi.family.word());
        assert!(found.keys().all(|path| path[0] == "main"), "{}: {found:?}", mpi.family.word());
    }
}

#[test]
fn paths_of_threads_begin_where_the_thread_does() {
    for mpi in Mpi::all_or_skip("call_paths paths_of_threads_begin_where_the_thread_does") {
        let folder = mpiscope_harness::folder().unwrap();
        let program = folder.path().join("threads");
        compiled(&mpi.compiler, &["-O1", "-g", "-pthread"], &source_folder().join("threads.c"), &program);
        let out = folder.path().join("recording");
        recorded(&mpi, &program, &[], &["--call-paths"], &out);
        let found = calls_by_path(&out);
        let without_main: Vec<_> = found.keys().filter(|path| !path.contains(&"main".to_owned())).collect();
        let is_thread = |path: &&Vec<String>| path.iter().any(|function| function == "exchange");
        assert!(!without_main.is_empty() && without_main.iter().all(is_thread), "{found:?}");
    }
}
