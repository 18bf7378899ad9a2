//! The folder of a recording: its names, its permissions, and how a file in it is replaced in one step.

use crate::error::RecordingError;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const WAL: &str = "wal";
pub(crate) const CALLS: &str = "calls";
pub(crate) const MESSAGES: &str = "messages";
pub(crate) const WINDOWS: &str = "windows";
pub(crate) const SCHEDULING: &str = "scheduling";
pub(crate) const STARTS: &str = "starts";
pub(crate) const SUMMARY: &str = "summary";
pub(crate) const TABLES: &str = "tables";
pub(crate) const PARQUET: &str = "parquet";

/// What a file is called until it is whole.
const UNFINISHED: &str = "unfinished";

/// A recording holds command lines and host names: its owner's business only.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The name of the file of a number, as in `000042.wal`.
pub(crate) fn numbered_name(number: u32, extension: &str) -> String {
    format!("{number:06}.{extension}")
}

/// The number in a file's name; none for every other name, to leave other files alone.
pub(crate) fn number_of(name: &str, extension: &str) -> Option<u32> {
    let number = name.strip_suffix(extension)?.strip_suffix('.')?.parse().ok()?;
    (numbered_name(number, extension) == name).then_some(number)
}

/// Makes a folder of ours; one that exists is kept.
pub(crate) fn make_folder(path: &Path) -> Result<(), RecordingError> {
    if !path.is_dir() {
        DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(path)
            .map_err(RecordingError::io("create the folder", path))?;
    }
    // A link's folder has another name, for which its owner chose the mode. Some file systems know no modes. The files
    // are closed to others in any case.
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE));
    }
    if let Some(parent) = path.parent() {
        // The entry of a folder above may be beyond our rights to sync; its content is synced on its own.
        let _ = sync_folder(parent);
    }
    Ok(())
}

const FOLDERS: [&str; 8] = [WAL, CALLS, MESSAGES, WINDOWS, SCHEDULING, STARTS, SUMMARY, TABLES];

/// Whether a folder has nothing but a recording and files of these names.
#[must_use]
pub fn is_only_a_recording(dir: &Path, files: &[&str]) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    let is_ours = |entry: std::io::Result<fs::DirEntry>| {
        let Ok(name) = entry.map(|entry| entry.file_name()) else { return false };
        let mut names = FOLDERS.iter().chain(files).chain(&[MANIFEST]);
        names.any(|ours| name == **ours)
    };
    entries.into_iter().all(is_ours)
}

/// Removes a recording with its files of these names besides, and leaves whatever else is in its folder.
pub fn remove_recording(dir: &Path, files: &[&str]) {
    for folder in FOLDERS {
        let _ = fs::remove_dir_all(dir.join(folder));
    }
    for file in files.iter().chain(&[MANIFEST]) {
        let _ = fs::remove_file(dir.join(file));
    }
}

/// Whether there is a part of a recording that has rows of calls.
pub(crate) fn has_rows(dir: &Path) -> bool {
    let is_of = |folder: &str, extension: &str| {
        numbered_files(&dir.join(folder), extension).is_ok_and(|files| !files.is_empty())
    };
    is_of(CALLS, PARQUET) || is_of(WAL, WAL)
}

/// The path, once it is sure that it is a folder and no link out of the recording.
pub(crate) fn real_folder(path: PathBuf) -> Result<PathBuf, RecordingError> {
    let metadata = fs::symlink_metadata(&path).map_err(RecordingError::io("read the folder", &path))?;
    if metadata.is_dir() { Ok(path) } else { Err(RecordingError::NotAFolder { path }) }
}

/// Opens an ordinary file of a recording: no link out of it, and no pipe that would block for ever.
pub(crate) fn open_plain(path: &Path) -> Result<File, RecordingError> {
    let open = || {
        if !fs::symlink_metadata(path)?.is_file() {
            return Err(std::io::Error::other("it is not an ordinary file"));
        }
        File::open(path)
    };
    open().map_err(RecordingError::io("read", path))
}

