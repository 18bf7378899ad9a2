//! Programs that people use, from Debian: recording changes neither their results nor their status, and every call that
//! a second opinion counts is there.

use mpiscope_harness::{
    Counted, Ended, Family, Mpi, Recorded, folder, full_run, record_counted, root, run, run_with_input, skip,
    source_folder,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Ranks that wait by polling take many times as long where others use the processors, too.
const LIMIT: Duration = Duration::from_secs(240);

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
        *calls.entry((call.rank.0, recorded.name(call).to_owned())).or_default() += call.count;
    }
    calls
}

/// A program that nobody here wrote, or one of ours that leaves all communication to a library, with its input.
#[derive(Clone, Copy)]
struct RealProgram<'a> {
    /// As the search path has it, or with its folder.
    name: &'a str,
    family: Family,
    ranks: u32,
    arguments: &'a [&'a str],
    /// What it finds on its standard input.
    input: &'a str,
    /// A command that makes further inputs of it.
    before: &'a [&'a str],
    /// The file that it writes its results to, where that is not its standard output.
    writes: Option<&'a str>,
    /// The lines of its output that are its results, without times.
    results: fn(&str) -> Vec<String>,
}

/// As most of Debian's are, which it has for Open MPI.
const PLAIN: RealProgram<'_> = RealProgram {
    name: "",
    family: Family::OpenMpi,
    ranks: 4,
    arguments: &[],
    input: "",
    before: &[],
    writes: None,
    results: |_| Vec::new(),
};

impl RealProgram<'_> {
    fn mpi(&self, test: &str) -> Option<Mpi> {
        let mpi = Mpi::find_or_skip(self.family, test)?;
        let mut which = Command::new("sh");
        which.args(["-c", "command -v \"$1\"", "sh", self.name]);
        if run(&mut which, LIMIT).unwrap().status != 0 {
            skip(test, &format!("{} is not installed", self.name));
            return None;
        }
        Some(mpi)
    }

    /// Runs it in a folder that holds its inputs; also what it said of its results.
    fn run_in(&self, folder: &Path, mut command: Command) -> (Ended, Vec<String>) {
        std::fs::create_dir_all(folder).unwrap();
        for input in std::fs::read_dir(source_folder().join("inputs")).unwrap() {
            let input = input.unwrap();
            std::fs::copy(input.path(), folder.join(input.file_name())).unwrap();
        }
        if let [program, arguments @ ..] = self.before {
            let made = run(Command::new(program).args(arguments).current_dir(folder), LIMIT).unwrap();
            assert_eq!(made.status, 0, "{program}: {}", made.errors());
        }
        command.current_dir(folder).env("OMP_NUM_THREADS", "1");
        let ended = run_with_input(&mut command, self.input.as_bytes().to_vec(), LIMIT).unwrap();
        let output = match self.writes {
            Some(file) if ended.status == 0 => std::fs::read_to_string(folder.join(file)).unwrap(),
            _ => ended.output(),
        };
        (ended, (self.results)(&output))
    }

    fn is_recorded_exactly(&self, test: &str) {
        let Some(mpi) = self.mpi(test) else { return };
        let place = format!("{} on {} ranks of {}", self.name, self.ranks, self.family.word());
        let folder = folder().unwrap();
        let at = |name: &str| folder.path().join(name);
        let program = Path::new(self.name);
        let bare = mpi.plain(self.ranks, program, self.arguments).unwrap();
        let (bare, results) = self.run_in(&at("bare"), bare);
        assert_eq!(bare.status, 0, "{place}: {}{}", bare.output(), bare.errors());
        assert!(results.len() > 3, "{place}: {}", bare.output());

        std::fs::create_dir(at("counts")).unwrap();
        let out = (&*at("recording"), &*at("counts"));
        let mut command = record_counted(&mpi, self.ranks, program, self.arguments, out).unwrap();
        command.env("MPISCOPE_RING_SLOTS", (1 << 18).to_string());
        let (ended, again) = self.run_in(&at("recorded"), command);
        let place = format!("{place}: {}", ended.errors());
        assert_eq!(ended.status, bare.status, "{place}");
        assert_eq!(again, results, "{place}");
        let counted = Counted::load(&at("counts"), self.ranks).unwrap();
        compare(&Recorded::load(&at("recording")).unwrap(), &counted, &place);
    }
}

