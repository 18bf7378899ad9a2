//! The files of a recording that are no segments: the manifest lists them with their checksums.

use crate::batches::file_checksum;
use crate::error::RecordingError;
use crate::folder::{WAL, open_plain, real_folder};
use crate::manifest::{FileMark, Manifest};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The state of a file compared with its manifest entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// It is as it was written.
    Whole,
    /// The manifest does not list it.
    NotListed,
    /// It is not as it was written, or not there; why, in words that follow its name.
    Damaged(String),
}

/// Compares a file of the recording in `dir` with its manifest entry.
#[must_use]
pub fn file_state(dir: &Path, manifest: &Manifest, file: &str) -> FileState {
    let Some(listed) = manifest.marks().find(|listed| listed.file == file) else {
        return FileState::NotListed;
    };
    match checksum_of(dir, file) {
        Err(why) => FileState::Damaged(why),
        Ok((_, crc32)) if crc32 == listed.crc32 => FileState::Whole,
        Ok((_, crc32)) => FileState::Damaged(format!("its CRC-32 is {crc32} and should be {}", listed.crc32)),
    }
}

/// Reads a small file of the recording in `dir`; none when it is missing and not listed.
///
/// # Errors
/// When there is no recording, or the file is not as it was written.
pub fn read_listed(dir: &Path, file: &str) -> Result<Option<Vec<u8>>, RecordingError> {
    let manifest = Manifest::read(dir)?;
    let state = file_state(dir, &manifest, file);
    if let FileState::Damaged(reason) = state {
        return Err(RecordingError::Damaged { path: dir.join(file), reason });
    }
    if state == FileState::NotListed && dir.join(file).symlink_metadata().is_err() {
        return Ok(None);
    }
    let path = dir.join(file);
    let mut bytes = Vec::new();
    open_plain(&path)?.read_to_end(&mut bytes).map_err(RecordingError::io("read", &path))?;
    Ok(Some(bytes))
}

/// Lists a file that was put into the complete recording in `dir`.
///
/// # Errors
/// When the file cannot be read or the manifest not be written.
pub fn list_file(dir: &Path, file: &str) -> Result<(), RecordingError> {
    let mut manifest = Manifest::read(dir)?;
    manifest.list(dir, file)?;
    manifest.write(dir)
}

impl Manifest {
    /// All files with a checksum in it, except the segments.
    pub fn marks(&self) -> impl Iterator<Item = &FileMark> {
        let starts = self.segments.calls.iter().filter_map(|segment| segment.starts.as_ref());
        self.files.iter().chain(&self.summary).chain(starts)
    }

    /// Says of a file in `dir` what it is now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn list(&mut self, dir: &Path, file: &str) -> Result<(), RecordingError> {
        let (bytes, crc32) = checksum_of(dir, file)
            .map_err(|reason| RecordingError::Damaged { path: dir.join(file), reason })?;
        self.files.retain(|listed| listed.file != file);
        self.files.push(FileMark { file: file.to_owned(), bytes, crc32 });
        Ok(())
    }
}

/// The length and the checksum of a file.
fn checksum_of(dir: &Path, file: &str) -> Result<(u64, u32), String> {
    let path = path_of(dir, file)?;
    if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err("it is missing".to_owned());
    }
    let mut file = open_plain(&path).map_err(|error| error.to_string())?;
    let read = |file: &mut File| Ok((file.metadata()?.len(), file_checksum(file)?));
    read(&mut file).map_err(|error: std::io::Error| error.to_string())
}

/// The path of a small file: in the folder itself, or in one that lies directly in it.
fn path_of(dir: &Path, file: &str) -> Result<PathBuf, String> {
    let names: Vec<Component<'_>> = Path::new(file).components().collect();
    let is_plain = names.iter().all(|name| matches!(name, Component::Normal(_)));
    // Spelled in any other way it would be another file to everybody who compares names.
    let is_spelled =
        names.iter().map(|name| name.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/") == file;
    match names.as_slice() {
        [_] if is_plain && is_spelled => Ok(dir.join(file)),
        [folder, name] if is_plain && is_spelled && folder.as_os_str() != WAL => {
            Ok(real_folder(dir.join(folder)).map_err(|error| error.to_string())?.join(name))
        }
        _ => Err("its name leads elsewhere".to_owned()),
    }
}
