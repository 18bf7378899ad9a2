//! Where a reader's segments are until they are handed over: a folder that goes with its process, or with a later one.

use anyhow::{Context as _, Result};
use mpiscope_process::private::{new_private, random, remove_folder};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

const PREFIX: &str = "mpiscope-reader-";
/// A file in it that its owner holds.
const LOCK: &str = "lock";

/// It goes with its owner.
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
        let path = place.join(format!("{PREFIX}{:032x}", random()?));
        let make = || format!("make {}", path.display());
        DirBuilder::new().mode(0o700).create(&path).with_context(make)?;
        let lock = new_private(&path.join(LOCK)).with_context(make)?;
        lock.try_lock().with_context(make)?;
        Ok(Self { path, _lock: lock })
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

/// Those of other users cannot be removed, and one that is just being made has no lock yet.
fn remove_left_behind(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_one
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = remove_folder(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_processes_have_left_goes_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join(format!("{PREFIX}1"));
        std::fs::create_dir_all(left.join("calls")).unwrap();
        File::create(left.join(LOCK)).unwrap();
        let other = place.path().join("other");
        std::fs::create_dir(&other).unwrap();
        File::create(other.join(LOCK)).unwrap();
        let held = Folder::within(place.path()).unwrap();
        assert!(!left.exists() && other.exists());
        let path = held.path().to_owned();
        let another = Folder::within(place.path()).unwrap();
        assert!(path.exists() && another.path() != path);
        drop(held);
        assert!(!path.exists() && another.path().exists());
    }
}
