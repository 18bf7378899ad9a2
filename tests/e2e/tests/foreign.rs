//! Files of other tools: what is kept of them beside the tests, and in a full run what these tools write today.

use mpiscope_harness::{LIMIT, Mpi, folder, mpiscope, report, root, run, skip};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const TABLES: &str = "daemon/formats/src/import/table/tests/foreign";

fn calls(report: &Value, name: &str) -> u64 {
    let functions = report["functions"].as_array().unwrap().iter();
    functions.filter(|row| row["name"] == name).map(|row| row["calls"].as_u64().unwrap()).sum()
}

/// Imports an archive of eztrace. It records no calls of MPI_Init, and of receives only that they were posted. It gives the
/// group of all ranks and that of their communicator one number, and writes sends to MPI_PROC_NULL.
fn assert_eztrace(test: &str, archive: &Path, truth: &str) {
    let folder = folder().unwrap();
    let out = folder.path().join("imported");
    let ended = run(mpiscope(&["import"]).unwrap().arg(archive).arg("-o").arg(&out), LIMIT).unwrap();
    if ended.status == 2 && ended.errors().contains("install libopen-trace-format2-10") {
        return skip(test, "the OTF2 library is not on this machine");
    }
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let made = |name: &str| -> u64 {
        let lines =
            truth.lines().filter_map(|line| line.strip_prefix("calls ")?.split_once(&format!(" {name} ")));
        lines.map(|(_, count)| count.parse::<u64>().unwrap()).sum()
    };
    let found = report(&out).unwrap();
    for name in ["MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"] {
        assert!(made(name) > 0, "{name}");
        assert_eq!(calls(&found, name), made(name), "{name}: {}", ended.errors());
    }
    let missing =
        format!("{} posted receives: the archive does not say what they received", made("MPI_Irecv"));
    assert!(found["missing"].as_array().unwrap().contains(&missing.as_str().into()), "{}", found["missing"]);
}

#[test]
fn a_kept_archive_of_eztrace_is_read() {
    let test = "foreign a_kept_archive_of_eztrace_is_read";
    let kept = root().join("tests/e2e/foreign/eztrace");
    let truth = std::fs::read_to_string(kept.join("truth.txt")).unwrap();
    assert_eztrace(test, &kept.join("eztrace_log.otf2"), &truth);
}

#[test]
fn an_archive_that_eztrace_writes_today_is_read() {
    let test = "foreign an_archive_that_eztrace_writes_today_is_read";
    if !run(Command::new("eztrace").arg("-h"), LIMIT).is_ok_and(|ended| ended.status == 0) {
        return skip(test, "eztrace is not on this machine");
    }
    let Some(mpi) = Mpi::all_or_skip(test).into_iter().find(|mpi| mpi.family.word() == "openmpi") else {
        return;
    };
    let folder = folder().unwrap();
    let trace = folder.path().join("trace");
    let program = mpi.app("halo3d").unwrap();
    let words = mpi.words(
        4,
        Path::new("eztrace"),
        &["-t", "openmpi", "-o", trace.to_str().unwrap(), program.to_str().unwrap(), "30"],
    );
    let mut command = Command::new(&words[0]);
    mpi.prepare(command.args(&words[1..])).unwrap();
    let ended = run(&mut command, LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let name = program.file_name().unwrap().to_str().unwrap();
    assert_eztrace(test, &trace.join(format!("{name}_trace/eztrace_log.otf2")), &ended.output());
}

/// The tables beside the unit tests are what these programs write.
#[test]
fn tables_are_written_today_as_they_are_kept() {
    let test = "foreign tables_are_written_today_as_they_are_kept";
    let (kept, folder) = (root().join(TABLES), folder().unwrap());
    let mut awk = Command::new("sh");
    awk.args(["-c", "awk -f \"$1\" > \"$2/awk.txt\"", "sh"]).arg(kept.join("write.awk"));
    let script = |program: &str, name: &str| {
        let mut command = Command::new(program);
        command.arg(kept.join(name));
        command
    };
    // The system's Python has the packages pandas and openpyxl; that of the tests has the other ones.
    let python = std::env::var("MPISCOPE_PYTHON").unwrap_or_else(|_| "python3".into());
    let writers = [
        (awk, &["awk"][..]),
        (script("/usr/bin/python3", "write.py"), &["pandas"]),
        (script("Rscript", "write.R"), &["R"]),
        (script("/usr/bin/python3", "write_spreadsheet.py"), &["gnumeric"]),
        (script(&python, "write_more.py"), &["python", "polars", "duckdb", "arrow"]),
    ];
    for (mut command, programs) in writers {
        let ended = run(command.arg(folder.path()), LIMIT);
        if !ended.is_ok_and(|ended| ended.status == 0) {
            skip(test, &format!("{} cannot be used on this machine", programs.join(", ")));
            continue;
        }
        for program in programs {
            let files = std::fs::read_dir(&kept).unwrap().flatten().map(|entry| entry.file_name());
            let files: Vec<_> = files.filter(|name| name.to_str().unwrap().starts_with(program)).collect();
            assert!(!files.is_empty(), "{program}");
            for name in files {
                let read = |folder: &Path| std::fs::read_to_string(folder.join(&name)).unwrap();
                assert_eq!(read(folder.path()), read(&kept), "{program}: {}", name.display());
            }
        }
    }
}
