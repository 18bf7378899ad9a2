//! How a value becomes the columns of a table: one list per kind of row, used for writing, reading and the schema.

use crate::corrections::Corrections;
use crate::manifest::FileMark;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// A value that is a row of a table.
pub trait Row: Clone + Send + Sync + Sized + 'static {
    /// The name of the table's schema.
    const TABLE: &'static str;
    /// The columns, in order.
    const COLUMNS: &'static [Column<Self>];
    /// Those of them that older recordings do not have: there each row has what it begins with.
    const LATER: &'static [&'static str] = &[];
    /// The columns that are ranks of the job.
    const RANKS: &'static [&'static str] = &[];
    /// The columns that count ranks of the job, maybe rounded up to a power of two.
    const RANK_COUNTS: &'static [&'static str] = &[];
    /// The columns that are moments of the run.
    const TIMES: &'static [&'static str] = &[];

    /// A row to fill in.
    fn blank() -> Self;
}

/// A row type with enough rows to need segments.
pub trait SegmentRow: Row {
    /// The sub-folder of its segments.
    const FOLDER: &'static str;
    /// What people call several of them.
    const PLURAL: &'static str;
    /// The columns whose least value is the beginning of a row's time.
    const BEGINS: &'static [&'static str];
    /// The columns whose greatest value is the end of a row's time.
    const ENDS: &'static [&'static str];

    /// The order of the rows of a group: small on disk and quick to find. Rows of one key stay as they came.
    type Key: Ord + Copy;

    /// The key of a row.
    fn key(&self) -> Self::Key;
    /// The lane of a key. Keys are in the order of lanes first; most rows of one lane come in their order.
    fn lane(key: &Self::Key) -> u64;
    /// The beginning of the row's time.
    fn begin_ns(&self) -> u64;
    /// The time until which it does.
    fn end_ns(&self) -> u64;
    /// Converts its times to the last clock map. Rows that are sums over windows stay as they are: the correction is
    /// little beside a window.
    fn correct(&mut self, _corrections: &Corrections) {}
    /// Writes the file `name` beside a segment of the recording `dir`, whose rows end in `ends_ns`. A failure does no harm,
    /// because the rows have the same data.
    fn write_beside(
        _rows: &[Self],
        _ends_ns: RangeInclusive<u64>,
        (_dir, _name): (&Path, &str),
        _zstd_level: i32,
    ) -> Option<FileMark> {
        None
    }
}

/// How the values of a column go, which decides how they are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Few different values that repeat.
    Repeating,
    /// Numbers near the one before.
    Rising,
    /// Zeros, and numbers that have nothing to do with each other.
    MostlyZero,
}

/// One column: its name, how its values go, and how to take them from a row and put them into one.
pub struct Column<R: 'static> {
    /// The name, stable from the first version on.
    pub name: &'static str,
    /// How its values go.
    pub nature: Nature,
    /// Where they are.
    pub access: Access<R>,
}

type Get<R, V> = fn(&R) -> V;
/// Appends the values of rows: a call for each of them would take longer than the value.
type Gather<R, V> = fn(&[&R], &mut Vec<V>);
type Set<R, V> = fn(&mut R, V);

/// Access to the value of a column in a row, by the type that the model has for it.
///
/// On disk they are signed and plain: a difference of two unsigned columns wraps around without a word in the programs
/// that people read these files with. Bits are kept, so every value comes back.
pub enum Access<R: 'static> {
    /// A small number.
    U16(Get<R, u16>, Gather<R, u16>, Set<R, u16>),
    /// A number.
    U32(Get<R, u32>, Gather<R, u32>, Set<R, u32>),
    /// A number that may be absent.
    OptionalU32(Get<R, Option<u32>>, Gather<R, Option<u32>>, Set<R, Option<u32>>),
    /// A signed number.
    I32(Get<R, i32>, Gather<R, i32>, Set<R, i32>),
    /// A signed number that may be absent.
    OptionalI32(Get<R, Option<i32>>, Gather<R, Option<i32>>, Set<R, Option<i32>>),
    /// A time or a count.
    U64(Get<R, u64>, Gather<R, u64>, Set<R, u64>),
    /// A time or a count that may be absent.
    OptionalU64(Get<R, Option<u64>>, Gather<R, Option<u64>>, Set<R, Option<u64>>),
    /// Yes or no.
    Bool(Get<R, bool>, Gather<R, bool>, Set<R, bool>),
    /// A measure.
    F64(Get<R, f64>, Gather<R, f64>, Set<R, f64>),
    /// A name.
    Text(fn(&R) -> &str, Set<R, String>),
}

