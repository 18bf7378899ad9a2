//! Signals to each part of a run, and to commands that write: nothing is left in shared memory, in the folder for temporary
//! files or at the output, and calls are recorded or counted.

use mpiscope_harness::{
    LIMIT, Mpi, Running, Signal, TempDir, check, folder, folder_in_memory, mpiscope, processes, repair, run,
    until_log_has,
};
use std::path::{Path, PathBuf};
use std::process::Command;

const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL];

/// Who gets the signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Run,
    Daemon,
    Launcher,
    Rank,
}

const PARTS: [Part; 4] = [Part::Run, Part::Daemon, Part::Launcher, Part::Rank];

impl Part {
    fn process(self, running: &Running, program: &Path) -> Option<u32> {
        let is = |process: &u32, at: usize, word: &str| {
            processes::command_line(*process).get(at).is_some_and(|found| found == word)
        };
        let mut children = processes::children(running.process()).into_iter();
        match self {
            Self::Run => Some(running.process()),
            Self::Daemon => children.find(|child| is(child, 1, "record")),
            Self::Launcher => children.find(|child| !is(child, 1, "record")),
            Self::Rank => {
                running.family().into_iter().find(|process| is(process, 0, program.to_str().unwrap()))
            }
        }
    }
}

/// Where a run has its files.
struct Folders {
    own: TempDir,
    rings: TempDir,
}

impl Folders {
    fn new() -> Self {
        let (own, rings) = (folder().unwrap(), folder_in_memory().unwrap());
        for name in ["temporary", "launcher"] {
            std::fs::create_dir(own.path().join(name)).unwrap();
        }
        let config = format!("[paths]\nrings = {:?}\n", rings.path());
        std::fs::write(own.path().join("config.toml"), config).unwrap();
        Self { own, rings }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.own.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = mpiscope(words).unwrap();
        // The launcher's files are its own business.
        command.env("TMPDIR", self.path("temporary")).env("OMPI_MCA_orte_tmpdir_base", self.path("launcher"));
        command
    }

    /// What lies where rings and temporary files may be.
    fn left(&self) -> Vec<PathBuf> {
        let places = [self.rings.path().to_path_buf(), self.path("temporary")];
        let entries = places.iter().flat_map(|place| std::fs::read_dir(place).unwrap().flatten());
        entries.map(|entry| entry.path()).collect()
    }
}

#[test]
fn whatever_part_of_a_run_gets_a_signal_nothing_is_left() {
    let test = "endings whatever_part_of_a_run_gets_a_signal_nothing_is_left";
    for mpi in Mpi::sample_or_skip(test) {
        let program = mpi.app("linger").unwrap();
        for (part, signal) in PARTS.into_iter().flat_map(|part| SIGNALS.map(|signal| (part, signal))) {
            let what = format!("{signal:?} to {part:?}");
            let folders = Folders::new();
            let out = folders.path("recording");
            let mut command = folders.command(&["run", "--config"]);
            command.arg(folders.path("config.toml")).arg("--out").arg(&out).arg("--");
            command.args(mpi.words(2, &program, &["1.5", "500"]));
            mpi.prepare(&mut command).unwrap();
            let running = Running::start(&mut command).unwrap();
            until_log_has(&out, 10_000).unwrap();
            let process =
                part.process(&running, &program).unwrap_or_else(|| panic!("{what}: it is not there"));
            processes::signal(process, signal);
            // Until all that it started is over as well.
            let ended = running.wait(LIMIT).unwrap();
            assert!(!ended.errors().contains("panicked"), "{what}: {}", ended.errors());
            assert!(!ended.errors().contains("internal error"), "{what}: {}", ended.errors());
            assert_eq!(folders.left(), Vec::<PathBuf>::new(), "{what}: {}", ended.errors());
            let (status, found) = check(&out).unwrap();
            assert_eq!(status, 0, "{what}: {found:#} {}", ended.errors());
        }
    }
}

/// A simulated job that takes a while to write, read and convert.
fn large(folders: &Folders) -> PathBuf {
    let out = folders.path("large");
    let words = ["synth", "--pattern", "halo2d", "--ranks", "16", "--seconds", "8", "--rate", "200000", "-o"];
    let ended = run(folders.command(&words).arg(&out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    out
}

#[test]
fn commands_that_are_interrupted_leave_nothing() {
    let folders = Folders::new();
    let recording = large(&folders);
    let table = folders.path("table.csv");
    let mut text = String::from("rank,type,timestamp_ns,source,destination,size\n");
    for at in 0..400_000 {
        let (from, to) = (at % 8, (at + 1) % 8);
        text += &format!(
            "{from},send,{},{from},{to},8\n{to},receive,{},{from},{to},8\n",
            1_000 * at,
            1_000 * at + 400
        );
    }
    std::fs::write(&table, text).unwrap();
    let broken = folders.path("broken");
    assert_eq!(run(Command::new("cp").arg("-r").arg(&recording).arg(&broken), LIMIT).unwrap().status, 0);
    std::fs::remove_file(broken.join("manifest.json")).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let (recording, table, broken_path) = (path(&recording), path(&table), path(&broken));
    let commands: [&[&str]; 6] = [
        &["import", &table, "-o"],
        &["export", &recording, "--format", "csv", "-o"],
        &["export", &recording, "--format", "perfetto", "-o"],
        &["export", &recording, "--format", "picl", "-o"],
        &["repair", &broken_path, "-o"],
        &["synth", "--pattern", "ring", "--ranks", "64", "--seconds", "60", "--rate", "300000", "-o"],
    ];
    for (words, signal) in
        commands.into_iter().flat_map(|words| [Signal::INT, Signal::TERM].map(|signal| (words, signal)))
    {
        let what = format!("{signal:?} to {words:?}");
        let out = folders.path("out");
        let running = Running::start(folders.command(words).arg(&out)).unwrap();
        // It has begun to write, under whatever name.
        let is_begun = || {
            let names = std::fs::read_dir(folders.own.path()).unwrap().flatten();
            names.map(|entry| entry.file_name()).find(|name| name.to_str().unwrap().contains("out"))
        };
        processes::until(LIMIT, is_begun).unwrap_or_else(|| panic!("{what}: it writes nothing"));
        processes::signal(running.process(), signal);
        let ended = running.wait(LIMIT).unwrap();
        assert_ne!(ended.status, 0, "{what}: it was over before");
        assert_eq!(is_begun(), None, "{what}: {}", ended.errors());
        assert_eq!(folders.left(), Vec::<PathBuf>::new(), "{what}: {}", ended.errors());
    }
    assert_eq!(repair(&broken, &folders.path("saved")).unwrap().status, 0);
}
