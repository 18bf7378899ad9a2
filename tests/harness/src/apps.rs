//! The test programs, compiled once for each family and kept in the target folder.

use crate::mpi::Mpi;
use anyhow::{Context as _, Result, ensure};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the test programs' sources.
#[must_use]
pub fn source_folder() -> PathBuf {
    crate::root().join("tests/apps")
}

/// Compiles a program in C for a family, unless that was done before.
///
/// # Errors
/// When it does not compile.
pub fn compile(mpi: &Mpi, source: &Path) -> Result<PathBuf> {
    let include = format!("-I{}", source_folder().display());
    let mut flags =
        vec!["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-pthread", include.as_str()];
    if !crate::full_run() {
        // For patient.h.
        flags.push("-DPATIENT");
    }
    build(&mpi.compiler, mpi.family.word(), &flags, source)
}

/// Compiles the operations of ScaLAPACK for a family, unless that was done before; `None` where the library is missing.
///
/// # Errors
/// When it does not compile.
pub(crate) fn compile_scalapack(mpi: &Mpi) -> Result<Option<PathBuf>> {
    let library = format!("scalapack-{}", mpi.family.word());
    // The compiler knows where libraries are, and gives the name back for what it does not find.
    let asked = Command::new(&mpi.compiler).arg(format!("-print-file-name=lib{library}.so")).output();
    let place = asked.with_context(|| format!("run {}", mpi.compiler.display()))?.stdout;
    if !place.starts_with(b"/") {
        return Ok(None);
    }
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-g"];
    let source = source_folder().join("support/scalapack.c");
    let library = format!("-l{library}");
    build_with(&mpi.compiler, mpi.family.word(), &flags, &source, &[library.as_str(), "-lm"]).map(Some)
}

/// Compiles a program in Fortran for a family, unless that was done before, with what tells its truth.
///
/// # Errors
/// When it does not compile.
pub(crate) fn compile_fortran(compiler: &Path, mpi: &Mpi, source: &Path) -> Result<PathBuf> {
    let include = format!("-I{}", source_folder().display());
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-c"];
    let helper = source_folder().join("support/fortran_truth.c");
    let helper = build(&mpi.compiler, mpi.family.word(), &flags, &helper)?;
    let helper = helper.to_str().context("the target folder's name is no text")?;
    // Without an interface the compiler sees only that the buffers of two calls are of different kinds; and the text
    // of MPICH's mpif.h is not standard Fortran.
    let flags = ["-std=gnu", "-ffree-form", "-fallow-argument-mismatch", "-w", "-O2", "-g", include.as_str()];
    build_with(compiler, mpi.family.word(), &flags, source, &[helper])
}

/// The library that lets MPICH over UCX run more ranks than there are processors.
///
/// # Errors
/// When it does not compile.
pub(crate) fn yield_library() -> Result<PathBuf> {
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"];
    build(Path::new("cc"), "support", &flags, &source_folder().join("support/ucx_yield.c"))
}

/// The library that lets ranks sleep while they wait, where other tests need the processors.
///
/// # Errors
/// When it does not compile.
pub(crate) fn naps_library() -> Result<PathBuf> {
    let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"];
    build(Path::new("cc"), "support", &flags, &source_folder().join("support/naps.c"))
}

/// The tracer that makes a system call of a process fail.
///
/// # Errors
/// When it does not compile.
pub(crate) fn failing_tracer() -> Result<PathBuf> {
    let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2"];
    build(Path::new("cc"), "support", &flags, &source_folder().join("support/fail_call.c"))
}

/// The library that counts a program's calls, for a family. It is not linked to MPI: launchers do not load MPI by it.
///
/// # Errors
/// When it does not compile.
pub(crate) fn counting_library(mpi: &Mpi) -> Result<PathBuf> {
    let flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-c"];
    let source = source_folder().join("support/count_calls.c");
    let object = build(&mpi.compiler, mpi.family.word(), &flags, &source)?;
    build(Path::new("cc"), mpi.family.word(), &["-shared", "-Wl,-z,lazy"], &object)
}

