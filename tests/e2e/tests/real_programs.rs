//! Programs that people use, from Debian: recording changes neither their results nor their status, and every call that
//! a second opinion counts is there.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use mpiscope_harness::{
    Counted, Ended, Family, Language, Mpi, Recorded, counted, folder, record, root, run, skip, source_folder,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// What is called from these languages is recorded.
const RECORDED_LANGUAGES: &[Language] = &[Language::C, Language::Fortran];

/// How often these return without success depends on the moment.
const POLLS: [&str; 7] = [
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Iprobe",
    "MPI_Improbe",
    "MPI_Request_get_status",
];

/// The functions that the collector records, from its table.
fn recorded_functions() -> BTreeSet<String> {
    let table = std::fs::read_to_string(root().join("collector/calls.toml")).unwrap();
    let names = table.lines().filter_map(|line| line.strip_prefix("name = \"MPI_")?.strip_suffix('"'));
    names.map(|name| format!("MPI_{name}")).collect()
}

/// Calls of the recording by rank and function, polls that were folded into a row included.
fn calls(recorded: &Recorded) -> BTreeMap<(u32, String), u64> {
    let mut calls = BTreeMap::new();
    for call in &recorded.calls {
        *calls.entry((call.rank, recorded.name(call).to_owned())).or_default() += call.count;
    }
    calls
}

/// A program of Debian's, with its input.
struct RealProgram<'a> {
    name: &'a str,
    ranks: u32,
    arguments: &'a [&'a str],
    /// The lines of its output that are its results, without times.
    results: fn(&str) -> Vec<String>,
}

impl RealProgram<'_> {
    /// Debian has these for Open MPI.
    fn mpi(&self, test: &str) -> Option<Mpi> {
        let mpi = Mpi::find_or_skip(Family::OpenMpi, test)?;
        let mut which = Command::new("sh");
        which.args(["-c", "command -v \"$1\"", "sh", self.name]);
        if run(&mut which, LIMIT).unwrap().status != 0 {
            skip(test, &format!("{} is not installed", self.name));
            return None;
        }
        Some(mpi)
    }

    /// Runs it in a folder that holds its inputs.
    fn run_in(&self, folder: &Path, mut command: Command) -> Ended {
        std::fs::create_dir_all(folder).unwrap();
        for input in std::fs::read_dir(source_folder().join("inputs")).unwrap() {
            let input = input.unwrap();
            std::fs::copy(input.path(), folder.join(input.file_name())).unwrap();
        }
        run(command.current_dir(folder).env("OMP_NUM_THREADS", "1"), LIMIT).unwrap()
    }

    fn is_recorded_exactly(&self, test: &str) {
        let Some(mpi) = self.mpi(test) else { return };
        let (program, place) = (Path::new(self.name), format!("{} on {} ranks", self.name, self.ranks));
        let folder = folder().unwrap();
        let at = |name: &str| folder.path().join(name);
        let plain = || mpi.plain(self.ranks, program, self.arguments).unwrap();
        let bare = self.run_in(&at("bare"), plain());
        assert_eq!(bare.status, 0, "{place}: {}{}", bare.output(), bare.errors());
        let results = (self.results)(&bare.output());
        assert!(results.len() > 3, "{place}: {}", bare.output());

        let mut command = plain();
        std::fs::create_dir(at("counts")).unwrap();
        counted(&mpi, &mut command, &at("counts")).unwrap();
        let second = self.run_in(&at("counted"), command);
        assert_eq!(second.status, 0, "{place}, counted: {}", second.errors());
        let counted = Counted::load(&at("counts"), self.ranks).unwrap();

        let mut command = record(&mpi, self.ranks, program, self.arguments, &at("recording")).unwrap();
        command.env("MPISCOPE_RING_SLOTS", (1 << 18).to_string());
        let ended = self.run_in(&at("recorded"), command);
        let said = ended.errors();
        assert_eq!(ended.status, bare.status, "{place}: {said}");
        assert_eq!((self.results)(&ended.output()), results, "{place}");
        self.compare(&Recorded::load(&at("recording")).unwrap(), &counted, &format!("{place}: {said}"));
    }

    fn compare(&self, recorded: &Recorded, counted: &Counted, place: &str) {
        let manifest = &recorded.manifest;
        let lost = manifest.lost;
        assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}: lost");
        assert_eq!(manifest.missing, Vec::<String>::new(), "{place}");
        let sent = counted.sent.values().fold((0, 0), |all, sent| (all.0 + sent.0, all.1 + sent.1));
        let totals = manifest.totals;
        assert_eq!((totals.messages, totals.bytes), sent, "{place}: messages");
        assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}: unmatched");
        assert_eq!(totals.uncertain_messages, 0, "{place}: paired in doubt");
        let functions = recorded_functions();
        let steady = |(key, calls): ((u32, String), u64)| {
            (functions.contains(&key.1) && !POLLS.contains(&key.1.as_str())).then_some((key, calls))
        };
        let expected: BTreeMap<_, _> =
            counted.calls_of(RECORDED_LANGUAGES).into_iter().filter_map(steady).collect();
        let found: BTreeMap<_, _> = calls(recorded).into_iter().filter_map(steady).collect();
        assert_eq!(found, expected, "{place}");
        let not_counted = found.keys().find(|(_, name)| !counted.calls.keys().any(|key| key.1 == *name));
        assert_eq!(not_counted, None, "{place}: recorded, and the second opinion does not know it");
    }
}

/// The numbers of each output step, and what was simulated.
fn lammps_results(output: &str) -> Vec<String> {
    let step = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 6 && words.iter().all(|word| word.parse::<f64>().is_ok())
    };
    let about = |line: &str| line.contains("Total # of neighbors") || line.contains("processor grid");
    output.lines().filter(|line| step(line) || about(line)).map(str::to_owned).collect()
}

/// The energies of each iteration and the parts of the last, and the eigenvalues.
fn espresso_results(output: &str) -> Vec<String> {
    let lines = output.lines().filter(|line| !line.contains("WALL"));
    let energy = |line: &str| ["Ry", "convergence has been", " k ="].iter().any(|word| line.contains(word));
    let numbers = |line: &str| {
        let mut words = line.split_whitespace().peekable();
        words.peek().is_some() && words.all(|word| word.parse::<f64>().is_ok())
    };
    lines.filter(|line| energy(line) || numbers(line)).map(str::to_owned).collect()
}

fn lammps(ranks: u32) -> RealProgram<'static> {
    let arguments = &["-log", "none", "-var", "cells", "8", "-var", "steps", "200", "-in", "melt.lammps"];
    RealProgram { name: "lmp", ranks, arguments, results: lammps_results }
}

fn espresso(ranks: u32) -> RealProgram<'static> {
    RealProgram { name: "pw.x", ranks, arguments: &["-in", "silicon.pw"], results: espresso_results }
}

#[test]
fn lammps_on_4_ranks() {
    lammps(4).is_recorded_exactly("real_programs lammps_on_4_ranks");
}

#[test]
fn lammps_on_8_ranks() {
    lammps(8).is_recorded_exactly("real_programs lammps_on_8_ranks");
}

#[test]
fn quantum_espresso_on_4_ranks() {
    espresso(4).is_recorded_exactly("real_programs quantum_espresso_on_4_ranks");
}

#[test]
fn quantum_espresso_on_8_ranks() {
    espresso(8).is_recorded_exactly("real_programs quantum_espresso_on_8_ranks");
}
