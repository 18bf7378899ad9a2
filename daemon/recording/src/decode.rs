//! Parquet to rows, a batch at a time. What it reads is not trusted: every oddity is a sentence, never a panic.

use crate::bounds::{Bounds, LeftOut};
use crate::row::{Access, Column, Row};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads the rows of one file.
pub(crate) struct Rows<R: Row> {
    file: SerializedFileReader<File>,
    /// The groups that are still to be read.
    wanted: std::vec::IntoIter<usize>,
    group: Option<Group>,
    /// Columns that are read; all where none are given.
    columns: Option<&'static [&'static str]>,
    /// None where rows are read whatever their numbers are.
    bounds: Option<Bounds>,
    left_out: LeftOut,
    kind: std::marker::PhantomData<R>,
}

/// The statistics of one of a file's row groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupSummary {
    /// Its rows.
    pub(crate) rows: u64,
    /// The least and the greatest number in each column, in the order of the row's columns; none where it is not known.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
}

/// A row group being read: a reader a column, in the order of the row's columns.
struct Group {
    columns: Vec<Values>,
    /// The number of its next row in the file.
    next_row: u64,
    rows_left: u64,
}

enum Values {
    Bool(ColumnReaderImpl<BoolType>),
    Int32(ColumnReaderImpl<Int32Type>),
    Int64(ColumnReaderImpl<Int64Type>),
    Double(ColumnReaderImpl<DoubleType>),
    Bytes(ColumnReaderImpl<ByteArrayType>),
    /// Recordings of before there was this column.
    Missing,
}

/// Rows of one batch.
const BATCH_ROWS: usize = 64 << 10;

/// Why rows could not be read.
pub(crate) type Reason = String;

impl<R: Row> Rows<R> {
    /// Reads the rows whose numbers are within bounds.
    pub(crate) fn open(file: File, bounds: Bounds) -> Result<Self, Reason> {
        Ok(Self { bounds: Some(bounds), ..Self::open_unbounded(file)? })
    }

    /// Reads all rows as they are, for those who look at each of them.
    pub(crate) fn open_unbounded(file: File) -> Result<Self, Reason> {
        let file = guarded(|| SerializedFileReader::new(file).map_err(reason))?;
        let wanted: Vec<usize> = (0..file.num_row_groups()).collect();
        Ok(Self {
            file,
            wanted: wanted.into_iter(),
            group: None,
            columns: None,
            bounds: None,
            left_out: LeftOut::default(),
            kind: std::marker::PhantomData,
        })
    }

    /// The rows that were left out up to now.
    pub(crate) fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Its row groups.
    pub(crate) fn groups(&self) -> Vec<GroupSummary> {
        self.file.metadata().row_groups().iter().map(group_summary::<R>).collect()
    }

    /// From now on only these groups are read.
    pub(crate) fn select_groups(&mut self, groups: Vec<usize>) {
        self.group = None;
        self.wanted = groups.into_iter();
    }

    /// From the next group on only these columns are read, or all.
    pub(crate) fn select_columns(&mut self, columns: Option<&'static [&'static str]>) {
        self.columns = columns;
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

    /// All rows that are still to be read.
    pub(crate) fn rest(&mut self) -> Result<Vec<R>, Reason> {
        // Mostly there is one batch.
        let mut rows = self.next_batch()?.unwrap_or_default();
        while let Some(batch) = self.next_batch()? {
            rows.extend(batch);
        }
        Ok(rows)
    }

    /// The next rows without those that are left out; none at the end. A file may claim any number of rows: a batch has a
    /// fixed number at most.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Vec<R>>, Reason> {
        guarded(|| {
            loop {
                if let Some(group) = self.group.as_mut().filter(|group| group.rows_left > 0) {
                    let first_row = group.next_row;
                    let mut rows = group.read(BATCH_ROWS)?;
                    if let Some(bounds) = self.bounds {
                        self.left_out.take_from(&mut rows, first_row, bounds);
                    }
                    return Ok(Some(rows));
                }
                let Some(next) = self.wanted.next() else { return Ok(None) };
                self.group = Some(open_group::<R>(&self.file, next, self.columns)?);
            }
        })
    }
}

fn group_summary<R: Row>(group: &RowGroupMetaData) -> GroupSummary {
    let bounds = |column: &Column<R>| {
        let chunk = group.columns().iter().find(|chunk| chunk.column_path().parts() == [column.name])?;
        match chunk.statistics()? {
            Statistics::Int32(of) => Some((i64::from(*of.min_opt()?), i64::from(*of.max_opt()?))),
            Statistics::Int64(of) => Some((*of.min_opt()?, *of.max_opt()?)),
            _ => None,
        }
    };
    GroupSummary {
        rows: u64::try_from(group.num_rows()).unwrap_or_default(),
        bounds: R::COLUMNS.iter().map(bounds).collect(),
    }
}

/// The format's library is written for honest files: on others it may panic, which here is one more fault.
fn guarded<T>(read: impl FnOnce() -> Result<T, Reason>) -> Result<T, Reason> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its contents make no sense to the Parquet reader".to_owned()))
}

// By value, to fit `map_err`.
#[expect(clippy::needless_pass_by_value)]
fn reason(error: ParquetError) -> Reason {
    error.to_string()
}

