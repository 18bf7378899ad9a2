//! Test programs in other languages than C: built, or started by their interpreter, where that is possible here.

use crate::mpi::Mpi;
use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use std::process::Command;

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
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("Unable to find libclang") {
        return Ok(Err(Missing("the crate mpi needs libclang to be built (libclang-dev)".into())));
    }
    bail!("{name} does not compile:\n{said}")
}
