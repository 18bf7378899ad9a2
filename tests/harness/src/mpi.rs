//! The MPI families: which are installed, and how a program runs under each.

use crate::apps;
use anyhow::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A family of MPI libraries with one binary interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH.
    Mpich,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// Its name as a word of a file's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// Whether it is the family that this test samples. It follows from the test's name, which spreads tests over all
    /// families.
    #[must_use]
    pub fn is_sampled(self, test: &str) -> bool {
        let sum: usize = test.bytes().map(usize::from).sum();
        Self::ALL[sum % Self::ALL.len()] == self
    }

    /// On how many ranks `topologies` may be run. MPICH 4.0 hangs by itself now and then when more ranks than there are
    /// processors make communicators of groups and graphs: without us 4 ranks on 2 did in about a third of the runs.
    #[must_use]
    pub fn most_ranks_of_topologies(self) -> u32 {
        match self {
            Self::OpenMpi => 8,
            Self::Mpich => 2,
        }
    }

    /// Compiler and launcher: as Debian names them when several are installed, where Fedora puts them, plainly.
    fn places(self) -> [(String, String); 3] {
        let launcher = match self {
            Self::OpenMpi => "mpirun",
            Self::Mpich => "mpiexec",
        };
        let word = self.word();
        let folder = format!("/usr/lib64/{word}/bin");
        [
            (format!("mpicc.{word}"), format!("{launcher}.{word}")),
            (format!("{folder}/mpicc"), format!("{folder}/{launcher}")),
            ("mpicc".to_owned(), launcher.to_owned()),
        ]
    }

    /// What its launcher says of itself.
    fn says(self) -> &'static [&'static str] {
        match self {
            Self::OpenMpi => &["Open MPI", "OpenRTE", "PRRTE"],
            Self::Mpich => &["HYDRA", "MPICH"],
        }
    }
}

/// A family that is installed here.
#[derive(Debug, Clone)]
pub struct Mpi {
    /// Which it is.
    pub family: Family,
    /// Its compiler.
    pub compiler: PathBuf,
    /// What starts its programs.
    pub launcher: PathBuf,
}

impl Mpi {
    /// Looks for a family; `None` when it is not installed.
    #[must_use]
    pub fn find(family: Family) -> Option<Self> {
        family.places().into_iter().find_map(|(compiler, launcher)| {
            let version = Command::new(&launcher).arg("--version").output().ok()?;
            let version = String::from_utf8_lossy(&version.stdout).into_owned();
            let ours = family.says().iter().any(|word| version.contains(word));
            let compiles = || Command::new(&compiler).arg("--version").output().ok();
            (ours && compiles()?.status.success()).then(|| Self {
                family,
                compiler: compiler.into(),
                launcher: launcher.into(),
            })
        })
    }

    /// Looks for a family; when it is missing the test counts as skipped.
    #[must_use]
    pub fn find_or_skip(family: Family, test: &str) -> Option<Self> {
        let found = Self::find(family);
        if found.is_none() {
            crate::skip(test, &format!("{} is not installed", family.word()));
        }
        found
    }

    /// Every family that is installed; for each that is missing the test counts as skipped.
    #[must_use]
    pub fn all_or_skip(test: &str) -> Vec<Self> {
        let name = |family: Family| format!("{test} ({})", family.word());
        Family::ALL.into_iter().filter_map(|family| Self::find_or_skip(family, &name(family))).collect()
    }

    /// For tests of what does not depend on the family: every installed one in a full run, otherwise one of them, which
    /// [`Family::is_sampled`] chooses. Without any the test counts as skipped.
    #[must_use]
    pub fn sample_or_skip(test: &str) -> Vec<Self> {
        if crate::full_run() {
            return Self::all_or_skip(test);
        }
        let (mut chosen, others): (Vec<_>, Vec<_>) =
            Family::ALL.into_iter().filter_map(Self::find).partition(|mpi| mpi.family.is_sampled(test));
        chosen.extend(others);
        chosen.truncate(1);
        if chosen.is_empty() {
            crate::skip(test, "no MPI is installed");
        }
        chosen
    }

    /// A test program of `tests/apps`, compiled.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn app(&self, name: &str) -> Result<PathBuf> {
        apps::compile(self, &apps::source_folder().join(format!("{name}.c")))
    }

    /// The operations of ScaLAPACK of `tests/apps/support`, compiled; where the library is missing the test counts as
    /// skipped.
    ///
    /// # Errors
    /// When they do not compile.
    pub fn scalapack_or_skip(&self, test: &str) -> Result<Option<PathBuf>> {
        let built = apps::compile_scalapack(self)?;
        if built.is_none() {
            crate::skip(test, &format!("there is no ScaLAPACK for {}", self.family.word()));
        }
        Ok(built)
    }

    /// Its compiler of Fortran, which has a name like that for C; `None` when it is missing, or the compiler it calls.
    #[must_use]
    pub fn fortran_compiler(&self) -> Option<PathBuf> {
        let name = self.compiler.file_name()?.to_str()?.replace("mpicc", "mpifort");
        // A plain name is looked up where programs are, which with_file_name leaves so.
        let compiler = self.compiler.with_file_name(name);
        let version = Command::new(&compiler).arg("--version").output().ok()?;
        version.status.success().then_some(compiler)
    }

    /// A test program of `tests/apps` in Fortran, compiled; when there is no compiler the test counts as skipped.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn fortran_app_or_skip(&self, name: &str, test: &str) -> Result<Option<PathBuf>> {
        let Some(compiler) = self.fortran_compiler() else {
            crate::skip(test, &format!("{} has no compiler of Fortran", self.family.word()));
            return Ok(None);
        };
        let source = apps::source_folder().join(format!("{name}.F90"));
        apps::compile_fortran(&compiler, self, &source).map(Some)
    }

    /// The words that run a program on this number of ranks.
    #[must_use]
    pub fn words(&self, ranks: u32, program: &Path, arguments: &[&str]) -> Vec<OsString> {
        let mut words: Vec<OsString> =
            vec![self.launcher.clone().into(), "-n".into(), ranks.to_string().into(), program.into()];
        words.extend(arguments.iter().map(OsString::from));
        words
    }

    /// Puts into a command's environment what the family needs here: more ranks than processors, possibly as root.
    ///
    /// # Errors
    /// When a helper library does not compile.
    pub fn prepare(&self, command: &mut Command) -> Result<()> {
        let mut preloads = Vec::new();
        if crate::others_run() {
            preloads.push(apps::naps_library()?);
        }
        match self.family {
            Family::OpenMpi => {
                command
                    .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                    .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                    .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
                    .env("OMPI_MCA_mpi_yield_when_idle", "1");
            }
            Family::Mpich => {
                preloads.push(apps::yield_library()?);
            }
        }
        if !preloads.is_empty() {
            command.env("LD_PRELOAD", std::env::join_paths(preloads)?);
        }
        Ok(())
    }

    /// A command that runs a program on this number of ranks, unrecorded.
    ///
    /// # Errors
    /// When a helper library does not compile.
    pub fn plain(&self, ranks: u32, program: &Path, arguments: &[&str]) -> Result<Command> {
        let words = self.words(ranks, program, arguments);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        self.prepare(&mut command)?;
        Ok(command)
    }

    /// The exit status of a launcher whose rank died of a signal: as a shell would say it, or the plain number.
    #[must_use]
    pub fn status_of_signal(&self, signal: i32) -> i32 {
        match self.family {
            Family::OpenMpi => 128 + signal,
            Family::Mpich => signal,
        }
    }
}
