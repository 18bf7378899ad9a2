//! Whatever values a column has, the library reads the same out of what is written here.

use super::chunk::{ChunkWriter, Column, DICTIONARY_BYTES, PAGE_ROWS};
use super::number::Number;
use crate::row::Nature;
use parquet::basic::{Repetition, ZstdLevel};
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};
use proptest::prelude::*;
use std::sync::Arc;

const NATURES: [Nature; 3] = [Nature::Repeating, Nature::Rising, Nature::MostlyZero];

/// A file of one column, as the library reads it.
struct ReadColumn<V> {
    values: Vec<Option<V>>,
    statistics: Option<Statistics>,
    has_dictionary: bool,
    bytes: usize,
}

fn written<T: DataType>(
    may_be_absent: bool,
    put: impl FnOnce(&mut ChunkWriter, ColumnDescPtr, &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>),
) -> ReadColumn<T::T> {
    let repetition = if may_be_absent { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let physical = T::get_physical_type();
    let column =
        Type::primitive_type_builder("column", physical).with_repetition(repetition).build().unwrap();
    let schema = Type::group_type_builder("table").with_fields(vec![Arc::new(column)]).build().unwrap();
    let schema = Arc::new(schema);
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, Arc::clone(&schema), Arc::new(WriterProperties::default()))
            .unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut writer = ChunkWriter::new(ZstdLevel::try_new(1).unwrap()).unwrap();
    put(&mut writer, SchemaDescriptor::new(schema).column(0), &mut group);
    group.close().unwrap();
    file.close().unwrap();
    let length = bytes.len();
    let bytes = bytes::Bytes::from(bytes);
    let with_index = ReadOptionsBuilder::new().with_page_index().with_encoding_stats_as_mask(false).build();
    let indexed = SerializedFileReader::new_with_options(bytes.clone(), with_index).unwrap();
    let file = SerializedFileReader::new(bytes).unwrap();
    let group = file.get_row_group(0).unwrap();
    let rows = usize::try_from(group.metadata().num_rows()).unwrap();
    let chunk = group.metadata().column(0);
    check_pages(indexed.metadata().row_group(0).column(0), group.get_column_page_reader(0).unwrap());
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(0).unwrap());
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, _, _) = reader.read_records(rows + 1, Some(&mut levels), None, &mut values).unwrap();
    assert_eq!(records, rows);
    let mut values = values.into_iter();
    let values: Vec<Option<T::T>> = if may_be_absent {
        levels.iter().map(|level| (*level > 0).then(|| values.next().unwrap())).collect()
    } else {
        values.map(Some).collect()
    };
    // Who has an index goes straight to a page.
    let skipped = rows.min(PAGE_ROWS + 1);
    let of_index = indexed.get_row_group(0).unwrap();
    let mut reader = get_typed_column_reader::<T>(of_index.get_column_reader(0).unwrap());
    assert_eq!(reader.skip_records(skipped).unwrap(), skipped);
    let (mut rest, mut levels) = (Vec::new(), Vec::new());
    reader.read_records(rows + 1, Some(&mut levels), None, &mut rest).unwrap();
    let expected: Vec<T::T> = values[skipped..].iter().flatten().cloned().collect();
    assert!(rest == expected, "what is behind the first page");
    ReadColumn {
        values,
        statistics: chunk.statistics().cloned(),
        has_dictionary: chunk.dictionary_page_offset().is_some(),
        bytes: length,
    }
}

/// The metadata of a column matches its pages.
fn check_pages(chunk: &ColumnChunkMetaData, pages: Box<dyn PageReader>) {
    let pages: Vec<Page> = pages.map(Result::unwrap).collect();
    let stats = chunk.page_encoding_stats().unwrap();
    assert_eq!(stats.iter().map(|of| of.count).sum::<i32>(), pages.len() as i32);
    for page in &pages {
        let matches =
            |of: &PageEncodingStats| (of.page_type, of.encoding) == (page.page_type(), page.encoding());
        assert!(stats.iter().any(matches), "{page:?}");
        assert!(chunk.encodings().any(|encoding| encoding == page.encoding()));
    }
    let uncompressed: usize = pages.iter().map(|page| page.buffer().len()).sum();
    // Heads of pages count, too.
    let heads = chunk.uncompressed_size() - uncompressed as i64;
    assert!((0..=100 * pages.len() as i64).contains(&heads), "{heads} bytes of heads");
    let values: u32 = pages.iter().filter(|page| page.is_data_page()).map(Page::num_values).sum();
    assert_eq!(i64::from(values), chunk.num_values());
}

fn split<V: Copy>(values: &[Option<V>]) -> (Vec<V>, Vec<bool>) {
    (values.iter().copied().flatten().collect(), values.iter().map(Option::is_some).collect())
}

fn numbers<T: DataType>(values: &[Option<T::T>], may_be_absent: bool, nature: Nature) -> ReadColumn<T::T>
where
    T::T: Number,
{
    let (plain, is_there) = split(values);
    written::<T>(may_be_absent, |writer, of, group| {
        let column = Column { values: &plain, is_there: may_be_absent.then_some(&*is_there) };
        writer.put_numbers(column, nature, of, group).unwrap();
    })
}

