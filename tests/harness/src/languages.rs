//! Test programs in other languages than C: built, or started by their interpreter, where that is possible here.

use crate::mpi::{Family, Mpi};
use crate::running::run;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What a program needs is not on this machine: the reason, in a sentence.
#[derive(Debug, Clone)]
pub struct Missing(pub String);

/// A program in Rust of `tests/apps`, built for a family. Cargo keeps what it built, and builds again what changed.
///
/// # Errors
/// When it does not compile.
pub fn rust_app(mpi: &Mpi, name: &str) -> Result<Result<PathBuf, Missing>> {
    let manifest = crate::source_folder().join(name).join("Cargo.toml");
    // Each family has a folder of its own, for Cargo does not see which MPI the crate was built against.
    let target = crate::target().join("tests-apps").join(format!("rust-{}", mpi.family.word()));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--locked", "--release", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(&target).env("MPICC", &mpi.compiler).env_remove("RUSTFLAGS");
    let output = command.output().context("run cargo")?;
    if output.status.success() {
        return Ok(Ok(target.join("release").join(name)));
    }
    let compiler_output = String::from_utf8_lossy(&output.stderr).into_owned();
    if compiler_output.contains("Unable to find libclang") {
        return Ok(Err(Missing("the crate mpi needs libclang to be built (libclang-dev)".into())));
    }
    bail!("{name} does not compile:\n{compiler_output}")
}

/// A Python whose mpi4py is one for this family.
///
/// # Errors
/// When there is none.
pub fn python(mpi: &Mpi) -> Result<PathBuf, Missing> {
    // The first one of the search path may be the user's own, without the system's packages.
    let interpreters = ["python3", "/usr/bin/python3"].map(PathBuf::from);
    interpreters
        .into_iter()
        .find(|interpreter| is_for(mpi, interpreter))
        .ok_or_else(|| Missing(format!("no Python here has mpi4py for {}", mpi.family.word())))
}

fn is_for(mpi: &Mpi, interpreter: &Path) -> bool {
    let script = "from mpi4py import MPI; print(MPI.Get_library_version())";
    let name = match mpi.family {
        Family::OpenMpi => "Open MPI",
        Family::Mpich => "MPICH",
    };
    let command = mpi.plain(1, interpreter, &["-c", script]);
    let ended = command.and_then(|mut command| run(&mut command, Duration::from_secs(30)));
    ended.is_ok_and(|ended| ended.status == 0 && ended.output().contains(name))
}
