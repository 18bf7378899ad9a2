//! Where an export goes: a file or a folder that appears under its name when it is whole, the standard output, or what is
//! no file.

use crate::interrupt::Interrupt;
use crate::output_folder::refuse_occupied;
use anyhow::{Context as _, Result, bail};
use mpiscope_process::output::Stdout;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// Takes the bytes of an export.
pub(crate) enum Target {
    /// Beside the file that it will be.
    File { unfinished: NamedTempFile, path: PathBuf },
    /// Written as it is: a terminal, a pipe, a device.
    Plain(Box<dyn Write + Send>),
}

impl Target {
    pub(crate) fn open(path: &Path, interrupt: &Interrupt) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Plain(Box::new(BufWriter::new(Stdout))));
        }
        let doing = || format!("cannot write {}", path.display());
        match path.metadata() {
            Ok(found) if found.is_dir() => bail!("{} is a folder: choose a file with -o", path.display()),
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(path).with_context(doing)?;
                return Ok(Self::Plain(Box::new(file)));
            }
            _ => {}
        }
        // A link stays one: what it points to is written.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().with_context(doing)?.to_string_lossy().into_owned();
        let unfinished = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".unfinished")
            .tempfile_in(folder_of(&path))
            .with_context(doing)?;
        interrupt.begin(unfinished.path());
        Ok(Self::File { unfinished, path })
    }

    /// Everything was written. After this a signal changes nothing.
    pub(crate) fn finish(self, interrupt: &Interrupt) -> Result<()> {
        match self {
            Self::File { unfinished, path } => {
                // Where the file cannot get its name, it is removed as it is dropped.
                interrupt.keep()?;
                unfinished.persist(&path).with_context(|| format!("cannot write {}", path.display()))?;
            }
            Self::Plain(mut target) => {
                target.flush()?;
                interrupt.keep()?;
            }
        }
        Ok(())
    }
}

/// A folder that appears under its name when it is whole.
pub(crate) struct TargetFolder {
    unfinished: TempDir,
    path: PathBuf,
}

impl TargetFolder {
    pub(crate) fn open(path: &Path, interrupt: &Interrupt) -> Result<Self> {
        let path = std::path::absolute(path).context("find the current folder")?;
        refuse_occupied(&path, "-o")?;
        let doing = || format!("cannot write {}", path.display());
        let name = path.file_name().with_context(doing)?.to_string_lossy().into_owned();
        let unfinished = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".unfinished")
            .tempdir_in(folder_of(&path))
            .with_context(doing)?;
        interrupt.begin(unfinished.path());
        Ok(Self { unfinished, path })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Everything was written. After this a signal changes nothing.
    pub(crate) fn finish(self, interrupt: &Interrupt) -> Result<()> {
        // Where the folder cannot get its name, it is removed as it is dropped.
        interrupt.keep()?;
        // A folder that is there and empty is replaced.
        std::fs::rename(self.unfinished.path(), &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        // What was the folder is not there any more, so there is nothing to be removed.
        let _ = self.unfinished.keep();
        Ok(())
    }
}

/// The folder that holds a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { unfinished, .. } => unfinished.write(bytes),
            Self::Plain(target) => target.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { unfinished, .. } => unfinished.flush(),
            Self::Plain(target) => target.flush(),
        }
    }
}
