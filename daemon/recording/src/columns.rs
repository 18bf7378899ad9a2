//! Reads the columns of a Parquet file, whatever rows they make. Nothing here depends on a kind of row: what the Parquet library
//! compiles for it is then compiled once, and not again in every crate that reads rows.

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::fs::File;

/// Why rows could not be read.
pub(crate) type Reason = String;

/// A file of columns.
pub(crate) struct Columns {
    file: SerializedFileReader<File>,
}

/// The statistics of one of a file's row groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupSummary {
    /// Its rows.
    pub(crate) rows: u64,
    /// The least and the greatest number in each column, in the order of the row's columns; none where it is not known.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
}

/// A column that a reader asks for.
pub(crate) struct RequestedColumn {
    pub(crate) name: &'static str,
    pub(crate) physical: Physical,
    /// Whether its values are wanted.
    pub(crate) is_wanted: bool,
    /// Whether a file may do without it.
    pub(crate) may_be_absent: bool,
}

/// A row group being read: a reader a column, in the order they were asked for.
pub(crate) struct Group {
    pub(crate) columns: Vec<Values>,
    /// The number of its next row in the file.
    pub(crate) next_row: u64,
    pub(crate) rows_left: u64,
}

/// The values of a column, by their type.
pub(crate) enum Values {
    Bool(ColumnReaderImpl<BoolType>),
    Int32(ColumnReaderImpl<Int32Type>),
    Int64(ColumnReaderImpl<Int64Type>),
    Double(ColumnReaderImpl<DoubleType>),
    Bytes(ColumnReaderImpl<ByteArrayType>),
    /// Not wanted, or a column added after the recording was made.
    Missing,
}

impl Columns {
    pub(crate) fn open(file: File) -> Result<Self, Reason> {
        Ok(Self { file: SerializedFileReader::new(file).map_err(reason)? })
    }

    /// The number of its row groups.
    pub(crate) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// The statistics of its row groups, with the bounds of these columns.
    pub(crate) fn summaries(&self, names: &[&str]) -> Vec<GroupSummary> {
        self.file.metadata().row_groups().iter().map(|group| summary(group, names)).collect()
    }

    /// Where each of its row groups ends.
    pub(crate) fn group_ends(&self) -> Vec<u64> {
        let groups = self.file.metadata().row_groups().iter();
        let end = |group: &RowGroupMetaData| {
            let chunks = group.columns().iter().map(ColumnChunkMetaData::byte_range);
            chunks.map(|(from, bytes)| from.saturating_add(bytes)).max().unwrap_or_default()
        };
        groups.map(end).collect()
    }

    /// Begins to read the columns of a row group.
    pub(crate) fn group(&self, number: usize, wanted: &[RequestedColumn]) -> Result<Group, Reason> {
        let group = self.file.get_row_group(number).map_err(reason)?;
        let rows_left =
            u64::try_from(group.metadata().num_rows()).map_err(|_| "it has fewer than no rows".to_owned())?;
        let schema = group.metadata().schema_descr();
        let mut columns = Vec::with_capacity(wanted.len());
        for RequestedColumn { name, physical, is_wanted, may_be_absent } in wanted {
            let found = schema.columns().iter().position(|found| found.path().parts() == [*name]);
            if !is_wanted || (found.is_none() && *may_be_absent) {
                columns.push(Values::Missing);
                continue;
            }
            let at = found.ok_or_else(|| format!("it has no column {name}"))?;
            let descriptor = schema.column(at);
            if descriptor.physical_type() != *physical || descriptor.max_rep_level() != 0 {
                return Err(format!("its column {name} is not of type {physical}"));
            }
            columns.push(typed(group.get_column_reader(at).map_err(reason)?)?);
        }
        let before = self.file.metadata().row_groups().iter().take(number);
        let rows_before = before.map(|group| u64::try_from(group.num_rows()).unwrap_or_default());
        let next_row = rows_before.fold(0, u64::saturating_add);
        Ok(Group { columns, next_row, rows_left })
    }
}

impl Values {
    pub(crate) fn i32(&mut self, rows: usize) -> Result<Vec<i32>, Reason> {
        if let Self::Int32(reader) = self { required(reader, rows) } else { Err(another_type()) }
    }

