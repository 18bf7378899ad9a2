//! Files of the log that get no more frames, compressed: half of their size, and any `zstd` reads them.
//!
//! Such a file is a row of independent pieces: damage costs one of them and not those behind it.

use crate::error::RecordingError;
use crate::folder::{Replacement, open_plain};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use zstd::zstd_safe;

/// What is added to the name of a file that is compressed.
pub(crate) const COMPRESSED: &str = "zst";

/// Bytes of the log in a piece.
const PIECE_BYTES: usize = 1 << 20;
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Speed counts more than size: rings wait for this thread.
const LEVEL: i32 = 1;

/// Where a file of the log goes when it is compressed.
pub(crate) fn compressed_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(COMPRESSED);
    name.into()
}

/// Puts a compressed file in the place of one that gets no more frames. Until that is safe on disk the one stays.
pub(super) fn compress(path: &Path) -> Result<(), RecordingError> {
    let to = compressed_path(path);
    let mut file = open_plain(path)?;
    let mut replacement = Replacement::begin(&to)?;
    let failed = || RecordingError::io("compress", path);
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(failed())?;
    compressor.include_checksum(true).map_err(failed())?;
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    loop {
        piece.clear();
        (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece).map_err(failed())?;
        if piece.is_empty() {
            break;
        }
        let compressed = compressor.compress(&piece).map_err(failed())?;
        replacement.file.write_all(&compressed).map_err(RecordingError::io("write", &to))?;
    }
    replacement.finish()?;
    fs::remove_file(path).map_err(RecordingError::io("remove", path))
}

/// Shows the content of a compressed file, piece by piece; returns how many of its bytes made no sense.
pub(super) fn read(path: &Path, mut show: impl FnMut(&[u8])) -> Result<u64, RecordingError> {
    let failed = || RecordingError::io("read", path);
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes).map_err(failed())?;
    let mut decompressor = zstd::bulk::Decompressor::new().map_err(failed())?;
    let (mut rest, mut damaged_bytes) = (bytes.as_slice(), 0);
    while !rest.is_empty() {
        let length = zstd_safe::find_frame_compressed_size(rest).ok().filter(|length| *length > 0);
        let piece = length.and_then(|length| rest.get(..length));
        let shown =
            piece.and_then(|piece| Some((piece.len(), decompressor.decompress(piece, PIECE_BYTES).ok()?)));
        let passed = match shown {
            Some((length, content)) => {
                show(&content);
                length
            }
            None => {
                let next = rest[1..].windows(MAGIC.len()).position(|bytes| bytes == MAGIC);
                let passed = next.map_or(rest.len(), |next| next + 1);
                damaged_bytes += passed as u64;
                passed
            }
        };
        rest = &rest[passed..];
    }
    Ok(damaged_bytes)
}

#[cfg(test)]
mod tests {
    use super::{MAGIC, PIECE_BYTES, compress, compressed_path, read};

    /// Bytes that are not all alike, of several pieces.
    fn log() -> Vec<u8> {
        (0..PIECE_BYTES as u32 * 3).map(|at| (at.wrapping_mul(at) >> 16) as u8).collect()
    }

    #[test]
    fn what_was_compressed_is_read_and_damage_costs_a_piece() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("000003.wal");
        std::fs::write(&path, log()).unwrap();
        compress(&path).unwrap();
        assert!(!path.exists());
        let path = compressed_path(&path);
        assert!(path.ends_with("000003.wal.zst"));
        let mut found = Vec::new();
        assert_eq!(read(&path, |piece| found.extend_from_slice(piece)).unwrap(), 0);
        assert_eq!(found, log());
        let mut bytes = std::fs::read(&path).unwrap();
        let starts: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == MAGIC).collect();
        let [_, second, third] = starts[..] else { panic!("three pieces, and not {starts:?}") };
        for at in [second, (second + third) / 2, third - 1] {
            bytes[at] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            bytes[at] ^= 0x10;
            let mut pieces = Vec::new();
            assert!(read(&path, |piece| pieces.push(piece.to_vec())).unwrap() > 0);
            assert_eq!(pieces.concat(), [&log()[..PIECE_BYTES], &log()[2 * PIECE_BYTES..]].concat());
        }
    }
}
