//! Reads the records of a table one after the other, with the lines where they begin. The first line tells what separates
//! fields: a comma, a semicolon, a tab, or blanks.

use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// No record is longer: a file that is not a table must not fill the memory.
const MAX_RECORD_BYTES: usize = 64 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// How files in UTF-16 begin.
const OTHER_MARKS: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];

/// What separates fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    One(u8),
    /// Any number of blanks.
    Blanks,
}

impl Separator {
    /// The separator that a header has most of.
    fn of_header(line: &[u8]) -> Self {
        let mut is_quoted = false;
        let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
        for byte in line {
            is_quoted ^= *byte == b'"';
            counts.iter_mut().filter(|(of, _)| of == byte && !is_quoted).for_each(|(_, count)| *count += 1);
        }
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or_default();
        match counts.iter().find(|(_, count)| *count == most && most > 0) {
            Some((separator, _)) => Self::One(*separator),
            None if line.trim_ascii().contains(&b' ') => Self::Blanks,
            None => Self::One(b','),
        }
    }

    /// The separator that the first line names, as Excel writes it: `sep=;`.
    fn of_line(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\"").and_then(|line| line.strip_prefix(b"\"")).unwrap_or(line);
        match line {
            [s, e, p, b'=', separator] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => {
                Some(Self::One(*separator))
            }
            _ => None,
        }
    }

    fn ends(self, byte: u8) -> bool {
        match self {
            Self::One(separator) => byte == separator,
            Self::Blanks => byte.is_ascii_whitespace(),
        }
    }

    fn name(self) -> String {
        match self {
            Self::One(b',') => "a comma".into(),
            Self::One(b';') => "a semicolon".into(),
            Self::One(b'\t') => "a tab".into(),
            Self::One(other) => format!("\"{}\"", char::from(other).escape_default()),
            Self::Blanks => "a blank".into(),
        }
    }
}

/// The records of a file.
pub(crate) struct Records<R> {
    input: R,
    /// The name of the file in messages.
    name: String,
    /// Lines read.
    lines: u64,
    /// The line where the current record begins.
    line: u64,
    /// The bytes of the lines of the record.
    raw: Vec<u8>,
    /// Its fields without quotes, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    /// Set once the first line is read.
    separator: Option<Separator>,
    /// Fields at the beginning of each record that the header does not name.
    unnamed: usize,
}

impl Records<BufReader<File>> {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        Ok(Self::from_input(BufReader::with_capacity(1 << 18, file), name))
    }
}

impl<R: BufRead> Records<R> {
    pub(crate) fn from_input(input: R, name: String) -> Self {
        Self {
            input,
            name,
            lines: 0,
            line: 0,
            raw: Vec::new(),
            text: Vec::new(),
            ends: Vec::new(),
            separator: None,
            unnamed: 0,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The line where the current record begins.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Whether a comma may stand for the point of a number.
    pub(crate) fn has_decimal_commas(&self) -> bool {
        self.separator.is_some_and(|separator| !separator.ends(b','))
    }

    /// What may separate thousands in a number: where semicolons separate fields the comma is the decimal point, and
    /// points group digits; elsewhere commas do.
    pub(crate) fn thousands_mark(&self) -> Option<u8> {
        match self.separator {
            Some(Separator::One(b';')) => Some(b'.'),
            _ => self.has_decimal_commas().then_some(b','),
        }
    }

    /// Whether its first field is in quotes.
    pub(crate) fn begins_with_quote(&self) -> bool {
        self.raw.trim_ascii_start().first() == Some(&b'"')
    }

    /// From now on the first fields of each record are passed over.
    pub(crate) fn pass_over(&mut self, fields: usize) {
        self.unnamed = fields;
    }

    /// An error about the current record.
    pub(crate) fn wrong(&self, text: impl std::fmt::Display) -> anyhow::Error {
        anyhow::anyhow!("{}, line {}: {text}", self.name, self.line.max(1))
    }

    /// Goes on to the next record and skips blank lines; `false` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        loop {
            self.raw.clear();
            if !self.read_line()? {
                return Ok(false);
            }
            self.line = self.lines;
            if self.lines == 1 {
                self.take_mark()?;
            }
            if self.raw.trim_ascii().is_empty() {
                continue;
            }
            let separator = match self.separator {
                Some(separator) => separator,
                None => {
                    self.separator = Separator::of_line(self.raw.trim_ascii());
                    if self.separator.is_some() {
                        continue;
                    }
                    *self.separator.insert(Separator::of_header(&self.raw))
                }
            };
            self.split(separator)?;
            return Ok(true);
        }
    }

