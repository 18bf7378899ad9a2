//! Programs in Fortran, by each way that it has to MPI, are recorded as exactly as those in C; and nothing of Fortran
//! comes with the collector.

use crate::support::exactness::{self, Expected};
use mpiscope_harness::{Family, LIMIT, Mpi, collector, folder, full_run, record, run};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn recorded_exactly(app: &str, family: Family, test: &str) {
    let Some(mpi) = Mpi::find_or_skip(family, test) else { return };
    let Some(program) = mpi.fortran_app_or_skip(app, test).unwrap() else { return };
    let ranks: &[u32] = match (full_run(), app) {
        (true, _) if app.contains("_objects") => &[2, 4],
        (true, _) => &[2, 4, 16],
        (false, "fortran_mpif") if family.is_sampled(app) => &[2, 4, 16],
        (false, _) => &[4],
    };
    for &ranks in ranks {
        let place = format!("{app} on {ranks} ranks of {}", family.word());
        exactness::recorded_exactly(&place, &mpi, ranks, &program, &[], &Expected::default(), None);
    }
    // The other way to begin.
    if app == "fortran_mpif" || app == "fortran_mpi" || app.starts_with("fortran_f08") {
        let place = format!("{app} with threads on {}", family.word());
        exactness::recorded_exactly(&place, &mpi, 2, &program, &["threads"], &Expected::default(), None);
    }
}

macro_rules! exact {
    ($($app:ident)*) => {$(
        mod $app {
            use super::{Family, recorded_exactly};

            #[test]
            fn openmpi() {
                let name = concat!("fortran ", stringify!($app), "::openmpi");
                recorded_exactly(stringify!($app), Family::OpenMpi, name);
            }

            #[test]
            fn mpich() {
                let name = concat!("fortran ", stringify!($app), "::mpich");
                recorded_exactly(stringify!($app), Family::Mpich, name);
            }
        }
    )*};
}

exact!(fortran_mpif fortran_mpi fortran_f08 fortran_f08_short fortran_sections);
exact!(fortran_sentinels_mpif fortran_sentinels_mpi fortran_sentinels_f08);
exact!(fortran_objects_mpif fortran_objects_mpi fortran_objects_f08);

/// Open MPI's module has it as the standard has it.
#[test]
fn fortran_pcontrol() {
    recorded_exactly("fortran_pcontrol", Family::Mpich, "fortran fortran_pcontrol");
}

#[test]
fn no_program_is_left_out() {
    let tested = [
        "fortran_f08",
        "fortran_f08_short",
        "fortran_mpi",
        "fortran_mpif",
        "fortran_objects_f08",
        "fortran_objects_mpi",
        "fortran_objects_mpif",
        "fortran_pcontrol",
        "fortran_sections",
        "fortran_sentinels_f08",
        "fortran_sentinels_mpi",
        "fortran_sentinels_mpif",
    ];
    let mut found: Vec<String> = std::fs::read_dir(mpiscope_harness::source_folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".F90").map(str::to_owned))
        .collect();
    found.sort();
    assert_eq!(found, tested);
}

/// The libraries that a file asks the loader for.
fn needed(file: &Path) -> Vec<String> {
    let mut command = Command::new("readelf");
    let ended = run(command.arg("--dynamic").arg("--wide").arg(file), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let output = ended.output();
    let names = output.lines().filter(|line| line.contains("(NEEDED)"));
    names.map(|line| line.split(['[', ']']).nth(1).unwrap().to_owned()).collect()
}

fn is_of_fortran_or_mpi(name: &str) -> bool {
    ["libgfortran", "libquadmath", "libmpi.", "libmpi_", "libmpich", "libpmpi"]
        .iter()
        .any(|begins| name.starts_with(begins))
}

#[test]
fn the_collector_asks_for_neither_fortran_nor_mpi() {
    let needed = needed(&collector().unwrap());
    assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
    assert!(!needed.iter().any(|name| is_of_fortran_or_mpi(name)), "{needed:?}");
}

/// The libraries of Fortran and MPI that its ranks have loaded when they end, as it prints them.
fn loaded(output: &str) -> BTreeSet<String> {
    let names = output.lines().filter_map(|line| line.strip_prefix("loaded "));
    names
        .filter_map(|path| path.rsplit('/').next())
        .filter(|name| is_of_fortran_or_mpi(name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_program_in_c_gets_no_library_of_fortran() {
    for mpi in Mpi::all_or_skip("fortran a_program_in_c_gets_no_library_of_fortran") {
        let folder = folder().unwrap();
        let program = mpi.app("loaded").unwrap();
        let unrecorded = run(&mut mpi.plain(2, &program, &[]).unwrap(), LIMIT).unwrap();
        let out = folder.path().join("a");
        let ended = run(&mut record(&mpi, 2, &program, &[], &out).unwrap(), LIMIT).unwrap();
        let place = format!("{}: {}", mpi.family.word(), ended.errors());
        assert_eq!((unrecorded.status, ended.status), (0, 0), "{place}");
        assert!(ended.output().contains("libmpiscope_shim.so"), "{place}: it is not recorded");
        let (before, after) = (loaded(&unrecorded.output()), loaded(&ended.output()));
        assert!(before.iter().any(|name| name.starts_with("libmpi")), "{place}: {before:?}");
        assert_eq!(after, before, "{place}");
    }
}
