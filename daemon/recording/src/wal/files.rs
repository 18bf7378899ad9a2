//! The files of a log.

use super::compressed::COMPRESSED;
use crate::error::RecordingError;
use crate::folder::numbered_files;
use std::path::{Path, PathBuf};

pub(crate) const EXTENSION: &str = "wal";

/// The files of a log in order, each once: one that was being compressed when its process ended is there twice.
pub(crate) fn files(folder: &Path) -> Result<Vec<(u32, PathBuf)>, RecordingError> {
    let mut files = numbered_files(folder, EXTENSION)?;
    files.extend(numbered_files(folder, &format!("{EXTENSION}.{COMPRESSED}"))?);
    // The uncompressed one comes first, and is whole.
    files.sort_unstable();
    files.dedup_by_key(|(number, _)| *number);
    Ok(files)
}
