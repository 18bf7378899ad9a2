//! What is left of segments that are damaged: the row groups whose checksums are right.
//!
//! A row group with a wrong byte may well be read, into rows that nobody wrote. Therefore only row groups with a
//! checksum in the manifest are taken, from a file whose own list of them is intact.

use crate::batches::{SegmentFault, file_checksum, segment_path};
use crate::checksum::Checksum;
use crate::decode::Rows;
use crate::error::RecordingError;
use crate::folder::{PARQUET, numbered_files, numbered_name, open_plain};
use crate::manifest::{Segment, Segments};
use crate::row::SegmentRow;
use crate::rows::WindowRow;
use mpiscope_model::{Call, Message, Scheduling};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// So much is read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// Shows the rows of a segment in `dir` as they were sealed, a batch at a time; of a damaged one the certain rows.
/// Returns its fault, and the number of rows that this costs.
pub fn salvage<R: SegmentRow>(
    dir: &Path,
    segment: &Segment,
    visit: &mut dyn FnMut(&[R]),
) -> Option<SegmentFault> {
    let mut read_rows = 0;
    let mut counted = |rows: &[R]| {
        read_rows += rows.len() as u64;
        visit(rows);
    };
    let outcome = read(dir, segment, &mut counted);
    let why = match outcome {
        Err(why) => why,
        Ok(()) if read_rows == segment.rows => return None,
        Ok(()) => format!("it has {read_rows} rows and should have {}", segment.rows),
    };
    let missing_rows = segment.rows.saturating_sub(read_rows);
    Some(SegmentFault { file: segment.file.clone(), missing_rows, text: why })
}

fn read<R: SegmentRow>(dir: &Path, segment: &Segment, visit: &mut dyn FnMut(&[R])) -> Result<(), String> {
    let text = |error: RecordingError| error.to_string();
    let path = segment_path::<R>(dir, &segment.file)?;
    let mut file = open_plain(&path)
        .map_err(|error| if path.exists() { text(error) } else { "it is missing".into() })?;
    let found = file_checksum(&mut file).map_err(|error| error.to_string())?;
    if segment.crc32.is_none_or(|expected| found == expected) {
        let mut rows = Rows::<R>::open_unbounded(file)?;
        while let Some(batch) = rows.next_batch()? {
            visit(&batch);
        }
        return Ok(());
    }
    let expected = segment.crc32.unwrap_or_default();
    let damage = format!("its CRC-32 is {found} and should be {expected}");
    let known = &segment.parts;
    let ends: Vec<u64> = known.iter().map(|(end, _)| *end).collect();
    let Ok(found) = checksums(&mut file, &ends) else { return Err(damage) };
    // Without the list at its end the row groups are unknown; and a damaged list may contain anything.
    if known.is_empty() || found.last() != known.last() {
        return Err(damage);
    }
    let Ok(mut rows) = Rows::<R>::open_unbounded(file) else { return Err(damage) };
    let is_whole = |number: &usize| known.get(*number) == found.get(*number);
    rows.select_groups((0..known.len() - 1).filter(is_whole).collect());
    while let Some(batch) = rows.next_batch()? {
        visit(&batch);
    }
    Err(damage)
}

/// The segments that lie in a folder, as far as they can be read.
pub(crate) fn found_segments(dir: &Path) -> Result<Segments, RecordingError> {
    Ok(Segments {
        calls: found::<Call>(dir)?,
        messages: found::<Message>(dir)?,
        windows: found::<WindowRow>(dir)?,
        scheduling: found::<Scheduling>(dir)?,
    })
}

fn found<R: SegmentRow>(dir: &Path) -> Result<Vec<Segment>, RecordingError> {
    let mut segments = Vec::new();
    for (number, _) in numbered_files(&dir.join(R::FOLDER), PARQUET)? {
        let file = format!("{}/{}", R::FOLDER, numbered_name(number, PARQUET));
        let mut segment = Segment { file, ..Segment::default() };
        let (mut rows, mut from_ns, mut to_ns) = (0, u64::MAX, 0);
        // What can be read of it is what it has.
        salvage::<R>(dir, &segment, &mut |batch| {
            rows += batch.len() as u64;
            from_ns = batch.iter().map(SegmentRow::begin_ns).fold(from_ns, u64::min);
            to_ns = batch.iter().map(SegmentRow::end_ns).fold(to_ns, u64::max);
        });
        (segment.rows, segment.from_ns, segment.to_ns) = (rows, from_ns.min(to_ns), to_ns);
        segments.push(segment);
    }
    Ok(segments)
}

/// The parts of a file that was just written; none when it cannot be read again.
pub(crate) fn parts_of<R: SegmentRow>(path: &Path) -> Option<Vec<(u64, u32)>> {
    let mut file = open_plain(path).ok()?;
    let mut ends = Rows::<R>::open_unbounded(file.try_clone().ok()?).ok()?.group_ends();
    ends.push(file.metadata().ok()?.len());
    checksums(&mut file, &ends).ok()
}

/// The checksums of the stretches of a file that end there, each with its end.
fn checksums(file: &mut File, ends: &[u64]) -> io::Result<Vec<(u64, u32)>> {
    let length = file.metadata()?.len();
    let mut begin = 0;
    let mut parts = Vec::with_capacity(ends.len());
    file.rewind()?;
    for &end in ends {
        if end < begin || end > length {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut part = Checksum::new();
        add(file, end - begin, &mut part)?;
        parts.push((end, part.value()));
        begin = end;
    }
    file.rewind()?;
    Ok(parts)
}

fn add(file: &mut File, bytes: u64, checksum: &mut Checksum) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES.min(bytes as usize)];
    let mut left = bytes;
    while left > 0 {
        let most = chunk.len().min(left as usize);
        file.read_exact(&mut chunk[..most])?;
        checksum.add(&chunk[..most]);
        left -= most as u64;
    }
    Ok(())
}
