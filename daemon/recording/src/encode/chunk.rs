//! A column of a row group: how its values are written, its pages, and what is known of it. The library could do all of it; for the
//! numbers that most columns consist of this takes a fraction of its time.

use super::bits::width;
use super::dictionary::Dictionary;
use super::differences::put_differences;
use super::number::{Number, Plain};
use super::runs::put_runs;
use crate::row::Nature;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;
use zstd::bulk::Compressor;

/// Rows of one page, the least that a reader who seeks has to take: larger pages are smaller on disk.
pub(super) const PAGE_ROWS: usize = 65_536;

/// Beyond this many bytes of different values a column is no repeating one.
pub(super) const DICTIONARY_BYTES: usize = 256 << 10;

/// Writes columns.
pub(super) struct ChunkWriter {
    compressor: Compressor<'static>,
    level: ZstdLevel,
    page: Vec<u8>,
}

/// The values of a column, and for each row whether it has one, where it need not.
#[derive(Clone, Copy)]
pub(super) struct Column<'a, V> {
    pub(super) values: &'a [V],
    pub(super) is_there: Option<&'a [bool]>,
}

impl ChunkWriter {
    pub(super) fn new(level: ZstdLevel) -> Result<Self> {
        let compressor = Compressor::new(level.compression_level()).map_err(external)?;
        Ok(Self { compressor, level, page: Vec::new() })
    }

    /// Writes numbers as the next column of a group.
    pub(super) fn put_numbers<N: Number, W: Write + Send>(
        &mut self,
        column: Column<'_, N>,
        nature: Nature,
        of: ColumnDescPtr,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let bounds = bounds(column.values);
        let statistics = N::statistics(bounds, column.absent());
        let mut chunk = Chunk::begin(self);
        let most = DICTIONARY_BYTES / size_of::<N>();
        let dictionary = bounds
            .filter(|_| nature == Nature::Repeating)
            .and_then(|bounds| Dictionary::new(column.values, bounds, most));
        if let Some(Dictionary { numbers, places }) = dictionary {
            chunk.put_dictionary(&numbers)?;
            let width = width(numbers.len() as u64 - 1);
            let places = Column { values: &places, is_there: column.is_there };
            chunk.put_pages(places, Encoding::RLE_DICTIONARY, |places, page| {
                page.push(width as u8);
                put_runs(places, width, page);
            })?;
        } else if nature == Nature::MostlyZero || bounds.is_none() {
            chunk.put_pages(column, Encoding::PLAIN, N::put_plain)?;
        } else {
            chunk.put_pages(column, Encoding::DELTA_BINARY_PACKED, put_differences)?;
        }
        chunk.finish(of, statistics, group)
    }

    /// Likewise values that are written as they are.
    pub(super) fn put_plain<V: Plain, W: Write + Send>(
        &mut self,
        column: Column<'_, V>,
        of: ColumnDescPtr,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let mut chunk = Chunk::begin(self);
        chunk.put_pages(column, Encoding::PLAIN, V::put_plain)?;
        chunk.finish(of, V::statistics(bounds(column.values), column.absent()), group)
    }

    /// The page, compressed.
    fn compressed(&mut self) -> Result<Bytes> {
        self.compressor.compress(&self.page).map(Bytes::from).map_err(external)
    }
}

impl<V> Column<'_, V> {
    fn rows(&self) -> usize {
        self.is_there.map_or(self.values.len(), <[bool]>::len)
    }

    fn absent(&self) -> u64 {
        (self.rows() - self.values.len()) as u64
    }
}

/// A column that is being written.
struct Chunk<'a> {
    by: &'a mut ChunkWriter,
    bytes: TrackedWrite<Vec<u8>>,
    /// Where the dictionary begins, and the first page of values.
    dictionary: Option<u64>,
    data: Option<u64>,
    uncompressed: usize,
    rows: u64,
    encodings: Vec<PageEncodingStats>,
    index: OffsetIndexBuilder,
}

