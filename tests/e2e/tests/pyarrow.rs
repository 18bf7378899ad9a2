//! A recording read by somebody else's program: pyarrow.

use mpiscope_harness::{Mpi, folder, record, report, root, run, skip};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn pyarrow_reads_the_same_rows_under_the_documented_names() {
    let test = "pyarrow pyarrow_reads_the_same_rows_under_the_documented_names";
    let python = std::env::var_os("MPISCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    let imports = run(Command::new(&python).args(["-c", "import pyarrow.parquet"]), LIMIT);
    if !imports.is_ok_and(|ended| ended.status == 0) {
        skip(test, &format!("{} cannot import pyarrow", python.to_string_lossy()));
        return;
    }
    for mpi in Mpi::all_or_skip(test) {
        for app in ["forms", "types"] {
            let folder = folder().unwrap();
            let out = folder.path().join("recording");
            let ended = run(&mut record(&mpi, 4, &mpi.app(app).unwrap(), &[], &out).unwrap(), LIMIT).unwrap();
            assert_eq!(ended.status, 0, "{}", ended.errors());
            let figures = folder.path().join("report.json");
            std::fs::write(&figures, report(&out).unwrap().to_string()).unwrap();
            let mut command = Command::new(&python);
            command.arg(root().join("tests/e2e/read_with_pyarrow.py")).arg(&out).arg(&figures);
            let ended = run(&mut command, LIMIT).unwrap();
            assert_eq!((ended.status, ended.output().as_str()), (0, "the same\n"), "{}", ended.errors());
        }
    }
}
