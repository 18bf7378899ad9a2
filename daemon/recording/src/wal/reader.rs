//! Reads the log: every whole frame of every file, whatever happened to the rest.

use super::compressed::{self, COMPRESSED, compressed_path};
use super::files::files;
use crate::error::RecordingError;
use crate::folder::{WAL, make_folder, open_plain, real_folder};
use mpiscope_model::words::counted;
use mpiscope_wire::{DecodeFault, Decoder, FrameRef, Message};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// So much is read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// The log of a recording.
#[derive(Debug)]
pub struct WalReader {
    files: Vec<PathBuf>,
}

/// What was in a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalSummary {
    /// Its files.
    pub files: u64,
    /// Its whole frames.
    pub frames: u64,
    /// The bytes of its files.
    pub bytes: u64,
    /// Bytes within files that are no frame, or a damaged one.
    pub damaged_bytes: u64,
    /// Bytes at the end of files that begin a frame and do not end it.
    pub torn_tail_bytes: u64,
    /// Versions of frames that this program does not know; those frames were passed over.
    pub other_versions: BTreeSet<u16>,
    /// Files that could not be read to their end, a sentence each.
    pub unreadable: Vec<String>,
}

impl WalReader {
    /// Finds the files of the log of the recording in `dir`; a recording that is complete has none.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn open(dir: &Path) -> Result<Self, RecordingError> {
        let folder = dir.join(WAL);
        if folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(Self { files: Vec::new() });
        }
        let files = files(&real_folder(folder)?)?;
        Ok(Self { files: files.into_iter().map(|(_, path)| path).collect() })
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Gives the recording in `dir`, which has no log, one of the same files. They are never written to again, so where the
    /// file system can, they are the same on disk.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn link_into(&self, dir: &Path) -> Result<(), RecordingError> {
        let folder = dir.join(WAL);
        make_folder(&folder)?;
        for path in &self.files {
            // Only an ordinary file is worth another name.
            open_plain(path)?;
            let Some(to) = path.file_name().map(|name| folder.join(name)) else { continue };
            std::fs::hard_link(path, &to)
                .or_else(|_| std::fs::copy(path, &to).map(drop))
                .map_err(RecordingError::io("copy", path))?;
        }
        Ok(())
    }

    /// Shows every whole frame to `visit`, in the order in which they were written. At most one frame and one chunk
    /// of a file are in memory.
    pub fn for_each_frame(&self, mut visit: impl FnMut(FrameRef<'_>)) -> WalSummary {
        self.for_each_frame_while(|frame| {
            visit(frame);
            true
        })
    }

    /// Likewise, until `visit` says that it is enough. No further file is read then.
    fn for_each_frame_while(&self, mut visit: impl FnMut(FrameRef<'_>) -> bool) -> WalSummary {
        let (mut summary, mut goes_on) = (WalSummary::default(), true);
        for path in &self.files {
            summary.files += 1;
            let mut visit = |frame: FrameRef<'_>| goes_on = goes_on && visit(frame);
            if let Err(error) = read_file(path, &mut visit, &mut summary) {
                summary.unreadable.push(error.to_string());
            }
            if !goes_on {
                break;
            }
        }
        summary
    }

    /// Shows every message to `take`, in the order in which they were written; says what of the log could not be read, in
    /// sentences.
    pub fn for_each_message(&self, mut take: impl FnMut(Message)) -> Vec<String> {
        self.for_each_message_while(|message| {
            take(message);
            true
        })
    }

    /// Likewise, until `take` says that it is enough.
    pub fn for_each_message_while(&self, mut take: impl FnMut(Message) -> bool) -> Vec<String> {
        let mut senseless = 0;
        let summary = self.for_each_frame_while(|frame| match Message::decode(frame.kind, frame.payload) {
            Ok(message) => take(message),
            Err(_) => {
                senseless += 1;
                true
            }
        });
        let damaged = summary.damaged_bytes + summary.torn_tail_bytes;
        let mut faults = Vec::new();
        if damaged > 0 {
            faults.push(format!("{}: damaged in the log", counted(damaged, "byte")));
        }
        if senseless > 0 {
            faults.push(format!("{}: without meaning in the log", counted(senseless, "frame")));
        }
        for version in &summary.other_versions {
            faults.push(format!("frames of version {version} in the log, which this mpiscope does not know"));
        }
        faults.extend(summary.unreadable);
        faults
    }
}

fn read_file(
    path: &Path,
    visit: &mut impl FnMut(FrameRef<'_>),
    summary: &mut WalSummary,
) -> Result<(), RecordingError> {
    let mut decoder = Decoder::new();
    // It may have been compressed since it was found.
    let is_compressed = path.extension().is_some_and(|extension| extension == COMPRESSED);
    if is_compressed || !path.exists() && compressed_path(path).exists() {
        let path = if is_compressed { path.to_path_buf() } else { compressed_path(path) };
        let damaged_bytes = compressed::read(&path, |piece| {
            summary.bytes += piece.len() as u64;
            decoder.feed(piece);
            drain(&mut decoder, visit, summary);
        })?;
        summary.damaged_bytes += damaged_bytes;
        drain_tail(&mut decoder, visit, summary);
        return Ok(());
    }
    let mut file = open_plain(path)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let outcome = loop {
        match file.read(&mut chunk) {
            Ok(0) => break Ok(()),
            Ok(count) => {
                summary.bytes += count as u64;
                decoder.feed(&chunk[..count]);
                drain(&mut decoder, visit, summary);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(RecordingError::io("read", path)(error)),
        }
    };
    drain_tail(&mut decoder, visit, summary);
    outcome
}

fn drain(decoder: &mut Decoder, visit: &mut impl FnMut(FrameRef<'_>), summary: &mut WalSummary) {
    loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => {
                summary.frames += 1;
                visit(frame);
            }
            Ok(None) => return,
            Err(DecodeFault::Damaged { skipped }) => summary.damaged_bytes += skipped as u64,
            Err(DecodeFault::Version { version }) => {
                summary.other_versions.insert(version);
            }
        }
    }
}

/// The rest at the end of a file is a torn frame, unless its length is damaged and whole frames follow.
fn drain_tail(decoder: &mut Decoder, visit: &mut impl FnMut(FrameRef<'_>), summary: &mut WalSummary) {
    let mut passed_bytes = 0;
    while decoder.pending_bytes() > 0 {
        if let DecodeFault::Damaged { skipped } = decoder.skip() {
            passed_bytes += skipped as u64;
        }
        let (frames, damaged_bytes) = (summary.frames, summary.damaged_bytes);
        drain(decoder, visit, summary);
        if summary.frames > frames {
            summary.damaged_bytes += passed_bytes;
            passed_bytes = 0;
        } else {
            // Nothing whole came of it, so it is part of the same torn end.
            passed_bytes += summary.damaged_bytes - damaged_bytes;
            summary.damaged_bytes = damaged_bytes;
        }
    }
    summary.torn_tail_bytes += passed_bytes;
}