impl<'a> Chunk<'a> {
    fn begin(by: &'a mut ChunkWriter) -> Self {
        Self {
            by,
            bytes: TrackedWrite::new(Vec::new()),
            dictionary: None,
            data: None,
            uncompressed: 0,
            rows: 0,
            encodings: Vec::new(),
            index: OffsetIndexBuilder::new(),
        }
    }

    fn put_dictionary<N: Number>(&mut self, numbers: &[N]) -> Result<()> {
        self.by.page.clear();
        N::put_plain(numbers, &mut self.by.page);
        let (buf, num_values) = (self.by.compressed()?, numbers.len() as u32);
        let page = Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false };
        self.dictionary = Some(self.put_page(page)?.0);
        Ok(())
    }

    /// Cuts a column into pages, whose values `put` writes.
    fn put_pages<V: Copy>(
        &mut self,
        column: Column<'_, V>,
        encoding: Encoding,
        put: impl Fn(&[V], &mut Vec<u8>),
    ) -> Result<()> {
        let mut values = column.values;
        let rows = column.rows();
        for from in (0..rows).step_by(PAGE_ROWS) {
            let of_page = rows.min(from + PAGE_ROWS) - from;
            self.by.page.clear();
            let count = column.is_there.map_or(of_page, |is_there| {
                let is_there = &is_there[from..from + of_page];
                put_levels(is_there, &mut self.by.page);
                is_there.iter().filter(|is_there| **is_there).count()
            });
            let (now, later) = values.split_at(count);
            values = later;
            put(now, &mut self.by.page);
            let page = Page::DataPage {
                buf: self.by.compressed()?,
                num_values: of_page as u32,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let (offset, bytes) = self.put_page(page)?;
            self.data.get_or_insert(offset);
            self.rows += of_page as u64;
            self.index.append_row_count(of_page as i64);
            self.index.append_offset_and_size(offset.cast_signed(), bytes as i32);
        }
        Ok(())
    }

    /// Where it begins, and how long it is.
    fn put_page(&mut self, page: Page) -> Result<(u64, u64)> {
        let (page_type, encoding) = (page.page_type(), page.encoding());
        let page = CompressedPage::new(page, self.by.page.len());
        let written = SerializedPageWriter::new(&mut self.bytes).write_page(page)?;
        self.uncompressed += written.uncompressed_size;
        match self.encodings.last_mut().filter(|last| last.page_type == page_type) {
            Some(last) => last.count += 1,
            None => self.encodings.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
        Ok((written.offset, written.bytes_written))
    }

    fn finish<W: Write + Send>(
        self,
        of: ColumnDescPtr,
        statistics: Statistics,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let bytes = self.bytes.into_inner()?;
        let mut encodings: Vec<Encoding> = self.encodings.iter().map(|of_pages| of_pages.encoding).collect();
        if of.max_def_level() > 0 {
            encodings.push(Encoding::RLE);
        }
        let metadata = ColumnChunkMetaData::builder(of)
            .set_compression(Compression::ZSTD(self.by.level))
            .set_encodings(encodings)
            .set_page_encoding_stats(self.encodings)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(self.rows.cast_signed())
            .set_data_page_offset(self.data.unwrap_or_default().cast_signed())
            .set_dictionary_page_offset(self.dictionary.map(u64::cast_signed))
            .set_statistics(statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(self.index.build()),
        };
        group.append_column(&Bytes::from(bytes), close)
    }
}

/// Which rows have a value: the length of it in front.
fn put_levels(is_there: &[bool], page: &mut Vec<u8>) {
    let begin = page.len();
    page.extend([0; 4]);
    put_runs(is_there, 1, page);
    let bytes = (page.len() - begin - 4) as u32;
    page[begin..begin + 4].copy_from_slice(&bytes.to_le_bytes());
}

/// The least and the greatest.
fn bounds<V: Plain>(values: &[V]) -> Option<(V, V)> {
    let first = *values.first()?;
    Some(
        values
            .iter()
            .fold((first, first), |(least, greatest), value| (least.min(*value), greatest.max(*value))),
    )
}

fn external(error: std::io::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}
