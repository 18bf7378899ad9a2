//! Where a reader's segments are until they are handed over: a folder that goes with its process, or with a later one.

use anyhow::{Context as _, Result, bail};
use mpiscope_process::private::{random, remove_folder};
use rustix::fs::OFlags;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const PREFIX: &str = "mpiscope-reader-";
/// Another process may take a new folder for one that was left, before it is held.
const ATTEMPTS: u32 = 8;

/// It goes with its owner, who holds it.
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// A new one among temporary files; what killed processes have left there goes.
    pub(crate) fn new() -> Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    fn within(place: &Path) -> Result<Self> {
        remove_left_behind(place);
        for _ in 0..ATTEMPTS {
            let path = place.join(format!("{PREFIX}{:032x}", random()?));
            let make = || format!("make {}", path.display());
            DirBuilder::new().mode(0o700).create(&path).with_context(make)?;
            if let Some(lock) = hold(&path)
                && path.exists()
            {
                return Ok(Self { path, _lock: lock });
            }
        }
        bail!("a folder for segments in {} is removed again and again", place.display())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove_folder(&self.path);
    }
}

/// Locks a folder, unless somebody else holds it. Whatever others have put there does not make us wait.
fn hold(path: &Path) -> Option<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let folder = File::options().read(true).custom_flags(flags.bits() as i32).open(path).ok()?;
    folder.try_lock().is_ok().then_some(folder)
}

/// Those of other users cannot be opened.
fn remove_left_behind(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && let Some(_lock) = hold(&entry.path())
        {
            let _ = remove_folder(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FileType, Mode};

    #[test]
    fn what_killed_processes_have_left_goes_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join(format!("{PREFIX}1"));
        std::fs::create_dir_all(left.join("calls")).unwrap();
        let other = place.path().join("other");
        std::fs::create_dir(&other).unwrap();
        let fifo = place.path().join(format!("{PREFIX}2"));
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let first = Folder::within(place.path()).unwrap();
        assert!(!left.exists() && other.exists() && fifo.exists());
        let path = first.path().to_owned();
        let another = Folder::within(place.path()).unwrap();
        assert!(path.exists() && another.path() != path);
        drop(first);
        assert!(!path.exists() && another.path().exists());
    }
}
