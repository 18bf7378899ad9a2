//! Who records into a folder, as its file says.

use anyhow::{Context as _, Result};
use mpiscope_process::private::open_private;
use mpiscope_recording::{crc32_of, is_being_written};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The file that says who records, in the recording's folder while it is being written.
pub const LIVE_FILE: &str = "live.json";

/// What that file holds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Live {
    /// The folders of the rings.
    pub rings: Vec<PathBuf>,
    /// The process that records.
    pub pid: u32,
    /// The CRC-32 of the names of the rings.
    #[serde(default)]
    crc32: Option<u32>,
}

impl Live {
    /// This process records, from these rings.
    pub fn of_this_process(rings: Vec<PathBuf>) -> Self {
        let crc32 = Some(Self::checksum(&rings));
        Self { rings, pid: std::process::id(), crc32 }
    }

    fn checksum(rings: &[PathBuf]) -> u32 {
        let names: Vec<&[u8]> = rings.iter().map(|path| path.as_os_str().as_bytes()).collect();
        crc32_of(&names.join(&0))
    }

    /// Writes the file and locks it; the lock ends with the process, however that ends.
    pub fn write(&self, out: &Path) -> Result<File> {
        let path = out.join(LIVE_FILE);
        let write = || format!("write {}", path.display());
        // Emptied only when it is ours: another daemon's says where its rings are.
        let file = open_private(&path).with_context(write)?;
        file.try_lock().with_context(|| format!("another mpiscope records into {}", out.display()))?;
        file.set_len(0).with_context(write)?;
        serde_json::to_writer(&file, self).with_context(write)?;
        Ok(file)
    }

    /// Who records into this folder, or did last.
    pub fn read(out: &Path) -> Records {
        let Ok(file) = File::open(out.join(LIVE_FILE)) else {
            return if is_being_written(out) { Records::Somebody(None) } else { Records::Nobody(None) };
        };
        let is_locked = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let live = serde_json::from_reader(&file).ok();
        let sound = |live: &Self| live.crc32.is_none_or(|crc32| crc32 == Self::checksum(&live.rings));
        if is_locked || is_being_written(out) {
            return Records::Somebody(live.map(|live: Self| live.pid));
        }
        live.filter(sound).map_or(Records::Unreadable, |live| Records::Nobody(Some(live)))
    }

    /// Removes the file: the recording is complete.
    pub fn remove(out: &Path) {
        // One that stays says that nobody records; the lock is gone all the same.
        let _ = std::fs::remove_file(out.join(LIVE_FILE));
    }
}

/// Whether somebody records into a folder.
#[derive(Debug)]
pub enum Records {
    /// A process, of this number where that is known.
    Somebody(Option<u32>),
    /// Nobody does; where its end did not come to pass, what its daemon said of itself.
    Nobody(Option<Live>),
    /// Nobody does, and what its daemon said of itself cannot be read.
    Unreadable,
}
