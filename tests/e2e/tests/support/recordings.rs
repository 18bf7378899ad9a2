//! Recordings as something happened to them.

use mpiscope_harness::{
    LIMIT, Mpi, Running, Signal, daemon_of, mpiscope, processes, record, run, until_log_has,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Removes what a run left in the folders of the machine whose every part was killed.
pub(crate) fn tidy(out: &Path) {
    let repaired = run(mpiscope(&["repair"]).unwrap().arg(out), LIMIT).unwrap();
    assert_eq!(repaired.status, 0, "{}", repaired.errors());
}

/// Folders of rings that nobody removes any more.
pub(crate) struct Rings(Vec<PathBuf>);

impl Rings {
    /// Those that the daemon of a recording that is not complete says it reads.
    pub(crate) fn of_recording(out: &Path) -> Self {
        let live: serde_json::Value =
            serde_json::from_slice(&fs::read(out.join("live.json")).unwrap()).unwrap();
        Self(live["rings"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().into()).collect())
    }

    pub(crate) fn are_gone(&self) -> bool {
        self.0.iter().all(|rings| !rings.exists())
    }

    /// Nobody wants them.
    pub(crate) fn remove(&self) {
        for rings in self.0.iter().filter(|rings| rings.exists()) {
            assert!(rings.file_name().unwrap().to_str().unwrap().starts_with("mpiscope-"));
            fs::remove_dir_all(rings).unwrap();
        }
    }
}

/// Records a run of two ranks whose recorder is killed for good before it is over.
pub(crate) fn broken_off(mpi: &Mpi, out: &Path) -> Rings {
    let program = mpi.app("linger").unwrap();
    let running = Running::start(&mut record(mpi, 2, &program, &["2", "500"], out).unwrap()).unwrap();
    until_log_has(out, 20_000).unwrap();
    let daemon = daemon_of(&running).unwrap();
    // First the parent, which would start another one.
    processes::signal(running.process(), Signal::KILL);
    processes::signal(daemon, Signal::KILL);
    running.wait(LIMIT).unwrap();
    Rings::of_recording(out)
}

/// All files of a recording.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { files.extend(files_in(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}