/// Makes a file that must not exist yet.
pub(crate) fn create_new(path: &Path) -> Result<File, RecordingError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(RecordingError::io("create", path))
}

pub(crate) fn sync_folder(path: &Path) -> Result<(), RecordingError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|folder| folder.sync_all()).map_err(RecordingError::io("sync the folder", path))
}

/// The numbered files of a folder, in order; a folder that is not there has none.
pub(crate) fn numbered_files(folder: &Path, extension: &str) -> Result<Vec<(u32, PathBuf)>, RecordingError> {
    let failed = || RecordingError::io("list the folder", folder);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed()(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed())?;
        if let Some(number) = entry.file_name().to_str().and_then(|name| number_of(name, extension)) {
            files.push((number, entry.path()));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// A file that appears under its name whole or not at all.
pub(crate) struct Replacement {
    pub(crate) file: File,
    unfinished: PathBuf,
    path: PathBuf,
    done: bool,
}

impl Replacement {
    /// Begins the file that will be at `path`.
    pub(crate) fn begin(path: &Path) -> Result<Self, RecordingError> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".");
        unfinished.push(UNFINISHED);
        let unfinished = PathBuf::from(unfinished);
        // One that a killed process left.
        let _ = fs::remove_file(&unfinished);
        let file = create_new(&unfinished)?;
        Ok(Self { file, unfinished, path: path.to_path_buf(), done: false })
    }

    /// Puts it on the disk and in its place.
    pub(crate) fn finish(mut self) -> Result<(), RecordingError> {
        self.file.sync_all().map_err(RecordingError::io("write", &self.path))?;
        fs::rename(&self.unfinished, &self.path).map_err(RecordingError::io("write", &self.path))?;
        self.done = true;
        self.path.parent().map_or(Ok(()), sync_folder)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.done {
            // A half-written file would take the space that a full disk lacks.
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// Puts `bytes` at `path` in one step.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordingError> {
    let mut replacement = Replacement::begin(path)?;
    replacement.file.write_all(bytes).map_err(RecordingError::io("write", path))?;
    replacement.finish()
}

/// A file that reserves disk space: the last entries of a recording then fit on a full disk.
const RESERVE: &str = "reserve.unfinished";
/// Small tables and a manifest.
const RESERVE_BYTES: usize = 192 << 10;

/// Keeps some room, if there is any.
pub(crate) fn keep_reserve(dir: &Path) {
    let path = dir.join(RESERVE);
    let kept = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&path);
    if kept.and_then(|mut file| file.write_all(&vec![0; RESERVE_BYTES])).is_err() {
        free_reserve(dir);
    }
}

/// Gives the room back.
pub(crate) fn free_reserve(dir: &Path) {
    let _ = fs::remove_file(dir.join(RESERVE));
}

/// Removes what killed processes left half-written in a folder of ours.
pub(crate) fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == UNFINISHED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The bytes of all files in a folder and the folders directly in it.
pub(crate) fn bytes_on_disk(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => bytes += metadata.len(),
            Ok(metadata) if metadata.is_dir() => bytes += bytes_on_disk(&entry.path()),
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{make_folder, number_of};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_folder_behind_a_link_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o750)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mode = || fs::metadata(&real).unwrap().permissions().mode() & 0o777;
        make_folder(&link).unwrap();
        assert_eq!(mode(), 0o750);
        make_folder(&real).unwrap();
        assert_eq!(mode(), 0o700);
    }

    #[test]
    fn only_our_names_have_numbers() {
        assert_eq!(number_of("000042.wal", "wal"), Some(42));
        assert_eq!(number_of("1234567.wal", "wal"), Some(1_234_567));
        for name in
            ["42.wal", "000042.parquet", "+00042.wal", "000042wal", "000042.wal.unfinished", "../000042.wal"]
        {
            assert_eq!(number_of(name, "wal"), None, "{name}");
        }
    }
}