/// One run, recorded and counted: no call more or less, polls among them, and no byte.
fn compare(recorded: &Recorded, counted: &Counted, place: &str) {
    let manifest = &recorded.manifest;
    let lost = manifest.lost;
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{place}: lost");
    assert_eq!(recorded.missing(), Vec::<&str>::new(), "{place}");
    let sent = counted.sent.values().fold((0, 0), |all, sent| (all.0 + sent.0, all.1 + sent.1));
    let totals = manifest.totals;
    assert_eq!((totals.messages, totals.bytes), sent, "{place}: messages");
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{place}: unmatched");
    assert_eq!(totals.uncertain_messages, 0, "{place}: ambiguous matches");
    assert_eq!(recorded.wrongly_paired(false), Vec::<String>::new(), "{place}");

    let functions = recorded_functions();
    let mut expected = counted.all_calls();
    expected.retain(|(_, name), _| functions.contains(name));
    let found = calls(recorded);
    let not_counted = found.keys().find(|(_, name)| !counted.calls.keys().any(|key| key.1 == *name));
    assert_eq!(not_counted, None, "{place}: recorded, and the second opinion does not know it");
    assert_eq!(found, expected, "{place}");

    let (mut expected, mut moved) = (counted.all_moved(), recorded.moved());
    moved.retain(|key, _| expected.contains_key(key));
    expected.retain(|_, bytes| *bytes > 0);
    assert_eq!(moved, expected, "{place}: moved by collectives");
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

/// The residuals and errors of the parts, and what was solved. What they took, and what followed from that, is left out.
fn hpcc_results(output: &str) -> Vec<String> {
    let kinds = [
        "Success",
        "HPL_N",
        "HPL_Rnorm",
        "HPL_Xnorm",
        "PTRANS_res",
        "MPIFFT_N",
        "MPIFFT_maxErr",
        "CommWorld",
    ];
    let steady = |line: &str| kinds.iter().any(|kind| line.starts_with(kind)) || line.contains("_Errors=");
    output.lines().filter(|line| steady(line)).map(str::to_owned).collect()
}

/// Energies, temperature and pressure of each step, and their means.
fn gromacs_results(output: &str) -> Vec<String> {
    let number = |word: &str| word.contains('e') && word.parse::<f64>().is_ok();
    let numbers = |line: &&str| !line.trim().is_empty() && line.split_whitespace().all(number);
    output.lines().filter(numbers).map(str::to_owned).collect()
}

/// The energies of all steps.
fn cp2k_results(output: &str) -> Vec<String> {
    output.lines().filter(|line| line.contains("ENERGY|")).map(str::to_owned).collect()
}

/// The solution, to as many digits as do not depend on who came first.
fn mumps_results(output: &str) -> Vec<String> {
    let solution = output.split_once("Solution is").map_or("", |(_, behind)| behind);
    let numbers = solution.split_whitespace().map_while(|word| word.parse::<f64>().ok());
    numbers.map(|number| format!("{number:.9}")).collect()
}

/// What was inverted and whether that is right, and how many were.
fn inversion_results(output: &str) -> Vec<String> {
    let case = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        Some([words.get(1..5)?, words.get(words.len() - 1..)?].concat().join(" "))
    };
    let cases = output.lines().filter(|line| line.starts_with("WALL")).filter_map(case);
    cases.chain(output.lines().filter(|line| line.contains(" tests ")).map(str::to_owned)).collect()
}

/// Everything it says.
fn scalapack_results(output: &str) -> Vec<String> {
    output.lines().map(str::to_owned).collect()
}

fn lammps(ranks: u32) -> RealProgram<'static> {
    let arguments = &["-log", "none", "-var", "cells", "8", "-var", "steps", "200", "-in", "melt.lammps"];
    RealProgram { name: "lmp", ranks, arguments, results: lammps_results, ..PLAIN }
}

