//! The layout file that the program was given, read whenever a page asks.

use anyhow::{Context as _, Result, ensure};
use mpiscope_feed::LayoutSource;
use mpiscope_layout::MOST_FILE_BYTES;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A file that may change at any time.
#[derive(Debug, Clone)]
pub(crate) struct LayoutFilePath(PathBuf);

impl LayoutFilePath {
    /// The file with this name, which must be readable now.
    pub(crate) fn named(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path).with_context(|| format!("find {}", path.display()))?;
        read(&path)?;
        Ok(Self(path))
    }

    /// A file that was readable before, by its whole path.
    pub(crate) fn from_whole_path(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn into_path(self) -> PathBuf {
        self.0
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    // Of a pipe, neither opening nor reading may wait for somebody who writes.
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(path).with_context(|| format!("open the layout file {}", path.display()))?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    ensure!(is_file, "the layout file {} is not a file", path.display());
    let mut bytes = Vec::new();
    // A byte more than allowed is enough to refuse the file.
    let limited = file.take(MOST_FILE_BYTES as u64 + 1).read_to_end(&mut bytes);
    limited.with_context(|| format!("read the layout file {}", path.display()))?;
    Ok(bytes)
}

impl LayoutSource for LayoutFilePath {
    fn name(&self) -> String {
        self.0.file_name().unwrap_or(self.0.as_os_str()).to_string_lossy().into_owned()
    }

    fn read(&self) -> Result<Vec<u8>, String> {
        read(&self.0).map_err(|error| format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let error = LayoutFilePath::named(&pipe).unwrap_err().to_string();
        assert!(error.ends_with("pipe is not a file"), "{error}");
    }
}
