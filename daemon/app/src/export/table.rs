//! A table of calls or of messages.

use super::filter::Filter;
use super::source::{Source, Wanted};
use super::target::Target;
use super::{ExportTable, Exported};
use crate::progress::Progress;
use anyhow::{Context as _, Result};
use mpiscope_model::{Call, Message};
use mpiscope_recording::{CsvTable, Direction, NameColumn, ParquetTable, Row};

/// How the rows of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Csv,
    Parquet,
}

/// A table in one form or the other.
enum Table<R: Row> {
    Csv(CsvTable<R, Target>),
    Parquet(ParquetTable<R, Target>),
}

impl<R: Row> Table<R> {
    fn begin(form: Form, target: Target, names: Vec<NameColumn<R>>) -> Result<Self> {
        Ok(match form {
            Form::Csv => Self::Csv(CsvTable::begin(target, names)?),
            Form::Parquet => Self::Parquet(ParquetTable::begin(target, names)?),
        })
    }

    fn rows(&mut self, rows: &[R]) -> Result<()> {
        match self {
            Self::Csv(table) => table.rows(rows),
            Self::Parquet(table) => table.rows(rows),
        }
        .context(WRITING)
    }

    fn finish(self) -> Result<Target> {
        match self {
            Self::Csv(table) => table.finish(),
            Self::Parquet(table) => table.finish(),
        }
        .context(WRITING)
    }
}

const WRITING: &str = "write the table";

/// Writes a table.
pub(crate) fn write(
    source: &mut Source,
    filter: (&Filter, Direction),
    (form, table): (Form, ExportTable),
    target: Target,
    progress: &Progress,
) -> Result<(Exported, Target)> {
    let mut exported = Exported::default();
    let target = match table {
        ExportTable::Calls => {
            let mut table = Table::begin(form, target, names_of_calls(source))?;
            let wanted = Wanted { calls: true, messages: false };
            source.read(wanted, filter, progress, &mut |calls, _| {
                exported.calls += calls.len() as u64;
                table.rows(calls)
            })?;
            table.finish()?
        }
        ExportTable::Messages => {
            let mut table = Table::begin(form, target, names_of_messages(source))?;
            let wanted = Wanted { calls: false, messages: true };
            source.read(wanted, filter, progress, &mut |_, messages| {
                exported.messages += messages.len() as u64;
                table.rows(messages)
            })?;
            table.finish()?
        }
    };
    Ok((exported, target))
}

fn names_of_calls(source: &Source) -> Vec<NameColumn<Call>> {
    let function = NameColumn {
        name: "function_name",
        number: |call: &Call| Some(call.function.into()),
        names: source.functions.clone(),
    };
    let comm = NameColumn {
        name: "comm_name",
        number: |call: &Call| call.comm.map(|comm| comm as usize),
        names: source.comm_names(),
    };
    let site = NameColumn {
        name: "site_name",
        number: |call: &Call| call.site.map(|site| site as usize),
        names: source.site_names(),
    };
    vec![function, comm, site]
}

fn names_of_messages(source: &Source) -> Vec<NameColumn<Message>> {
    let number = |message: &Message| Some(message.comm as usize);
    vec![NameColumn { name: "comm_name", number, names: source.comm_names() }]
}
