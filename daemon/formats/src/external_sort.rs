//! Sorts any number of records with a fixed amount of memory. Records that do not fit wait in a file without a name.

use anyhow::{Context as _, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Memory for the records that are sorted at once.
const MAX_BYTES: usize = 48 << 20;
/// Records of a sorted stretch that are read at once.
const READ_RECORDS: usize = 1 << 10;

/// A record that can be sorted and written to a file.
pub(crate) trait SortRecord: Copy {
    /// What records are sorted by.
    type Key: Ord + Copy;
    /// The length of a record in the file.
    const BYTES: usize;

    fn key(&self) -> Self::Key;
    /// Appends the record as it is written to the file.
    fn write_to(&self, bytes: &mut Vec<u8>);
    /// Reads a record back.
    fn read_from(bytes: &[u8]) -> Self;
}

/// Takes in records in any order.
pub(crate) struct Sorter<R> {
    folder: PathBuf,
    capacity: usize,
    records: Vec<R>,
    file: Option<File>,
    /// How many records each sorted stretch of the file has.
    stretches: Vec<u64>,
}

impl<R: SortRecord> Sorter<R> {
    /// Creates a sorter whose file, if it needs one, is in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self::with_capacity(folder, MAX_BYTES / size_of::<R>())
    }

    pub(crate) fn with_capacity(folder: &Path, capacity: usize) -> Self {
        Self { folder: folder.to_owned(), capacity, records: Vec::new(), file: None, stretches: Vec::new() }
    }

    pub(crate) fn push(&mut self, record: R) -> Result<()> {
        if self.records.len() >= self.capacity {
            self.spill()?;
        }
        self.records.push(record);
        Ok(())
    }

    fn sort(&mut self) {
        // Input is mostly in order already. The sort is stable: records with the same key keep their order.
        if !self.records.is_sorted_by_key(SortRecord::key) {
            self.records.sort_by_key(SortRecord::key);
        }
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let doing = || format!("sort in a file in {}", self.folder.display());
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder).with_context(doing)?),
        };
        let mut bytes = Vec::with_capacity(READ_RECORDS * R::BYTES);
        for records in self.records.chunks(READ_RECORDS) {
            bytes.clear();
            records.iter().for_each(|record| record.write_to(&mut bytes));
            file.write_all(&bytes).with_context(doing)?;
        }
        self.stretches.push(self.records.len() as u64);
        self.records.clear();
        Ok(())
    }

    /// Returns all records in order.
    pub(crate) fn finish(mut self) -> Result<SortedRecords<R>> {
        self.sort();
        let mut from = 0;
        let mut sources: Vec<Source<R>> = Vec::new();
        for records in self.stretches {
            sources.push(Source { waiting: Vec::new(), next: from, end: from + records });
            from += records;
        }
        // The newest records were never written to the file.
        self.records.reverse();
        sources.push(Source { waiting: self.records, next: 0, end: 0 });
        let mut sorted = SortedRecords { file: self.file, sources, heads: BinaryHeap::new() };
        for source in 0..sorted.sources.len() {
            sorted.load_next(source)?;
        }
        Ok(sorted)
    }
}

/// A sorted stretch.
struct Source<R> {
    /// Records in memory, the next one last.
    waiting: Vec<R>,
    /// The records of the file that come after them.
    next: u64,
    end: u64,
}

/// Records in order.
pub(crate) struct SortedRecords<R: SortRecord> {
    file: Option<File>,
    sources: Vec<Source<R>>,
    /// The key of the next record of each stretch. Earlier stretches hold records that came earlier.
    heads: BinaryHeap<Reverse<(R::Key, usize)>>,
}

impl<R: SortRecord> SortedRecords<R> {
    /// Loads the next record of a stretch and enters its key into the heap.
    fn load_next(&mut self, at: usize) -> Result<()> {
        let source = &mut self.sources[at];
        if source.waiting.is_empty() && source.next < source.end {
            let count = (source.end - source.next).min(READ_RECORDS as u64);
            let mut bytes = vec![0; count as usize * R::BYTES];
            if let Some(file) = &self.file {
                let read = file.read_exact_at(&mut bytes, source.next * R::BYTES as u64);
                read.context("read what was sorted")?;
            }
            source.next += count;
            source.waiting.extend(bytes.chunks_exact(R::BYTES).rev().map(R::read_from));
        }
        self.heads.extend(source.waiting.last().map(|record| Reverse((record.key(), at))));
        Ok(())
    }
}

impl<R: SortRecord> Iterator for SortedRecords<R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        let Reverse((_, at)) = self.heads.pop()?;
        let record = self.sources[at].waiting.pop()?;
        Some(self.load_next(at).map(|()| record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Its key, and the place where it came.
    impl SortRecord for (u64, u64) {
        type Key = u64;
        const BYTES: usize = 16;

        fn key(&self) -> u64 {
            self.0
        }

        fn write_to(&self, bytes: &mut Vec<u8>) {
            bytes.extend([self.0, self.1].map(u64::to_le_bytes).as_flattened());
        }

        fn read_from(bytes: &[u8]) -> Self {
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            (word(0), word(8))
        }
    }

    proptest! {
        #[test]
        fn records_come_by_their_keys_and_then_as_they_came(
            keys in proptest::collection::vec(0_u64..50, 0..200), capacity in 1_usize..40,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::with_capacity(folder.path(), capacity);
            let mut records: Vec<(u64, u64)> = keys.into_iter().zip(0..).collect();
            for &record in &records {
                sorter.push(record).unwrap();
            }
            let sorted: Vec<(u64, u64)> = sorter.finish().unwrap().map(Result::unwrap).collect();
            records.sort_by_key(|record| record.0);
            prop_assert_eq!(sorted, records);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