fn espresso(ranks: u32) -> RealProgram<'static> {
    let arguments = &["-in", "silicon.pw"];
    RealProgram { name: "pw.x", ranks, arguments, results: espresso_results, ..PLAIN }
}

/// The input of MUMPS's own test: the Laplacian of a square grid, and a right side with the solution 1, 2, 3, ...
fn laplacian(side: usize) -> String {
    let (mut entries, mut right) = (Vec::new(), Vec::new());
    for row in 0..side * side {
        let (x, y) = (row % side, row / side);
        let beside = [(x > 0).then(|| row - 1), (x + 1 < side).then_some(row + 1)];
        let above = [(y > 0).then(|| row - side), (y + 1 < side).then_some(row + side)];
        let neighbors = beside.into_iter().chain(above).flatten();
        let values: Vec<_> = std::iter::once((row, 4.0)).chain(neighbors.map(|at| (at, -1.0))).collect();
        right.push(values.iter().map(|(column, value)| value * (column + 1) as f64).sum::<f64>());
        entries.extend(values.into_iter().map(|(column, value)| (row + 1, column + 1, value)));
    }
    let mut text = format!("{} :N\n{} :NZ\n", side * side, entries.len());
    for (row, column, value) in entries {
        writeln!(text, "{row} {column} {value:.1}").unwrap();
    }
    right.iter().for_each(|value| writeln!(text, "{value:.1}").unwrap());
    text
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

#[test]
fn mumps() {
    let (input, results) = (laplacian(30), mumps_results);
    for ranks in if full_run() { &[2, 4, 8][..] } else { &[4] } {
        let (name, ranks) = ("/usr/lib/mumps/dsimpletest", *ranks);
        RealProgram { name, ranks, input: &input, results, ..PLAIN }
            .is_recorded_exactly("real_programs mumps");
    }
}

#[test]
fn operations_of_scalapack() {
    let test = "real_programs operations_of_scalapack";
    for mpi in Mpi::all_or_skip(test) {
        let Some(program) = mpi.scalapack_or_skip(test).unwrap() else { continue };
        let (name, family) = (program.to_str().unwrap(), mpi.family);
        let arguments = &["96", "16", "R", "inversion", "cholesky", "eigenproblem", "multiplication"];
        for ranks in if full_run() { &[1, 4, 6][..] } else { &[4] } {
            let results = scalapack_results;
            let program = RealProgram { name, family, ranks: *ranks, arguments, results, ..PLAIN };
            program.is_recorded_exactly(test);
        }
    }
}

#[test]
fn scalapack_s_own_inversions() {
    let before = &["cp", "/usr/share/scalapack/INV.dat", "."];
    for family in Family::ALL {
        let (machine, word) = (std::env::consts::ARCH, family.word());
        let name = format!("/usr/lib/{machine}-linux-gnu/scalapack/{word}-tests/xdinv");
        let program = RealProgram { name: &name, family, before, results: inversion_results, ..PLAIN };
        program.is_recorded_exactly("real_programs scalapack_s_own_inversions");
    }
}

#[test]
fn hpcc() {
    let (writes, results) = (Some("hpccoutf.txt"), hpcc_results);
    RealProgram { name: "hpcc", writes, results, ..PLAIN }.is_recorded_exactly("real_programs hpcc");
}

#[test]
fn gromacs() {
    let structure = "/usr/share/gromacs/top/spc216.gro";
    let before = &["gmx", "grompp", "-f", "water.mdp", "-c", structure, "-p", "water.top", "-maxwarn", "5"];
    let arguments =
        &["mdrun", "-s", "topol.tpr", "-ntomp", "1", "-reprod", "-dlb", "no", "-notunepme", "-pin", "off"];
    let (writes, results) = (Some("md.log"), gromacs_results);
    let program = RealProgram { name: "gmx_mpi", before, arguments, writes, results, ..PLAIN };
    program.is_recorded_exactly("real_programs gromacs");
}

#[test]
fn cp2k() {
    let (arguments, results) = (&["-i", "water.cp2k"], cp2k_results);
    let program = RealProgram { name: "cp2k.psmp", arguments, results, ..PLAIN };
    program.is_recorded_exactly("real_programs cp2k");
}
