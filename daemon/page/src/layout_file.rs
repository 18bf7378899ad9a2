//! The layout file that the program was given, read whenever a page asks.

use anyhow::{Context as _, Result};
use mpiscope_feed::LayoutSource;
use mpiscope_layout::MOST_FILE_BYTES;
use mpiscope_process::private::read_bounded;
use std::path::{Path, PathBuf};

/// A file that may change at any time.
#[derive(Debug, Clone)]
pub struct LayoutFilePath(PathBuf);

impl LayoutFilePath {
    /// The file with this name, which must be readable now.
    pub fn named(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path).with_context(|| format!("find {}", path.display()))?;
        read(&path)?;
        Ok(Self(path))
    }

    /// A file that was readable before, by its whole path.
    pub fn from_whole_path(path: PathBuf) -> Self {
        Self(path)
    }

    /// Its whole path.
    #[must_use]
    pub fn into_path(self) -> PathBuf {
        self.0
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    // A byte more than allowed is enough to refuse the file.
    read_bounded(path, MOST_FILE_BYTES).with_context(|| format!("read the layout file {}", path.display()))
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
        let error = format!("{:#}", LayoutFilePath::named(&pipe).unwrap_err());
        assert!(error.ends_with("pipe: it is not a file"), "{error}");
    }
}
