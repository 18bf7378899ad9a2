//! Writes a table of calls or of messages.

use super::filter::Filter;
use super::source::{RowSelection, Source};
use super::summary::ExportSummary;
use crate::progress::Progress;
use anyhow::{Context as _, Result};
use mpiscope_model::{Call, Comm, Message, Site};
use mpiscope_recording::{CsvTable, Direction, NameColumn, ParquetTable, Row};
use std::io::Write;

/// How the rows of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values.
    Csv,
    /// One Parquet file.
    Parquet,
}

/// Which rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableRows {
    /// One row a call.
    Calls,
    /// One row a message.
    Messages,
}

/// A table in one format or the other.
enum Table<R: Row, W: Write + Send> {
    Csv(CsvTable<R, W>),
    Parquet(Box<ParquetTable<R, W>>),
}

impl<R: Row, W: Write + Send> Table<R, W> {
    fn begin(format: TableFormat, target: W, names: Vec<NameColumn<R>>) -> Result<Self> {
        Ok(match format {
            TableFormat::Csv => Self::Csv(CsvTable::begin(target, names)?),
            TableFormat::Parquet => Self::Parquet(Box::new(ParquetTable::begin(target, names)?)),
        })
    }

    fn rows(&mut self, rows: &[R]) -> Result<()> {
        match self {
            Self::Csv(table) => table.rows(rows),
            Self::Parquet(table) => table.rows(rows),
        }
        .context(WRITING)
    }

    fn finish(self) -> Result<W> {
        match self {
            Self::Csv(table) => table.finish(),
            Self::Parquet(table) => table.finish(),
        }
        .context(WRITING)
    }
}

const WRITING: &str = "write the table";

/// Writes a table, its rows in the order of time or backwards.
///
/// # Errors
/// When the recording cannot be read, the table cannot be written, or the work is given up.
pub fn write_table<W: Write + Send>(
    source: &mut Source<'_>,
    filter: (&Filter, Direction),
    (format, rows): (TableFormat, TableRows),
    target: W,
    progress: &dyn Progress,
) -> Result<(ExportSummary, W)> {
    let mut exported = ExportSummary::default();
    let target = match rows {
        TableRows::Calls => {
            let mut table = Table::begin(format, target, names_of_calls(source))?;
            let wanted = RowSelection { calls: true, messages: false };
            source.read_rows(wanted, filter, progress, &mut |calls, _| {
                exported.calls += calls.len() as u64;
                table.rows(calls)
            })?;
            table.finish()?
        }
        TableRows::Messages => {
            let mut table = Table::begin(format, target, names_of_messages(source))?;
            let wanted = RowSelection { calls: false, messages: true };
            source.read_rows(wanted, filter, progress, &mut |_, messages| {
                exported.messages += messages.len() as u64;
                table.rows(messages)
            })?;
            table.finish()?
        }
    };
    Ok((exported, target))
}

fn names_of_calls(source: &Source<'_>) -> Vec<NameColumn<Call>> {
    let function = NameColumn {
        name: "function_name",
        number: |call: &Call| Some(call.function.into()),
        names: source.functions.clone(),
    };
    let comm = NameColumn {
        name: "comm_name",
        number: |call: &Call| call.comm.map(Comm::index),
        names: source.comm_names(),
    };
    let site = NameColumn {
        name: "site_name",
        number: |call: &Call| call.site.map(Site::index),
        names: source.site_names(),
    };
    vec![function, comm, site]
}

fn names_of_messages(source: &Source<'_>) -> Vec<NameColumn<Message>> {
    let number = |message: &Message| Some(message.comm.index());
    vec![NameColumn { name: "comm_name", number, names: source.comm_names() }]
}
