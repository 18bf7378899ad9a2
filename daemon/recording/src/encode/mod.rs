//! Rows to Parquet: columns, encodings, compression. It knows no folder.
//!
//! Measured on the traffic of a stencil code, bytes a row: calls 4.0, with 2.0 each for start and end; messages 7.1,
//! with 2.5 for `send_ns`, 2.1 for `t_msg_ns`, 1.7 for `late_sender_ns` (1.9 as differences), 0.6 for `recv_ns`.
//! Everything else is a thousandth of a byte a column, because the order of the rows makes it repeat.

mod bits;
mod chunk;
mod dictionary;
mod differences;
mod number;
mod runs;
#[cfg(test)]
mod tests;

use crate::row::{Access, Column, Nature, Row, schema};
use chunk::{ChunkWriter, DICTIONARY_BYTES, PAGE_ROWS};
use parquet::basic::{Compression, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::Result;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr,
};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// The values of this number of rows are taken at once: the rows stay in the cache meanwhile.
const CHUNK_ROWS: usize = 4096;

/// A Parquet file to which row groups are added.
pub(crate) struct Encoder<R: Row, W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Columns<R>,
}

impl<R: Row, W: Write + Send> Encoder<R, W> {
    pub(crate) fn begin(zstd_level: i32, target: W) -> Result<Self> {
        let file = SerializedFileWriter::new(target, schema::<R>()?, properties::<R>(zstd_level)?)?;
        Ok(Self { file, columns: Columns::new(zstd_level)? })
    }

    pub(crate) fn group<'a>(&mut self, rows: impl IntoIterator<Item = &'a R>) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        self.columns.take(rows);
        self.columns.write(&mut group)?;
        group.close()?;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.file.close()?;
        Ok(())
    }
}

/// The values of the rows of a group, column by column.
pub(crate) struct Columns<R: Row> {
    schema: SchemaDescriptor,
    values: Vec<Values>,
    writer: ChunkWriter,
    row: PhantomData<R>,
}

impl<R: Row> Columns<R> {
    pub(crate) fn new(zstd_level: i32) -> Result<Self> {
        Ok(Self {
            schema: SchemaDescriptor::new(schema::<R>()?),
            values: R::COLUMNS.iter().map(|_| Values::default()).collect(),
            writer: ChunkWriter::new(level(zstd_level)?)?,
            row: PhantomData,
        })
    }

    /// Takes the values of all rows.
    pub(crate) fn take<'a>(&mut self, rows: impl IntoIterator<Item = &'a R>) {
        let mut rows = rows.into_iter();
        let mut chunk: Vec<&R> = Vec::with_capacity(CHUNK_ROWS);
        loop {
            chunk.clear();
            chunk.extend(rows.by_ref().take(CHUNK_ROWS));
            if chunk.is_empty() {
                return;
            }
            R::COLUMNS.iter().zip(&mut self.values).for_each(|(column, values)| values.add(&chunk, column));
        }
    }

    /// Writes what was taken as the next columns of a row group, and forgets it.
    pub(crate) fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let Self { schema, values, writer, .. } = self;
        for ((column, values), of) in R::COLUMNS.iter().zip(values).zip(schema.columns()) {
            let Values { i32, i64, bool, f64, text, is_there } = &*values;
            let is_there = column.may_be_absent().then_some(&**is_there);
            let nature = column.nature;
            match column.physical() {
                Physical::INT32 => {
                    writer.put_numbers(chunk::Column { values: i32, is_there }, nature, of.clone(), group)?;
                }
                Physical::INT64 => {
                    writer.put_numbers(chunk::Column { values: i64, is_there }, nature, of.clone(), group)?;
                }
                Physical::BOOLEAN => {
                    writer.put_plain(chunk::Column { values: bool, is_there }, of.clone(), group)?;
                }
                Physical::DOUBLE => put_by_library::<DoubleType, _>(f64, group)?,
                _ => put_by_library::<ByteArrayType, _>(text, group)?,
            }
            values.clear();
        }
        Ok(())
    }
}

/// Columns of small tables.
fn put_by_library<T: DataType, W: Write + Send>(
    values: &[T::T],
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<()> {
    if let Some(mut writer) = group.next_column()? {
        writer.typed::<T>().write_batch(values, None, None)?;
        writer.close()?;
    }
    Ok(())
}

/// Values as they are on disk, in the list of their type, and where a value may be absent whether each is there.
#[derive(Default)]
struct Values {
    i32: Vec<i32>,
    i64: Vec<i64>,
    bool: Vec<bool>,
    f64: Vec<f64>,
    text: Vec<ByteArray>,
    is_there: Vec<bool>,
}

impl Values {
    fn add<R>(&mut self, rows: &[&R], column: &Column<R>) {
        match column.access {
            Access::U16(_, gather, _) => self.i32.extend(gathered(rows, gather).into_iter().map(i32::from)),
            Access::U32(_, gather, _) => {
                self.i32.extend(gathered(rows, gather).into_iter().map(u32::cast_signed));
            }
            Access::OptionalU32(_, gather, _) => {
                self.i32.extend(present(rows, gather, &mut self.is_there).map(u32::cast_signed));
            }
            Access::I32(_, gather, _) => gather(rows, &mut self.i32),
            Access::OptionalI32(_, gather, _) => {
                self.i32.extend(present(rows, gather, &mut self.is_there));
            }
            Access::U64(_, gather, _) => {
                self.i64.extend(gathered(rows, gather).into_iter().map(u64::cast_signed));
            }
            Access::OptionalU64(_, gather, _) => {
                self.i64.extend(present(rows, gather, &mut self.is_there).map(u64::cast_signed));
            }
            Access::Bool(_, gather, _) => gather(rows, &mut self.bool),
            Access::F64(_, gather, _) => gather(rows, &mut self.f64),
            Access::Text(get, _) => self.text.extend(rows.iter().map(|row| ByteArray::from(get(row)))),
        }
    }

    fn clear(&mut self) {
        let Self { i32, i64, bool, f64, text, is_there } = self;
        i32.clear();
        i64.clear();
        bool.clear();
        f64.clear();
        text.clear();
        is_there.clear();
    }
}

/// Those that are there. Appends to `is_there` which are.
fn present<R, V>(
    rows: &[&R],
    gather: fn(&[&R], &mut Vec<Option<V>>),
    is_there: &mut Vec<bool>,
) -> impl Iterator<Item = V> + use<R, V> {
    let found = gathered(rows, gather);
    is_there.extend(found.iter().map(Option::is_some));
    found.into_iter().flatten()
}

fn gathered<R, V>(rows: &[&R], gather: fn(&[&R], &mut Vec<V>)) -> Vec<V> {
    let mut values = Vec::with_capacity(rows.len());
    gather(rows, &mut values);
    values
}

fn properties<R: Row>(zstd_level: i32) -> Result<WriterPropertiesPtr> {
    Ok(Arc::new(settings::<R>(zstd_level)?.build()))
}

fn level(zstd_level: i32) -> Result<ZstdLevel> {
    ZstdLevel::try_new(zstd_level.clamp(1, 22))
}

/// How the library writes a file, and the columns that are left to it.
pub(crate) fn settings<R: Row>(zstd_level: i32) -> Result<WriterPropertiesBuilder> {
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("mpiscope ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level(zstd_level)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES);
    for column in R::COLUMNS {
        let is_repeating = column.nature == Nature::Repeating;
        builder = builder.set_column_dictionary_enabled(ColumnPath::from(column.name), is_repeating);
    }
    Ok(builder)
}