/// Access to a value that is copied from the row.
macro_rules! access {
    ($access:ident, |$row:ident| $get:expr, $set:expr) => {
        $crate::row::Access::$access(
            |$row| $get,
            |rows, values| values.extend(rows.iter().map(|$row| $get)),
            $set,
        )
    };
}
pub(crate) use access;

/// A column that is a plain field of the row, or one of an index, and is called as it is.
macro_rules! column {
    (@ $field:ident, $nature:ident, $access:expr) => {
        $crate::row::Column {
            name: stringify!($field),
            nature: $crate::row::Nature::$nature,
            access: $access,
        }
    };
    ($field:ident: $access:ident, $nature:ident) => {
        $crate::row::column!(
            @ $field,
            $nature,
            $crate::row::access!($access, |row| row.$field, |row, v| row.$field = v)
        )
    };
    ($field:ident: U32 of $index:ident, $nature:ident) => {
        $crate::row::column!(
            @ $field,
            $nature,
            $crate::row::access!(U32, |row| row.$field.0, |row, v| row.$field = $index(v))
        )
    };
    ($field:ident: OptionalU32 of $index:ident, $nature:ident) => {
        $crate::row::column!(
            @ $field,
            $nature,
            $crate::row::access!(
                OptionalU32,
                |row| row.$field.map(|index| index.0),
                |row, v| row.$field = v.map($index)
            )
        )
    };
}
pub(crate) use column;

impl<R> Column<R> {
    /// Whether a row need not have it.
    pub(crate) fn may_be_absent(&self) -> bool {
        matches!(self.access, Access::OptionalU32(..) | Access::OptionalI32(..) | Access::OptionalU64(..))
    }

    pub(crate) fn physical(&self) -> Physical {
        match self.access {
            Access::U16(..) | Access::U32(..) | Access::OptionalU32(..) => Physical::INT32,
            Access::I32(..) | Access::OptionalI32(..) => Physical::INT32,
            Access::U64(..) | Access::OptionalU64(..) => Physical::INT64,
            Access::Bool(..) => Physical::BOOLEAN,
            Access::F64(..) => Physical::DOUBLE,
            Access::Text(..) => Physical::BYTE_ARRAY,
        }
    }

    /// Its number in a row; none where there is no number.
    pub(crate) fn number(&self, row: &R) -> Option<u64> {
        match self.access {
            Access::U16(get, ..) => Some(get(row).into()),
            Access::U32(get, ..) => Some(get(row).into()),
            Access::OptionalU32(get, ..) => get(row).map(u64::from),
            Access::U64(get, ..) => Some(get(row)),
            Access::OptionalU64(get, ..) => get(row),
            Access::I32(..)
            | Access::OptionalI32(..)
            | Access::Bool(..)
            | Access::F64(..)
            | Access::Text(..) => None,
        }
    }

    pub(crate) fn schema(&self) -> Result<TypePtr> {
        let repetition = if self.may_be_absent() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let mut builder =
            Type::primitive_type_builder(self.name, self.physical()).with_repetition(repetition);
        if matches!(self.access, Access::Text(..)) {
            builder =
                builder.with_converted_type(ConvertedType::UTF8).with_logical_type(Some(LogicalType::String));
        }
        Ok(Arc::new(builder.build()?))
    }
}

/// The Parquet schema of a kind of row.
pub(crate) fn schema<R: Row>() -> Result<TypePtr> {
    let fields = R::COLUMNS.iter().map(Column::schema).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder(R::TABLE).with_fields(fields).build()?))
}
