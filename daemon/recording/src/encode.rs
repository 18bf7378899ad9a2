//! Rows to Parquet: columns, encodings, compression. It knows no folder.
//!
//! Measured on the traffic of a stencil code, bytes a row: calls 4.0, with 2.0 each for start and end; messages 7.1,
//! with 2.5 for `send_ns`, 2.1 for `t_msg_ns`, 1.7 for `late_sender_ns` (1.9 as differences), 0.6 for `recv_ns`.
//! Everything else is a thousandth of a byte a column, because the order of the rows makes it repeat.

use crate::row::{Access, Column, Nature, Row, schema};
use parquet::basic::{Compression, Encoding, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr,
};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// Rows of one page, the least that a reader who seeks has to take: larger pages are smaller on disk.
const PAGE_ROWS: usize = 65_536;

/// The values of this number of rows are taken at once: the rows stay in the cache meanwhile.
const CHUNK_ROWS: usize = 4096;

/// Beyond this many bytes of different values a column is no repeating one.
const DICTIONARY_BYTES: usize = 256 << 10;

/// A Parquet file to which row groups are added.
pub(crate) struct Encoder<R: Row, W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Columns<R>,
}

impl<R: Row, W: Write + Send> Encoder<R, W> {
    pub(crate) fn begin(zstd_level: i32, target: W) -> Result<Self> {
        let file = SerializedFileWriter::new(target, schema::<R>()?, properties::<R>(zstd_level)?)?;
        Ok(Self { file, columns: Columns::default() })
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
    values: Vec<Values>,
    row: PhantomData<R>,
}

impl<R: Row> Default for Columns<R> {
    fn default() -> Self {
        Self { values: R::COLUMNS.iter().map(|_| Values::default()).collect(), row: PhantomData }
    }
}

impl<R: Row> Columns<R> {
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
        for (column, values) in R::COLUMNS.iter().zip(&mut self.values) {
            if let Some(mut writer) = group.next_column()? {
                values.write(column, &mut writer)?;
                writer.close()?;
            }
            values.clear();
        }
        Ok(())
    }
}

/// Values as they are on disk, in the list of their type, and where a value may be absent whether each is there.
#[derive(Default)]
struct Values {
    i32: Vec<i32>,
    i64: Vec<i64>,
    bool: Vec<bool>,
    f64: Vec<f64>,
    text: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl Values {
    fn add<R>(&mut self, rows: &[&R], column: &Column<R>) {
        match column.access {
            Access::U16(_, gather, _) => self.i32.extend(gathered(rows, gather).into_iter().map(i32::from)),
            Access::U32(_, gather, _) => {
                self.i32.extend(gathered(rows, gather).into_iter().map(u32::cast_signed));
            }
            Access::OptionalU32(_, gather, _) => {
                self.i32.extend(present(rows, gather, &mut self.levels).map(u32::cast_signed));
            }
            Access::I32(_, gather, _) => gather(rows, &mut self.i32),
            Access::OptionalI32(_, gather, _) => {
                self.i32.extend(present(rows, gather, &mut self.levels));
            }
            Access::U64(_, gather, _) => {
                self.i64.extend(gathered(rows, gather).into_iter().map(u64::cast_signed));
            }
            Access::OptionalU64(_, gather, _) => {
                self.i64.extend(present(rows, gather, &mut self.levels).map(u64::cast_signed));
            }
            Access::Bool(_, gather, _) => gather(rows, &mut self.bool),
            Access::F64(_, gather, _) => gather(rows, &mut self.f64),
            Access::Text(get, _) => self.text.extend(rows.iter().map(|row| ByteArray::from(get(row)))),
        }
    }

    fn write<R>(&self, column: &Column<R>, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let levels = column.may_be_absent().then_some(&*self.levels);
        match column.physical() {
            Physical::INT32 => writer.typed::<Int32Type>().write_batch(&self.i32, levels, None)?,
            Physical::INT64 => writer.typed::<Int64Type>().write_batch(&self.i64, levels, None)?,
            Physical::BOOLEAN => writer.typed::<BoolType>().write_batch(&self.bool, levels, None)?,
            Physical::DOUBLE => writer.typed::<DoubleType>().write_batch(&self.f64, levels, None)?,
            _ => writer.typed::<ByteArrayType>().write_batch(&self.text, levels, None)?,
        };
        Ok(())
    }

    fn clear(&mut self) {
        let Self { i32, i64, bool, f64, text, levels } = self;
        i32.clear();
        i64.clear();
        bool.clear();
        f64.clear();
        text.clear();
        levels.clear();
    }
}

/// Those that are there. Appends to `levels` which are.
fn present<R, V>(
    rows: &[&R],
    gather: fn(&[&R], &mut Vec<Option<V>>),
    levels: &mut Vec<i16>,
) -> impl Iterator<Item = V> + use<R, V> {
    let found = gathered(rows, gather);
    levels.extend(found.iter().map(|value| i16::from(value.is_some())));
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
