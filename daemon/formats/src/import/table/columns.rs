//! The columns of a table, and the text and numbers in them.

use super::number::{Number, may_be_grouped};
use super::records::Records;
use anyhow::{Result, bail};
use mpiscope_model::words::printable;
use std::io::BufRead;

/// Characters of a field that are quoted in a message.
const MAX_QUOTED: usize = 40;
/// What programs write where they have no value.
const MISSING: [&[u8]; 7] = [b"", b"NA", b"N/A", b"nan", b"NaN", b"null", b"None"];
/// Times may be this far from zero on either side: adding a duration does not overflow.
const MAX_NS: u64 = (1 << 62) - 1;

/// The columns of a file, as its header names them.
#[derive(Debug)]
pub(crate) struct Columns<const N: usize, const O: usize> {
    /// The number of columns.
    count: usize,
    /// The required columns.
    pub(crate) needed: [Column; N],
    /// The optional columns.
    pub(crate) optional: [Option<Column>; O],
    /// Names of other columns.
    pub(crate) ignored: Vec<String>,
    /// Whether the header is in quotes.
    is_quoted: bool,
    /// Whether a record was read.
    has_begun: bool,
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
        let is_quoted = records.begins_with_quote();
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
        let others = names.iter().filter(|name| !is_known(name));
        let quote_field =
            |name: &String| if name.is_empty() { "(no name)".into() } else { quote_field(name.as_bytes()) };
        let ignored = others.map(quote_field).collect();
        Ok(Self { count, needed: of_needed, optional: of_optional, ignored, is_quoted, has_begun: false })
    }

    /// Goes on to the next record, which has as many fields as there are columns.
    pub(crate) fn advance<R: BufRead>(&mut self, records: &mut Records<R>) -> Result<bool> {
        if !records.advance()? {
            return Ok(false);
        }
        let has_one_more = records.fields() == self.count + 1;
        let ends_with_separator = has_one_more && records.field(self.count).is_empty();
        // R writes the names of rows without a column for them, and both in quotes.
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first && has_one_more && !ends_with_separator && self.is_quoted && records.begins_with_quote() {
            records.pass_over(1);
        }
        if records.fields() != self.count && !ends_with_separator {
            let (expected, found) = (self.count, records.fields());
            return Err(
                records.wrong(format_args!("{expected} fields are expected as in the header, not {found}"))
            );
        }
        Ok(true)
    }
}

impl Column {
    /// The field of the current record.
    pub(crate) fn field<R: BufRead>(self, records: &Records<R>) -> &[u8] {
        records.field(self.at)
    }

    /// Whether the field has no value.
    pub(crate) fn is_missing<R: BufRead>(self, records: &Records<R>) -> bool {
        MISSING.contains(&self.field(records))
    }

    fn read<R: BufRead>(self, records: &Records<R>) -> Result<Option<Number>> {
        self.check_marks(records)?;
        Ok(Number::read(self.field(records), records.has_decimal_commas()))
    }

    /// Refuses a number such as `8.000`, which is 8 or 8000.
    pub(crate) fn check_marks<R: BufRead>(self, records: &Records<R>) -> Result<()> {
        let field = self.field(records);
        match records.thousands_mark() {
            Some(mark) if may_be_grouped(field, mark) => {
                let (mark, found) = (if mark == b'.' { "point" } else { "comma" }, quote_field(field));
                Err(records.wrong(format_args!(
                    "the {mark} in {}, \"{found}\", separates thousands or decimals: write whole numbers without it",
                    self.name
                )))
            }
            _ => Ok(()),
        }
    }

    /// A number from 0 to `most`.
    pub(crate) fn number<R: BufRead>(self, records: &Records<R>, most: u64) -> Result<u64> {
        let number = self.read(records)?.filter(|number| number.is_whole);
        let number =
            number.and_then(|number| u64::try_from(number.value).ok()).filter(|&number| number <= most);
        number.ok_or_else(|| self.wrong(records, format_args!("a whole number from 0 to {most}")))
    }

    /// A time in nanoseconds, and whether it was rounded to that.
    pub(crate) fn time<R: BufRead>(self, records: &Records<R>) -> Result<(i64, bool)> {
        let time = self.read(records)?.filter(|time| time.value.unsigned_abs() <= MAX_NS.into());
        let time = time.and_then(|time| Some((i64::try_from(time.value).ok()?, !time.is_whole)));
        time.ok_or_else(|| self.wrong(records, "a number of nanoseconds, within 146 years of 0,"))
    }

    /// A length of time in nanoseconds, and whether it was rounded to that.
    pub(crate) fn duration<R: BufRead>(self, records: &Records<R>) -> Result<(u64, bool)> {
        let length = self.read(records)?.and_then(|of| Some((u64::try_from(of.value).ok()?, !of.is_whole)));
        let length = length.filter(|(ns, _)| *ns <= MAX_NS);
        length.ok_or_else(|| self.wrong(records, "a number of nanoseconds from 0 on, at most 146 years,"))
    }

    /// Text in UTF-8.
    pub(crate) fn text<R: BufRead>(self, records: &Records<R>) -> Result<&str> {
        std::str::from_utf8(self.field(records)).map_err(|_| self.wrong(records, "text in UTF-8"))
    }

    /// An error that says what is expected.
    pub(crate) fn wrong<R: BufRead>(
        self,
        records: &Records<R>,
        expected: impl std::fmt::Display,
    ) -> anyhow::Error {
        let found = quote_field(self.field(records));
        records.wrong(format_args!("{expected} is expected in {}, not \"{found}\"", self.name))
    }
}

/// A field as a message quotes it: short and on one line.
fn quote_field(found: &[u8]) -> String {
    let text = String::from_utf8_lossy(found).replace('\n', " ");
    let mut short: String = printable(&text).chars().take(MAX_QUOTED).collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        short.push_str("...");
    }
    short
}
