//! The write-ahead log: frames as they came from the job, on disk before anything else happens to them.
//!
//! It is a row of files `wal/NNNNNN.wal`, each a plain sequence of frames. A writer never continues a file of an
//! earlier process: what a crash tore off stays at the end of its file. A finished file is compressed soon after
//! (`NNNNNN.wal.zst`).

mod compressed;
mod reader;
mod syncer;
mod writer;

use crate::error::RecordingError;
use crate::folder::numbered_files;
use compressed::COMPRESSED;
use std::path::{Path, PathBuf};

pub use reader::{WalReader, WalSummary};
pub use writer::WalWriter;

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
