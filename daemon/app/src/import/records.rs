//! Records of a CSV file, one after the other, with the lines where they begin.

use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// No record is longer: what is no table is not read into memory.
const MOST_RECORD_BYTES: usize = 64 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The records of a file.
pub(crate) struct Records<R> {
    input: R,
    /// What the file is called in what is said of it.
    name: String,
    /// Lines read.
    lines: u64,
    /// Where the record at hand begins.
    line: u64,
    /// The bytes of that line, and of those after it on which it goes on.
    raw: Vec<u8>,
    /// Its fields without quotes, one behind the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Records<BufReader<File>> {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        Ok(Self::of(BufReader::with_capacity(1 << 18, file), name))
    }
}

impl<R: BufRead> Records<R> {
    pub(crate) fn of(input: R, name: String) -> Self {
        Self { input, name, lines: 0, line: 0, raw: Vec::new(), text: Vec::new(), ends: Vec::new() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Something is wrong with the record at hand.
    pub(crate) fn wrong(&self, text: impl std::fmt::Display) -> anyhow::Error {
        anyhow::anyhow!("{}, line {}: {text}", self.name, self.line.max(1))
    }

    /// Goes on to the next record; lines without anything are passed over. `false` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        loop {
            self.raw.clear();
            if !self.read_line()? {
                return Ok(false);
            }
            self.line = self.lines;
            if self.lines == 1 && self.raw.starts_with(BYTE_ORDER_MARK) {
                self.raw.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.raw.trim_ascii().is_empty() {
                self.split()?;
                return Ok(true);
            }
        }
    }

    /// How many fields the record has.
    pub(crate) fn fields(&self) -> usize {
        self.ends.len()
    }

    /// One of its fields, without blanks around it.
    pub(crate) fn field(&self, at: usize) -> &[u8] {
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text[from..self.ends[at]].trim_ascii()
    }

    /// Appends the next line without its end; `false` when there is none.
    fn read_line(&mut self) -> Result<bool> {
        let room = MOST_RECORD_BYTES.saturating_sub(self.raw.len()) as u64 + 1;
        let read = (&mut self.input).take(room).read_until(b'\n', &mut self.raw);
        let read = read.with_context(|| format!("cannot read {}", self.name))?;
        self.lines += u64::from(read > 0);
        if self.raw.len() > MOST_RECORD_BYTES {
            bail!(
                "{}, line {}: a line of more than {MOST_RECORD_BYTES} bytes is none of a table",
                self.name,
                self.lines
            );
        }
        if self.raw.last() == Some(&b'\n') {
            self.raw.pop();
            if self.raw.last() == Some(&b'\r') {
                self.raw.pop();
            }
        }
        Ok(read > 0)
    }

    /// Takes the record's fields apart.
    fn split(&mut self) -> Result<()> {
        self.text.clear();
        self.ends.clear();
        let mut at = 0;
        loop {
            let from = self.text.len();
            // Up to the comma, or to a quote.
            while let Some(&byte) = self.raw.get(at).filter(|&&byte| byte != b',') {
                at += 1;
                if byte != b'"' {
                    self.text.push(byte);
                    continue;
                }
                if !self.text[from..].trim_ascii().is_empty() {
                    return Err(self.wrong(
                        "a quote within a field; fields with quotes are put in quotes, and theirs doubled",
                    ));
                }
                at = self.quoted(at)?;
                let rest = &self.raw[at..];
                let behind = rest.split(|&byte| byte == b',').next().unwrap_or_default();
                if !behind.trim_ascii().is_empty() {
                    return Err(self.wrong("a comma is expected behind a field in quotes"));
                }
                at += behind.len();
            }
            self.ends.push(self.text.len());
            if at >= self.raw.len() {
                return Ok(());
            }
            at += 1;
        }
    }

    /// Takes over what is in quotes, from behind the first; gives where it goes on behind the last.
    fn quoted(&mut self, mut at: usize) -> Result<usize> {
        loop {
            match self.raw.get(at) {
                Some(b'"') if self.raw.get(at + 1) == Some(&b'"') => {
                    self.text.push(b'"');
                    at += 2;
                }
                Some(b'"') => return Ok(at + 1),
                Some(&byte) => {
                    self.text.push(byte);
                    at += 1;
                }
                None => {
                    self.raw.push(b'\n');
                    if !self.read_line()? {
                        return Err(self.wrong("a quote that is never closed"));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &[u8]) -> Result<Vec<(u64, Vec<String>)>> {
        let mut records = Records::of(text, "t.csv".into());
        let mut all = Vec::new();
        while records.advance()? {
            let fields =
                (0..records.fields()).map(|at| String::from_utf8_lossy(records.field(at)).into_owned());
            all.push((records.line, fields.collect()));
        }
        Ok(all)
    }

    fn fields(text: &[u8]) -> Vec<(u64, Vec<String>)> {
        records(text).unwrap()
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|&field| field.to_owned()).collect())
    }

    #[test]
    fn lines_end_as_they_like_and_blanks_do_not_count() {
        let expected = [row(1, &["a", "b"]), row(3, &["1", "2 3"]), row(4, &["", ""])];
        assert_eq!(fields(b"a,b\n\n 1 ,\t2 3\n,\n"), expected);
        assert_eq!(fields(b"\xEF\xBB\xBFa,b\r\n  \r\n1,2 3\r\n,"), expected);
        assert_eq!(fields(b""), []);
    }

    #[test]
    fn quotes_keep_commas_quotes_and_ends_of_lines() {
        let expected = [row(1, &["a,b", "c\"d", "", "e\nf"]), row(3, &["g"])];
        assert_eq!(fields(b"\"a,b\", \"c\"\"d\" ,\"\",\"e\nf\"\ng"), expected);
        assert_eq!(fields(b"\"a,b\", \"c\"\"d\" ,\"\",\"e\r\nf\"\r\ng\r\n"), expected);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &[u8]| records(text).unwrap_err().to_string();
        assert_eq!(wrong(b"a\n\"b\nc\n"), "t.csv, line 2: a quote that is never closed");
        assert_eq!(wrong(b"a\n\"b\"c,d\n"), "t.csv, line 2: a comma is expected behind a field in quotes");
        assert!(wrong(b"a\n\nb\"c\"\n").starts_with("t.csv, line 3: a quote within a field"));
        let endless = [b"a\n".as_slice(), &[b'x'; 1 << 17]].concat();
        assert_eq!(wrong(&endless), "t.csv, line 2: a line of more than 65536 bytes is none of a table");
    }
}
