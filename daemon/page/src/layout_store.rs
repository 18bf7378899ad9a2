//! Layouts that users keep: with the recording, and for themselves.

use mpiscope_feed::{LayoutKeeper, LayoutStore};
use mpiscope_layout::MOST_FILE_BYTES;
use mpiscope_process::private::{read_bounded, replace, write_private};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file's name, in the folder of a recording and in that of the user.
pub const FILE: &str = "layouts.txt";

/// The two files.
#[derive(Debug)]
pub(crate) struct LayoutFiles {
    recording: PathBuf,
    user: Option<PathBuf>,
}

impl LayoutFiles {
    /// Those of a recording, and of whoever runs this program.
    pub(crate) fn beside(recording: &Path) -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
        Self {
            recording: recording.join(FILE),
            user: config.map(|folder| folder.join("mpiscope").join(FILE)),
        }
    }

    fn path(&self, keeper: LayoutKeeper) -> Result<&Path, String> {
        match keeper {
            LayoutKeeper::Recording => Ok(&self.recording),
            LayoutKeeper::User => self
                .user
                .as_deref()
                .ok_or_else(|| "HOME is not set, so there is no folder of the user".to_owned()),
        }
    }
}

impl LayoutStore for LayoutFiles {
    fn read(&self, keeper: LayoutKeeper) -> Result<Vec<u8>, String> {
        let path = self.path(keeper)?;
        match read_bounded(path, MOST_FILE_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|error| format!("read {}: {error}", path.display())),
        }
    }

    fn write(&self, keeper: LayoutKeeper, bytes: &[u8]) -> Result<(), String> {
        let path = self.path(keeper)?;
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.and_then(|()| replace(path, |mut file| file.write_all(bytes)));
        written.map_err(|error| format!("write {}: {error}", path.display()))
    }
}

/// Copies a file of layouts into the folder of a recording. Where there is none, nothing is lost.
pub fn copy_layouts(from: &Path, dir: &Path) -> io::Result<()> {
    match read_bounded(from, MOST_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        read => write_private(&dir.join(FILE), &read?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_there_again() {
        let dir = tempfile::tempdir().unwrap();
        let files = LayoutFiles {
            recording: dir.path().join(FILE),
            user: Some(dir.path().join("config/mpiscope").join(FILE)),
        };
        for keeper in [LayoutKeeper::Recording, LayoutKeeper::User] {
            assert_eq!(files.read(keeper), Ok(Vec::new()));
            files.write(keeper, b"one").unwrap();
            files.write(keeper, b"two").unwrap();
            assert_eq!(files.read(keeper), Ok(b"two".to_vec()));
        }
        let copies = tempfile::tempdir().unwrap();
        let copy = copies.path().join(FILE);
        copy_layouts(&copies.path().join("none"), copies.path()).unwrap();
        assert!(!copy.exists());
        // Nobody writes to it, and nobody waits for that.
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(copy_layouts(&pipe, copies.path()).is_err());
        assert!(!copy.exists());
        copy_layouts(&dir.path().join(FILE), copies.path()).unwrap();
        assert_eq!(std::fs::read(copy).unwrap(), b"two");
        let nobody = LayoutFiles { user: None, ..files };
        assert!(nobody.write(LayoutKeeper::User, b"").unwrap_err().contains("HOME"));
    }
}
