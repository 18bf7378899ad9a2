//! A table as one Parquet file, with this number of rows in a row group.

use super::name_column::NameColumn;
use crate::encode::{Columns, settings};
use crate::row::{Column, Row};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of one group, which are in memory until it is full.
pub(super) const GROUP_ROWS: usize = 256 << 10;
const ZSTD_LEVEL: i32 = 3;

/// The values of a column of names.
struct Names<R> {
    number: fn(&R) -> Option<usize>,
    /// By number; none where it is not known.
    values: Vec<Option<ByteArray>>,
}

/// Takes rows and writes groups of them.
pub struct ParquetTable<R: Row, W: Write + Send> {
    file: SerializedFileWriter<W>,
    names: Vec<Names<R>>,
    rows: Vec<R>,
    columns: Columns<R>,
}

impl<R: Row, W: Write + Send> ParquetTable<R, W> {
    /// Begins it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(target: W, names: Vec<NameColumn<R>>) -> io::Result<Self> {
        Self::try_begin(target, names).map_err(io::Error::other)
    }

    fn try_begin(target: W, names: Vec<NameColumn<R>>) -> Result<Self> {
        let mut fields = R::COLUMNS.iter().map(Column::schema).collect::<Result<Vec<TypePtr>>>()?;
        let mut settings = settings::<R>(ZSTD_LEVEL)?;
        for column in &names {
            fields.push(text(column.name)?);
            settings = settings.set_column_dictionary_enabled(ColumnPath::from(column.name), true);
        }
        let schema = Type::group_type_builder(R::TABLE).with_fields(fields).build()?;
        let file = SerializedFileWriter::new(target, Arc::new(schema), Arc::new(settings.build()))?;
        let known = |name: String| (!name.is_empty()).then(|| ByteArray::from(name.into_bytes()));
        let names = names.into_iter().map(|column| Names {
            number: column.number,
            values: column.names.into_iter().map(known).collect(),
        });
        Ok(Self { file, names: names.collect(), rows: Vec::new(), columns: Columns::new(ZSTD_LEVEL)? })
    }

    /// More rows.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn rows(&mut self, mut rows: &[R]) -> io::Result<()> {
        while !rows.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(GROUP_ROWS - self.rows.len()));
            self.rows.extend_from_slice(now);
            rows = later;
            if self.rows.len() == GROUP_ROWS {
                self.group().map_err(io::Error::other)?;
            }
        }
        Ok(())
    }

    fn group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        self.columns.take(&self.rows);
        self.columns.write(&mut group)?;
        for column in &self.names {
            if let Some(mut writer) = group.next_column()? {
                let (mut values, mut levels) = (Vec::new(), Vec::with_capacity(self.rows.len()));
                for row in &self.rows {
                    let name = (column.number)(row).and_then(|number| column.values.get(number)?.clone());
                    levels.push(i16::from(name.is_some()));
                    values.extend(name);
                }
                writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                writer.close()?;
            }
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }

    /// That was all; gives back what it was written to.
    ///
    /// # Errors
    /// When the last of it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.rows.is_empty() {
            self.group().map_err(io::Error::other)?;
        }
        self.file.into_inner().map_err(io::Error::other)
    }
}

fn text(name: &str) -> Result<TypePtr> {
    let builder = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(ConvertedType::UTF8)
        .with_logical_type(Some(LogicalType::String));
    Ok(Arc::new(builder.build()?))
}
