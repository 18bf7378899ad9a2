//! Short files of the system about processes: they come in one read, and their length need not be asked for.

use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;

/// Longer than any of them that says one line.
const MOST_BYTES: usize = 2048;

/// Files with greater numbers are opened for each look, and so are those beyond a part of what the process may open: rings come
/// first.
const MOST_KEPT: u64 = 512;
const KEPT_PART: u64 = 4;

/// What is in it.
pub(super) fn read(path: &str) -> io::Result<String> {
    text(&File::open(path)?)
}

/// One that is read again and again. To open it takes several times as long as to read it, so it stays open.
#[derive(Debug, Default)]
pub(super) struct KeptFile {
    file: Option<File>,
}

impl KeptFile {
    /// What is in it now. The path is that of the first look.
    pub(super) fn read(&mut self, path: impl FnOnce() -> String) -> io::Result<String> {
        if let Some(file) = &self.file {
            return text(file);
        }
        let file = File::open(path())?;
        let text = text(&file);
        self.file = Some(file).filter(may_be_kept);
        text
    }
}

fn may_be_kept(file: &File) -> bool {
    let most =
        getrlimit(Resource::Nofile).current.map_or(MOST_KEPT, |files| MOST_KEPT.min(files / KEPT_PART));
    u64::try_from(file.as_raw_fd()).is_ok_and(|number| number < most)
}

fn text(file: &File) -> io::Result<String> {
    let mut bytes = [0; MOST_BYTES];
    let count = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::KeptFile;
    use std::fs;

    #[test]
    fn what_is_in_it_now_is_read_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        let mut kept = KeptFile::default();
        let mut read = || kept.read(|| path.to_string_lossy().into_owned());
        assert!(read().is_err());
        for text in ["one", "another"] {
            fs::write(&path, text).unwrap();
            assert_eq!(read().unwrap(), text);
        }
        // It is the same file, whoever has its path now.
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        fs::write(&path, "a stranger's").unwrap();
        assert_eq!(read().unwrap(), "another");
    }
}