fn open_group<R: Row>(
    file: &SerializedFileReader<File>,
    number: usize,
    only: Option<&[&str]>,
) -> Result<Group, Reason> {
    let group = file.get_row_group(number).map_err(reason)?;
    let rows_left =
        u64::try_from(group.metadata().num_rows()).map_err(|_| "it has fewer than no rows".to_owned())?;
    let schema = group.metadata().schema_descr();
    let mut columns = Vec::with_capacity(R::COLUMNS.len());
    for column in R::COLUMNS {
        if only.is_some_and(|only| !only.contains(&column.name)) {
            columns.push(Values::Missing);
            continue;
        }
        let found = schema.columns().iter().position(|found| found.path().parts() == [column.name]);
        if found.is_none() && (column.may_be_absent() || R::LATER.contains(&column.name)) {
            columns.push(Values::Missing);
            continue;
        }
        let at = found.ok_or_else(|| format!("it has no column {}", column.name))?;
        let descriptor = schema.column(at);
        if descriptor.physical_type() != column.physical() || descriptor.max_rep_level() != 0 {
            return Err(format!("its column {} is not of type {}", column.name, column.physical()));
        }
        columns.push(typed(group.get_column_reader(at).map_err(reason)?)?);
    }
    let before = file.metadata().row_groups().iter().take(number);
    let rows_before = before.map(|group| u64::try_from(group.num_rows()).unwrap_or_default());
    let next_row = rows_before.fold(0, u64::saturating_add);
    Ok(Group { columns, next_row, rows_left })
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

impl Group {
    fn read<R: Row>(&mut self, limit: usize) -> Result<Vec<R>, Reason> {
        let count = self.rows_left.min(limit as u64) as usize;
        let mut rows = vec![R::blank(); count];
        for (column, values) in R::COLUMNS.iter().zip(&mut self.columns) {
            read_column(column, values, &mut rows).map_err(|why| format!("column {}: {why}", column.name))?;
        }
        self.rows_left -= count as u64;
        self.next_row = self.next_row.saturating_add(count as u64);
        Ok(rows)
    }
}

fn read_column<R: Row>(column: &Column<R>, values: &mut Values, rows: &mut [R]) -> Result<(), Reason> {
    match (&column.access, values) {
        // Rows begin with nothing there.
        (_, Values::Missing) => Ok(()),
        (Access::U16(_, set), Values::Int32(reader)) => checked(reader, rows, |row, value: i32| {
            set(row, u16::try_from(value).map_err(|_| format!("{value} is out of range"))?);
            Ok(())
        }),
        (Access::U32(_, set), Values::Int32(reader)) => {
            required(reader, rows, |row, value| set(row, value.cast_unsigned()))
        }
        (Access::OptionalU32(_, set), Values::Int32(reader)) => {
            optional(reader, rows, |row, value| set(row, value.map(i32::cast_unsigned)))
        }
        (Access::I32(_, set), Values::Int32(reader)) => required(reader, rows, set),
        (Access::OptionalI32(_, set), Values::Int32(reader)) => optional(reader, rows, set),
        (Access::U64(_, set), Values::Int64(reader)) => {
            required(reader, rows, |row, value| set(row, value.cast_unsigned()))
        }
        (Access::OptionalU64(_, set), Values::Int64(reader)) => {
            optional(reader, rows, |row, value| set(row, value.map(i64::cast_unsigned)))
        }
        (Access::Bool(_, set), Values::Bool(reader)) => required(reader, rows, set),
        (Access::F64(_, set), Values::Double(reader)) => required(reader, rows, set),
        (Access::Text(_, set), Values::Bytes(reader)) => checked(reader, rows, |row, value: ByteArray| {
            set(row, value.as_utf8().map_err(reason)?.to_owned());
            Ok(())
        }),
        _ => Err("it is of another type than it should be".to_owned()),
    }
}

/// Reads one value a row, whatever it is.
fn required<R, T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: &mut [R],
    put: impl Fn(&mut R, T::T),
) -> Result<(), Reason> {
    checked(reader, rows, |row, value| {
        put(row, value);
        Ok(())
    })
}

/// Reads one value a row; some are none for the row.
fn checked<R, T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: &mut [R],
    mut put: impl FnMut(&mut R, T::T) -> Result<(), Reason>,
) -> Result<(), Reason> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, _, _) =
        reader.read_records(rows.len(), Some(&mut levels), None, &mut values).map_err(reason)?;
    if records != rows.len() || values.len() != rows.len() {
        return Err(format!("it has {} values for {} rows", values.len(), rows.len()));
    }
    for (row, value) in rows.iter_mut().zip(values) {
        put(row, value)?;
    }
    Ok(())
}

/// Reads a value or its absence a row.
fn optional<R, T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: &mut [R],
    put: impl Fn(&mut R, Option<T::T>),
) -> Result<(), Reason> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, _, _) =
        reader.read_records(rows.len(), Some(&mut levels), None, &mut values).map_err(reason)?;
    // A column that was written as always present has no levels.
    levels.resize(if levels.is_empty() { values.len() } else { levels.len() }, 1);
    let present = levels.iter().filter(|&&level| level > 0).count();
    if records != rows.len() || levels.len() != rows.len() || present != values.len() {
        return Err(format!("it has {} values for {} rows", levels.len(), rows.len()));
    }
    let mut values = values.into_iter();
    for (row, level) in rows.iter_mut().zip(levels) {
        put(row, if level > 0 { values.next() } else { None });
    }
    Ok(())
}
