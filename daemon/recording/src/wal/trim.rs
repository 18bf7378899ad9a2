//! Removes old files of the log.

use super::files::files;
use crate::error::RecordingError;
use crate::folder::{WAL, bytes_on_disk};
use crate::keep::{Keep, LOG_PART};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Removes files of the log that are older than the limit, but never the last two; returns whether any went.
pub(crate) fn trim(dir: &Path, keep: Keep) -> Result<bool, RecordingError> {
    let folder = dir.join(WAL);
    if !folder.is_dir() {
        return Ok(false);
    }
    let files = files(&folder)?;
    let old = files.len().saturating_sub(2);
    let is_over = |path: &Path| match keep {
        Keep::Last(last) => {
            let written = path.metadata().and_then(|metadata| metadata.modified());
            written.is_ok_and(|written| SystemTime::now().duration_since(written).is_ok_and(|age| age > last))
        }
        Keep::Bytes(most) => bytes_on_disk(&folder) > most / LOG_PART,
    };
    let mut any = false;
    for (_, path) in &files[..old] {
        if !is_over(path) {
            break;
        }
        fs::remove_file(path).map_err(RecordingError::io("remove", path))?;
        any = true;
    }
    Ok(any)
}
