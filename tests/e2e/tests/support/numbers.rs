//! Changes single numbers in the files of a recording, and lets its manifest say that they are as they were written.

use mpiscope_recording::{FileMark, Manifest, crc32_of};
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

/// Which row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    Last,
}

/// The columns of a file that have numbers, each with how many bits these have.
pub(crate) fn columns(file: &Path) -> Vec<(String, u32)> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let bits = |physical| match physical {
        Physical::INT32 => Some(32),
        Physical::INT64 => Some(64),
        _ => None,
    };
    let columns = schema.columns().iter();
    columns.filter_map(|column| Some((column.name().to_owned(), bits(column.physical_type())?))).collect()
}

/// Sets a number in a row of a file of the recording in `dir`; returns whether there is such a row.
pub(crate) fn set(dir: &Path, file: &str, column: &str, place: Place, value: u64) -> bool {
    let is_set = rewrite(&dir.join(file), column, place, value);
    list_anew(dir, file);
    is_set
}

fn rewrite(file: &Path, column: &str, place: Place, value: u64) -> bool {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
    let new = file.with_extension("changed");
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(File::create(&new).unwrap(), schema, properties).unwrap();
    let groups = reader.num_row_groups();
    let of_groups = if place == Place::First { 0 } else { groups.saturating_sub(1) };
    let mut is_set = false;
    for number in 0..groups {
        let group = reader.get_row_group(number).unwrap();
        let rows = group.metadata().num_rows() as usize;
        let row = if place == Place::First { 0 } else { rows.saturating_sub(1) };
        let mut to = writer.next_row_group().unwrap();
        for at in 0..group.num_columns() {
            let is_column = group.metadata().column(at).column_descr().name() == column;
            let wanted = (is_column && number == of_groups && rows > 0).then_some(row);
            is_set |= wanted.is_some();
            match group.get_column_reader(at).unwrap() {
                reader @ ColumnReader::Int32ColumnReader(_) => {
                    let typed = get_typed_column_reader::<Int32Type>(reader);
                    copy(typed, rows, &mut to, wanted.map(|row| (row, (value as u32).cast_signed())));
                }
                reader @ ColumnReader::Int64ColumnReader(_) => {
                    let typed = get_typed_column_reader::<Int64Type>(reader);
                    copy(typed, rows, &mut to, wanted.map(|row| (row, value.cast_signed())));
                }
                reader @ ColumnReader::BoolColumnReader(_) => {
                    copy(get_typed_column_reader::<BoolType>(reader), rows, &mut to, None);
                }
                reader @ ColumnReader::DoubleColumnReader(_) => {
                    copy(get_typed_column_reader::<DoubleType>(reader), rows, &mut to, None);
                }
                reader => copy(get_typed_column_reader::<ByteArrayType>(reader), rows, &mut to, None),
            }
        }
        to.close().unwrap();
    }
    writer.close().unwrap();
    fs::rename(new, file).unwrap();
    is_set
}

/// Copies a column; with another value in one row, if asked for.
fn copy<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    rows: usize,
    to: &mut SerializedRowGroupWriter<'_, File>,
    change: Option<(usize, T::T)>,
) {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    from.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
    if let Some((row, value)) = change {
        // A column that may be without a value has a level for each row, and values for some.
        let before = levels.iter().take(row).filter(|level| **level > 0).count();
        match levels.get_mut(row) {
            None => values[row] = value,
            Some(0) => {
                levels[row] = 1;
                values.insert(before, value);
            }
            Some(_) => values[before] = value,
        }
    }
    let levels = (!levels.is_empty()).then_some(levels);
    let mut column = to.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, levels.as_deref(), None).unwrap();
    column.close().unwrap();
}

fn list_anew(dir: &Path, name: &str) {
    let bytes = fs::read(dir.join(name)).unwrap();
    let (crc32, length) = (crc32_of(&bytes), bytes.len() as u64);
    let mut manifest = Manifest::read(dir).unwrap();
    let anew = |mark: &mut FileMark| {
        if mark.file == name {
            (mark.crc32, mark.bytes) = (crc32, length);
        }
    };
    manifest.files.iter_mut().chain(&mut manifest.summary).for_each(anew);
    let of = &mut manifest.segments;
    for segment in
        of.calls.iter_mut().chain(&mut of.messages).chain(&mut of.windows).chain(&mut of.scheduling)
    {
        segment.starts.iter_mut().for_each(anew);
        if segment.file == name {
            (segment.crc32, segment.bytes) = (Some(crc32), Some(length));
            segment.parts.clear();
        }
    }
    manifest.write(dir).unwrap();
}
