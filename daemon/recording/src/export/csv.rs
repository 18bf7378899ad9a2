//! A table as comma-separated values (RFC 4180, but for the end of a line, which is a line feed): a header, a line a row,
//! nothing where a value is absent.

use super::NameColumn;
use crate::row::{Access, Column, Row};
use std::io::{self, Write};

/// Lines that are written at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Takes rows and writes lines.
pub struct CsvTable<R, W> {
    target: W,
    names: Vec<NameColumn<R>>,
    lines: Vec<u8>,
}

impl<R: Row, W: Write> CsvTable<R, W> {
    /// Begins with the header.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(mut target: W, mut names: Vec<NameColumn<R>>) -> io::Result<Self> {
        let own = R::COLUMNS.iter().map(|column| column.name);
        let header: Vec<&str> = own.chain(names.iter().map(|column| column.name)).collect();
        target.write_all(format!("{}\n", header.join(",")).as_bytes())?;
        for column in &mut names {
            column.names.iter_mut().for_each(|name| *name = field(name));
        }
        Ok(Self { target, names, lines: Vec::with_capacity(2 * BUFFER_BYTES) })
    }

    /// More rows.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn rows(&mut self, rows: &[R]) -> io::Result<()> {
        for row in rows {
            for (at, column) in R::COLUMNS.iter().enumerate() {
                if at > 0 {
                    self.lines.push(b',');
                }
                value(&mut self.lines, row, column);
            }
            for column in &self.names {
                self.lines.push(b',');
                let name = (column.number)(row).and_then(|number| column.names.get(number));
                self.lines.extend_from_slice(name.map_or(b"", |name| name.as_bytes()));
            }
            self.lines.push(b'\n');
            if self.lines.len() >= BUFFER_BYTES {
                self.drain()?;
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        let written = self.target.write_all(&self.lines);
        self.lines.clear();
        written
    }

    /// That was all; gives back what the lines went to.
    ///
    /// # Errors
    /// When the last of it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.drain()?;
        self.target.flush()?;
        Ok(self.target)
    }
}

fn value<R>(line: &mut Vec<u8>, row: &R, column: &Column<R>) {
    match column.access {
        Access::U16(get, _) => unsigned(line, get(row).into()),
        Access::U32(get, _) => unsigned(line, get(row).into()),
        Access::I32(get, _) => signed(line, get(row).into()),
        Access::U64(get, _) => unsigned(line, get(row)),
        Access::F64(get, _) => line.extend_from_slice(get(row).to_string().as_bytes()),
        Access::Bool(get, _) => line.extend_from_slice(if get(row) { b"true" } else { b"false" }),
        Access::OptionalU32(get, _) => get(row).into_iter().for_each(|value| unsigned(line, value.into())),
        Access::OptionalI32(get, _) => get(row).into_iter().for_each(|value| signed(line, value.into())),
        Access::OptionalU64(get, _) => get(row).into_iter().for_each(|value| unsigned(line, value)),
        Access::Text(get, _) => line.extend_from_slice(field(get(row)).as_bytes()),
    }
}

fn signed(line: &mut Vec<u8>, value: i64) {
    if value < 0 {
        line.push(b'-');
    }
    unsigned(line, value.unsigned_abs());
}

/// The digits of a number: most of the file is numbers, and the formatter of the library takes three times as long.
fn unsigned(line: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[from..]);
}

/// Text as a field: in quotes where it would otherwise end too early.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
