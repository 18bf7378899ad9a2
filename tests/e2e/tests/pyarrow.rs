//! A recording read by other people's programs: pyarrow, Polars and DuckDB.

use crate::support::recordings::broken_off;
use mpiscope_harness::{LIMIT, Mpi, folder, record, repair, report, root, run, skip};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The Python that has these modules.
fn python_or_skip(modules: &str, test: &str) -> Option<OsString> {
    let python = std::env::var_os("MPISCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    let imports = run(Command::new(&python).args(["-c", &format!("import {modules}")]), LIMIT);
    if imports.is_ok_and(|ended| ended.status == 0) {
        return Some(python);
    }
    skip(test, &format!("{} cannot import {modules}", python.to_string_lossy()));
    None
}

/// What a script reads of a recording is what the report says.
fn reads_the_same(python: &OsString, script: &str, out: &Path) {
    let folder = folder().unwrap();
    let figures = folder.path().join("report.json");
    std::fs::write(&figures, report(out).unwrap().to_string()).unwrap();
    let mut command = Command::new(python);
    command.arg(root().join("tests/e2e").join(script)).arg(out).arg(&figures);
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (0, "the same\n"), "{}", ended.errors());
}

/// Records some programs and has them read.
fn reads_all(python: &OsString, script: &str, test: &str) {
    for mpi in Mpi::sample_or_skip(test) {
        for app in ["forms", "types"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            let ended = run(&mut record(&mpi, 4, &mpi.app(app).unwrap(), &[], &out).unwrap(), LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            reads_the_same(python, script, &out);
        }
    }
}

#[test]
fn pyarrow_reads_the_same_rows_under_the_documented_names() {
    let test = "pyarrow pyarrow_reads_the_same_rows_under_the_documented_names";
    let Some(python) = python_or_skip("pyarrow.parquet", test) else { return };
    reads_all(&python, "read_with_pyarrow.py", test);
}

#[test]
fn polars_and_duckdb_read_the_same_as_well() {
    let test = "pyarrow polars_and_duckdb_read_the_same_as_well";
    let Some(python) = python_or_skip("pyarrow, polars, duckdb", test) else { return };
    reads_all(&python, "read_with_others.py", test);
}

#[test]
fn they_read_a_repaired_recording() {
    let test = "pyarrow they_read_a_repaired_recording";
    let Some(python) = python_or_skip("pyarrow, polars, duckdb", test) else { return };
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let (out, new) = (folder.path().join("recording"), folder.path().join("repaired"));
    let rings = broken_off(&mpi, &out);
    assert_eq!(repair(&out, &new).unwrap().status, 0);
    rings.remove();
    reads_the_same(&python, "read_with_pyarrow.py", &new);
    reads_the_same(&python, "read_with_others.py", &new);
}
