//! Where in a program calls are made: known from marks in its source, and found by the recording to the line, however
//! the program was built and whatever the language.

use mpiscope_harness::{Family, LIMIT, Missing, Mpi, python, record, report, root, run, skip, source_folder};
use mpiscope_recording::Recording;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is known of a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    function: Option<String>,
    /// Source and line.
    source: Option<(String, u32)>,
    module: String,
}

/// The functions of MPI that a source marks: the line, the function that the call is in, and whether only by mpif.h.
fn marks(source: &Path) -> BTreeMap<String, (u32, String, bool)> {
    let text = std::fs::read_to_string(source).unwrap();
    let mut marks = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some((_, mark)) = line.split_once("site: ") {
            let mut words = mark.split_whitespace();
            let (called, _, calls) = (words.next().unwrap(), words.next(), words.next().unwrap());
            let of = (number, calls.to_owned(), mark.ends_with("by mpif"));
            assert!(marks.insert(called.to_owned(), of).is_none(), "{called}");
        }
    }
    marks
}

fn source(name: &str) -> PathBuf {
    source_folder().join("sites").join(name)
}

fn compiled(compiler: &Path, words: &[&str], source: &Path, out: &Path, behind: &[&str]) {
    let mut command = Command::new(compiler);
    command.args(words).arg("-o").arg(out).arg(source).args(behind).current_dir(out.parent().unwrap());
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The places of a recording's calls by the name of what is called.
fn places(folder: &Path) -> BTreeMap<String, BTreeSet<Option<Place>>> {
    let recording = Recording::open(folder).unwrap();
    let (tables, faults) = recording.tables();
    assert!(faults.is_empty(), "{faults:?}");
    let names: BTreeMap<u16, &String> =
        tables.functions.iter().map(|row| (row.function, &row.name)).collect();
    let last = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let mut found: BTreeMap<String, BTreeSet<Option<Place>>> = BTreeMap::new();
    for call in recording.calls().flatten() {
        let site = call.site.map(|site| {
            let site = &tables.sites[site.index()];
            assert_eq!(Some(site.site), call.site);
            Place {
                function: site.function.clone(),
                source: site.file.as_deref().map(last).zip(site.line),
                module: last(&site.module),
            }
        });
        found.entry(names[&call.function].clone()).or_default().insert(site);
    }
    found
}

fn recorded(mpi: &Mpi, program: &Path, words: &[&str], out: &Path) {
    let ended = run(&mut record(mpi, 2, program, words, out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}: {}", program.display(), ended.errors());
}

/// The one place of each function that is called in one.
fn only(places: &BTreeMap<String, BTreeSet<Option<Place>>>, called: &str) -> Place {
    let of = places.get(called).unwrap_or_else(|| panic!("no {called} among {places:?}"));
    assert_eq!(of.len(), 1, "{called}, which both ranks call from one place: {of:?}");
    of.first().unwrap().clone().unwrap_or_else(|| panic!("{called} is called from nowhere"))
}

#[test]
fn calls_of_c_are_found_however_the_program_was_built() {
    for mpi in Mpi::all_or_skip("call_sites calls_of_c_are_found_however_the_program_was_built") {
        for (name, words) in [
            ("pie", &["-O2", "-g", "-pie", "-fPIE"][..]),
            ("no-pie", &["-O2", "-g", "-no-pie", "-fno-pie"]),
            ("unoptimized", &["-O0", "-g"]),
            ("symbols", &["-O1"]),
            ("stripped", &["-O1", "-s"]),
        ] {
            let folder = mpiscope_harness::folder().unwrap();
            let library = folder.path().join("libplaces.so");
            let words: Vec<&str> = words.iter().copied().chain(["-pthread"]).collect();
            compiled(&mpi.compiler, &["-O2", "-g", "-shared", "-fPIC"], &source("library.c"), &library, &[]);
            let program = folder.path().join("sites");
            let behind = [library.to_str().unwrap(), &format!("-Wl,-rpath,{}", folder.path().display())];
            compiled(&mpi.compiler, &words, &source("sites.c"), &program, &behind);
            let out = folder.path().join("recording");
            recorded(&mpi, &program, &[], &out);
            let found = places(&out);
            let place = format!("{name} of {}", mpi.family.word());
            let of_library = marks(&source("library.c"));
            for (called, (line, calls, _)) in marks(&source("sites.c")).iter().chain(&of_library) {
                let seen = only(&found, called);
                let in_library = of_library.contains_key(called);
                let file = if in_library { "library.c" } else { "sites.c" };
                let module = if in_library { "libplaces.so" } else { "sites" };
                assert_eq!(seen.module, module, "{called} in {place}");
                match name {
                    "symbols" if !in_library => {
                        let function = seen.function.unwrap_or_default();
                        // The compiler may have made a variant of it, whose name begins so.
                        let (name, at) = function.split_once("+0x").unwrap();
                        assert!(
                            name.split('.').next() == Some(calls) && !at.is_empty(),
                            "{called}: {function}"
                        );
                        assert_eq!(seen.source, None, "{called} in {place}");
                    }
                    "stripped" if !in_library => {
                        assert_eq!((seen.function, seen.source), (None, None), "{called} in {place}");
                    }
                    _ => {
                        assert_eq!(seen.source, Some((file.into(), *line)), "{called} in {place}");
                        // Inlining is asked for, also where nothing else is optimized.
                        assert_eq!(seen.function.as_ref(), Some(calls), "{called} in {place}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_report_speaks_of_places() {
    for mpi in Mpi::sample_or_skip("call_sites a_report_speaks_of_places") {
        let folder = mpiscope_harness::folder().unwrap();
        let out = folder.path().join("recording");
        let program = mpi.app("uneven").unwrap();
        recorded(&mpi, &program, &[], &out);
        let report = report(&out).unwrap();
        let sites = report["sites"].as_array().unwrap();
        let calls: u64 = sites.iter().map(|site| site["calls"].as_u64().unwrap()).sum();
        assert_eq!(Some(calls), report["totals"]["calls"].as_u64());
        let seconds = |key: &str| sites.iter().map(|site| site[key].as_f64().unwrap()).sum::<f64>();
        let waiting = report["budget"]["waiting_s"].as_f64().unwrap();
        assert!((seconds("waiting_s") - waiting).abs() <= 1e-6 * waiting.max(1e-3), "{report:#}");
        for site in sites {
            let by: f64 = site["waiting_by"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(cause, _)| *cause != "no_core")
                .map(|(_, seconds)| seconds.as_f64().unwrap())
                .sum();
            assert!((by - site["waiting_s"].as_f64().unwrap()).abs() < 1e-6, "{site:#}");
            assert!(site["place"].as_str().unwrap().starts_with("uneven.c:"), "{site:#}");
        }
        let ids: BTreeSet<u64> = sites.iter().filter_map(|site| site["id"].as_u64()).collect();
        for wait in report["waits"].as_array().unwrap() {
            assert!(ids.contains(&wait["site"].as_u64().unwrap()), "{wait:#}");
            assert!(wait["place"].as_str().unwrap().starts_with("uneven.c:"), "{wait:#}");
        }
    }
}

fn fortran(binding: &str, test: &str) {
    for mpi in Mpi::all_or_skip(test) {
        let Some(compiler) = mpi.fortran_compiler() else {
            skip(test, &format!("{} has no compiler of Fortran", mpi.family.word()));
            continue;
        };
        let folder = mpiscope_harness::folder().unwrap();
        let program = folder.path().join("sites");
        let binding_word = format!("-D{binding}");
        let words =
            ["-O0", "-g", "-std=gnu", "-ffree-form", "-fallow-argument-mismatch", "-w", &binding_word];
        compiled(&compiler, &words, &source("sites.F90"), &program, &[]);
        let out = folder.path().join("recording");
        recorded(&mpi, &program, &[], &out);
        let found = places(&out);
        for (called, (line, calls, by_mpif)) in marks(&source("sites.F90")) {
            let place = format!("{called} by {binding} of {}", mpi.family.word());
            if binding == "BINDING_F08" && mpi.family == Family::Mpich {
                // What passes buffers comes from MPICH's own library of Fortran, one place for the whole program; and
                // that of MPI_Init may not be seen at all.
                assert!(found.values().flatten().all(|site| site.is_some()), "{place}: {found:?}");
                continue;
            }
            let seen = only(&found, &called);
            assert_eq!(seen.function, Some(calls), "{place}");
            let (file, found) = seen.source.unwrap();
            assert_eq!(file, "sites.F90", "{place}");
            assert!(
                found == line || by_mpif && binding != "BINDING_MPIF",
                "{place}: line {found} and not {line}"
            );
        }
    }
}

#[test]
fn calls_by_mpif_are_found() {
    fortran("BINDING_MPIF", "call_sites calls_by_mpif_are_found");
}

#[test]
fn calls_by_use_mpi_are_found() {
    fortran("BINDING_MPI", "call_sites calls_by_use_mpi_are_found");
}

#[test]
fn calls_by_use_mpi_f08_are_found() {
    fortran("BINDING_F08", "call_sites calls_by_use_mpi_f08_are_found");
}

#[test]
fn calls_of_python_come_from_the_module_that_makes_them() {
    let test = "call_sites calls_of_python_come_from_the_module_that_makes_them";
    for mpi in Mpi::all_or_skip(test) {
        let interpreter = match python(&mpi) {
            Ok(interpreter) => interpreter,
            Err(Missing(reason)) => {
                skip(test, &reason);
                continue;
            }
        };
        let folder = mpiscope_harness::folder().unwrap();
        let out = folder.path().join("recording");
        let script = root().join("tests/apps/python_ring.py");
        recorded(&mpi, &interpreter, &[script.to_str().unwrap(), "20"], &out);
        let found = places(&out);
        assert!(found.len() > 3, "{found:?}");
        // What mpi4py leaves to be done when Python ends is a jump from there.
        for (called, places) in found.iter().filter(|(called, _)| *called != "MPI_Finalize") {
            let good = |place: &Option<Place>| {
                place
                    .as_ref()
                    .is_some_and(|place| place.module.starts_with("MPI") && place.module.contains(".so"))
            };
            assert!(places.iter().all(good), "{called}: {places:?}");
        }
    }
}
