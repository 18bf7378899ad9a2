//! Writes the log.

use super::files::{EXTENSION, files};
use super::syncer::Syncer;
use crate::error::RecordingError;
use crate::folder::{WAL, create_new, make_folder, numbered_name, sync_folder};
use crate::keep::Keep;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that has grown to this gets no more frames.
const FILE_BYTES: u64 = 64 << 20;

/// So much waits for [`WalWriter::flush`] before it goes out on its own.
const FLUSH_BYTES: usize = 1 << 20;

/// So much is kept for another try while the disk takes nothing.
const KEPT_BYTES: usize = 8 << 20;

/// Appends frames to the log of a recording.
pub struct WalWriter {
    folder: PathBuf,
    number: u32,
    path: PathBuf,
    file: File,
    file_bytes: u64,
    file_limit_bytes: u64,
    waiting: Vec<u8>,
    dropped_bytes: u64,
    syncer: Syncer,
}

impl WalWriter {
    /// Begins the log of the recording in `dir`, which has none yet.
    ///
    /// # Errors
    /// When there is one, or when it cannot be made.
    pub fn create(dir: &Path) -> Result<Self, RecordingError> {
        let folder = dir.join(WAL);
        make_folder(&folder)?;
        if !files(&folder)?.is_empty() {
            return Err(RecordingError::AlreadyRecorded { path: dir.to_path_buf() });
        }
        let writer = Self::begin(folder, 0)?;
        sync_folder(&writer.folder)?;
        Ok(writer)
    }

    /// Goes on with the log of a recording whose writer is gone, in a new file.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn append_to(dir: &Path) -> Result<Self, RecordingError> {
        let folder = dir.join(WAL);
        make_folder(&folder)?;
        let number = files(&folder)?.last().map_or(0, |(number, _)| number + 1);
        Self::begin(folder, number)
    }

    fn begin(folder: PathBuf, number: u32) -> Result<Self, RecordingError> {
        let (path, file) = new_file(&folder, number)?;
        Ok(Self {
            folder,
            number,
            path,
            file,
            file_bytes: 0,
            file_limit_bytes: FILE_BYTES,
            waiting: Vec::new(),
            dropped_bytes: 0,
            syncer: Syncer::start(),
        })
    }

    /// Appends one encoded frame, as it is. It is safe from the end of this process after [`WalWriter::flush`], and
    /// from the end of this machine after [`WalWriter::sync`].
    ///
    /// # Errors
    /// When frames before it cannot be written. The frame is taken in any case; while the disk takes nothing, the
    /// newest few megabytes are kept for another try and [`WalWriter::dropped_bytes`] counts the rest.
    pub fn write(&mut self, frame_bytes: &[u8]) -> Result<(), RecordingError> {
        let mut outcome = Ok(());
        let full_bytes = self.file_bytes + (self.waiting.len() + frame_bytes.len()) as u64;
        if full_bytes > self.file_limit_bytes && full_bytes > frame_bytes.len() as u64 {
            outcome = self.rotate().map(drop);
        } else if self.waiting.len() >= FLUSH_BYTES {
            outcome = self.flush();
        }
        if self.waiting.len() + frame_bytes.len() > KEPT_BYTES {
            self.dropped_bytes += self.waiting.len() as u64;
            self.waiting.clear();
        }
        self.waiting.extend_from_slice(frame_bytes);
        outcome
    }

    /// Hands everything to the kernel.
    ///
    /// # Errors
    /// When the disk does not take it; what it did not take is kept for the next time.
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        let mut written_bytes = 0;
        let mut outcome = Ok(());
        while written_bytes < self.waiting.len() {
            match self.file.write(&self.waiting[written_bytes..]) {
                Ok(0) => outcome = Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written_bytes += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => outcome = Err(error),
            }
            if outcome.is_err() {
                break;
            }
        }
        self.waiting.drain(..written_bytes);
        self.file_bytes += written_bytes as u64;
        outcome.map_err(RecordingError::io("write", &self.path))
    }

    /// Sees to it that everything reaches the disk soon, without waiting for it. Call it about once a second.
    ///
    /// # Errors
    /// When the disk does not take it, or did not the last time.
    pub fn sync_soon(&mut self) -> Result<(), RecordingError> {
        self.flush()?;
        self.syncer.order(&self.file, &self.path, self.file_bytes > 0)
    }

    /// Puts everything on the disk and waits for that.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&mut self) -> Result<(), RecordingError> {
        self.flush()?;
        self.file.sync_data().map_err(RecordingError::io("sync", &self.path))
    }

    /// Continues in a new file and returns its number: every frame before is in a file with a lower one.
    ///
    /// # Errors
    /// When the old file cannot be finished or the new one not be made; the log goes on in the old one then.
    fn rotate(&mut self) -> Result<u32, RecordingError> {
        self.flush()?;
        let (path, file) = new_file(&self.folder, self.number + 1)?;
        self.syncer.order_last(&self.file, &self.path)?;
        self.number += 1;
        (self.path, self.file, self.file_bytes) = (path, file, 0);
        Ok(self.number)
    }

    /// Bytes that were given up because the disk did not take them.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes
    }

    /// Files get no larger than what keeps so much of a run.
    #[must_use]
    pub fn keeping(self, keep: Keep) -> Self {
        self.with_file_limit(keep.log_file_bytes(FILE_BYTES))
    }

    pub(crate) fn with_file_limit(mut self, bytes: u64) -> Self {
        self.file_limit_bytes = bytes;
        self
    }
}

impl Drop for WalWriter {
    fn drop(&mut self) {
        // Whoever wants to know whether it worked calls it before.
        let _ = self.flush();
    }
}

fn new_file(folder: &Path, number: u32) -> Result<(PathBuf, File), RecordingError> {
    let path = folder.join(numbered_name(number, EXTENSION));
    let file = create_new(&path)?;
    Ok((path, file))
}

#[cfg(test)]
mod tests {
    use super::WalWriter;
    use crate::WalReader;
    use mpiscope_wire::{FrameKind, encode_frame};

    #[test]
    fn a_full_file_is_followed_by_another() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = WalWriter::create(dir.path()).unwrap().with_file_limit(100);
        for number in 0..10_u8 {
            let mut bytes = Vec::new();
            encode_frame(FrameKind::Slots, &[number; 24], &mut bytes);
            writer.write(&bytes).unwrap();
        }
        writer.sync().unwrap();
        let mut seen = Vec::new();
        let summary =
            WalReader::open(dir.path()).unwrap().for_each_frame(|frame| seen.push(frame.payload[0]));
        assert_eq!((summary.files, summary.frames, summary.bytes), (5, 10, 400));
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
    }
}
