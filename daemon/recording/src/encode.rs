//! Rows to Parquet: columns, encodings, compression. It knows no folder.
//!
//! Measured on the traffic of a stencil code, bytes a row: calls 4.0, with 2.0 each for start and end; messages 7.1,
//! with 2.5 for `send_ns`, 2.1 for `t_msg_ns`, 1.7 for `late_sender_ns` (1.9 as differences), 0.6 for `recv_ns`.
//! Everything else is a thousandth of a byte a column, because the order of the rows makes it repeat.

use crate::row::{Access, Column, Nature, Row, schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr,
};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::ColumnPath;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// Rows of one page, the least that a reader who seeks has to take: larger pages are smaller on disk.
const PAGE_ROWS: usize = 65_536;

/// Values that are taken out of their rows at once.
const CHUNK_ROWS: usize = 4096;

/// Beyond this many bytes of different values a column is no repeating one.
const DICTIONARY_BYTES: usize = 256 << 10;

/// A Parquet file to which row groups are added.
pub(crate) struct Encoder<R, W: Write + Send> {
    file: SerializedFileWriter<W>,
    row: PhantomData<R>,
}

impl<R: Row, W: Write + Send> Encoder<R, W> {
    pub(crate) fn begin(zstd_level: i32, target: W) -> Result<Self> {
        let file = SerializedFileWriter::new(target, schema::<R>()?, properties::<R>(zstd_level)?)?;
        Ok(Self { file, row: PhantomData })
    }

    pub(crate) fn group(&mut self, rows: &[R]) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in R::COLUMNS {
            if let Some(mut writer) = group.next_column()? {
                // Values of this number of rows stay in the cache.
                for rows in rows.chunks(CHUNK_ROWS) {
                    write_column(rows, column, &mut writer)?;
                }
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.file.close()?;
        Ok(())
    }
}

fn properties<R: Row>(zstd_level: i32) -> Result<WriterPropertiesPtr> {
    Ok(Arc::new(settings::<R>(zstd_level)?.build()))
}

/// How the columns of a kind of row are written.
pub(crate) fn settings<R: Row>(zstd_level: i32) -> Result<WriterPropertiesBuilder> {
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("mpiscope ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(zstd_level.clamp(1, 22))?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES);
    for column in R::COLUMNS {
        let path = ColumnPath::from(column.name);
        // A repeating column that turns out not to repeat falls back to this too.
        if column.is_integer() && column.nature != Nature::MostlyZero {
            builder = builder.set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED);
        }
        builder = builder.set_column_dictionary_enabled(path, column.nature == Nature::Repeating);
    }
    Ok(builder)
}

/// Writes one column of `rows`.
pub(crate) fn write_column<R: Row>(
    rows: &[R],
    column: &Column<R>,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    let rows = rows.iter();
    match column.access {
        Access::U16(get, _) => required::<Int32Type>(writer, rows.map(|row| get(row).into())),
        Access::U32(get, _) => required::<Int32Type>(writer, rows.map(|row| get(row).cast_signed())),
        Access::OptionalU32(get, _) => {
            optional::<Int32Type>(writer, rows.map(|row| get(row).map(u32::cast_signed)))
        }
        Access::I32(get, _) => required::<Int32Type>(writer, rows.map(get)),
        Access::OptionalI32(get, _) => optional::<Int32Type>(writer, rows.map(get)),
        Access::U64(get, _) => required::<Int64Type>(writer, rows.map(|row| get(row).cast_signed())),
        Access::OptionalU64(get, _) => {
            optional::<Int64Type>(writer, rows.map(|row| get(row).map(u64::cast_signed)))
        }
        Access::Bool(get, _) => required::<BoolType>(writer, rows.map(get)),
        Access::F64(get, _) => required::<DoubleType>(writer, rows.map(get)),
        Access::Text(get, _) => required::<ByteArrayType>(writer, rows.map(|row| ByteArray::from(get(row)))),
    }
}

fn required<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = T::T>,
) -> Result<()> {
    let values: Vec<T::T> = values.collect();
    writer.typed::<T>().write_batch(&values, None, None)?;
    Ok(())
}

fn optional<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in rows {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}