    pub(crate) fn optional_i32(
        &mut self,
        rows: usize,
    ) -> Result<impl Iterator<Item = Option<i32>> + use<>, Reason> {
        if let Self::Int32(reader) = self { optional(reader, rows) } else { Err(another_type()) }
    }

    pub(crate) fn i64(&mut self, rows: usize) -> Result<Vec<i64>, Reason> {
        if let Self::Int64(reader) = self { required(reader, rows) } else { Err(another_type()) }
    }

    pub(crate) fn optional_i64(
        &mut self,
        rows: usize,
    ) -> Result<impl Iterator<Item = Option<i64>> + use<>, Reason> {
        if let Self::Int64(reader) = self { optional(reader, rows) } else { Err(another_type()) }
    }

    pub(crate) fn bool(&mut self, rows: usize) -> Result<Vec<bool>, Reason> {
        if let Self::Bool(reader) = self { required(reader, rows) } else { Err(another_type()) }
    }

    pub(crate) fn f64(&mut self, rows: usize) -> Result<Vec<f64>, Reason> {
        if let Self::Double(reader) = self { required(reader, rows) } else { Err(another_type()) }
    }

    pub(crate) fn text(&mut self, rows: usize) -> Result<Vec<String>, Reason> {
        let Self::Bytes(reader) = self else { return Err(another_type()) };
        let text = |value: ByteArray| Ok(value.as_utf8().map_err(reason)?.to_owned());
        required(reader, rows)?.into_iter().map(text).collect()
    }
}

fn another_type() -> Reason {
    "it is of another type than it should be".to_owned()
}

// By value, to fit `map_err`.
#[expect(clippy::needless_pass_by_value)]
fn reason(error: ParquetError) -> Reason {
    error.to_string()
}

fn summary(group: &RowGroupMetaData, names: &[&str]) -> GroupSummary {
    let bounds = |name: &&str| {
        let chunk = group.columns().iter().find(|chunk| chunk.column_path().parts() == [*name])?;
        match chunk.statistics()? {
            Statistics::Int32(of) => Some((i64::from(*of.min_opt()?), i64::from(*of.max_opt()?))),
            Statistics::Int64(of) => Some((*of.min_opt()?, *of.max_opt()?)),
            _ => None,
        }
    };
    GroupSummary {
        rows: u64::try_from(group.num_rows()).unwrap_or_default(),
        bounds: names.iter().map(bounds).collect(),
    }
}

fn typed(reader: ColumnReader) -> Result<Values, Reason> {
    Ok(match reader {
        ColumnReader::BoolColumnReader(_) => Values::Bool(get_typed_column_reader(reader)),
        ColumnReader::Int32ColumnReader(_) => Values::Int32(get_typed_column_reader(reader)),
        ColumnReader::Int64ColumnReader(_) => Values::Int64(get_typed_column_reader(reader)),
        ColumnReader::DoubleColumnReader(_) => Values::Double(get_typed_column_reader(reader)),
        ColumnReader::ByteArrayColumnReader(_) => Values::Bytes(get_typed_column_reader(reader)),
        _ => return Err("a column is of a type that no recording has".to_owned()),
    })
}

/// Reads one value a row, whatever it is.
fn required<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> Result<Vec<T::T>, Reason> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, _, _) = reader.read_records(rows, Some(&mut levels), None, &mut values).map_err(reason)?;
    if records != rows || values.len() != rows {
        return Err(format!("it has {} values for {rows} rows", values.len()));
    }
    Ok(values)
}

/// Reads a value or its absence a row.
fn optional<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
) -> Result<impl Iterator<Item = Option<T::T>> + use<T>, Reason> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, _, _) = reader.read_records(rows, Some(&mut levels), None, &mut values).map_err(reason)?;
    // A column that was written as always present has no levels.
    levels.resize(if levels.is_empty() { values.len() } else { levels.len() }, 1);
    let present = levels.iter().filter(|&&level| level > 0).count();
    if records != rows || levels.len() != rows || present != values.len() {
        return Err(format!("it has {} values for {rows} rows", levels.len()));
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(move |level| if level > 0 { values.next() } else { None }))
}
