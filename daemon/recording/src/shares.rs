//! What each rank's time was spent on, beside the sums of a run: written when a run is diagnosed, and read with the findings.

use crate::bounds::Bounds;
use crate::decode::Rows;
use crate::error::RecordingError;
use crate::files::{FileState, file_state};
use crate::folder::{SUMMARY, make_folder, open_plain, real_folder};
use crate::manifest::Manifest;
use crate::rows::ShareRow;
use crate::table_file::write_table;
use std::path::Path;

/// The file in the folder of a recording.
pub const SHARES_FILE: &str = "summary/shares.parquet";
/// More than this is not ours.
const MOST_ROWS: usize = 1 << 21;

/// Writes them into the recording in `dir`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_shares(dir: &Path, rows: &[ShareRow], zstd_level: i32) -> Result<(), RecordingError> {
    make_folder(&dir.join(SUMMARY))?;
    write_table(&dir.join(SHARES_FILE), rows, zstd_level).map(drop)
}

/// Reads them from the recording in `dir`; none where they are not kept, or not as they were written.
#[must_use]
pub fn read_shares(dir: &Path) -> Option<Vec<ShareRow>> {
    real_folder(dir.join(SUMMARY)).ok()?;
    let manifest = Manifest::read(dir).ok()?;
    if matches!(file_state(dir, &manifest, SHARES_FILE), FileState::Damaged(_)) {
        return None;
    }
    let opened = open_plain(&dir.join(SHARES_FILE)).ok()?;
    let mut found = Rows::<ShareRow>::open(opened, Bounds::from_manifest(&manifest)).ok()?;
    let mut rows = Vec::new();
    while rows.len() <= MOST_ROWS
        && let Some(batch) = found.next_batch().ok()?
    {
        rows.extend(batch);
    }
    (rows.len() <= MOST_ROWS && found.left_out().rows == 0).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Rank;

    #[test]
    fn they_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        Manifest::default().write(dir.path()).unwrap();
        assert_eq!(read_shares(dir.path()), None);
        let row = |rank: u32| ShareRow {
            from_ns: u64::from(rank) << 20,
            width_ns: 1 << 20,
            rank: Rank(rank),
            ranks: 1,
            compute_ns: 17,
            waiting_work_ns: (-3_i64).cast_unsigned(),
            ..ShareRow::default()
        };
        let rows: Vec<_> = (0..3_000).map(row).collect();
        write_shares(dir.path(), &rows, 3).unwrap();
        assert_eq!(read_shares(dir.path()), Some(rows));
        std::fs::write(dir.path().join(SHARES_FILE), b"PAR1 and nothing").unwrap();
        assert_eq!(read_shares(dir.path()), None);
    }
}
