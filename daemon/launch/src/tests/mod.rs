//! Command lines, and what becomes of them.

mod hosts;
mod hydra;
mod open_mpi;
mod slurm;
mod unknown;

use super::needs::PRELOAD;
use super::*;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Surroundings that the test gives.
#[derive(Default, Clone)]
struct Fake {
    variables: BTreeMap<String, OsString>,
    versions: BTreeMap<String, String>,
    files: BTreeMap<PathBuf, String>,
}

impl Fake {
    fn new() -> Self {
        let versions = [
            ("mpirun", "mpirun (Open MPI) 4.1.4\n"),
            ("/opt/o/bin/mpirun", "mpirun (Open MPI) 4.1.4\n"),
            ("mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4\n"),
            ("/opt/5/bin/mpirun", "mpirun (Open MPI) 5.0.7\n"),
            ("prterun", "prterun (PRRTE) 3.0.8\n"),
            ("mpiexec", "HYDRA build details:\n    Version: 4.0.2\n"),
            ("mpiexec.hydra", "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230306\n"),
            ("mpiexec.othermpi", "of no known kind 1.0\n"),
        ];
        let own = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        Self { versions: versions.map(own).into(), ..Self::default() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.to_owned());
        self
    }

    fn plan(&self, line: &str) -> Launch {
        plan(&words(line), &needs(), self)
    }

    /// The words that are run.
    fn line(&self, line: &str) -> String {
        self.plan(line).words.join(OsStr::new(" ")).into_string().unwrap()
    }

    /// What a variable is set to beside those that are needed; empty when it is not.
    fn sets(&self, line: &str, name: &str) -> String {
        let set = self.plan(line).set;
        let found = set.into_iter().rev().find(|(set, _)| set == name);
        found.map(|(_, value)| value.into_string().unwrap()).unwrap_or_default()
    }
}

impl Surroundings for Fake {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).cloned()
    }

    fn version(&self, program: &OsStr) -> Option<String> {
        self.versions.get(program.to_str()?).cloned()
    }

    fn read(&self, file: &Path) -> Option<String> {
        self.files.get(file).cloned()
    }
}

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

fn needs() -> Needs {
    Needs {
        collector: "/c.so".into(),
        variables: vec![("RINGS".into(), "/r".into()), ("KEY".into(), "secret".into())],
    }
}

const LIST: &str = super::open_mpi::LIST;
const EXPORT: &str = super::slurm::EXPORT;

#[test]
fn what_was_preloaded_stays() {
    let preload = |before: Option<&str>| needs().preload(before.map(OsStr::new));
    assert_eq!(preload(None), "/c.so");
    assert_eq!(preload(Some("")), "/c.so");
    assert_eq!(preload(Some("/b.so:/d.so")), "/c.so:/b.so:/d.so");
    assert_eq!(preload(Some("/b.so:/c.so")), "/b.so:/c.so");
    assert_eq!(preload(Some("/b.so /c.so")), "/b.so /c.so");
}

#[test]
fn no_value_is_on_a_command_line_and_every_variable_is_set() {
    let lines = [
        "mpirun -n 2 ./a",
        "mpirun -x A -n 2 ./a : -n 1 ./b",
        "mpirun --mca mca_base_env_list A -n 2 ./a",
        "/opt/5/bin/mpirun -n 2 ./a",
        "mpiexec -genvnone -n 2 ./a",
        "mpiexec -genvlist A -n 2 ./a",
        "mpiexec -envnone -n 2 ./a : -envlist B ./b",
        "srun --export=NONE -n 2 ./a",
        "srun --export A,B=1 ./a : ./b",
        "./a",
        "env A=1 ./a",
        "env -i mpirun ./a",
    ];
    for line in lines {
        let launch = Fake::new().plan(line);
        assert!(!launch.words.iter().any(|word| word.to_str().unwrap().contains("secret")), "{launch:?}");
        for (name, value) in needs().variables {
            assert!(launch.set.contains(&(name, value)), "{line}: {launch:?}");
        }
    }
}

#[test]
fn a_known_launcher_does_not_get_the_collector() {
    for line in ["mpirun -n 2 ./a", "mpirun -x A ./a", "mpiexec ./a", "srun ./a", "env A=1 time mpirun ./a"] {
        assert_eq!(Fake::new().with(PRELOAD, "/old.so").sets(line, PRELOAD), "", "{line}");
    }
}

#[test]
fn launchers_are_found_behind_what_runs_them() {
    let fake = Fake::new();
    let lines = [
        ("env X=1 mpiexec -n 2 ./a", "env X=1 mpiexec -genv LD_PRELOAD /c.so -n 2 ./a"),
        ("time mpiexec ./a", "time mpiexec -genv LD_PRELOAD /c.so ./a"),
        ("nice -n 5 timeout 60 mpiexec ./a", "nice -n 5 timeout 60 mpiexec -genv LD_PRELOAD /c.so ./a"),
        ("mpiexec -n 2 env X=1 numactl -l ./a", "mpiexec -genv LD_PRELOAD /c.so -n 2 env X=1 numactl -l ./a"),
    ];
    for (line, planned) in lines {
        assert_eq!(fake.line(line), planned);
    }
}

#[test]
fn what_env_sets_before_a_launcher_counts() {
    let fake = Fake::new().with(PRELOAD, "/outer.so");
    assert_eq!(
        fake.line("env LD_PRELOAD=/b.so mpiexec ./a"),
        "env LD_PRELOAD=/b.so mpiexec -genv LD_PRELOAD /c.so:/b.so ./a"
    );
    assert_eq!(
        fake.line("env -u LD_PRELOAD mpiexec ./a"),
        "env -u LD_PRELOAD mpiexec -genv LD_PRELOAD /c.so ./a"
    );
    assert_eq!(fake.line("env LD_PRELOAD=/b.so ./a"), "env LD_PRELOAD=/c.so:/b.so ./a");
    assert_eq!(
        fake.line("env OMPI_MCA_mca_base_env_list=A mpirun ./a"),
        "env OMPI_MCA_mca_base_env_list=A;RINGS;KEY;LD_PRELOAD=/c.so:/outer.so mpirun ./a"
    );
}
