//! A table as comma-separated values (RFC 4180, but for the end of a line, which is a line feed): a header, a line a row,
//! nothing where a value is absent.

use super::name_column::NameColumn;
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
        Access::U16(get, ..) => unsigned(line, get(row).into()),
        Access::U32(get, ..) => unsigned(line, get(row).into()),
        Access::I32(get, ..) => signed(line, get(row).into()),
        Access::U64(get, ..) => unsigned(line, get(row)),
        Access::F64(get, ..) => line.extend_from_slice(get(row).to_string().as_bytes()),
        Access::Bool(get, ..) => line.extend_from_slice(if get(row) { b"true" } else { b"false" }),
        Access::OptionalU32(get, ..) => get(row).into_iter().for_each(|value| unsigned(line, value.into())),
        Access::OptionalI32(get, ..) => get(row).into_iter().for_each(|value| signed(line, value.into())),
        Access::OptionalU64(get, ..) => get(row).into_iter().for_each(|value| unsigned(line, value)),
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
    // A division is what costs most: one for two digits.
    while value >= 100 {
        from -= 2;
        digits[from..from + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    let [tens, ones] = PAIRS[value as usize];
    digits[from - 1] = ones;
    from -= 1;
    if value >= 10 {
        from -= 1;
        digits[from] = tens;
    }
    line.extend_from_slice(&digits[from..]);
}

/// The two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Text as a field: in quotes where it would otherwise end too early.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn numbers_are_those_of_the_library() {
        let powers = (0..19).map(|power| 10_i64.pow(power));
        let around = powers.flat_map(|power| [power - 1, power, power + 1, 7 * (power / 3)]);
        for value in around.flat_map(|value| [value, -value]).chain([i64::MIN, i64::MAX]) {
            let mut line = Vec::new();
            signed(&mut line, value);
            assert_eq!(line, value.to_string().as_bytes());
        }
    }
}
