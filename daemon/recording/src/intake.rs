//! Segments that other processes have encoded, on their way into the recording.

use crate::checksum::crc32_of;
use crate::error::RecordingError;
use crate::folder::{PARQUET, STARTS, make_folder, numbered_name, open_plain, replace};
use crate::manifest::{FileMark, Segment};
use crate::row::SegmentRow;
use mpiscope_model::{Call, Message};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A segment as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedSegment {
    /// Its description.
    pub segment: Segment,
    /// Its file.
    pub file: Vec<u8>,
    /// Of calls: how many began when, where that is known.
    pub starts: Option<Vec<u8>>,
}

impl EncodedSegment {
    /// Takes a segment out of the folder that it was written in.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn take(dir: &Path, segment: Segment) -> Result<Self, RecordingError> {
        let file = taken(&dir.join(&segment.file))?;
        let starts = segment.starts.as_ref().and_then(|mark| taken(&dir.join(&mark.file)).ok());
        Ok(Self { segment, file, starts })
    }
}

/// The bytes of a file, which goes.
fn taken(path: &Path) -> Result<Vec<u8>, RecordingError> {
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes).map_err(RecordingError::io("read", path))?;
    std::fs::remove_file(path).map_err(RecordingError::io("remove", path))?;
    Ok(bytes)
}

/// Puts such segments into the folder of a recording. Several threads may do so at once.
#[derive(Debug, Clone)]
pub struct Intake {
    dir: PathBuf,
    /// Of the next segment of calls, and of messages.
    next_numbers: Arc<[AtomicU32; 2]>,
}

impl Intake {
    pub(crate) fn new(dir: PathBuf, next_numbers: [u32; 2]) -> Self {
        Self { dir, next_numbers: Arc::new(next_numbers.map(AtomicU32::new)) }
    }

    pub(crate) fn next_numbers(&self) -> [u32; 2] {
        self.next_numbers.each_ref().map(|number| number.load(Ordering::Relaxed))
    }

    /// Writes a segment of calls under the next name; what it is called where it comes from does not matter.
    ///
    /// # Errors
    /// When it cannot be written, or is not what its description says.
    pub fn put_calls(&self, encoded: EncodedSegment) -> Result<Segment, RecordingError> {
        self.put::<Call>(&self.next_numbers[0], encoded)
    }

    /// Likewise one of messages.
    ///
    /// # Errors
    /// As of [`Intake::put_calls`].
    pub fn put_messages(&self, encoded: EncodedSegment) -> Result<Segment, RecordingError> {
        self.put::<Message>(&self.next_numbers[1], encoded)
    }

    fn put<R: SegmentRow>(
        &self,
        next_number: &AtomicU32,
        encoded: EncodedSegment,
    ) -> Result<Segment, RecordingError> {
        let EncodedSegment { segment, file, starts } = encoded;
        let name = numbered_name(next_number.fetch_add(1, Ordering::Relaxed), PARQUET);
        let path = self.dir.join(R::FOLDER).join(&name);
        if segment.crc32 != Some(crc32_of(&file)) {
            let reason = "it was damaged on its way".to_owned();
            return Err(RecordingError::Encode { path, reason });
        }
        replace(&path, &file)?;
        // Without it calls are counted.
        let starts =
            segment.starts.zip(starts).and_then(|(mark, bytes)| self.put_starts(&name, &mark, &bytes));
        Ok(Segment { file: format!("{}/{name}", R::FOLDER), starts, ..segment })
    }

    fn put_starts(&self, name: &str, mark: &FileMark, bytes: &[u8]) -> Option<FileMark> {
        let is_whole = mark.crc32 == crc32_of(bytes);
        let folder = self.dir.join(STARTS);
        let put = || make_folder(&folder).and_then(|()| replace(&folder.join(name), bytes));
        (is_whole && put().is_ok()).then(|| FileMark { file: format!("{STARTS}/{name}"), ..mark.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Recording;
    use crate::segment::SegmentWriter;
    use crate::{Manifest, RecordingOptions, RecordingWriter, Summary, Tables};
    use mpiscope_model::Rank;

    fn calls(of: u32, count: u64) -> Vec<Call> {
        let call = |at| Call { rank: Rank(of), start_ns: at * 10, end_ns: at * 10 + 5, ..Call::default() };
        (0..count).map(call).collect()
    }

    #[test]
    fn segments_of_others_are_read_like_own_ones() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("run.scope");
        let mut writer =
            RecordingWriter::create(&dir, Manifest::default(), RecordingOptions::default()).unwrap();
        let intake = writer.intake();
        for of in 0..3 {
            let elsewhere = tempfile::tempdir().unwrap();
            let mut sealed = Vec::new();
            let mut segments = SegmentWriter::<Call>::open(elsewhere.path(), 100, 1).unwrap();
            segments.push(&calls(of, 250), &mut sealed).unwrap();
            segments.seal(&mut sealed).unwrap();
            for segment in sealed {
                let encoded = EncodedSegment::take(elsewhere.path(), segment).unwrap();
                // Nothing stays there.
                assert!(!elsewhere.path().join(&encoded.segment.file).exists());
                let mut damaged = encoded.clone();
                damaged.file[5] ^= 1;
                assert!(intake.put_calls(damaged).unwrap_err().to_string().contains("damaged on its way"));
                let put = intake.put_calls(encoded).unwrap();
                assert!(put.starts.is_some());
                writer.list(vec![put], Vec::new()).unwrap();
            }
        }
        let manifest = writer.finish(&Tables::default(), &Summary::default()).unwrap();
        assert_eq!(manifest.segments.calls.len(), 9);
        let recording = Recording::open(&dir).unwrap();
        let mut rows = Vec::new();
        for segment in recording.call_segments() {
            rows.extend(crate::read_segment::<Call>(&dir, &segment).0);
        }
        rows.sort_by_key(|call| (call.rank, call.start_ns));
        assert_eq!(rows, (0..3).flat_map(|of| calls(of, 250)).collect::<Vec<_>>());
    }
}