/// The files of a folder with this extension, or all of them where it is empty, in order.
fn files_with(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        if extension.is_empty() || path.extension().is_some_and(|given| given == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Named by what it is made of: a changed source, header, flag or compiler makes another file. Tests of several
/// processes may build the same at once: the first one to be done puts its own into place, in one step.
fn build(compiler: &Path, folder: &str, flags: &[&str], source: &Path) -> Result<PathBuf> {
    build_with(compiler, folder, flags, source, &["-ldl"])
}

/// As [`build`], with what follows the source on the command line.
fn build_with(
    compiler: &Path,
    folder: &str,
    flags: &[&str],
    source: &Path,
    behind: &[&str],
) -> Result<PathBuf> {
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("read {}", path.display()));
    let mut hasher = DefaultHasher::new();
    let mut included = files_with(&source_folder(), "h")?;
    included.extend(files_with(&source_folder().join("support"), "")?);
    let included = included.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    (compiler, flags, behind, read(source)?, included).hash(&mut hasher);
    let version = Command::new(compiler).arg("--version").output();
    version.with_context(|| format!("run {}", compiler.display()))?.stdout.hash(&mut hasher);
    let name = source.file_stem().context("a source needs a name")?.to_string_lossy().into_owned();
    let folder = crate::target().join("tests-apps").join(folder);
    let built = folder.join(format!("{name}-{:016x}", hasher.finish()));
    if built.is_file() {
        return Ok(built);
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    let fresh = tempfile::Builder::new().prefix("building-").tempdir_in(&folder)?;
    let object = fresh.path().join(&name);
    // A compiler of Fortran leaves the modules of a source beside what it makes.
    let mut command = Command::new(compiler);
    command.args(flags).arg("-o").arg(&object).arg(source).args(behind).current_dir(fresh.path());
    let output = command.output()?;
    let compiler_output = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{} does not compile:\n{compiler_output}", source.display());
    put(&object, &built)?;
    Ok(built)
}

/// What another test has put there meanwhile stays: a program that runs must not be deleted.
fn put(object: &Path, built: &Path) -> Result<()> {
    match std::fs::hard_link(object, built) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("put {} into place", built.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_built_once_and_again_when_its_source_changes() {
        let folder = crate::folder().unwrap();
        let source = folder.path().join("answer.c");
        let answer = |text: &str| {
            std::fs::write(&source, text).unwrap();
            let built = build(Path::new("cc"), "own", &["-O0"], &source).unwrap();
            (Command::new(&built).status().unwrap().code(), built)
        };
        let (first, built) = answer("int main(void) { return 3; }");
        let changed = std::fs::metadata(&built).unwrap().modified().unwrap();
        assert_eq!((first, answer("int main(void) { return 3; }").1), (Some(3), built.clone()));
        assert_eq!(std::fs::metadata(&built).unwrap().modified().unwrap(), changed);
        assert_eq!(answer("int main(void) { return 4; }").0, Some(4));
    }

    #[test]
    fn what_another_test_built_meanwhile_is_not_replaced() {
        let folder = crate::folder().unwrap();
        let [first, second, built] = ["first", "second", "built"].map(|name| folder.path().join(name));
        for object in [&first, &second] {
            std::fs::write(object, object.to_str().unwrap()).unwrap();
            put(object, &built).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&built).unwrap(), first.to_str().unwrap());
        assert!(put(&folder.path().join("none"), &folder.path().join("other")).is_err());
    }

    #[test]
    fn a_failed_compilation_quotes_the_compiler() {
        let folder = crate::folder().unwrap();
        let source = folder.path().join("wrong.c");
        std::fs::write(&source, "int main(void) { return nothing; }").unwrap();
        let error = build(Path::new("cc"), "own", &[], &source).unwrap_err();
        assert!(error.to_string().contains("nothing"), "{error}");
    }
}
