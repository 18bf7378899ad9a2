//! Errors of recordings, each in one sentence: what failed, where, and what to do.

use crate::schema::SCHEMA;
use std::io;
use std::path::{Path, PathBuf};

/// Why a recording could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The system refused.
    #[error("cannot {action} {path}: {source}; {advice}", path = .path.display(), advice = advice(.source))]
    Io {
        /// What was tried, as it follows "cannot".
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is a recording already.
    #[error("{} already holds a recording; name another folder or remove this one", .path.display())]
    AlreadyRecorded {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody else writes there.
    #[error("{} is being recorded into by another mpiscope; name another folder, or wait until it is done", .path.display())]
    BeingWritten {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not as it was written.
    #[error("{} is damaged or missing: {reason}; `mpiscope repair` saves the rest", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is something else.
    #[error("{} is not empty; a recording needs a new or empty folder of its own", .path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// It is a file, or a link.
    #[error("{} is not a folder; name the folder of a recording", .path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// There is no manifest.
    #[error("{} holds no recording: it has no manifest.json; name the folder that a run left", .path.display())]
    NoRecording {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest is gone, and other files of the recording are there.
    #[error(
        "{} has lost its manifest.json; restore it from a copy, or let `mpiscope repair` save what is beside it",
        .path.display()
    )]
    ManifestGone {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest does not parse.
    #[error(
        "{} is not a manifest this program understands: {reason}; restore it from a copy, or let \
         `mpiscope repair` save what is beside it",
        .path.display()
    )]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The manifest is of another format.
    #[error(
        "{} is of format \"{schema}\" and this program reads \"{}\"; use the version of mpiscope that wrote it",
        .path.display(), SCHEMA
    )]
    Schema {
        /// The manifest.
        path: PathBuf,
        /// The kind it claims.
        schema: String,
    },
    /// A Parquet file could not be made.
    #[error("cannot write {}: {reason}; this is a fault of mpiscope, please report it", .path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl RecordingError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| RecordingError::Io { action, path: path.to_path_buf(), source }
    }

    /// Whether the disk, or what this user may have of it, is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, RecordingError::Io { source, .. } if is_full(source))
    }
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full: free some space or record to another disk",
        io::ErrorKind::QuotaExceeded => {
            "your disk quota is used up: free some space or record to another disk"
        }
        io::ErrorKind::FileTooLarge => {
            "files may not grow further: raise the limit (`ulimit -f`) or use another disk"
        }
        io::ErrorKind::PermissionDenied => "check who owns the folder and its permissions",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only: record to another one",
        io::ErrorKind::NotFound => "check that the folder still exists",
        _ => "check the disk and the folder's permissions",
    }
}
