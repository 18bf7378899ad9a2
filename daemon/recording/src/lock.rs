//! One writer a folder: a lock on the folder itself, which ends with its process, however that ends.

use crate::error::RecordingError;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// Somebody who only asks whether there is a writer has the lock for a moment.
const ATTEMPTS: u32 = 5;
const REST: Duration = Duration::from_millis(10);

/// Held by the writer of a recording.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _folder: Option<File>,
}

impl FolderLock {
    /// Takes the lock of a folder.
    ///
    /// # Errors
    /// When another process has it.
    pub(crate) fn take(dir: &Path) -> Result<Self, RecordingError> {
        let Ok(folder) = File::open(dir) else { return Ok(Self { _folder: None }) };
        for _ in 0..ATTEMPTS {
            match folder.try_lock() {
                Ok(()) => return Ok(Self { _folder: Some(folder) }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(REST),
                // File systems that know no locks of folders cannot be protected so.
                Err(TryLockError::Error(_)) => return Ok(Self { _folder: None }),
            }
        }
        Err(RecordingError::BeingWritten { path: dir.to_path_buf() })
    }
}

/// Whether a process writes the recording in `dir` now.
#[must_use]
pub fn is_being_written(dir: &Path) -> bool {
    File::open(dir).is_ok_and(|folder| matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::{FolderLock, is_being_written};
    use crate::RecordingError;

    #[test]
    fn there_is_one_writer_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_being_written(dir.path()));
        let lock = FolderLock::take(dir.path()).unwrap();
        assert!(is_being_written(dir.path()));
        assert!(matches!(FolderLock::take(dir.path()), Err(RecordingError::BeingWritten { .. })));
        drop(lock);
        assert!(!is_being_written(dir.path()));
        FolderLock::take(dir.path()).unwrap();
    }
}