/// Numbers as columns have them: few or many different ones, in runs, rising, at the ends of their type.
fn any_number() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), -3_i64..40, -70_000_i64..70_000, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
}

fn any_column() -> impl Strategy<Value = Vec<Option<i64>>> {
    let run = (proptest::option::weighted(0.8, any_number()), 1_usize..40, prop_oneof![Just(0), -2_i64..900]);
    proptest::collection::vec(run, 0..40).prop_map(|runs| {
        let of_run = |(first, count, step): (Option<i64>, usize, i64)| {
            (0..count as i64).map(move |at| first.map(|first| first.wrapping_add(at * step)))
        };
        runs.into_iter().flat_map(of_run).collect()
    })
}

proptest! {
    #[test]
    fn numbers_come_back_as_they_were(column in any_column(), nature in 0_usize..3) {
        let nature = NATURES[nature];
        let found = numbers::<Int64Type>(&column, true, nature);
        prop_assert_eq!(&found.values, &column);
        let least = column.iter().flatten().min();
        let absent = column.iter().filter(|value| value.is_none()).count() as u64;
        if let Some(Statistics::Int64(of)) = &found.statistics {
            prop_assert_eq!(of.min_opt(), least);
            prop_assert_eq!(of.max_opt(), column.iter().flatten().max());
            prop_assert_eq!(of.null_count_opt(), Some(absent));
        } else {
            prop_assert!(false, "{:?}", found.statistics);
        }
        let short: Vec<Option<i32>> = column.iter().map(|value| value.map(|value| value as i32)).collect();
        prop_assert_eq!(&numbers::<Int32Type>(&short, true, nature).values, &short);
        let whole: Vec<Option<i32>> = short.iter().copied().filter(Option::is_some).collect();
        prop_assert_eq!(&numbers::<Int32Type>(&whole, false, nature).values, &whole);
    }

    #[test]
    fn truths_come_back_as_they_were(column in proptest::collection::vec(any::<bool>(), 0..70)) {
        let found = written::<BoolType>(false, |writer, of, group| {
            writer.put_plain(Column { values: &column, is_there: None }, of, group).unwrap();
        });
        prop_assert_eq!(found.values.into_iter().flatten().collect::<Vec<_>>(), column);
    }
}

#[test]
fn columns_of_several_pages_come_back_as_they_were() {
    let rows = 2 * PAGE_ROWS as i64 + 12_345;
    let rising: Vec<Option<i64>> =
        (0..rows).map(|at| (at % 11 != 3).then_some(at * 1_001 + at * at % 977)).collect();
    let few: Vec<Option<i64>> =
        rising.iter().map(|value| value.map(|value| value % 13 * 1_000_000)).collect();
    // A page has nothing but absent values.
    let gap: Vec<Option<i64>> =
        few.iter().enumerate().map(|(at, value)| value.filter(|_| at / PAGE_ROWS != 1)).collect();
    for column in [rising, few, gap] {
        let short: Vec<Option<i32>> = column.iter().map(|value| value.map(|value| value as i32)).collect();
        for nature in NATURES {
            assert!(numbers::<Int64Type>(&column, true, nature).values == column, "{nature:?}");
            assert!(numbers::<Int32Type>(&short, true, nature).values == short, "{nature:?}");
        }
    }
}

#[test]
fn numbers_that_fill_a_dictionary_are_still_in_one() {
    let most = DICTIONARY_BYTES as i64 / 8;
    for (different, has_dictionary) in [(most, true), (most + 1, false)] {
        for step in [1, 1 << 40] {
            let column: Vec<Option<i64>> = (0..different + 9).map(|at| Some(at % different * step)).collect();
            let found = numbers::<Int64Type>(&column, false, Nature::Repeating);
            assert!(found.has_dictionary == has_dictionary && found.values == column, "{different} {step}");
        }
    }
}

#[test]
fn only_a_column_of_few_numbers_has_a_dictionary() {
    let of = |different: i64| (0..140_000).map(|at| Some(at % different * 1_000_003)).collect::<Vec<_>>();
    let (few, many) = (of(30_000), of(40_000));
    assert!(numbers::<Int64Type>(&few, false, Nature::Repeating).has_dictionary);
    let found = numbers::<Int64Type>(&many, false, Nature::Repeating);
    assert!(!found.has_dictionary && found.values == many);
    assert!(!numbers::<Int64Type>(&few, false, Nature::Rising).has_dictionary);
}

#[test]
fn a_number_that_is_always_the_same_takes_next_to_nothing() {
    for nature in [Nature::Repeating, Nature::Rising] {
        let found = numbers::<Int64Type>(&vec![Some(7); 100_000], false, nature);
        assert!(found.bytes < 1_000, "{} bytes, {nature:?}", found.bytes);
    }
}
