//! What is in which column of a file, and the words and numbers there.

use super::records::Records;
use crate::words::printable;
use anyhow::{Result, bail};
use std::io::BufRead;

/// So much of what was found is said.
const MOST_SAID: usize = 40;

/// The columns of a file, as its header names them.
#[derive(Debug)]
pub(crate) struct Columns<const N: usize, const O: usize> {
    /// How many there are.
    count: usize,
    /// Where those are that have to be there.
    pub(crate) needed: [Column; N],
    /// Where those are that may be there.
    pub(crate) optional: [Option<Column>; O],
    /// Names of others.
    pub(crate) ignored: Vec<String>,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    name: &'static str,
    at: usize,
}

impl<const N: usize, const O: usize> Columns<N, O> {
    /// Reads the header.
    pub(crate) fn read<R: BufRead>(
        records: &mut Records<R>,
        needed: &[&'static str; N],
        optional: &[&'static str; O],
    ) -> Result<Self> {
        let expected = format!("a header with the columns {} is expected", needed.join(", "));
        if !records.advance()? {
            bail!("{} is empty; {expected}", records.name());
        }
        let count = records.fields();
        let names: Vec<String> =
            (0..count).map(|at| String::from_utf8_lossy(records.field(at)).to_ascii_lowercase()).collect();
        let find = |name: &'static str| {
            let mut places = (0..count).filter(|&at| names[at] == name);
            let found = places.next().map(|at| Column { name, at });
            if places.next().is_some() {
                return Err(records.wrong(format_args!("there are two columns {name}")));
            }
            Ok(found)
        };
        let mut of_needed = needed.map(|name| Column { name, at: 0 });
        for column in &mut of_needed {
            let name = column.name;
            let missing = || records.wrong(format_args!("{expected}; there is no column {name}"));
            *column = find(name)?.ok_or_else(missing)?;
        }
        let mut of_optional = [None; O];
        for (column, name) in of_optional.iter_mut().zip(optional) {
            *column = find(name)?;
        }
        let is_known = |name: &str| needed.contains(&name) || optional.contains(&name);
        let ignored = names.iter().filter(|name| !is_known(name)).map(|name| said(name.as_bytes())).collect();
        Ok(Self { count, needed: of_needed, optional: of_optional, ignored })
    }

    /// Goes on to the next record, which has as many fields as there are columns.
    pub(crate) fn advance<R: BufRead>(&self, records: &mut Records<R>) -> Result<bool> {
        if !records.advance()? {
            return Ok(false);
        }
        if records.fields() != self.count {
            let (expected, found) = (self.count, records.fields());
            return Err(
                records.wrong(format_args!("{expected} fields are expected as in the header, not {found}"))
            );
        }
        Ok(true)
    }
}

impl Column {
    /// Its field of the record at hand.
    pub(crate) fn of<R: BufRead>(self, records: &Records<R>) -> &[u8] {
        records.field(self.at)
    }

    /// A number from 0 to a greatest one.
    pub(crate) fn number<R: BufRead>(self, records: &Records<R>, most: u64) -> Result<u64> {
        let digits = self.of(records);
        let mut number = Some(0_u64).filter(|_| !digits.is_empty());
        for digit in digits {
            let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
            number = number.zip(digit).and_then(|(number, digit)| number.checked_mul(10)?.checked_add(digit));
        }
        let number = number.filter(|&number| number <= most);
        number.ok_or_else(|| self.wrong(records, format_args!("a whole number from 0 to {most}")))
    }

    /// Text.
    pub(crate) fn text<R: BufRead>(self, records: &Records<R>) -> Result<&str> {
        std::str::from_utf8(self.of(records)).map_err(|_| self.wrong(records, "text in UTF-8"))
    }

    /// Something else is expected there.
    pub(crate) fn wrong<R: BufRead>(
        self,
        records: &Records<R>,
        expected: impl std::fmt::Display,
    ) -> anyhow::Error {
        let found = said(self.of(records));
        records.wrong(format_args!("{expected} is expected in {}, not \"{found}\"", self.name))
    }
}

/// What was found, as far as it can be said in a line.
fn said(found: &[u8]) -> String {
    let text = String::from_utf8_lossy(found).replace('\n', " ");
    let mut short: String = printable(&text).chars().take(MOST_SAID).collect();
    if text.chars().nth(MOST_SAID).is_some() {
        short.push_str("...");
    }
    short
}
