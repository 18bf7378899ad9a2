//! Writes a Parquet file, whole or not at all.

use crate::checksum::Checksum;
use crate::encode::Encoder;
use crate::error::RecordingError;
use crate::folder::Replacement;
use crate::row::Row;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// A file that was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    pub(crate) crc32: u32,
    pub(crate) bytes: u64,
}

/// Writes rows as one Parquet file, whole or not at all.
pub(crate) fn write_table<R: Row>(
    path: &Path,
    rows: &[R],
    zstd_level: i32,
) -> Result<Written, RecordingError> {
    write_file(path, zstd_level, |encoder: &mut Encoder<R, _>| encoder.group(rows))
}

/// Writes a Parquet file of row groups, whole or not at all.
pub(crate) fn write_file<R: Row>(
    path: &Path,
    zstd_level: i32,
    fill: impl FnOnce(&mut Encoder<R, &mut Checked<&mut File>>) -> parquet::errors::Result<()>,
) -> Result<Written, RecordingError> {
    let mut replacement = Replacement::begin(path)?;
    let mut target = Checked::new(&mut replacement.file);
    let encoded = Encoder::begin(zstd_level, &mut target).and_then(|mut encoder| {
        fill(&mut encoder)?;
        encoder.finish()
    });
    let written = Written { crc32: target.checksum.value(), bytes: target.bytes };
    if let Some(source) = target.failure {
        return Err(RecordingError::io("write", path)(source));
    }
    encoded
        .map_err(|error| RecordingError::Encode { path: path.to_path_buf(), reason: error.to_string() })?;
    replacement.finish()?;
    Ok(written)
}

/// Passes bytes on, sums them up, and keeps the system's word for a failure, which the encoder turns into text.
pub(crate) struct Checked<W> {
    inner: W,
    checksum: Checksum,
    bytes: u64,
    failure: Option<io::Error>,
}

impl<W: Write> Checked<W> {
    fn new(inner: W) -> Self {
        Self { inner, checksum: Checksum::new(), bytes: 0, failure: None }
    }

    fn note<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(bytes);
        let written = self.note(outcome)?;
        self.checksum.add(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.note(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::Checked;
    use crate::encode::Encoder;
    use crate::row::Row;
    use mpiscope_model::Call;
    use parquet::errors::Result;
    use std::io::{self, Write};

    /// A disk with space for this number of bytes.
    struct SmallDisk {
        room_bytes: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.room_bytes);
            self.room_bytes -= taken;
            if taken == 0 && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn encode(rows: &[Call], target: impl Write + Send) -> Result<()> {
        let mut encoder = Encoder::begin(1, target)?;
        encoder.group(rows)?;
        encoder.finish()
    }

    #[test]
    fn a_disk_that_fills_up_at_any_byte_is_an_error_that_says_so() {
        let rows: Vec<Call> =
            (0..50).map(|at| Call { start_ns: at * 977, end_ns: at * 1000, ..Call::blank() }).collect();
        let mut whole = Vec::new();
        encode(&rows, &mut whole).unwrap();
        for room_bytes in 0..whole.len() {
            let mut target = Checked::new(SmallDisk { room_bytes });
            encode(&rows, &mut target).unwrap_err();
            assert_eq!(
                target.failure.map(|error| error.kind()),
                Some(io::ErrorKind::StorageFull),
                "{room_bytes}"
            );
        }
        let mut target = Checked::new(SmallDisk { room_bytes: whole.len() });
        encode(&rows, &mut target).unwrap();
        assert!(target.failure.is_none());
    }
}
