//! Parquet to rows, a batch at a time. What it reads is not trusted: every oddity is a sentence, never a panic.

use crate::bounds::{Bounds, LeftOut};
use crate::columns::{Columns, Group, GroupSummary, Reason, RequestedColumn, Values};
use crate::row::{Access, Column, Row};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads the rows of one file.
pub(crate) struct Rows<R: Row> {
    file: Columns,
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

/// Rows of one batch.
const BATCH_ROWS: usize = 64 << 10;

impl<R: Row> Rows<R> {
    /// Reads the rows whose numbers are within bounds.
    pub(crate) fn open(file: File, bounds: Bounds) -> Result<Self, Reason> {
        Ok(Self { bounds: Some(bounds), ..Self::open_unbounded(file)? })
    }

    /// Reads all rows as they are, for those who look at each of them.
    pub(crate) fn open_unbounded(file: File) -> Result<Self, Reason> {
        let file = guarded(|| Columns::open(file))?;
        let wanted: Vec<usize> = (0..file.groups()).collect();
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
        let names: Vec<&str> = R::COLUMNS.iter().map(|column| column.name).collect();
        self.file.summaries(&names)
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
        self.file.group_ends()
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
                    let mut rows = read(group)?;
                    if let Some(bounds) = self.bounds {
                        self.left_out.take_from(&mut rows, first_row, bounds);
                    }
                    return Ok(Some(rows));
                }
                let Some(next) = self.wanted.next() else { return Ok(None) };
                self.group = Some(self.file.group(next, &requested::<R>(self.columns))?);
            }
        })
    }
}

/// The format's library is written for honest files: on others it may panic, which here is one more fault.
fn guarded<T>(read: impl FnOnce() -> Result<T, Reason>) -> Result<T, Reason> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its contents make no sense to the Parquet reader".to_owned()))
}

/// What is asked of a file for these rows, with only some of the columns or all.
fn requested<R: Row>(only: Option<&[&str]>) -> Vec<RequestedColumn> {
    let request = |column: &Column<R>| RequestedColumn {
        name: column.name,
        physical: column.physical(),
        is_wanted: only.is_none_or(|only| only.contains(&column.name)),
        may_be_absent: column.may_be_absent() || R::LATER.contains(&column.name),
    };
    R::COLUMNS.iter().map(request).collect()
}

/// The next rows of a group.
fn read<R: Row>(group: &mut Group) -> Result<Vec<R>, Reason> {
    let count = group.rows_left.min(BATCH_ROWS as u64) as usize;
    let mut rows = vec![R::blank(); count];
    for (column, values) in R::COLUMNS.iter().zip(&mut group.columns) {
        read_column(column, values, &mut rows).map_err(|why| format!("column {}: {why}", column.name))?;
    }
    group.rows_left -= count as u64;
    group.next_row = group.next_row.saturating_add(count as u64);
    Ok(rows)
}

fn read_column<R: Row>(column: &Column<R>, values: &mut Values, rows: &mut [R]) -> Result<(), Reason> {
    // Rows begin with nothing there.
    if matches!(values, Values::Missing) {
        return Ok(());
    }
    let count = rows.len();
    match &column.access {
        Access::U16(.., set) => {
            for (row, value) in rows.iter_mut().zip(values.i32(count)?) {
                set(row, u16::try_from(value).map_err(|_| format!("{value} is out of range"))?);
            }
        }
        Access::U32(.., set) => fill(rows, values.i32(count)?, |row, value| set(row, value.cast_unsigned())),
        Access::OptionalU32(.., set) => {
            fill(rows, values.optional_i32(count)?, |row, value| set(row, value.map(i32::cast_unsigned)));
        }
        Access::I32(.., set) => fill(rows, values.i32(count)?, set),
        Access::OptionalI32(.., set) => fill(rows, values.optional_i32(count)?, set),
        Access::U64(.., set) => fill(rows, values.i64(count)?, |row, value| set(row, value.cast_unsigned())),
        Access::OptionalU64(.., set) => {
            fill(rows, values.optional_i64(count)?, |row, value| set(row, value.map(i64::cast_unsigned)));
        }
        Access::Bool(.., set) => fill(rows, values.bool(count)?, set),
        Access::F64(.., set) => fill(rows, values.f64(count)?, set),
        Access::Text(_, set) => fill(rows, values.text(count)?, set),
    }
    Ok(())
}

/// Puts a value into each row.
fn fill<R, V>(rows: &mut [R], values: impl IntoIterator<Item = V>, set: impl Fn(&mut R, V)) {
    for (row, value) in rows.iter_mut().zip(values) {
        set(row, value);
    }
}