    /// Removes the byte order mark.
    fn take_mark(&mut self) -> Result<()> {
        if self.raw.starts_with(BYTE_ORDER_MARK) {
            self.raw.drain(..BYTE_ORDER_MARK.len());
        }
        if OTHER_MARKS.iter().any(|mark| self.raw.starts_with(mark)) {
            bail!("{} is text in UTF-16: save it as CSV in UTF-8", self.name);
        }
        Ok(())
    }

    /// How many fields the record has.
    pub(crate) fn fields(&self) -> usize {
        self.ends.len() - self.unnamed.min(self.ends.len())
    }

    /// One of its fields, without blanks around it.
    pub(crate) fn field(&self, at: usize) -> &[u8] {
        let at = at + self.unnamed;
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text[from..self.ends[at]].trim_ascii()
    }

    /// Appends the next line without its end; `false` when there is none.
    fn read_line(&mut self) -> Result<bool> {
        let most_bytes = MAX_RECORD_BYTES.saturating_sub(self.raw.len()) as u64 + 1;
        let read = (&mut self.input).take(most_bytes).read_until(b'\n', &mut self.raw);
        let read = read.with_context(|| format!("cannot read {}", self.name))?;
        self.lines += u64::from(read > 0);
        if self.raw.len() > MAX_RECORD_BYTES {
            bail!(
                "{}, line {}: a line of more than {MAX_RECORD_BYTES} bytes is none of a table",
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

    /// Copies a field; returns the position of the separator behind it.
    #[inline]
    fn copy_field(&mut self, separator: Separator, mut at: usize) -> Result<usize> {
        let from = self.text.len();
        // Up to the separator, or to a quote.
        while let Some(&byte) = self.raw.get(at).filter(|&&byte| !separator.ends(byte)) {
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
            let behind = rest.split(|&byte| separator.ends(byte)).next().unwrap_or_default();
            if !behind.trim_ascii().is_empty() {
                return Err(
                    self.wrong(format_args!("{} is expected behind a field in quotes", separator.name()))
                );
            }
            at += behind.len();
        }
        Ok(at)
    }

    /// Splits the record into fields.
    fn split(&mut self, separator: Separator) -> Result<()> {
        self.text.clear();
        self.ends.clear();
        let mut at = 0;
        loop {
            if separator == Separator::Blanks {
                at = self.behind_blanks(at);
            }
            at = self.copy_field(separator, at)?;
            self.ends.push(self.text.len());
            if separator == Separator::Blanks {
                at = self.behind_blanks(at);
            }
            if at >= self.raw.len() {
                return Ok(());
            }
            at += usize::from(separator != Separator::Blanks);
        }
    }

    /// The position behind blanks.
    fn behind_blanks(&self, at: usize) -> usize {
        let blanks = self.raw[at..].iter().take_while(|byte| byte.is_ascii_whitespace());
        at + blanks.count()
    }

    /// Copies quoted text; returns the position behind the closing quote.
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
        let mut records = Records::from_input(text, "t.csv".into());
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
    fn the_first_line_says_what_separates_fields() {
        let expected = [row(1, &["a", "b c"]), row(2, &["1,5", ""])];
        assert_eq!(fields(b"a;b c\n1,5;\n"), expected);
        assert_eq!(fields(b"a\tb c\r\n\"1,5\"\t\r\n"), expected);
        assert_eq!(fields(b"sep=;\r\na;b c\r\n1,5;\r\n")[0], row(2, &["a", "b c"]));
        assert_eq!(fields(b"\"sep=\t\"\na\tb c\n")[0], row(2, &["a", "b c"]));
        assert_eq!(fields(b"\"a;x;y\",b c\n1;5,\n")[1], row(2, &["1;5", ""]));
        assert_eq!(fields(b" a  b \n1 \t\"x y\"\n"), [row(1, &["a", "b"]), row(2, &["1", "x y"])]);
        assert_eq!(fields(b"a\n1\n"), [row(1, &["a"]), row(2, &["1"])]);
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let wrong = |text: &[u8]| records(text).unwrap_err().to_string();
        assert_eq!(wrong(b"a\n\"b\nc\n"), "t.csv, line 2: a quote that is never closed");
        assert_eq!(wrong(b"a\n\"b\"c,d\n"), "t.csv, line 2: a comma is expected behind a field in quotes");
        assert!(wrong(b"a\n\nb\"c\"\n").starts_with("t.csv, line 3: a quote within a field"));
        assert_eq!(
            wrong(b"a;b\n\"b\"c;d\n"),
            "t.csv, line 2: a semicolon is expected behind a field in quotes"
        );
        assert_eq!(wrong(b"\xFF\xFEr\0a\0\n\0"), "t.csv is text in UTF-16: save it as CSV in UTF-8");
        let endless = [b"a\n".as_slice(), &[b'x'; 1 << 17]].concat();
        assert_eq!(wrong(&endless), "t.csv, line 2: a line of more than 65536 bytes is none of a table");
    }
}
