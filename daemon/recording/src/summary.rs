//! What a reader wants to know before any row is read: the sums of a whole run, beside its rows.

use crate::bounds::Bounds;
use crate::checksum::Checksum;
use crate::decode::Rows;
use crate::error::RecordingError;
use crate::folder::{PARQUET, SUMMARY, make_folder, open_plain, real_folder};
use crate::manifest::{FileMark, Manifest};
use crate::row::Row;
use crate::rows::{
    DensityRow, DurationRow, FunctionRow, MessageSizeRow, PairRow, RankRow, SiteRow, StartRow, WindowSumRow,
};
use crate::table_file::write_table;
use mpiscope_model::Scheduling;
use std::io::{Read, Seek};
use std::path::Path;

/// The sums of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// By function.
    pub functions: Vec<FunctionRow>,
    /// By function and how long calls took.
    pub durations: Vec<DurationRow>,
    /// By rank.
    pub ranks: Vec<RankRow>,
    /// By call site.
    pub sites: Vec<SiteRow>,
    /// By two ranks.
    pub pairs: Vec<PairRow>,
    /// By size class of messages; recordings of earlier versions do not have it.
    pub sizes: Option<Vec<MessageSizeRow>>,
    /// By how long calls took, over time.
    pub densities: Vec<DensityRow>,
    /// By function, over time, in windows of one length.
    pub starts: Vec<StartRow>,
    /// By function, over time, in the windows of `windows/`.
    pub windows: Vec<WindowSumRow>,
    /// What the scheduler did, the newest row of each rank.
    pub scheduling: Vec<Scheduling>,
}

impl Summary {
    pub(crate) fn write(&self, dir: &Path, zstd_level: i32) -> Result<Vec<FileMark>, RecordingError> {
        make_folder(&dir.join(SUMMARY))?;
        let mut files = vec![
            write(dir, &self.functions, zstd_level)?,
            write(dir, &self.durations, zstd_level)?,
            write(dir, &self.ranks, zstd_level)?,
            write(dir, &self.sites, zstd_level)?,
            write(dir, &self.pairs, zstd_level)?,
            write(dir, &self.densities, zstd_level)?,
            write(dir, &self.starts, zstd_level)?,
            write(dir, &self.windows, zstd_level)?,
            write(dir, &self.scheduling, zstd_level)?,
        ];
        if let Some(sizes) = &self.sizes {
            files.push(write(dir, sizes, zstd_level)?);
        }
        Ok(files)
    }

    /// All of it or nothing: a part alone would not add up with the others.
    pub(crate) fn read(dir: &Path, manifest: &Manifest) -> Option<Self> {
        Some(Self {
            functions: read(dir, manifest)?,
            durations: read(dir, manifest)?,
            ranks: read(dir, manifest)?,
            sites: read(dir, manifest)?,
            pairs: read(dir, manifest)?,
            sizes: read_later(dir, manifest)?,
            densities: read(dir, manifest)?,
            starts: read(dir, manifest)?,
            windows: read(dir, manifest)?,
            scheduling: read(dir, manifest)?,
        })
    }
}

fn name<R: Row>() -> String {
    format!("{SUMMARY}/{}.{PARQUET}", R::TABLE)
}

fn write<R: Row>(dir: &Path, rows: &[R], zstd_level: i32) -> Result<FileMark, RecordingError> {
    let file = name::<R>();
    let written = write_table(&dir.join(&file), rows, zstd_level)?;
    Ok(FileMark { file, crc32: written.crc32, bytes: written.bytes })
}

/// A table that recordings of earlier versions do not have.
fn read_later<R: Row>(dir: &Path, manifest: &Manifest) -> Option<Option<Vec<R>>> {
    let file = name::<R>();
    let is_listed = manifest.summary.iter().any(|mark| mark.file == file);
    if is_listed { read(dir, manifest).map(Some) } else { Some(None) }
}

fn read<R: Row>(dir: &Path, manifest: &Manifest) -> Option<Vec<R>> {
    let file = name::<R>();
    let mark = manifest.summary.iter().find(|mark| mark.file == file)?;
    real_folder(dir.join(SUMMARY)).ok()?;
    let mut file = open_plain(&dir.join(&file)).ok()?;
    let mut checksum = Checksum::new();
    let mut bytes = Vec::new();
    (&mut file).take(mark.bytes.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    checksum.add(&bytes);
    if bytes.len() as u64 != mark.bytes || checksum.value() != mark.crc32 {
        return None;
    }
    file.rewind().ok()?;
    let mut found = Rows::open(file, Bounds::from_manifest(manifest)).ok()?;
    let rows = found.rest().ok()?;
    (found.left_out().rows == 0).then_some(rows)
}
